use super::{HELD, OnRecord, begun, places};
use crate::contract::wallet::{balance, balance_of, checked_ledger};
use crate::contract::{CROWD, MANY, ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, Line, MS, START, Stores, WRONG_CODE, race, seconds, verdict};
use dwar_kernel::Timestamp;
use dwar_login::{Cost, NewSend, Prepared, Redemption};
use dwar_otp::{
    CodeDigest, DeliveryStatus, DeliveryStep, GuessPolicy, GuessVerdict, Otp, OtpState, Reason,
    Report,
};
use dwar_wallet::{EntryKind, Paise, Settlement};
use std::sync::Arc;

/// Number of concurrent sends to one phone. In practice no limit admits more.
const SENDS: usize = 20;

impl Scene {
    /// A request to deliver [`CODE`] as a relayed code.
    fn relayed(&self, line: &Line, now: Timestamp) -> Otp {
        let (state, code) = (OtpState::Relayed, CodeDigest::NONE);
        Otp { state, code, ..self.make.otp_with(line, CODE, now) }
    }

    async fn relay(&self, line: &Line, now: Timestamp) -> Otp {
        let send =
            NewSend { cost: Cost::Hold(HELD), ..self.make.new_send_of(self.relayed(line, now)) };
        let otp = send.otp.clone();
        let prepared = self.stores.logins.prepare(send, now).await.unwrap();
        assert!(matches!(prepared, Prepared::Ready(_)), "{prepared:?}");
        otp
    }

    async fn redeem(&self, redemption: Redemption, now: Timestamp) -> GuessVerdict {
        verdict(self.stores.logins.redeem(redemption, now).await.unwrap())
    }
}

/// A relayed code takes a place and holds money like any send, and changes no other code of the phone: the
/// earlier login code works, and so do other relayed codes. A login code does not end it.
pub async fn a_relayed_code_takes_the_place_of_none(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(200).await;
    let line = scene.line();
    let login = scene.issue(scene.make.otp_with(&line, "222222", START)).await;
    let first = scene.relay(&line, START + MS).await;
    let second = scene.relay(&line, START + MS * 2).await;
    let on_record = OnRecord::of(stores, &line).await;
    assert_eq!(on_record.requests, [second.clone(), first.clone(), login]);
    assert_eq!(balance_of(stores, scene.project).await, balance(200, 80));

    let full = NewSend { quota: places(3), ..scene.make.new_send_of(scene.relayed(&line, START)) };
    let refused = stores.logins.prepare(full, START + MS * 3).await.unwrap();
    assert!(matches!(refused, Prepared::Limited(_)), "{refused:?}");

    let newer = scene.issue(scene.make.otp_with(&line, "333333", START + MS * 4)).await;
    let on_record = OnRecord::of(stores, &line).await;
    for relayed in [first, second] {
        assert_eq!(*on_record.request(relayed.id), relayed);
    }
    assert_eq!(on_record.request(newer.id).state, OtpState::Active);
    let right = scene.judge(&line, "333333", GuessPolicy::OFF, START + seconds(1)).await;
    assert!(matches!(right, GuessVerdict::Accepted(_)), "{right:?}");
}

/// A relayed code cannot be guessed, not even by its id or by many concurrent guesses. If the phone has a login
/// code too, a guess with the relayed code counts as a wrong guess.
pub async fn a_relayed_code_opens_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(200).await;
    let line = scene.line();
    let relayed = scene.relay(&line, START).await;
    let by_phone = scene.make.redemption(&line, CODE);
    let mut by_id = scene.make.redemption(&line, CODE);
    by_id.guess = by_id.guess.meant_for(Some(relayed.id));
    for now in [START, relayed.expires_at - MS, relayed.expires_at] {
        for redemption in [&by_phone, &by_id] {
            assert_eq!(scene.redeem(redemption.clone(), now).await, GuessVerdict::NotFound);
        }
    }
    let answers = race(CROWD, |number| {
        let redemption = if number % 2 == 0 { by_phone.clone() } else { by_id.clone() };
        let store = Arc::clone(&stores.logins);
        async move { verdict(store.redeem(redemption, START).await.unwrap()) }
    })
    .await;
    assert_eq!(count(&answers, |answer| *answer == GuessVerdict::NotFound), CROWD);

    let login = scene.issue(scene.make.otp_with(&line, "222222", START)).await;
    assert_eq!(scene.redeem(by_id, START).await, GuessVerdict::NotFound);
    assert!(matches!(scene.redeem(by_phone, START).await, GuessVerdict::Wrong(_)));
    let on_record = OnRecord::of(stores, &line).await;
    assert_eq!(on_record.request(login.id).wrong, 1);
    assert_eq!((on_record.request(relayed.id), &on_record.identity), (&relayed, &None));
}

