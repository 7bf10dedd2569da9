//! Promises of [`dwar_otp::ReceiptStore`]. Receipts belong to no tenant, so all of these need a fresh store.

use super::{MANY, ROUNDS};
use crate::scene::Scene;
use crate::{MS, START, Stores, race, seconds};
use dwar_kernel::{ReceiptId, Timestamp};
use dwar_otp::{
    KeptReceipt, Otp, Reason, Receipt, ReceiptReview, ReceiptRoom, Report, ReportedRequest,
    UnknownReceipts,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const LEASE: Duration = seconds(45);
/// Time after [`START`] at which all receipts of a test have arrived.
const WAIT: Duration = seconds(1);

const fn room(count: u32) -> ReceiptRoom {
    ReceiptRoom { calling: count, others: count }
}

async fn keep(stores: &Stores, receipts: &[KeptReceipt]) {
    stores.receipts.keep(receipts.to_vec()).await.unwrap();
}

async fn claim(stores: &Stores, now: Timestamp, limit: u32) -> Vec<KeptReceipt> {
    stores.receipts.claim(now, LEASE, room(limit)).await.unwrap()
}

async fn claim_ids(stores: &Stores, now: Timestamp, limit: u32) -> Vec<ReceiptId> {
    claim(stores, now, limit).await.into_iter().map(|kept| kept.id).collect()
}

impl Scene {
    /// A receipt of "meta", received this long after [`START`], about an unknown message.
    fn stray(&self, wait: Duration) -> KeptReceipt {
        KeptReceipt { received_at: START + wait, ..self.make.receipt(Report::Delivered) }
    }

    async fn receipt(&self, wait: Duration) -> KeptReceipt {
        let kept = self.stray(wait);
        self.knows(&kept.receipt).await;
        kept
    }

    async fn receipts(&self, count: u32) -> Vec<KeptReceipt> {
        let mut receipts = Vec::new();
        for age in 0..count {
            receipts.push(self.receipt(MS * age).await);
        }
        receipts
    }

    /// Records the message that a receipt is about.
    async fn knows(&self, receipt: &Receipt) {
        let otp = self.on_its_way(&receipt.provider).await;
        answers(&self.stores, &otp, receipt).await;
    }

    async fn on_its_way(&self, provider: &str) -> Otp {
        let mut otp = self.make.otp(&self.line());
        provider.clone_into(&mut otp.delivery.attempts[0].provider);
        self.issue(otp).await
    }
}

async fn answers(stores: &Stores, otp: &Otp, receipt: &Receipt) {
    let make = crate::Fixtures::random();
    let provider_ref = Some(receipt.provider_ref.clone());
    let report = Report::Accepted { provider_ref, awaits_receipt: true };
    let report = make.send_report(otp.delivery.attempts[0].id, report);
    let reported =
        stores.logins.report(ReportedRequest::Id(otp.project_mode.project, otp.id), report, START);
    assert!(reported.await.unwrap().is_some());
}

/// Fresh: every kind of report comes back unchanged.
pub async fn receipts_come_back_as_they_were_kept(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let reasons = [
        Reason::NotOnChannel,
        Reason::RejectedNumber,
        Reason::Blocked,
        Reason::TemplateRejected,
        Reason::ProviderAuth,
        Reason::ProviderThrottled,
        Reason::ProviderRefused,
        Reason::ProviderUnavailable,
        Reason::Timeout,
        Reason::Unknown,
    ];
    let sent = Report::Accepted { provider_ref: None, awaits_receipt: true };
    let mut reports: Vec<_> = reasons.map(Report::Failed).into();
    reports.extend([sent, Report::Delivered]);
    let mut receipts: Vec<_> = reports.into_iter().map(|it| scene.make.receipt(it)).collect();
    let odd = Receipt {
        provider: "http_2".to_owned(),
        provider_ref: "प्र'; --\"".to_owned(),
        report: Report::Delivered,
    };
    receipts.push(KeptReceipt { receipt: odd, ..scene.make.receipt(Report::Delivered) });
    for kept in &receipts {
        scene.knows(&kept.receipt).await;
    }
    keep(stores, &[]).await;
    assert_eq!(claim(stores, START + WAIT, MANY).await, []);
    keep(stores, &receipts).await;
    let mut claimed = claim(stores, START + WAIT, MANY).await;
    claimed.sort_by_key(|kept| kept.id);
    receipts.sort_by_key(|kept| kept.id);
    assert_eq!(claimed, receipts);
}

/// Fresh: receipts are claimed oldest first, up to the room of their kind, no matter in which order
/// they were stored.
pub async fn receipts_are_oldest_first_and_bounded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let [first, second, third, fourth] = scene.receipts(4).await.try_into().unwrap();
    keep(stores, &[third.clone(), first.clone()]).await;
    keep(stores, &[fourth.clone(), second.clone()]).await;
    assert_eq!(claim(stores, START + WAIT, 0).await, []);
    assert_eq!(claim(stores, START + WAIT, 3).await, [first, second, third]);
    assert_eq!(claim(stores, START + WAIT, 3).await, [fourth]);
    assert_eq!(claim(stores, START + WAIT, 3).await, []);
}

