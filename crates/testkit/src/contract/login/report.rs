use super::{HELD, OnRecord, begun, places};
use crate::contract::wallet::{balance, balance_of, checked_ledger};
use crate::contract::{ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, Line, PRICES, START, Stores, race, seconds};
use dwar_event::{EventKind, Subject};
use dwar_kernel::{GuessPolicy, KeyMode, Paise};
use dwar_login::SendReport;
use dwar_otp::{
    Channel, Charge, DeliveryStatus, DeliveryStep, GuessVerdict, Otp, OtpState, Reason, Report,
    ReportedRequest,
};
use dwar_ratelimit::{Quota, SendQuota};
use dwar_wallet::{EntryKind, LedgerEntry};
use std::sync::Arc;

/// The provider accepted the message; `awaits_receipt` says whether it reports delivery later.
const fn accepted(awaits_receipt: bool) -> Report {
    Report::Accepted { provider_ref: None, awaits_receipt }
}

/// The kinds of all ledger entries, oldest first.
async fn booked(stores: &Stores, scene: &Scene) -> Vec<EntryKind> {
    let ledger = checked_ledger(stores, scene.project).await;
    ledger.iter().rev().map(|entry| entry.kind).collect()
}

impl Scene {
    /// Like [`Scene::reports`], one second later, for a request that exists.
    async fn hears_back(&self, otp: &Otp, attempt: usize, report: Report) -> (Otp, DeliveryStep) {
        self.reports(otp, attempt, report, START + seconds(1)).await.unwrap()
    }
}

/// The answer that ends a send captures the price of its channel and releases the rest, with the entry ids of
/// the report.
pub async fn the_answer_that_ends_a_send_charges_its_channel(stores: &Stores) {
    for (tried, channel) in [(0, Channel::Whatsapp), (1, Channel::Sms)] {
        let scene = Scene::open(stores).await;
        scene.credit(100).await;
        let mut otp = begun(&scene, &scene.line()).await;
        if tried == 1 {
            otp = scene.hears_back(&otp, 0, Report::Failed(Reason::NotOnChannel)).await.0;
        }
        let attempt = otp.delivery.attempts[tried].id;
        let report = scene.make.send_report(attempt, accepted(false));
        let (request, now) =
            (ReportedRequest::Id(otp.project_mode.project, otp.id), START + seconds(2));
        let answer = stores.logins.report(request, report.clone(), now).await.unwrap();
        let (told, step) = answer.unwrap();
        assert_eq!(step, DeliveryStep::Settle(Charge::Channel(channel)));
        assert_eq!((told.delivery.status, told.delivery.due_at), (DeliveryStatus::Sent, None));
        let found = stores.otps.find(otp.project_mode, otp.id).await.unwrap();
        assert_eq!(found, Some(told));

        let (Paise(price), Paise(held)) = (PRICES.of(channel), HELD);
        let entry = |id, kind, amount, held, after| LedgerEntry {
            id,
            kind,
            amount: Paise(amount),
            held: Paise(held),
            after,
            reference: otp.id.into(),
            relayed: false,
            at: now,
        };
        let [capture, release] = report.entries;
        let (left, rest) = (100 - price, held - price);
        let wanted = [
            entry(release, EntryKind::Release, 0, -rest, balance(left, 0)),
            entry(capture, EntryKind::Capture, -price, -price, balance(left, rest)),
        ];
        assert_eq!(checked_ledger(stores, scene.project).await[..2], wanted);
    }
}

/// An answer that awaits a receipt leaves the hold open; the receipt ends it.
pub async fn an_answer_that_awaits_a_receipt_leaves_the_hold(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let otp = begun(&scene, &scene.line()).await;
    assert_eq!(scene.hears_back(&otp, 0, accepted(true)).await.1, DeliveryStep::Wait);
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 40));
    let step = scene.hears_back(&otp, 0, Report::Delivered).await.1;
    assert_eq!(step, DeliveryStep::Settle(Charge::Channel(Channel::Whatsapp)));
    assert_eq!(balance_of(stores, scene.project).await, balance(70, 0));
    scene.hears_back(&otp, 0, Report::Delivered).await;
    let kinds = [EntryKind::Credit, EntryKind::Hold, EntryKind::Capture, EntryKind::Release];
    assert_eq!(booked(stores, &scene).await, kinds);
}

/// The next attempt is on record before its provider is called, and the hold stays open for it.
pub async fn a_next_attempt_is_on_record_before_the_answer(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let line = scene.line();
    let otp = begun(&scene, &line).await;
    let refused = Report::Failed(Reason::NotOnChannel);
    let (told, step) = scene.hears_back(&otp, 0, refused).await;
    assert_eq!(step, DeliveryStep::Try(told.delivery.attempts[1].clone()));
    assert_eq!(OnRecord::of(stores, &line).await.requests, [told]);
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 40));
}

