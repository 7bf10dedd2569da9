use super::{HELD, OnRecord, WINDOW, begun, places};
use crate::contract::wallet::{balance, balance_of, checked_ledger};
use crate::contract::{MANY, ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, Line, MS, START, Stores, race, seconds};
use dwar_kernel::{GuessPolicy, StoreError, Timestamp};
use dwar_login::{Cost, NewSend, Prepared};
use dwar_otp::{Delivery, DeliveryStatus, GuessVerdict, Otp, OtpState};
use dwar_ratelimit::{SendAdmission, SendLog};
use dwar_wallet::{EntryKind, LedgerEntry, OpenHold, Paise};
use std::sync::Arc;

async fn prepare(stores: &Stores, send: &NewSend, now: Timestamp) -> Prepared {
    stores.logins.prepare(send.clone(), now).await.unwrap()
}

async fn log_of(stores: &Stores, line: &Line) -> SendLog {
    stores.sends.log(line.send_key()).await.unwrap()
}

const fn is_ready(prepared: &Prepared) -> bool {
    matches!(prepared, Prepared::Ready(_))
}

/// Fresh: a ready send is on record as a whole: its place, its hold with the ledger entry, and its code,
/// which replaces the active one.
pub async fn a_send_that_is_ready_is_on_record_as_a_whole(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let line = scene.line();
    let present = scene.issued(&line).await;
    let now = START + seconds(1);
    let send = NewSend {
        quota: places(3),
        cost: Cost::Hold(HELD),
        ..scene.make.new_send_of(scene.make.otp_with(&line, "222222", now))
    };
    let mut log = log_of(stores, &line).await;
    let wanted = Prepared::Ready(log.admit(&send.quota, &send.guesses, now));
    assert_eq!(prepare(stores, &send, now).await, wanted);

    let id = send.otp.id;
    let superseded = Otp { state: OtpState::Superseded, ..present };
    let on_record = OnRecord::of(stores, &line).await;
    assert_eq!(on_record.requests, [send.otp, superseded]);
    assert_eq!(on_record.log, format!("{log:?}"));
    let entry = LedgerEntry {
        id: send.entry,
        kind: EntryKind::Hold,
        amount: Paise::ZERO,
        held: HELD,
        after: balance(100, 40),
        reference: id.into(),
        relayed: false,
        at: now,
    };
    assert_eq!(checked_ledger(stores, scene.project).await[0], entry);
    let hold =
        OpenHold { project: scene.project, send: id, relayed: false, amount: HELD, since: now };
    assert_eq!(stores.wallets.stale_holds(now + MS, None, MANY).await.unwrap(), [hold]);
    let verdict = scene.judge(&line, "222222", GuessPolicy::OFF, now).await;
    assert!(matches!(verdict, GuessVerdict::Accepted(_)), "{verdict:?}");
}

/// A limit is reported before a balance. A refused send leaves no record and changes nothing: the active code
/// stays in force.
pub async fn a_refusal_changes_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let line = scene.line();
    begun(&scene, &line).await;
    let on_record = OnRecord::of(stores, &line).await;
    let limited = Prepared::Limited as fn(SendAdmission) -> Prepared;
    let unaffordable = Prepared::Unaffordable as fn(SendAdmission) -> Prepared;
    for (limit, cost, refused) in [
        (1, Cost::Nothing, limited),
        (1, Cost::Hold(Paise(1)), limited),
        (1, Cost::Hold(Paise(61)), limited),
        (1, Cost::Unaffordable, limited),
        (2, Cost::Hold(Paise(61)), unaffordable),
        (2, Cost::Hold(Paise(i64::MAX)), unaffordable),
        (2, Cost::Unaffordable, unaffordable),
    ] {
        let send = NewSend { quota: places(limit), cost, ..scene.make.new_send(&line) };
        let mut log = log_of(stores, &line).await;
        let refused = refused(log.admit(&send.quota, &send.guesses, START));
        for _ in 0..2 {
            assert_eq!(prepare(stores, &send, START).await, refused, "{limit} {cost:?}");
        }
        assert_eq!(OnRecord::of(stores, &line).await, on_record, "{limit} {cost:?}");
        assert_eq!(balance_of(stores, scene.project).await, balance(100, 40));
        assert_eq!(checked_ledger(stores, scene.project).await.len(), 2);
    }
    let verdict = scene.judge(&line, CODE, GuessPolicy::OFF, START).await;
    assert!(matches!(verdict, GuessVerdict::Accepted(_)), "{verdict:?}");
}