/// Fresh: receipts that may call the next provider have places of their own, and never delay the others.
pub async fn failures_have_room_of_their_own(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut receipts = scene.receipts(6).await;
    for kept in &mut receipts[..4] {
        kept.receipt.report = Report::Failed(Reason::Blocked);
    }
    keep(stores, &receipts).await;
    let given = async |calling, others| {
        let room = ReceiptRoom { calling, others };
        stores.receipts.claim(START + WAIT, LEASE, room).await.unwrap()
    };
    assert_eq!(given(0, 1).await, receipts[4..5]);
    assert_eq!(given(3, 0).await, receipts[..3]);
    assert_eq!(given(9, 9).await, [&receipts[5..], &receipts[3..4]].concat());
}

/// Fresh: receipts of one message are claimed one after another, in the order of arrival; others are not
/// delayed.
pub async fn receipts_about_one_message_come_one_after_the_other(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let [first, other] = scene.receipts(2).await.try_into().unwrap();
    let later = |report, age: u32| KeptReceipt {
        id: scene.make.id(),
        receipt: Receipt { report, ..first.receipt.clone() },
        received_at: START + MS * age,
    };
    let failed = later(Report::Failed(Reason::Blocked), 2);
    let again = later(Report::Failed(Reason::Unknown), 3);
    keep(stores, &[again.clone(), failed.clone(), other.clone(), first.clone()]).await;
    let now = START + WAIT;
    assert_eq!(claim_ids(stores, now, 9).await, [first.id, other.id]);
    assert_eq!(claim_ids(stores, now, 9).await, []);
    for (done, next) in [(&first, &failed), (&failed, &again)] {
        stores.receipts.done(done.id).await.unwrap();
        assert_eq!(claim_ids(stores, now, 9).await, [next.id]);
    }
}

/// Fresh: a receipt that repeats a stored one is not stored again; another report on the message, or the same
/// report on another one, is.
pub async fn a_repetition_is_not_kept_again(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let first = scene.receipt(MS).await;
    let again = |receipt: Receipt| KeptReceipt { id: scene.make.id(), receipt, ..first.clone() };
    let repetition = again(first.receipt.clone());
    let mut failed =
        again(Receipt { report: Report::Failed(Reason::Blocked), ..first.receipt.clone() });
    failed.received_at = START + MS * 2;
    let other = Receipt { provider: "msg91".to_owned(), ..first.receipt.clone() };
    keep(stores, &[first.clone(), repetition.clone()]).await;
    keep(stores, &[repetition, failed.clone(), again(failed.receipt.clone()), again(other)]).await;
    assert_eq!(stores.receipts.unknown().await.unwrap().count, 1);
    let mut ids = Vec::new();
    for _ in 0..2 {
        for id in claim_ids(stores, START + WAIT, 9).await {
            stores.receipts.done(id).await.unwrap();
            ids.push(id);
        }
    }
    assert_eq!(ids, [first.id, failed.id]);
}

