//! What [`dwar_otp::ReceiptStore`] promises. Receipts belong to no tenant, so all of these are for
//! a fresh store.

use super::ROUNDS;
use crate::{Fixtures, MS, START, Stores, race, seconds};
use dwar_kernel::{ReceiptId, Timestamp};
use dwar_otp::{KeptReceipt, Reason, Receipt, Report};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const LEASE: Duration = seconds(45);
/// How long after [`START`] everything that a test keeps has come in.
const WAIT: Duration = seconds(1);

async fn keep(stores: &Stores, receipts: &[KeptReceipt]) {
    stores.receipts.keep(receipts.to_vec()).await.unwrap();
}

async fn claim(stores: &Stores, now: Timestamp, limit: u32) -> Vec<KeptReceipt> {
    stores.receipts.claim(now, LEASE, limit).await.unwrap()
}

/// The ids of what a claim gives.
async fn claim_ids(stores: &Stores, now: Timestamp, limit: u32) -> Vec<ReceiptId> {
    claim(stores, now, limit).await.into_iter().map(|kept| kept.id).collect()
}

/// A receipt that came in this long after [`START`].
fn after(make: &Fixtures, wait: Duration) -> KeptReceipt {
    KeptReceipt { received_at: START + wait, ..make.receipt(Report::Delivered) }
}

/// Fresh: whatever is reported comes back as it was kept; two equal receipts are two.
pub async fn receipts_come_back_as_they_were_kept(stores: &Stores) {
    let make = Fixtures::random();
    let reasons = [
        Reason::NotOnChannel,
        Reason::RejectedNumber,
        Reason::Blocked,
        Reason::TemplateRejected,
        Reason::ProviderAuth,
        Reason::ProviderThrottled,
        Reason::ProviderUnavailable,
        Reason::Timeout,
        Reason::Unknown,
    ];
    let sent = Report::Accepted { provider_ref: None, awaits_receipt: true };
    let mut receipts: Vec<_> =
        reasons.map(Report::Failed).map(|report| make.receipt(report)).into();
    receipts.push(make.receipt(sent));
    let delivered = make.receipt(Report::Delivered);
    receipts.push(KeptReceipt { id: make.id(), ..delivered.clone() });
    receipts.push(delivered);
    let odd = Receipt {
        provider: "http_2".to_owned(),
        provider_ref: "प्र'; --\"".to_owned(),
        report: Report::Delivered,
    };
    receipts.push(KeptReceipt { receipt: odd, ..make.receipt(Report::Delivered) });
    keep(stores, &[]).await;
    assert_eq!(claim(stores, START + WAIT, 100).await, []);
    keep(stores, &receipts).await;
    let mut claimed = claim(stores, START + WAIT, 100).await;
    claimed.sort_by_key(|kept| kept.id);
    receipts.sort_by_key(|kept| kept.id);
    assert_eq!(claimed, receipts);
}

/// Fresh: receipts are handed out oldest first, up to the limit, however they were kept.
pub async fn receipts_are_oldest_first_and_bounded(stores: &Stores) {
    let make = Fixtures::random();
    let [third, first, fourth, second] = [2, 0, 3, 1].map(|age| after(&make, MS * age));
    keep(stores, &[third.clone(), first.clone()]).await;
    keep(stores, &[fourth.clone(), second.clone()]).await;
    assert_eq!(claim(stores, START + WAIT, 0).await, []);
    assert_eq!(claim(stores, START + WAIT, 3).await, [first, second, third]);
    assert_eq!(claim(stores, START + WAIT, 3).await, [fourth]);
    assert_eq!(claim(stores, START + WAIT, 3).await, []);
}

/// Fresh: of receipts of which one cannot be kept, because its id is taken, none is or all are.
pub async fn keep_is_all_or_nothing(stores: &Stores) {
    let make = Fixtures::random();
    let known = after(&make, Duration::ZERO);
    keep(stores, std::slice::from_ref(&known)).await;
    let fresh = [after(&make, MS), after(&make, MS * 2)];
    let batch = vec![fresh[0].clone(), known.clone(), fresh[1].clone()];
    let kept = stores.receipts.keep(batch).await.is_ok();
    let mut wanted = vec![known];
    if kept {
        wanted.extend(fresh);
    }
    assert_eq!(claim(stores, START + WAIT, 9).await, wanted);
}

/// Fresh: a receipt that was given out comes again at the end of its lease, to the instant.
pub async fn a_receipt_given_out_comes_again_after_the_lease(stores: &Stores) {
    let make = Fixtures::random();
    let (receipt, now) = (after(&make, Duration::ZERO), START + WAIT);
    keep(stores, std::slice::from_ref(&receipt)).await;
    for round in 0..3 {
        let due = now + LEASE * round;
        assert_eq!(claim(stores, due, 9).await, std::slice::from_ref(&receipt));
        assert_eq!(claim(stores, due, 9).await, []);
        assert_eq!(claim(stores, due + LEASE - MS, 9).await, []);
    }
}

/// Fresh: a receipt that is done, before or after it was given out, is gone; its end repeats.
pub async fn a_receipt_that_is_done_is_gone(stores: &Stores) {
    let make = Fixtures::random();
    let [one, two, three] = [0, 1, 2].map(|age| after(&make, MS * age));
    keep(stores, &[one.clone(), two.clone(), three.clone()]).await;
    for _ in 0..2 {
        stores.receipts.done(one.id).await.unwrap();
        stores.receipts.done(make.id()).await.unwrap();
    }
    let now = START + WAIT;
    assert_eq!(claim_ids(stores, now, 9).await, [two.id, three.id]);
    for _ in 0..2 {
        stores.receipts.done(two.id).await.unwrap();
    }
    assert_eq!(claim_ids(stores, now + LEASE, 9).await, [three.id]);
    stores.receipts.done(three.id).await.unwrap();
    assert_eq!(claim_ids(stores, now + LEASE * 2, 9).await, []);
}

/// Fresh: of many callers at once each receipt goes to exactly one, and none is forgotten.
pub async fn claims_at_once_hand_each_receipt_to_one_caller(stores: &Stores) {
    let make = Fixtures::random();
    for _ in 0..ROUNDS {
        let receipts: Vec<_> = (0..60).map(|age| after(&make, MS * age)).collect();
        keep(stores, &receipts).await;
        let now = START + WAIT;
        let answers = race(40, |_| {
            let store = Arc::clone(&stores.receipts);
            async move { store.claim(now, seconds(86_400), 2).await.unwrap() }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.len() <= 2));
        let mut claimed: Vec<_> = answers.into_iter().flatten().map(|kept| kept.id).collect();
        claimed.extend(claim_ids(stores, now, 1_000).await);
        assert_eq!(claimed.len(), receipts.len());
        let wanted: BTreeSet<_> = receipts.iter().map(|kept| kept.id).collect();
        assert_eq!(claimed.iter().copied().collect::<BTreeSet<_>>(), wanted);
        for id in claimed {
            stores.receipts.done(id).await.unwrap();
        }
    }
}