/// A relayed code is delivered like any code: if one channel fails, the next is tried. Once a channel has
/// delivered the code, or none is left, the hold is settled and the code can no longer be read. Its state
/// stays on record.
pub async fn a_relayed_code_is_delivered_as_any_other(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(200).await;
    for (line, last, status, left) in [
        (scene.line(), Report::Delivered, DeliveryStatus::Delivered, 180),
        (scene.line(), Report::Failed(Reason::RejectedNumber), DeliveryStatus::Failed, 180),
    ] {
        let relayed = scene.relay(&line, START).await;
        let refused = Report::Failed(Reason::NotOnChannel);
        let (otp, step) = scene.reports(&relayed, 0, refused, START + MS).await.unwrap();
        assert!(matches!(step, DeliveryStep::Try(_)), "{step:?}");
        assert_eq!((otp.state, &otp.sealed_code), (OtpState::Relayed, &relayed.sealed_code));
        let (otp, step) = scene.reports(&otp, 1, last, START + MS * 2).await.unwrap();
        assert!(matches!(step, DeliveryStep::Settle(_)), "{step:?}");
        assert_eq!((otp.state, otp.delivery.status), (OtpState::Relayed, status));
        assert_eq!(otp.sealed_code, None);
        assert_eq!(*OnRecord::of(stores, &line).await.request(otp.id), otp);
        assert_eq!(balance_of(stores, scene.project).await, balance(left, 0));
    }
}

/// Every ledger entry of a relayed code is marked as such, and no entry of a login code is, whichever way
/// they end.
pub async fn the_ledger_tells_relayed_codes_from_others(stores: &Stores) {
    use EntryKind::{Capture, Hold, Refund, Release};
    let scene = Scene::open(stores).await;
    scene.credit(1_000).await;
    let mut expected = Vec::new();
    for relayed in [true, false] {
        for (report, kinds) in [
            (Some(Report::Delivered), &[Hold, Capture, Release, Refund][..]),
            (Some(Report::Failed(Reason::RejectedNumber)), &[Hold, Release]),
            (None, &[Hold, Capture, Release, Refund]),
        ] {
            let line = scene.line();
            let otp = match relayed {
                true => scene.relay(&line, START).await,
                false => begun(&scene, &line).await,
            };
            let hold = stores.wallets.stale_holds(START + seconds(1), None, MANY).await.unwrap();
            let hold = hold.iter().find(|hold| hold.send == otp.id).unwrap();
            assert_eq!(hold.relayed, relayed);
            match report {
                Some(report) => {
                    let refused = Report::Failed(Reason::NotOnChannel);
                    let (otp, _) = scene.reports(&otp, 0, refused, START + MS).await.unwrap();
                    scene.reports(&otp, 1, report, START + MS * 2).await.unwrap();
                }
                None => assert!(scene.settle(otp.id, Settlement::Capture(Paise(1))).await),
            }
            scene.refund(otp.id).await;
            expected.extend(kinds.iter().map(|kind| (otp.id.into(), *kind, relayed)));
        }
    }
    let ledger = checked_ledger(stores, scene.project).await;
    let entries = ledger.iter().rev().skip(1);
    let mut found: Vec<_> =
        entries.map(|entry| (entry.reference.clone(), entry.kind, entry.relayed)).collect();
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    assert!(!ledger.last().unwrap().relayed, "a credit is for no request");
}

/// Nothing is sent after the relayed code has expired.
pub async fn nothing_is_sent_after_the_end_of_a_relayed_code(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(200).await;
    for (early, tried) in [(MS, true), (seconds(0), false)] {
        let line = scene.line();
        let relayed = scene.relay(&line, START).await;
        let refused = Report::Failed(Reason::NotOnChannel);
        let at = relayed.expires_at - early;
        let (otp, step) = scene.reports(&relayed, 0, refused, at).await.unwrap();
        assert_eq!(matches!(step, DeliveryStep::Try(_)), tried, "{step:?}");
        assert_eq!(otp.sealed_code.is_some(), tried);
    }
}

/// After any number of concurrent login codes and relayed codes of one phone one login code is in force, and
/// every relayed code is on record.
pub async fn relayed_codes_and_login_codes_at_once_leave_one_in_force(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        scene.credit(10_000).await;
        let line = scene.line();
        race(SENDS, |number| {
            let otp = match number % 2 {
                0 => scene.make.otp(&line),
                _ => scene.relayed(&line, START),
            };
            let send = NewSend { cost: Cost::Hold(HELD), ..scene.make.new_send_of(otp) };
            let store = Arc::clone(&stores.logins);
            async move { store.prepare(send, START).await.unwrap() }
        })
        .await;
        let requests = OnRecord::of(stores, &line).await.requests;
        let states: Vec<_> = requests.iter().map(|otp| otp.state).collect();
        assert_eq!(count(&states, |state| *state == OtpState::Active), 1);
        assert_eq!(count(&states, |state| *state == OtpState::Relayed), SENDS / 2);
        begun(&scene, &line).await;
        let wrong = scene.judge(&line, WRONG_CODE, GuessPolicy::OFF, START).await;
        assert!(matches!(wrong, GuessVerdict::Wrong(_)), "{wrong:?}");
    }
}