/// Fresh: if one of several receipts cannot be stored, because its id is taken, either none or all of them
/// are.
pub async fn keep_is_all_or_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let [known, second, third] = scene.receipts(3).await.try_into().unwrap();
    keep(stores, std::slice::from_ref(&known)).await;
    let kept = stores.receipts.keep(vec![second.clone(), known.clone(), third.clone()]).await;
    let wanted = if kept.is_ok() { vec![known, second, third] } else { vec![known] };
    assert_eq!(claim(stores, START + WAIT, 9).await, wanted);
}

/// Fresh: a claimed receipt comes again at the end of its lease, to the instant; a lease that ends too late
/// is brought forward.
pub async fn a_receipt_given_out_comes_again_after_the_lease(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (receipt, now) = (scene.receipt(Duration::ZERO).await, START + WAIT);
    keep(stores, std::slice::from_ref(&receipt)).await;
    for round in 0..3 {
        let due = now + LEASE * round;
        assert_eq!(claim(stores, due, 9).await, std::slice::from_ref(&receipt));
        assert_eq!(claim(stores, due, 9).await, []);
        assert_eq!(claim(stores, due + LEASE - MS, 9).await, []);
    }
    let end = now + LEASE * 3;
    assert_eq!(stores.receipts.bring_forward(end, START).await.unwrap(), 0);
    assert_eq!(stores.receipts.bring_forward(end - MS, now).await.unwrap(), 1);
    assert_eq!(claim(stores, now - MS, 9).await, []);
    assert_eq!(claim(stores, now, 9).await, [receipt]);
}

/// Fresh: a receipt that is done, before or after it was claimed, is deleted; repeating that is harmless.
pub async fn a_receipt_that_is_done_is_gone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let [one, two, three] = scene.receipts(3).await.try_into().unwrap();
    keep(stores, &[one.clone(), two.clone(), three.clone()]).await;
    for _ in 0..2 {
        stores.receipts.done(one.id).await.unwrap();
        stores.receipts.done(scene.make.id()).await.unwrap();
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

/// Fresh: any number of older unknown receipts does not delay a known one, and none of them is claimed.
pub async fn unknown_receipts_hold_up_no_known_one(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let strays: Vec<_> = (0..600).map(|age| scene.stray(MS * age)).collect();
    keep(stores, &strays).await;
    let known = scene.receipt(MS * 700).await;
    keep(stores, std::slice::from_ref(&known)).await;
    let now = START + seconds(300);
    stores.receipts.review(now, MANY).await.unwrap();
    assert_eq!(claim_ids(stores, now, 1).await, [known.id]);
    assert_eq!(claim_ids(stores, now, MANY).await, []);
    let unknown = UnknownReceipts { count: 600, oldest: Some(START) };
    assert_eq!(stores.receipts.unknown().await.unwrap(), unknown);
}

/// Fresh: a receipt that came before the answer to its own send is due from the instant at which that answer
/// is on record, before any review; the same reference of another provider is not.
pub async fn a_receipt_that_overtook_its_answer_is_due_with_it(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let early = scene.stray(Duration::ZERO);
    let mut foreign = scene.stray(MS);
    "msg91".clone_into(&mut foreign.receipt.provider);
    foreign.receipt.provider_ref.clone_from(&early.receipt.provider_ref);
    let otp = scene.on_its_way("meta").await;
    keep(stores, &[early.clone(), foreign]).await;
    assert_eq!(claim_ids(stores, START + WAIT, 9).await, []);
    answers(stores, &otp, &early.receipt).await;
    assert_eq!(claim(stores, START + MS, 9).await, [early]);
    assert_eq!(stores.receipts.unknown().await.unwrap().count, 1);
}

/// Fresh: concurrent receipts and answers to their sends find each other: at once, or at the first review.
pub async fn receipts_and_answers_at_once_meet(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let mut pairs = Vec::new();
        for _ in 0..12 {
            pairs.push((scene.stray(Duration::ZERO), scene.on_its_way("meta").await));
        }
        race(24, |number| {
            let (stores, (kept, otp)) = (stores.clone(), pairs[number / 2].clone());
            async move {
                match number % 2 {
                    0 => keep(&stores, &[kept]).await,
                    _ => answers(&stores, &otp, &kept.receipt).await,
                }
            }
        })
        .await;
        stores.receipts.review(START + WAIT, MANY).await.unwrap();
        let claimed = claim_ids(stores, START + WAIT, MANY).await;
        assert_eq!(claimed.len(), pairs.len());
        for id in claimed {
            stores.receipts.done(id).await.unwrap();
        }
    }
}

