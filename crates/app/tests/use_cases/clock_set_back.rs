use crate::common::{World, down};
use dwar_app::{ClockSetBack, ClockWatch, Policies};
use dwar_event::MockEventStore;
use dwar_otp::{MockOtpStore, MockReceiptStore};
use dwar_testkit::{FixedClock, START, minutes, seconds};
use mockall::predicate::eq;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

fn over(
    world: &World,
    otps: MockOtpStore,
    receipts: MockReceiptStore,
    events: MockEventStore,
) -> ClockSetBack {
    ClockSetBack {
        tools: world.tools(),
        otps: Arc::new(otps),
        receipts: Arc::new(receipts),
        events: Arc::new(events),
        lease: seconds(10),
        longest_wait: Policies::default().longest_receipt_window(),
        done: AtomicU64::new(0),
    }
}

#[tokio::test]
async fn what_is_due_too_late_is_brought_forward_at_the_start_and_after_each_step_back() {
    let mut world = World::live();
    let steady = Arc::new(FixedClock::at(START));
    world.watch = Arc::new(ClockWatch::new(world.clock.clone(), steady));
    let (mut otps, mut receipts, mut events) =
        (MockOtpStore::new(), MockReceiptStore::new(), MockEventStore::new());
    let (soon, mut answers) = (START + seconds(10), vec![Ok(1), Ok(1), Err(down())]);
    let sends = otps.expect_bring_forward().with(eq(START + seconds(30 + 300)), eq(soon));
    sends.times(3).returning(move |_, _| answers.pop().unwrap());
    let later_than = START + seconds(30 + 120);
    let kept = receipts.expect_bring_forward().with(eq(later_than), eq(soon));
    kept.times(2).returning(|_, _| Ok(2));
    events.expect_bring_forward().with(eq(START)).times(2).returning(|_| Ok(4));
    let clock_set_back = over(&world, otps, receipts, events);
    let put_right = || clock_set_back.put_right();
    assert!(put_right().await.is_err());
    assert_eq!(put_right().await.unwrap(), 7, "it is not done before the stores have answered");
    assert_eq!(put_right().await.unwrap(), 0);
    world.clock.set(START + minutes(60));
    assert_eq!(put_right().await.unwrap(), 0, "it was set forward");
    world.clock.set(START);
    assert_eq!(put_right().await.unwrap(), 7);
    assert_eq!(put_right().await.unwrap(), 0);
}

#[tokio::test]
async fn while_the_clock_is_too_far_off_nothing_is_brought_forward() {
    let world = World::live();
    world.watch.compare(world.watch.moment(), START + seconds(30));
    let (otps, receipts) = (MockOtpStore::new(), MockReceiptStore::new());
    let clock_set_back = over(&world, otps, receipts, MockEventStore::new());
    assert_eq!(clock_set_back.put_right().await.unwrap(), 0);
}
