use super::*;
use crate::tests::captured_logs::CapturedLogs;
use crate::tests::fixtures::message;
use crate::{BreakerGateway, TimedGateway};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_otp::Channel;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

const LIMIT: Duration = Duration::from_secs(8);

/// A provider that hangs, or answers after a second, and counts its calls.
struct Provider {
    hangs: bool,
    calls: Arc<AtomicUsize>,
}

#[async_trait]
impl Gateway for Provider {
    fn provider(&self) -> String {
        "provider".to_owned()
    }

    async fn deliver(&self, _: Message) -> Outcome {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if self.hangs {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        Outcome::Accepted { provider_ref: None, awaits_receipt: false }
    }
}

struct Guarded {
    gateway: Arc<BulkheadGateway>,
    breaker: Arc<BreakerGateway>,
    calls: Arc<AtomicUsize>,
}

fn guarded(hangs: bool, calls_at_once: usize) -> Guarded {
    let calls = Arc::new(AtomicUsize::new(0));
    let provider = Arc::new(Provider { hangs, calls: Arc::clone(&calls) });
    let timed = Arc::new(TimedGateway { inner: provider, limit: LIMIT, took: Arc::new(|_, _| {}) });
    let breaker = Arc::new(BreakerGateway::new(timed, 10));
    let gateway = Arc::new(BulkheadGateway::new(breaker.clone(), calls_at_once));
    Guarded { gateway, breaker, calls }
}

fn to_phone() -> Message {
    message(KeyMode::Live, Channel::Sms, "9876543210")
}

async fn deliver(gateway: &Arc<BulkheadGateway>) -> (Outcome, Duration) {
    let began = Instant::now();
    let outcome = gateway.deliver(to_phone()).await;
    (outcome, began.elapsed())
}

fn crowd(gateway: &Arc<BulkheadGateway>, count: usize) -> Vec<JoinHandle<(Outcome, Duration)>> {
    let call = |_| {
        let gateway = Arc::clone(gateway);
        tokio::spawn(async move { deliver(&gateway).await })
    };
    (0..count).map(call).collect()
}

const FULL: Outcome = Outcome::Refused(Reason::ProviderUnavailable);

#[tokio::test(start_paused = true)]
async fn a_call_beyond_the_bound_is_refused_at_once_and_never_made() {
    let Guarded { gateway, calls, .. } = guarded(true, 3);
    let hanging = crowd(&gateway, 3);
    tokio::task::yield_now().await;
    assert_eq!(deliver(&gateway).await, (FULL, Duration::ZERO));
    for call in hanging {
        assert_eq!(call.await.unwrap(), (Outcome::Refused(Reason::Timeout), LIMIT));
    }
    assert_eq!(calls.load(Ordering::SeqCst), 3);
    // A call that was given up has freed its place.
    let (outcome, _) = deliver(&gateway).await;
    assert_eq!((outcome, calls.load(Ordering::SeqCst)), (Outcome::Refused(Reason::Timeout), 4));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs_leaves_room_for_another() {
    let (hangs, works) = (guarded(true, 2), guarded(false, 2));
    let stuck = crowd(&hangs.gateway, 50);
    tokio::task::yield_now().await;
    for _ in 0..5 {
        let (outcome, took) = deliver(&works.gateway).await;
        assert!(matches!(outcome, Outcome::Accepted { .. }));
        assert_eq!(took, Duration::from_secs(1));
    }
    let mut refused = 0;
    for call in stuck {
        refused += usize::from(call.await.unwrap() == (FULL, Duration::ZERO));
    }
    assert_eq!((refused, hangs.calls.load(Ordering::SeqCst)), (48, 2));
}

#[tokio::test(start_paused = true)]
async fn a_project_that_floods_a_slow_provider_leaves_room_for_others() {
    let Guarded { gateway, calls, .. } = guarded(true, 90);
    let flood = |project: u8| {
        let project: ProjectId = format!("01a1fd53-0000-7000-8000-{project:012}").parse().unwrap();
        let project_mode = project.in_mode(KeyMode::Live);
        let call = |_| {
            let (gateway, message) = (Arc::clone(&gateway), Message { project_mode, ..to_phone() });
            tokio::spawn(async move { gateway.deliver(message).await })
        };
        (0..200).map(call).collect::<Vec<_>>()
    };
    let mut under_way = Vec::new();
    for (project, wanted) in [(1, 80), (2, 9), (1, 0), (3, 1), (4, 0)] {
        let before = calls.load(Ordering::SeqCst);
        under_way.push(flood(project));
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(calls.load(Ordering::SeqCst) - before, wanted, "of project {project}");
    }
}

#[tokio::test(start_paused = true)]
async fn being_full_is_no_fault_of_the_provider() {
    let Guarded { gateway, breaker, calls } = guarded(false, 1);
    let mut refused = 0;
    for call in crowd(&gateway, 100) {
        refused += usize::from(call.await.unwrap().0 == FULL);
    }
    assert_eq!((refused, calls.load(Ordering::SeqCst)), (99, 1));
    // An open breaker would refuse the call.
    let outcome = breaker.deliver(to_phone()).await;
    assert!(matches!(outcome, Outcome::Accepted { .. }), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_leaves_its_place() {
    let Guarded { gateway, calls, .. } = guarded(true, 1);
    for seen in 1..=3 {
        let call = tokio::time::timeout(Duration::from_millis(5), gateway.deliver(to_phone()));
        assert!(call.await.is_err());
        assert_eq!(calls.load(Ordering::SeqCst), seen);
    }
}

#[tokio::test(start_paused = true)]
async fn filling_up_is_one_line_in_the_log() {
    let (logs, _guard) = CapturedLogs::start();
    let Guarded { gateway, .. } = guarded(false, 2);
    for _ in 0..2 {
        let (a, b, c, d) = tokio::join!(
            deliver(&gateway),
            deliver(&gateway),
            deliver(&gateway),
            deliver(&gateway)
        );
        assert_eq!([a.0, b.0, c.0, d.0].iter().filter(|outcome| **outcome == FULL).count(), 2);
    }
    assert_eq!(logs.text().matches("too many calls").count(), 2, "{}", logs.text());
}

#[tokio::test]
async fn no_room_at_all_counts_as_one() {
    let gateway = guarded(false, 0).gateway;
    assert!(matches!(deliver(&gateway).await.0, Outcome::Accepted { .. }));
}