/// Fresh: a receipt that stays unknown is dropped after ten minutes, to the instant.
pub async fn an_unknown_receipt_is_over_after_ten_minutes(stores: &Stores) {
    let scene = Scene::open(stores).await;
    keep(stores, &[scene.stray(Duration::ZERO)]).await;
    let over = START + seconds(600);
    for (now, expired) in [(START + seconds(1), 0), (over - MS, 0), (over, 1), (over, 0)] {
        let reviewed = ReceiptReview { expired, crowded_out: 0 };
        assert_eq!(stores.receipts.review(now, MANY).await.unwrap(), reviewed);
    }
    assert_eq!(stores.receipts.unknown().await.unwrap(), UnknownReceipts::default());
}

/// Fresh: beyond the bound the oldest unknown receipts are dropped, and never a known one.
pub async fn the_oldest_unknown_receipts_make_room(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let known = scene.receipt(Duration::ZERO).await;
    let mut strays: Vec<_> = (1..=30).map(|age| scene.stray(MS * age)).collect();
    strays.reverse();
    keep(stores, std::slice::from_ref(&known)).await;
    keep(stores, &strays).await;
    for (most, crowded_out) in [(30, 0), (10, 20), (10, 0)] {
        let reviewed = ReceiptReview { expired: 0, crowded_out };
        assert_eq!(stores.receipts.review(START + WAIT, most).await.unwrap(), reviewed);
    }
    let unknown = UnknownReceipts { count: 10, oldest: Some(START + MS * 21) };
    assert_eq!(stores.receipts.unknown().await.unwrap(), unknown);
    assert_eq!(claim_ids(stores, START + WAIT, 9).await, [known.id]);
    for stray in &strays {
        scene.knows(&stray.receipt).await;
    }
    let wanted: Vec<_> = strays[..10].iter().rev().map(|stray| stray.id).collect();
    assert_eq!(claim_ids(stores, START + WAIT, MANY).await, wanted);
}

/// Fresh: under many concurrent callers each receipt goes to exactly one, and none is forgotten.
pub async fn claims_at_once_hand_each_receipt_to_one_caller(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let receipts = scene.receipts(60).await;
        keep(stores, &receipts).await;
        let now = START + WAIT;
        let answers = race(40, |_| {
            let store = Arc::clone(&stores.receipts);
            async move { store.claim(now, seconds(86_400), room(2)).await.unwrap() }
        })
        .await;
        assert!(answers.iter().all(|answer| answer.len() <= 2));
        let mut claimed: Vec<_> = answers.into_iter().flatten().map(|kept| kept.id).collect();
        claimed.extend(claim_ids(stores, now, MANY).await);
        assert_eq!(claimed.len(), receipts.len());
        let wanted: BTreeSet<_> = receipts.iter().map(|kept| kept.id).collect();
        assert_eq!(claimed.iter().copied().collect::<BTreeSet<_>>(), wanted);
        for id in claimed {
            stores.receipts.done(id).await.unwrap();
        }
    }
}
