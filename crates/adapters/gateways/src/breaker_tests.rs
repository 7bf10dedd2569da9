use super::*;
use crate::tests::captured_logs::CapturedLogs;
use crate::tests::fixtures::message;
use dwar_kernel::KeyMode;
use dwar_otp::Channel;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tokio::sync::Semaphore;

const ACCEPTED: Outcome = Outcome::Accepted { provider_ref: None, awaits_receipt: false };
const DOWN: Outcome = Outcome::Refused(Reason::ProviderUnavailable);

#[derive(Debug, PartialEq)]
enum State {
    Closed,
    Open,
    HalfOpen,
}

impl BreakerGateway {
    fn phase(&self) -> State {
        match self.circuit().phase {
            Phase::Closed { .. } => State::Closed,
            Phase::Open { .. } => State::Open,
            Phase::HalfOpen => State::HalfOpen,
        }
    }
}

struct Scripted {
    answer: Mutex<Outcome>,
    calls: AtomicU32,
    gate: Semaphore,
}

#[async_trait]
impl Gateway for Scripted {
    fn provider(&self) -> String {
        "scripted".to_owned()
    }

    async fn deliver(&self, _: Message) -> Outcome {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let answer = self.answer.lock().unwrap().clone();
        drop(self.gate.acquire().await.unwrap());
        answer
    }
}

struct World {
    inner: Arc<Scripted>,
    breaker: Arc<BreakerGateway>,
    elapsed_ms: Arc<AtomicU64>,
}

impl World {
    fn new(answer: Outcome) -> Self {
        let elapsed_ms = Arc::new(AtomicU64::new(0));
        let (start, elapsed) = (Instant::now(), Arc::clone(&elapsed_ms));
        let clock = Arc::new(move || start + Duration::from_millis(elapsed.load(Ordering::SeqCst)));
        let inner = Arc::new(Scripted {
            answer: Mutex::new(answer),
            calls: AtomicU32::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        });
        let breaker = BreakerGateway { clock, ..BreakerGateway::new(Arc::clone(&inner) as _, 3) };
        Self { inner, breaker: Arc::new(breaker), elapsed_ms }
    }

    fn answers(&self, answer: Outcome) {
        *self.inner.answer.lock().unwrap() = answer;
    }

    fn pass(&self, millis: u64) {
        self.elapsed_ms.fetch_add(millis, Ordering::SeqCst);
    }

    fn calls(&self) -> u32 {
        self.inner.calls.load(Ordering::SeqCst)
    }

    async fn deliver(&self) -> Outcome {
        self.breaker.deliver(message(KeyMode::Live, Channel::Sms, "9876543210")).await
    }

    async fn open(&self) {
        for _ in 0..3 {
            assert_eq!(self.breaker.phase(), State::Closed);
            self.deliver().await;
        }
        assert_eq!(self.breaker.phase(), State::Open);
    }
}

#[tokio::test]
async fn opens_after_so_many_faults_in_a_row_and_then_refuses_without_a_call() {
    for reason in [
        Reason::ProviderUnavailable,
        Reason::Timeout,
        Reason::ProviderAuth,
        Reason::ProviderThrottled,
        Reason::Unknown,
    ] {
        let world = World::new(Outcome::Refused(reason));
        world.open().await;
        assert_eq!(world.deliver().await, DOWN);
        assert_eq!(world.calls(), 3, "{reason:?}");
    }
}

#[tokio::test]
async fn stays_closed_whatever_may_be_wrong_with_numbers_or_templates() {
    for reason in [
        Reason::NotOnChannel,
        Reason::RejectedNumber,
        Reason::Blocked,
        Reason::TemplateRejected,
        Reason::ProviderRefused,
    ] {
        let world = World::new(Outcome::Refused(reason));
        for _ in 0..20 {
            assert_eq!(world.deliver().await, Outcome::Refused(reason));
        }
        assert_eq!((world.calls(), world.breaker.phase()), (20, State::Closed));
    }
}

#[tokio::test]
async fn calls_that_failed_are_told_until_the_provider_takes_a_message_or_answers_for_a_number() {
    let world = World::new(Outcome::Refused(Reason::ProviderAuth));
    assert_eq!(world.breaker.fault_row(), None);
    for reason in [Reason::ProviderAuth, Reason::ProviderRefused] {
        world.answers(Outcome::Refused(reason));
        world.deliver().await;
        world.pass(40);
    }
    let row =
        |faults, age, reason| Some(FaultRow { faults, age: Duration::from_millis(age), reason });
    assert_eq!(world.breaker.fault_row(), row(2, 80, Reason::ProviderRefused));
    for sign in [ACCEPTED, Outcome::Refused(Reason::NotOnChannel)] {
        world.answers(sign);
        world.deliver().await;
        assert_eq!(world.breaker.fault_row(), None);
        world.answers(Outcome::Busy(Reason::ProviderThrottled, Duration::from_secs(1)));
        world.deliver().await;
        assert_eq!(world.breaker.fault_row(), row(1, 0, Reason::ProviderThrottled));
        // A call that was refused without being made does not change the count.
        assert_eq!(world.deliver().await, DOWN);
        assert_eq!(world.breaker.fault_row(), row(1, 0, Reason::ProviderThrottled));
        world.pass(1_001);
    }
}

