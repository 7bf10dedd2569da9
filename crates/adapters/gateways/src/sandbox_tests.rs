use super::*;
use crate::fixtures::{ATTEMPT, CODE, PROJECT, TEXT, message};
use dwar_kernel::{Digest, ProjectId, Purpose, Sealed, StoreError, Timestamp, Unsealable};
use dwar_otp::sandbox::MockSandboxInbox;
use std::sync::Mutex;
use tokio::sync::mpsc::{self, Receiver};
use tokio::time::Instant;

const NOT_ON_WHATSAPP: Played = Played::Refused(Reason::NotOnChannel);
const NO_SMS: Played = Played::Refused(Reason::RejectedNumber);
const PROMPT: Duration = Duration::from_millis(250);
const SLOW: Duration = Duration::from_secs(4);

struct Epoch;

impl Clock for Epoch {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// Unreadable enough for a test, and bound to its context.
struct ToyVault;

impl Vault for ToyVault {
    fn seal(&self, purpose: Purpose, context: &[u8], plain: &[u8]) -> Sealed {
        let lock = [format!("{purpose:?}").as_bytes(), context].concat();
        Sealed([lock.as_slice(), plain].concat().iter().map(|byte| !byte).collect())
    }

    fn open(
        &self,
        purpose: Purpose,
        context: &[u8],
        sealed: &Sealed,
    ) -> Result<Vec<u8>, Unsealable> {
        let lock = [format!("{purpose:?}").as_bytes(), context].concat();
        let plain: Vec<u8> = sealed.0.iter().map(|byte| !byte).collect();
        plain.strip_prefix(lock.as_slice()).map(<[u8]>::to_vec).ok_or(Unsealable)
    }

