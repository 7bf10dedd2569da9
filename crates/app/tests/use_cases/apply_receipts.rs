use crate::common::{World, broken, charged, down};
use dwar_app::{ApplyReceipts, ClaimedWork, ProviderWatch};
use dwar_event::{EventKind, MockEventStore, Subject};
use dwar_kernel::{ReceiptId, StoreError};
use dwar_otp::{
    KeptReceipt, MockReceiptStore, Otp, Reason, Receipt, ReceiptReview, ReceiptRoom, ReceiptTarget,
    Report,
};
use dwar_testkit::{MS, START, seconds};
use mockall::predicate::{always, eq};
use std::sync::{Arc, Mutex};

fn applying(world: &mut World, receipts: MockReceiptStore) -> ApplyReceipts {
    applying_and_telling(world, receipts, MockEventStore::new())
}

fn applying_and_telling(
    world: &mut World,
    receipts: MockReceiptStore,
    events: MockEventStore,
) -> ApplyReceipts {
    ApplyReceipts {
        receipts: Arc::new(receipts),
        deliver: world.deliver(),
        watch: ProviderWatch::new(world.tools(), Arc::new(events)),
    }
}

/// Expects that exactly these receipts are deleted.
fn takes_off(done: &[ReceiptId]) -> MockReceiptStore {
    let mut receipts = MockReceiptStore::new();
    for id in done {
        receipts.expect_done().with(eq(*id)).times(1).returning(|_| Ok(()));
    }
    receipts
}

/// Makes the next receipts be about a request that WhatsApp has accepted.
fn known(world: &mut World) -> Otp {
    let otp = world.sent_by_whatsapp();
    let attempt = otp.delivery.attempts[0].id;
    let target = ReceiptTarget { project_mode: otp.project_mode, otp: otp.id, attempt };
    world.otps.expect_find_attempt().returning(move |_, _| Ok(Some(target)));
    world.knows_project().applies_reports();
    otp
}

#[tokio::test]
async fn a_receipt_is_applied_and_then_taken_off_the_record() {
    let mut world = World::live();
    let kept = world.make.receipt(Report::Delivered);
    known(&mut world);
    let receipts = takes_off(&[kept.id]);
    applying(&mut world, receipts).perform(&kept).await.unwrap();
    assert_eq!(world.ends(), [charged(30)]);
}

#[tokio::test]
async fn a_receipt_whose_message_was_erased_is_over() {
    let mut world = World::live();
    world.otps.expect_find_attempt().times(1).returning(|_, _| Ok(None));
    let kept = world.make.receipt(Report::Delivered);
    let receipts = takes_off(&[kept.id]);
    applying(&mut world, receipts).perform(&kept).await.unwrap();
}

#[tokio::test]
async fn a_receipt_that_cannot_be_applied_stays_for_ten_minutes() {
    let limit = START + seconds(600);
    for (now, gone) in [(START, false), (limit - MS, false), (limit, true)] {
        let mut world = World::live();
        world.clock.set(now);
        world.otps.expect_find_attempt().times(1).returning(|_, _| Err(broken()));
        let kept = world.make.receipt(Report::Delivered);
        let done = [kept.id];
        let receipts = takes_off(if gone { &done } else { &[] });
        applying(&mut world, receipts).perform(&kept).await.unwrap();
    }
}

#[tokio::test]
async fn a_store_out_of_reach_loses_nothing() {
    let mut world = World::live();
    let kept = world.make.receipt(Report::Delivered);
    world.otps.expect_find_attempt().times(1).returning(|_, _| Err(down()));
    let receipts = takes_off(&[]);
    assert!(applying(&mut world, receipts).perform(&kept).await.is_err());
}

#[tokio::test]
async fn what_is_under_way_takes_its_place() {
    let mut world = World::live();
    let failed = Arc::new(world.make.receipt(Report::Failed(Reason::Blocked)));
    let delivered = Arc::new(world.make.receipt(Report::Delivered));
    let mut receipts = MockReceiptStore::new();
    for (calling, others) in [(32, 16), (30, 15), (0, 16)] {
        let claim = receipts.expect_claim();
        let room = ReceiptRoom { calling, others };
        claim.with(eq(START), eq(seconds(10)), eq(room)).times(1).returning(|_, _, _| Ok(vec![]));
    }
    let apply = applying(&mut world, receipts);
    let some = [Arc::clone(&failed), delivered, Arc::clone(&failed)];
    for under_way in [&[][..], &some, &vec![failed; 40]] {
        assert_eq!(apply.claim(under_way).await.unwrap(), []);
    }
}

#[tokio::test]
async fn a_review_is_bounded() {
    let mut world = World::live();
    let mut receipts = MockReceiptStore::new();
    let reviewed = ReceiptReview { expired: 1, crowded_out: 2 };
    let review = receipts.expect_review().with(eq(START), eq(20_000));
    review.times(1).returning(move |_, _| Ok(reviewed));
    assert_eq!(applying(&mut world, receipts).review().await.unwrap(), reviewed);
}

#[tokio::test]
async fn what_test_keys_provoke_says_nothing_about_a_provider() {
    let mut world = World::test();
    known(&mut world);
    let mut receipts = MockReceiptStore::new();
    receipts.expect_done().returning(|_| Ok(()));
    // The store of events expects no call, so no project may get an event.
    let apply = applying(&mut world, receipts);
    apply_many(&world, &apply, Report::Delivered, 200).await.unwrap();
    world.clock.set(world.tools().now() + seconds(900));
    apply_many(&world, &apply, Report::Failed(Reason::Blocked), 200).await.unwrap();
}

/// Applies this many receipts of one provider, one per second.
async fn apply_many(
    world: &World,
    apply: &ApplyReceipts,
    report: Report,
    count: u32,
) -> Result<(), StoreError> {
    for _ in 0..count {
        world.clock.set(world.tools().now() + seconds(1));
        let receipt = Receipt {
            provider: "meta".to_owned(),
            provider_ref: "wamid".to_owned(),
            report: report.clone(),
        };
        let (id, received_at) = (world.make.id(), world.tools().now());
        apply.perform(&KeptReceipt { id, receipt, received_at }).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_provider_whose_receipts_fail_unlike_its_past_is_told_of_once() {
    let mut world = World::live();
    let otp = known(&mut world);
    // The request was delivered long ago: later receipts do not change it.
    let mut receipts = MockReceiptStore::new();
    receipts.expect_done().returning(|_| Ok(()));
    let (told, mut events) = (Arc::new(Mutex::new(Vec::new())), MockEventStore::new());
    let seen = Arc::clone(&told);
    events.expect_record().with(always()).returning(move |event| {
        seen.lock().unwrap().push(event);
        Ok(())
    });
    let apply = applying_and_telling(&mut world, receipts, events);
    apply_many(&world, &apply, Report::Delivered, 200).await.unwrap();
    let sent = Report::Accepted { provider_ref: None, awaits_receipt: true };
    apply_many(&world, &apply, sent, 900).await.unwrap();
    assert_eq!(told.lock().unwrap().len(), 0);
    apply_many(&world, &apply, Report::Failed(Reason::Blocked), 200).await.unwrap();
    let told = told.lock().unwrap().clone();
    assert_eq!(told.len(), 1);
    assert_eq!(
        (told[0].project_mode.project, told[0].kind),
        (otp.project_mode.project, EventKind::ProviderFailing)
    );
    let Subject::Provider { provider, failed, receipts } = &told[0].subject else {
        panic!("{told:?}")
    };
    assert_eq!((provider.as_str(), *failed, *receipts), ("meta", 40, 40));
}