#[tokio::test]
async fn any_sign_of_life_ends_the_row() {
    let world = World::new(DOWN);
    for sign in [ACCEPTED, Outcome::Refused(Reason::NotOnChannel)] {
        for answer in [DOWN, DOWN, sign, DOWN, DOWN] {
            world.answers(answer);
            world.deliver().await;
        }
        world.answers(ACCEPTED);
        world.deliver().await;
    }
    assert_eq!(world.breaker.phase(), State::Closed);
}

#[tokio::test]
async fn closes_when_the_probe_succeeds_and_counts_from_nothing() {
    let world = World::new(DOWN);
    world.open().await;
    world.pass(14_999);
    assert_eq!(world.deliver().await, DOWN);
    assert_eq!(world.calls(), 3);
    world.pass(1);
    world.answers(ACCEPTED);
    assert_eq!(world.deliver().await, ACCEPTED);
    assert_eq!((world.calls(), world.breaker.phase()), (4, State::Closed));
    world.answers(DOWN);
    world.open().await;
    world.pass(15_000);
    world.answers(ACCEPTED);
    assert_eq!(world.deliver().await, ACCEPTED, "the first cool-down is the short one again");
}

#[tokio::test]
async fn doubles_the_cool_down_up_to_its_bound() {
    let world = World::new(DOWN);
    world.open().await;
    let mut calls = 3;
    for cool_down in [15_000, 30_000, 60_000, 120_000, 240_000, 240_000] {
        world.pass(cool_down - 1);
        world.deliver().await;
        assert_eq!(world.calls(), calls, "{cool_down}");
        world.pass(1);
        world.deliver().await;
        calls += 1;
        assert_eq!((world.calls(), world.breaker.phase()), (calls, State::Open));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_hundred_calls_at_once_exactly_one_is_the_probe() {
    for (answer, then) in [(ACCEPTED, State::Closed), (DOWN, State::Open)] {
        let world = World::new(DOWN);
        world.open().await;
        world.pass(15_000);
        world.answers(answer.clone());
        let permits = world.inner.gate.forget_permits(Semaphore::MAX_PERMITS);
        let calls: Vec<_> = (0..200)
            .map(|_| {
                let breaker = Arc::clone(&world.breaker);
                let message = message(KeyMode::Live, Channel::Sms, "9876543210");
                tokio::spawn(async move { breaker.deliver(message).await })
            })
            .collect();
        // The probe waits at the gate until every other call has been refused.
        while calls.iter().filter(|call| call.is_finished()).count() < 199 {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.breaker.phase(), State::HalfOpen);
        world.inner.gate.add_permits(permits);
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(call.await.unwrap());
        }
        assert_eq!(world.calls(), 4, "three faults and one probe");
        assert_eq!(world.breaker.phase(), then);
        if answer == ACCEPTED {
            assert_eq!(outcomes.iter().filter(|outcome| **outcome == ACCEPTED).count(), 1);
        }
    }
}

#[tokio::test]
async fn a_dropped_probe_makes_room_for_another_at_once() {
    let world = World::new(DOWN);
    world.open().await;
    world.pass(15_000);
    let permits = world.inner.gate.forget_permits(Semaphore::MAX_PERMITS);
    tokio::select! {
        biased;
        _ = world.deliver() => panic!("the gate is shut"),
        () = tokio::task::yield_now() => {}
    }
    assert_eq!((world.calls(), world.breaker.phase()), (4, State::Open));
    world.inner.gate.add_permits(permits);
    world.answers(ACCEPTED);
    assert_eq!(world.deliver().await, ACCEPTED);
    assert_eq!(world.breaker.phase(), State::Closed);
}

#[tokio::test]
async fn dropped_calls_count_as_nothing() {
    let world = World::new(DOWN);
    let permits = world.inner.gate.forget_permits(Semaphore::MAX_PERMITS);
    for _ in 0..20 {
        tokio::select! {
            biased;
            _ = world.deliver() => panic!("the gate is shut"),
            () = tokio::task::yield_now() => {}
        }
    }
    world.inner.gate.add_permits(permits);
    assert_eq!((world.calls(), world.breaker.phase()), (20, State::Closed));
}

#[tokio::test]
async fn a_straggler_of_an_earlier_phase_decides_nothing() {
    let world = World::new(ACCEPTED);
    let permits = world.inner.gate.forget_permits(Semaphore::MAX_PERMITS);
    let breaker = Arc::clone(&world.breaker);
    let straggler = tokio::spawn(async move {
        breaker.deliver(message(KeyMode::Live, Channel::Sms, "9876543210")).await
    });
    while world.calls() == 0 {
        tokio::task::yield_now().await;
    }
    world.answers(DOWN);
    for _ in 0..3 {
        world.breaker.admit().unwrap().settle(false);
    }
    assert_eq!(world.breaker.phase(), State::Open);
    world.inner.gate.add_permits(permits);
    assert_eq!(straggler.await.unwrap(), ACCEPTED);
    assert_eq!(world.breaker.phase(), State::Open, "it was asked before the faults");
}

#[tokio::test]
async fn warns_when_it_opens_and_when_it_closes_and_never_in_between() {
    let (logs, _guard) = CapturedLogs::start();
    let world = World::new(DOWN);
    world.open().await;
    world.deliver().await;
    world.pass(15_000);
    world.answers(ACCEPTED);
    world.deliver().await;
    world.deliver().await;
    let text = logs.text();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].contains("WARN") && lines[0].contains("keeps failing"), "{text}");
    assert!(lines[1].contains("WARN") && lines[1].contains("works again"), "{text}");
    assert!(lines.iter().all(|line| line.contains("provider=\"scripted\"")), "{text}");
}

