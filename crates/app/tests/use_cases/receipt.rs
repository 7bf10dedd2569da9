use crate::common::{World, accepted, down, refused};
use dwar_otp::{
    AttemptStatus, Channel, DeliveryStatus, Otp, Reason, Receipt, ReceiptTarget, Report,
};
use dwar_testkit::{CODE, START, minutes};
use dwar_wallet::{Paise, Refunded, Settlement};
use mockall::predicate::eq;

/// Overdue, as found while the receipt was waited for.
const OVERDUE: Report = Report::Overdue { seen: AttemptStatus::Sent };

fn receipt(report: Report) -> Receipt {
    Receipt { provider: "meta".to_owned(), provider_ref: "wamid-1".to_owned(), report }
}

/// A request that WhatsApp has accepted; the next receipt is about it.
fn sent() -> (World, Otp) {
    let mut world = World::live();
    let otp = world.sent_by_whatsapp();
    let target = ReceiptTarget {
        project: otp.project,
        mode: otp.mode,
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
    world.sms(accepted()).settles(Settlement::Capture(Paise(20)));
    assert!(record(&mut world, Report::Failed(Reason::Blocked)).await);
    let message = world.messages().remove(0);
    assert_eq!((message.channel, message.code.expose()), (Channel::Sms, CODE));
}

#[tokio::test]
async fn a_late_failure_everywhere_is_free() {
    let (mut world, _) = sent();
    world.sms(refused()).settles(Settlement::Release);
    assert!(record(&mut world, Report::Failed(Reason::Blocked)).await);
    assert_eq!(world.stored().delivery.status, DeliveryStatus::Failed);
}

#[tokio::test]
async fn a_delivery_is_paid() {
    let (mut world, _) = sent();
    world.settles(Settlement::Capture(Paise(30)));
    assert!(record(&mut world, Report::Delivered).await);
    assert_eq!(world.stored().delivery.attempts[0].status, AttemptStatus::Delivered);
}

#[tokio::test]
async fn a_repeated_receipt_settles_what_the_first_may_not_have_and_nothing_else() {
    let (mut world, _) = sent();
    let mut answers = vec![false, true];
    let settle = world.wallets.expect_settle().times(2);
    settle
        .withf(|_, _, settlement, _, _| *settlement == Settlement::Capture(Paise(30)))
        .returning(move |_, _, _, _, _| Ok(answers.pop().unwrap()));
    let deliver = world.deliver();
    for _ in 0..2 {
        assert!(deliver.receipt(receipt(Report::Delivered)).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn a_late_failure_of_a_code_that_was_charged_gives_the_money_back() {
    let (mut world, otp) = sent();
    // The first provider had taken it: the place is kept.
    world.sms(refused());
    let (project, send) = (otp.project, otp.id);
    world.wallets.expect_settle().times(1).returning(|_, _, _, _, _| Ok(false));
    let refund = world.wallets.expect_refund().times(1);
    refund
        .withf(move |of, what, _, _| (*of, *what) == (project, send))
        .returning(|_, _, _, _| Ok(Refunded::Refunded(Paise(30))));
    assert!(record(&mut world, Report::Failed(Reason::Blocked)).await);
}

#[tokio::test]
async fn a_failure_of_a_code_that_is_over_is_not_sent_again() {
    let (mut world, _) = sent();
    world.clock.advance(minutes(10));
    world.settles(Settlement::Release);
    assert!(record(&mut world, Report::Failed(Reason::Blocked)).await);
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
    let (mut world, mut otp) = sent();
    world.otps.checkpoint();
    let (route, next) = (world.make.route(), world.make.id());
    let whatsapp = otp.delivery.attempts[0].id;
    let target =
        ReceiptTarget { project: otp.project, mode: otp.mode, otp: otp.id, attempt: whatsapp };
    world.otps.expect_find_attempt().returning(move |_, _| Ok(Some(target)));
    let step = otp.report(whatsapp, OVERDUE, &route, next, START);
    let mut answers = vec![None, Some((otp, step))];
    world
        .otps
        .expect_report()
        .times(2)
        .returning(move |_, _, _, _, _, _| Ok(answers.pop().unwrap()));
    world.sms(refused()).settles(Settlement::Capture(Paise(30)));
    assert!(record(&mut world, OVERDUE).await);
}

#[tokio::test]
async fn a_store_failure_is_told() {
    let mut world = World::live();
    world.otps.expect_find_attempt().returning(|_, _| Err(down()));
    assert!(world.deliver().receipt(receipt(Report::Delivered)).await.is_err());
}
