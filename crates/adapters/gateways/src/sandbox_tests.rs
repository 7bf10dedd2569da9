use super::*;
use crate::tests::fixtures::{ATTEMPT, CODE, PROJECT, TEXT, message};
use dwar_kernel::{Digest, ProjectId, Purpose, Sealed, StoreError, Timestamp, Unsealable};
use dwar_otp::MockReceiptStore;
use dwar_otp::sandbox::MockSandboxInbox;
use std::sync::Mutex;

const NOT_ON_WHATSAPP: Played = Played::Refused(Reason::NotOnChannel);
const NO_SMS: Played = Played::Refused(Reason::RejectedNumber);

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

struct NoChance;

impl Entropy for NoChance {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// The calls of the two stores behind a gateway.
#[derive(Clone, Default)]
struct Given {
    deposits: Arc<Mutex<Vec<(ProjectId, InboxMessage)>>>,
    receipts: Arc<Mutex<Vec<KeptReceipt>>>,
}

fn busy() -> StoreError {
    StoreError::Unavailable("busy".to_owned())
}

/// A gateway over an inbox and a receipt store that work or fail as given.
fn over(inbox_works: bool, receipts_work: bool) -> (SandboxGateway, Given) {
    let given = Given::default();
    let (deposits, kept) = (Arc::clone(&given.deposits), Arc::clone(&given.receipts));
    let mut inbox = MockSandboxInbox::new();
    inbox.expect_deposit().returning(move |project, message| {
        deposits.lock().unwrap().push((project, message));
        if inbox_works { Ok(()) } else { Err(busy()) }
    });
    let mut receipts = MockReceiptStore::new();
    receipts.expect_keep().returning(move |receipts| {
        kept.lock().unwrap().extend(receipts);
        if receipts_work { Ok(()) } else { Err(busy()) }
    });
    let gateway = SandboxGateway {
        inbox: Arc::new(inbox),
        receipts: Arc::new(receipts),
        vault: Arc::new(ToyVault),
        clock: Arc::new(Epoch),
        entropy: Arc::new(NoChance),
    };
    (gateway, given)
}

fn gateway() -> (SandboxGateway, Given) {
    over(true, true)
}

fn test(channel: Channel, phone: &str) -> Message {
    message(KeyMode::Test, channel, phone)
}

fn accepted() -> Outcome {
    Outcome::Accepted { provider_ref: Some(ATTEMPT.to_owned()), awaits_receipt: true }
}

/// The expected result of a table row on one channel.
#[derive(Debug)]
enum Played {
    Refused(Reason),
    Accepted(Report, Duration),
}

#[tokio::test]
async fn plays_every_scenario_on_both_channels() {
    let delivered = || Played::Accepted(Report::Delivered, RECEIPT_AFTER);
    let slowly = || Played::Accepted(Report::Delivered, SLOW_RECEIPT_AFTER);
    let fails_late = Played::Accepted(Report::Failed(Reason::NotOnChannel), RECEIPT_AFTER);
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
    let (gateway, given) = gateway();
    let outcome = gateway.deliver(test(channel, phone)).await;
    let deposits: Vec<_> = given.deposits.lock().unwrap().drain(..).collect();
    let receipts: Vec<_> = given.receipts.lock().unwrap().drain(..).collect();
    match expected {
        Played::Refused(reason) => {
            assert_eq!(outcome, Outcome::Refused(reason), "{row}");
            assert!(deposits.is_empty() && receipts.is_empty(), "{row}");
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
            assert_eq!(receipts.len(), 1, "{row}");
            assert_eq!(receipts[0].receipt, receipt, "{row}");
            assert_eq!(receipts[0].received_at, Timestamp::UNIX_EPOCH + after, "{row}");
        }
    }
}

#[tokio::test]
async fn the_inbox_holds_code_and_text_sealed_for_project_and_request() {
    let (gateway, given) = gateway();
    assert_eq!(gateway.provider(), "sandbox");
    let sent = test(Channel::Sms, "9876543210");
    gateway.deliver(sent.clone()).await;

    let (project, message) = given.deposits.lock().unwrap().pop().unwrap();
    assert_eq!(
        (project, message.otp, message.phone),
        (sent.project_mode.project, sent.otp, sent.phone_index)
    );
    assert_eq!(message.at, Timestamp::UNIX_EPOCH);
    let at_rest = String::from_utf8_lossy(&message.content.0).into_owned();
    assert!(!at_rest.contains(CODE), "{at_rest}");
    let content = message.open(&ToyVault, PROJECT.parse().unwrap()).unwrap();
    assert_eq!((content.code.expose(), content.text.as_str()), (CODE, TEXT));
}

#[tokio::test]
async fn a_message_that_cannot_be_kept_or_reported_on_is_refused() {
    for (inbox_works, receipts_work) in [(false, true), (true, false)] {
        let (gateway, given) = over(inbox_works, receipts_work);
        let refused = gateway.deliver(test(Channel::Sms, "9876543210")).await;
        assert_eq!(refused, Outcome::Refused(Reason::ProviderUnavailable));
        // No message without its receipt, because the receipt would be expected.
        assert_eq!(given.deposits.lock().unwrap().len(), usize::from(receipts_work));
    }
}

#[tokio::test]
async fn a_live_message_never_enters_the_sandbox() {
    let (gateway, given) = gateway();
    let outcome = gateway.deliver(message(KeyMode::Live, Channel::Sms, "9876543210")).await;
    assert_eq!(outcome, Outcome::Refused(Reason::ProviderAuth));
    assert!(given.deposits.lock().unwrap().is_empty());
    assert!(given.receipts.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_it_leaves_behind_shows_neither_code_nor_phone() {
    let (gateway, Given { deposits, receipts }) = gateway();
    let outcome = gateway.deliver(test(Channel::Sms, "9876543210")).await;
    let shown = format!("{outcome:?} {deposits:?} {receipts:?}");
    for secret in [CODE, "9876543210"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