/// When every channel has failed, the code is void and the money is released. If each provider refused, the
/// phone gets its place back, though the send counts as one that reached a provider; if a message may have
/// been sent, it does not.
pub async fn a_send_that_failed_is_undone(stores: &Stores) {
    for (first, second, is_forgiven) in [
        (Reason::NotOnChannel, Reason::Blocked, true),
        (Reason::Timeout, Reason::Blocked, false),
        (Reason::NotOnChannel, Reason::Unknown, false),
    ] {
        let scene = Scene::open(stores).await;
        scene.credit(100).await;
        let line = scene.line();
        let otp = begun(&scene, &line).await;
        let (otp, _) = scene.hears_back(&otp, 0, Report::Failed(first)).await;
        let last = otp.delivery.attempts.len() - 1;
        for _ in 0..2 {
            let (told, _) = scene.hears_back(&otp, last, Report::Failed(second)).await;
            assert_eq!(
                (told.state, told.delivery.status),
                (OtpState::Void, DeliveryStatus::Failed)
            );
            assert_eq!(OnRecord::of(stores, &line).await.requests, [told]);
        }
        let kinds = [EntryKind::Credit, EntryKind::Hold, EntryKind::Release];
        assert_eq!(booked(stores, &scene).await, kinds);
        assert_eq!(balance_of(stores, scene.project).await, balance(100, 0));
        let log = stores.sends.log(line.send_key()).await.unwrap();
        let free = |quota| log.clone().admit(&quota, &GuessPolicy::OFF, START).refused_by.is_none();
        assert_eq!(free(places(1)), is_forgiven, "{first:?}, {second:?}");
        let once = Quota { limit: 1, ..places(1).places };
        assert!(!free(SendQuota { reach: Some(once), ..places(9) }), "{first:?}, {second:?}");
        assert_eq!(scene.judge(&line, CODE, GuessPolicy::OFF, START).await, GuessVerdict::NotFound);
    }
}

/// A failure that is reported after the charge refunds it once, and keeps the place; a later receipt does not
/// charge again.
pub async fn a_failure_after_the_charge_gives_it_back_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let line = scene.line();
    let otp = begun(&scene, &line).await;
    scene.hears_back(&otp, 0, accepted(false)).await;
    assert_eq!(balance_of(stores, scene.project).await, balance(70, 0));
    let log = OnRecord::of(stores, &line).await.log;
    let mut late =
        scene.make.send_report(otp.delivery.attempts[0].id, Report::Failed(Reason::Blocked));
    late.route.hops.truncate(1);
    let request = ReportedRequest::Id(otp.project_mode.project, otp.id);
    for _ in 0..2 {
        let now = START + seconds(3);
        let told = stores.logins.report(request.clone(), late.clone(), now).await.unwrap();
        assert_eq!(told.unwrap().0.state, OtpState::Void);
        let newest = checked_ledger(stores, scene.project).await.swap_remove(0);
        let refund = (late.entries[0], EntryKind::Refund, Paise(30), now);
        assert_eq!((newest.id, newest.kind, newest.amount, newest.at), refund);
        assert_eq!(balance_of(stores, scene.project).await, balance(100, 0));
    }
    scene.hears_back(&otp, 0, Report::Delivered).await;
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 0));
    assert_eq!(checked_ledger(stores, scene.project).await.len(), 5);
    assert_eq!(OnRecord::of(stores, &line).await.log, log);
}

/// The same if another channel could follow: the code was kept only until the charge, so no other channel is
/// tried.
pub async fn a_failure_after_the_charge_tries_no_other_channel(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let otp = begun(&scene, &scene.line()).await;
    scene.hears_back(&otp, 0, accepted(false)).await;
    assert_eq!(balance_of(stores, scene.project).await, balance(70, 0));
    for step in [DeliveryStep::Settle(Charge::Nothing), DeliveryStep::Wait] {
        let told = scene.hears_back(&otp, 0, Report::Failed(Reason::Blocked)).await;
        assert_eq!((told.1, told.0.delivery.attempts.len()), (step, 1));
        assert_eq!(balance_of(stores, scene.project).await, balance(100, 0));
    }
    let kinds = [EntryKind::Credit, EntryKind::Hold, EntryKind::Capture, EntryKind::Release];
    let kinds: Vec<_> = kinds.into_iter().chain([EntryKind::Refund]).collect();
    assert_eq!(booked(stores, &scene).await, kinds);
}

/// A receipt that came before the provider's answer ends the send. The answer, whose caller does not know of
/// the receipt, does not charge again: the stored request decides.
pub async fn a_receipt_before_the_answer_is_charged_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    for (answer, left) in [(accepted(false), 70), (Report::Failed(Reason::Timeout), 40)] {
        let seen = begun(&scene, &scene.line()).await;
        let step = scene.hears_back(&seen, 0, Report::Delivered).await.1;
        assert_eq!(step, DeliveryStep::Settle(Charge::Channel(Channel::Whatsapp)));
        let answer = scene.make.send_report(seen.delivery.attempts[0].id, answer);
        let stale = ReportedRequest::Seen(Box::new(seen));
        let (told, step) = stores.logins.report(stale, answer, START).await.unwrap().unwrap();
        assert_eq!(step, DeliveryStep::Wait);
        assert_eq!(told.delivery.status, DeliveryStatus::Delivered);
        assert_eq!(balance_of(stores, scene.project).await, balance(left, 0));
    }
    assert_eq!(checked_ledger(stores, scene.project).await.len(), 1 + 2 * 3);
}

