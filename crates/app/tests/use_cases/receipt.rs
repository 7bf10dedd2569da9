use crate::common::{FREE, World, accepted, charged, down, refused};
use dwar_otp::{
    AttemptStatus, Channel, DeliveryStatus, Otp, Reason, Receipt, ReceiptTarget, Report,
};
use dwar_testkit::{CODE, minutes};
use dwar_wallet::{Paise, Settlement};
use mockall::predicate::eq;

/// Overdue, as noticed while the receipt was awaited.
const OVERDUE: Report = Report::Overdue { seen: AttemptStatus::Sent };

fn receipt(report: Report) -> Receipt {
    Receipt { provider: "meta".to_owned(), provider_ref: "wamid-1".to_owned(), report }
}

/// A request that WhatsApp has accepted; the next receipt is about it.
fn sent() -> (World, Otp) {
    let mut world = World::live();
    let otp = world.sent_by_whatsapp();
    let target = ReceiptTarget {
        project_mode: otp.project_mode,
        otp: otp.id,
        attempt: otp.delivery.attempts[0].id,
    };
    world
        .otps
        .expect_find_attempt()
        .with(eq("meta".to_owned()), eq("wamid-1".to_owned()))
        .returning(move |_, _| Ok(Some(target)));
    world.knows_project().applies_reports();
    (world, otp)
}

async fn record(world: &mut World, report: Report) -> bool {
    world.deliver().receipt(receipt(report)).await.unwrap().is_some()
}

#[tokio::test]
async fn a_late_failure_sends_the_same_code_by_sms() {
    let (mut world, _) = sent();
    world.sms(accepted());
    assert!(record(&mut world, Report::Failed(Reason::Blocked)).await);
    assert_eq!(world.ends(), [charged(20)]);
    let message = world.messages().remove(0);
    assert_eq!((message.channel, message.code.expose()), (Channel::Sms, CODE));
}

#[tokio::test]
async fn a_late_failure_everywhere_is_free() {
    let (mut world, _) = sent();
    world.sms(refused());
    assert!(record(&mut world, Report::Failed(Reason::Blocked)).await);
    // The first provider had accepted it, so the place is kept.
    assert_eq!(
        (world.stored().delivery.status, world.ends()),
        (DeliveryStatus::Failed, vec![FREE])
    );
}

#[tokio::test]
async fn a_delivery_is_paid() {
    let (mut world, _) = sent();
    assert!(record(&mut world, Report::Delivered).await);
    assert_eq!(world.stored().delivery.attempts[0].status, AttemptStatus::Delivered);
    assert_eq!(world.ends(), [charged(30)]);
}

#[tokio::test]
async fn a_repeated_receipt_is_known_and_ends_nothing_again() {
    let (mut world, _) = sent();
    let deliver = world.deliver();
    for _ in 0..2 {
        assert!(deliver.receipt(receipt(Report::Delivered)).await.unwrap().is_some());
    }
    assert_eq!(world.ends(), [charged(30)]);
}

#[tokio::test]
async fn a_failure_of_a_code_that_is_over_is_not_sent_again() {
    let (mut world, _) = sent();
    world.clock.advance(minutes(10));
    assert!(record(&mut world, Report::Failed(Reason::Blocked)).await);
    assert_eq!(world.ends(), [FREE]);
}

#[tokio::test]
async fn an_unknown_reference_is_nobodys() {
    let mut world = World::live();
    world.otps.expect_find_attempt().times(1).returning(|_, _| Ok(None));
    assert!(!record(&mut world, Report::Delivered).await);
}

#[tokio::test]
async fn a_project_that_is_gone_has_no_receipts() {
    let (mut world, _) = sent();
    world.projects.checkpoint();
    world.projects.expect_find().times(1).returning(|_| Ok(None));
    assert!(!record(&mut world, Report::Delivered).await);
}

#[tokio::test]
async fn a_request_that_was_erased_has_no_receipts() {
    let (mut world, _) = sent();
    world.kept.lock().unwrap().clear();
    assert!(!record(&mut world, Report::Delivered).await);
}

#[tokio::test]
async fn a_request_erased_on_its_way_to_sms_pays_for_whatsapp_that_accepted_it() {
    let (mut world, _) = sent();
    world.erased_during("msg91", refused()).settles(Settlement::Capture(Paise(30)));
    assert!(record(&mut world, OVERDUE).await);
}

#[tokio::test]
async fn a_store_failure_is_told() {
    let mut world = World::live();
    world.otps.expect_find_attempt().returning(|_, _| Err(down()));
    assert!(world.deliver().receipt(receipt(Report::Delivered)).await.is_err());
    let (mut world, _) = sent();
    world.logins.checkpoint();
    world.logins.expect_report().times(1).returning(|_, _, _| Err(down()));
    assert!(world.deliver().receipt(receipt(Report::Delivered)).await.is_err());
}