    fn digest(&self, _: Purpose, _: &[&[u8]]) -> Digest {
        Digest([0; 32])
    }
}

type Deposits = Arc<Mutex<Vec<(ProjectId, InboxMessage)>>>;

fn keeping() -> (MockSandboxInbox, Deposits) {
    let deposits = Deposits::default();
    let kept = Arc::clone(&deposits);
    let mut inbox = MockSandboxInbox::new();
    inbox.expect_deposit().returning(move |project, message| {
        kept.lock().unwrap().push((project, message));
        Ok(())
    });
    (inbox, deposits)
}

fn gateway(inbox: MockSandboxInbox, max_pending: usize) -> (SandboxGateway, Receiver<Receipt>) {
    let (sender, receiver) = mpsc::channel(8);
    let options = SandboxOptions { receipt_after: PROMPT, slow_receipt_after: SLOW, max_pending };
    let gateway =
        SandboxGateway::new(Arc::new(inbox), Arc::new(ToyVault), Arc::new(Epoch), sender, options);
    (gateway, receiver)
}

fn test(channel: Channel, phone: &str) -> Message {
    message(KeyMode::Test, channel, phone)
}

fn accepted() -> Outcome {
    Outcome::Accepted { provider_ref: Some(ATTEMPT.to_owned()), awaits_receipt: true }
}

/// What a row of the table expects of one channel.
#[derive(Debug)]
enum Played {
    Refused(Reason),
    Accepted(Report, Duration),
}

#[tokio::test(start_paused = true)]
async fn plays_every_scenario_on_both_channels() {
    let delivered = || Played::Accepted(Report::Delivered, PROMPT);
    let slowly = || Played::Accepted(Report::Delivered, SLOW);
    let fails_late = Played::Accepted(Report::Failed(Reason::NotOnChannel), PROMPT);
    for (phone, whatsapp, sms) in [
        ("9876543210", delivered(), delivered()),
        ("9000000001", NOT_ON_WHATSAPP, delivered()),
        ("9000000002", NOT_ON_WHATSAPP, NO_SMS),
        ("9000000003", fails_late, delivered()),
        ("9000000004", NO_SMS, NO_SMS),
        ("9000000005", slowly(), slowly()),
    ] {
        for (channel, expected) in [(Channel::Whatsapp, whatsapp), (Channel::Sms, sms)] {
            plays(channel, phone, expected).await;
        }
    }
}

async fn plays(channel: Channel, phone: &str, expected: Played) {
    let row = format!("{phone} over {channel:?}: {expected:?}");
    let (inbox, deposits) = keeping();
    let (gateway, mut receipts) = gateway(inbox, 8);
    let start = Instant::now();
    let outcome = gateway.deliver(test(channel, phone)).await;
    assert_eq!(start.elapsed(), Duration::ZERO, "{row}");
    let deposits: Vec<_> = deposits.lock().unwrap().drain(..).collect();
    // Once the gateway is gone only a pending receipt keeps the channel open.
    drop(gateway);
    match expected {
        Played::Refused(reason) => {
            assert_eq!(outcome, Outcome::Refused(reason), "{row}");
            assert!(deposits.is_empty(), "{row}");
        }
        Played::Accepted(report, after) => {
            assert_eq!(outcome, accepted(), "{row}");
            assert_eq!(deposits.len(), 1, "{row}");
            assert_eq!(deposits[0].1.channel, channel, "{row}");
            let receipt = Receipt {
                provider: "sandbox".to_owned(),
                provider_ref: ATTEMPT.to_owned(),
                report,
            };
            assert_eq!(receipts.recv().await, Some(receipt), "{row}");
            assert_eq!(start.elapsed(), after, "{row}");
        }
    }
    assert_eq!(receipts.recv().await, None, "{row}");
}

#[tokio::test(start_paused = true)]
async fn the_inbox_holds_code_and_text_sealed_for_project_and_request() {
    let (inbox, deposits) = keeping();
    let (gateway, _receipts) = gateway(inbox, 8);
    assert_eq!(gateway.provider(), "sandbox");
    let sent = test(Channel::Sms, "9876543210");
    gateway.deliver(sent.clone()).await;

    let (project, message) = deposits.lock().unwrap().pop().unwrap();
    assert_eq!((project, message.otp, message.phone), (sent.project, sent.otp, sent.phone_index));
    assert_eq!(message.at, Timestamp::UNIX_EPOCH);
    let at_rest = String::from_utf8_lossy(&message.content.0).into_owned();
    assert!(!at_rest.contains(CODE), "{at_rest}");
    let content = message.open(&ToyVault, PROJECT.parse().unwrap()).unwrap();
    assert_eq!((content.code.expose(), content.text.as_str()), (CODE, TEXT));
}

#[tokio::test(start_paused = true)]
async fn a_full_inbox_is_a_refusal_without_a_receipt_and_frees_its_place() {
    let mut inbox = MockSandboxInbox::new();
    let mut results = vec![Ok(()), Err(StoreError::Unavailable("busy".to_owned()))];
    inbox.expect_deposit().times(2).returning_st(move |_, _| results.pop().unwrap());
    let (gateway, mut receipts) = gateway(inbox, 1);

    let refused = gateway.deliver(test(Channel::Sms, "9876543210")).await;
    assert_eq!(refused, Outcome::Refused(Reason::ProviderUnavailable));
    assert_eq!(gateway.deliver(test(Channel::Sms, "9876543210")).await, accepted());

    drop(gateway);
    assert!(receipts.recv().await.is_some());
    assert_eq!(receipts.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn more_than_the_bound_of_pending_receipts_is_refused_until_one_is_out() {
    let (inbox, deposits) = keeping();
    let (gateway, mut receipts) = gateway(inbox, 2);
    for expected in [accepted(), accepted(), Outcome::Refused(Reason::ProviderThrottled)] {
        assert_eq!(gateway.deliver(test(Channel::Sms, "9876543210")).await, expected);
    }
    assert_eq!(deposits.lock().unwrap().len(), 2);

    assert!(receipts.recv().await.is_some() && receipts.recv().await.is_some());
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(gateway.deliver(test(Channel::Sms, "9876543210")).await, accepted());
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_went_away_changes_nothing() {
    let (inbox, deposits) = keeping();
    let (gateway, receipts) = gateway(inbox, 1);
    drop(receipts);
    for _ in 0..3 {
        assert_eq!(gateway.deliver(test(Channel::Sms, "9876543210")).await, accepted());
        tokio::time::sleep(PROMPT * 2).await;
    }
    assert_eq!(deposits.lock().unwrap().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_is_slow_gets_every_receipt() {
    let (inbox, _deposits) = keeping();
    let (gateway, mut receipts) = gateway(inbox, 20);
    for _ in 0..20 {
        assert_eq!(gateway.deliver(test(Channel::Sms, "9876543210")).await, accepted());
    }
    tokio::time::sleep(SLOW).await;
    drop(gateway);
    let mut seen = 0;
    while receipts.recv().await.is_some() {
        seen += 1;
    }
    assert_eq!(seen, 20);
}

#[tokio::test(start_paused = true)]
async fn a_live_message_never_enters_the_sandbox() {
    let (inbox, deposits) = keeping();
    let (gateway, _receipts) = gateway(inbox, 8);
    let outcome = gateway.deliver(message(KeyMode::Live, Channel::Sms, "9876543210")).await;
    assert_eq!(outcome, Outcome::Refused(Reason::ProviderAuth));
    assert!(deposits.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn debug_shows_neither_code_nor_phone() {
    let (inbox, deposits) = keeping();
    let (gateway, mut receipts) = gateway(inbox, 8);
    let outcome = gateway.deliver(test(Channel::Sms, "9876543210")).await;
    let shown = format!("{gateway:?} {outcome:?} {deposits:?} {:?}", receipts.recv().await);
    for secret in [CODE, "9876543210"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