fn reports_at_once(scene: &Scene, otp: &Otp, number: usize) -> (ReportedRequest, SendReport) {
    let report = match number % 4 {
        0 => accepted(false),
        1 => Report::Delivered,
        2 => Report::Failed(Reason::Blocked),
        _ => accepted(true),
    };
    let mut report = scene.make.send_report(otp.delivery.attempts[0].id, report);
    report.route.hops.truncate(1);
    let seen = ReportedRequest::Seen(Box::new(otp.clone()));
    let request =
        if number < 10 { seen } else { ReportedRequest::Id(otp.project_mode.project, otp.id) };
    (request, report)
}

/// Under any number of concurrent reports, equal or different, the hold ends once, and the charge is refunded
/// at most once.
pub async fn reports_at_once_end_a_hold_once(stores: &Stores) {
    for (round, same) in [true, false].into_iter().cycle().take(ROUNDS * 3).enumerate() {
        let scene = Scene::open(stores).await;
        scene.credit(100).await;
        let line = scene.line();
        let otp = begun(&scene, &line).await;
        race(20, |number| {
            let store = Arc::clone(&stores.logins);
            let (_, delivered) = reports_at_once(&scene, &otp, 1);
            let (request, mut report) = reports_at_once(&scene, &otp, number);
            if same {
                report = delivered;
            }
            async move { assert!(store.report(request, report, START).await.unwrap().is_some()) }
        })
        .await;
        let kinds = booked(stores, &scene).await;
        let of = |kind| count(&kinds, |known| *known == kind);
        assert_eq!(of(EntryKind::Release), 1, "round {round}: {kinds:?}");
        assert!(of(EntryKind::Refund) <= of(EntryKind::Capture), "round {round}: {kinds:?}");
        assert!(of(EntryKind::Capture) <= 1, "round {round}: {kinds:?}");
        let spent = of(EntryKind::Capture) - of(EntryKind::Refund);
        let left = if spent == 1 { 70 } else { 100 };
        assert_eq!(balance_of(stores, scene.project).await, balance(left, 0));
        assert!(!same || left == 70);
        let requests = OnRecord::of(stores, &line).await.requests;
        assert_eq!(requests[0].delivery.status, DeliveryStatus::Delivered);
    }
}

/// Fresh: of concurrent reports that take a balance below its threshold one makes the event, and each makes
/// the event of its own send.
pub async fn reports_at_once_cross_the_threshold_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.endpoint().await;
        scene.low_under(Some(500)).await;
        scene.credit(20 * HELD.0).await;
        let mut sends = Vec::new();
        for _ in 0..20 {
            sends.push(begun(&scene, &scene.line()).await);
        }
        race(sends.len(), |number| {
            let (store, otp) = (Arc::clone(&stores.logins), &sends[number]);
            let (request, report) = reports_at_once(&scene, otp, 0);
            async move { store.report(request, report, START).await.unwrap() }
        })
        .await;
        let told = scene.told_events().await;
        assert_eq!(count(&told, |event| event.kind == EventKind::OtpSent), 20);
        let low: Vec<_> = told.iter().filter(|it| it.kind == EventKind::WalletLow).collect();
        assert_eq!((low.len(), told.len()), (1, 21));
        // 800 less eleven messages of 30.
        let ledger = checked_ledger(stores, scene.project).await;
        let crossing = |entry: &&LedgerEntry| entry.after.balance == Paise(470);
        let entry = ledger.iter().rev().find(crossing).unwrap().id;
        let (balance, threshold) = (Paise(470), Paise(500));
        assert_eq!(low[0].subject, Subject::Wallet { entry, balance, threshold });
    }
}

/// Test sends and free sends move no money, no matter how they end.
pub async fn a_send_that_held_nothing_moves_no_money(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let lines: [Line; 2] =
        [KeyMode::Test, KeyMode::Live].map(|mode| scene.make.line(scene.project.in_mode(mode)));
    for line in &lines {
        let (taken, failed) = (scene.issued(line).await, scene.issued(line).await);
        scene.hears_back(&taken, 0, accepted(false)).await;
        scene.hears_back(&taken, 0, Report::Failed(Reason::Blocked)).await;
        let (otp, _) = scene.hears_back(&failed, 0, Report::Failed(Reason::NotOnChannel)).await;
        scene.hears_back(&otp, 1, Report::Failed(Reason::Blocked)).await;
        scene.hears_back(&otp, 1, Report::Delivered).await;
    }
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 0));
    assert_eq!(booked(stores, &scene).await, [EntryKind::Credit]);
}