/// Sixty concurrent sends to sixty phones are ready exactly as far as the balance covers them. The others
/// leave no record.
pub async fn sends_at_once_are_ready_as_far_as_the_balance_goes(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.credit(7 * 20 + 19).await;
        let lines: Vec<Line> = (0..60).map(|_| scene.line()).collect();
        let answers = race(lines.len(), |number| {
            let cost = Cost::Hold(Paise(20));
            let send = NewSend { cost, ..scene.make.new_send(&lines[number]) };
            let store = Arc::clone(&stores.logins);
            async move { store.prepare(send, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, is_ready), 7);
        assert_eq!(count(&answers, |answer| matches!(answer, Prepared::Unaffordable(_))), 53);
        for (line, answer) in lines.iter().zip(answers) {
            let on_record = OnRecord::of(stores, line).await;
            assert_eq!(on_record.requests.len(), usize::from(is_ready(&answer)));
            let next = log_of(stores, line).await.admit(&places(1), &GuessPolicy::OFF, START);
            assert_eq!(next.refused_by.is_some(), is_ready(&answer));
        }
        assert_eq!(balance_of(stores, scene.project).await, balance(159, 140));
        assert_eq!(checked_ledger(stores, scene.project).await.len(), 1 + 7);
    }
}

/// Sixty concurrent sends to one phone are ready exactly as far as its quota has places and the balance covers
/// them. One of their codes is in force afterwards, and refused sends have no place.
pub async fn sends_to_one_phone_at_once_are_ready_up_to_both_bounds(stores: &Stores) {
    for (limit, paid_in, ready) in [(5, 2_000, 5), (20, 4 * 20 + 19, 4), (60, 2_000, 60)] {
        let scene = Scene::open(stores).await;
        scene.credit(paid_in).await;
        let line = scene.line();
        let answers = race(60, |_| {
            let (quota, cost) = (places(limit), Cost::Hold(Paise(20)));
            let send = NewSend { quota, cost, ..scene.make.new_send(&line) };
            let store = Arc::clone(&stores.logins);
            async move { store.prepare(send, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, is_ready), ready);
        let OnRecord { requests, .. } = OnRecord::of(stores, &line).await;
        assert_eq!(requests.len(), ready);
        assert_eq!(count(&requests, |otp| otp.in_force(START)), 1);
        assert_eq!(count(&requests, |otp| otp.state == OtpState::Superseded), ready - 1);
        let held = 20 * i64::try_from(ready).unwrap();
        assert_eq!(balance_of(stores, scene.project).await, balance(paid_in, held));
        assert_eq!(checked_ledger(stores, scene.project).await.len(), 1 + ready);
        let ready = u32::try_from(ready).unwrap();
        let log = log_of(stores, &line).await;
        for (places, is_full) in [(places(ready), true), (places(ready + 1), false)] {
            let next = log.clone().admit(&places, &GuessPolicy::OFF, START + WINDOW - MS);
            assert_eq!(next.refused_by.is_some(), is_full);
        }
    }
}

/// A send changes nothing of the same phone in the other mode or another project, and takes no money of
/// another project.
pub async fn a_send_stays_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    let line = scene.line();
    let elsewhere = scene.elsewhere(&line).await;
    let mut on_record = Vec::new();
    for other in &elsewhere {
        let send = NewSend { quota: places(1), ..scene.make.new_send(other) };
        assert!(is_ready(&prepare(stores, &send, START).await));
        on_record.push(OnRecord::of(stores, other).await);
    }
    let cost = Cost::Hold(HELD);
    let send = NewSend { quota: places(1), cost, ..scene.make.new_send(&line) };
    assert!(is_ready(&prepare(stores, &send, START).await));
    for (other, on_record) in elsewhere.iter().zip(on_record) {
        assert_eq!(OnRecord::of(stores, other).await, on_record);
    }
    let [_, stranger] = elsewhere;
    let poor = NewSend { cost, ..scene.make.new_send(&stranger) };
    assert!(matches!(prepare(stores, &poor, START).await, Prepared::Unaffordable(_)));
    assert_eq!(balance_of(stores, stranger.project_mode.project).await, balance(0, 0));
    assert_eq!(balance_of(stores, scene.project).await, balance(100, 40));
}

/// A send that is repeated because its answer was lost is done once and answered as before, even if it took
/// the last place and the last money itself; also many times concurrently.
pub async fn a_repeated_send_is_done_once(stores: &Stores) {
    for at_once in [1, 20].repeat(ROUNDS) {
        let scene = Scene::open(stores).await;
        scene.credit(HELD.0).await;
        let line = scene.line();
        let cost = Cost::Hold(HELD);
        let send = NewSend { quota: places(1), cost, ..scene.make.new_send(&line) };
        let wanted = SendLog::default().admit(&send.quota, &send.guesses, START);
        let answers = race(at_once, |_| {
            let (store, send) = (Arc::clone(&stores.logins), send.clone());
            async move { store.prepare(send, START).await.unwrap() }
        })
        .await;
        assert_eq!(answers, vec![Prepared::Ready(wanted); at_once]);
        let on_record = OnRecord::of(stores, &line).await;
        for _ in 0..2 {
            assert_eq!(prepare(stores, &send, START).await, Prepared::Ready(wanted));
        }
        assert_eq!(OnRecord::of(stores, &line).await, on_record);
        assert_eq!(on_record.requests, [send.otp]);
        assert_eq!(balance_of(stores, scene.project).await, balance(40, 40));
        assert_eq!(checked_ledger(stores, scene.project).await.len(), 2);
        let next = log_of(stores, &line).await.admit(&places(2), &GuessPolicy::OFF, START);
        assert_eq!(next.counted.remaining, 0);
    }
}

/// Fresh: a repeated send that was changed since it was recorded, by a process that considered it abandoned
/// or by a newer code, gets an error: no provider may be called for it.
pub async fn a_send_that_was_taken_over_is_not_answered_for(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100).await;
    for is_claimed in [true, false] {
        let line = scene.line();
        let send = NewSend { cost: Cost::Hold(HELD), ..scene.make.new_send(&line) };
        assert!(is_ready(&prepare(stores, &send, START).await));
        if is_claimed {
            let (due, lease) = (send.otp.delivery.due_at.unwrap(), seconds(45));
            assert_eq!(stores.otps.claim_due(due, lease, 9).await.unwrap().len(), 1);
        } else {
            scene.issued(&line).await;
        }
        let (on_record, ledger) =
            (OnRecord::of(stores, &line).await, checked_ledger(stores, scene.project).await);
        let again = stores.logins.prepare(send, START).await;
        assert!(matches!(again, Err(StoreError::Unavailable(_))), "{again:?}");
        assert_eq!(OnRecord::of(stores, &line).await, on_record);
        assert_eq!(checked_ledger(stores, scene.project).await, ledger);
    }
}

/// A send without a provider takes no place, and its code is void from the start; the active code is
/// superseded.
pub async fn a_send_that_calls_nobody_takes_no_place(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let present = scene.issued(&line).await;
    let log = log_of(stores, &line).await;
    let (attempts, status) = (Vec::new(), DeliveryStatus::Failed);
    let delivery = Delivery { status, attempts, due_at: None };
    let (state, sealed_code) = (OtpState::Void, None);
    let otp = Otp { state, sealed_code, delivery, ..scene.make.otp(&line) };
    let send = NewSend { quota: places(2), ..scene.make.new_send_of(otp) };
    let wanted = log.clone().admit(&send.quota, &send.guesses, START);
    for _ in 0..2 {
        assert_eq!(prepare(stores, &send, START).await, Prepared::Ready(wanted));
    }
    let on_record = OnRecord::of(stores, &line).await;
    assert_eq!(on_record.request(send.otp.id), &send.otp);
    assert_eq!(on_record.request(present.id).state, OtpState::Superseded);
    assert_eq!(on_record.log, format!("{log:?}"));
    assert_eq!(scene.judge(&line, CODE, GuessPolicy::OFF, START).await, GuessVerdict::NotFound);
}