#[tokio::test]
async fn tells_how_the_latest_calls_went_and_for_how_long_none_is_let_through() {
    let world = World::new(ACCEPTED);
    for _ in 0..127 {
        world.deliver().await;
    }
    world.answers(DOWN);
    world.open().await;
    let open_for = Some(COOL_DOWN);
    assert_eq!(world.breaker.state(), BreakerState { open_for, calls: 128, faults: 3 });
    // Refused calls were not made and are not counted.
    world.deliver().await;
    world.pass(14_999);
    let open_for = Some(Duration::from_millis(1));
    assert_eq!(world.breaker.state(), BreakerState { open_for, calls: 128, faults: 3 });
    world.answers(ACCEPTED);
    world.pass(1);
    world.deliver().await;
    assert_eq!(world.breaker.state(), BreakerState { open_for: None, calls: 128, faults: 3 });
    for _ in 0..128 {
        world.deliver().await;
    }
    assert_eq!(world.breaker.state().faults, 0);
}

#[tokio::test]
async fn a_provider_that_asks_for_it_is_left_alone_and_then_called_without_a_probe() {
    let (logs, _guard) = CapturedLogs::start();
    let busy = |seconds| Outcome::Busy(Reason::ProviderThrottled, Duration::from_secs(seconds));
    let world = World::new(busy(7));
    assert_eq!(world.deliver().await, busy(7));
    for _ in 0..9 {
        assert_eq!(world.deliver().await, DOWN);
    }
    world.pass(6_999);
    assert_eq!(world.deliver().await, DOWN);
    assert_eq!(world.breaker.state().open_for, Some(Duration::from_millis(1)));
    assert_eq!(world.calls(), 1, "nobody is called meanwhile");
    world.pass(1);
    assert_eq!(world.breaker.state().open_for, None);
    // One fault does not open the breaker: all calls are made again at once.
    world.answers(ACCEPTED);
    for _ in 0..3 {
        assert_eq!(world.deliver().await, ACCEPTED);
    }
    assert_eq!(logs.text().matches("asks for a pause").count(), 1);
}

#[tokio::test]
async fn a_shorter_pause_asked_for_later_ends_no_longer_one_and_each_call_is_a_fault() {
    let busy = |seconds| Outcome::Busy(Reason::ProviderUnavailable, Duration::from_secs(seconds));
    let world = World::new(busy(30));
    world.inner.gate.forget_permits(Semaphore::MAX_PERMITS);
    let calls: Vec<_> = (0..2)
        .map(|_| {
            let breaker = Arc::clone(&world.breaker);
            tokio::spawn(async move {
                breaker.deliver(message(KeyMode::Live, Channel::Sms, "9876543210")).await
            })
        })
        .collect();
    while world.calls() < 2 {
        tokio::task::yield_now().await;
    }
    world.inner.gate.add_permits(1);
    for call in calls {
        assert_eq!(call.await.unwrap(), busy(30));
        world.inner.gate.add_permits(1);
    }
    world.breaker.rest(Duration::from_secs(5));
    assert_eq!(world.breaker.state().open_for, Some(Duration::from_secs(30)));
    world.pass(30_000);
    // The third consecutive fault opens the breaker.
    world.inner.gate.add_permits(1);
    world.answers(DOWN);
    assert_eq!(world.deliver().await, DOWN);
    assert_eq!(world.breaker.phase(), State::Open);
}
