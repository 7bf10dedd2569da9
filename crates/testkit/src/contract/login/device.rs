//! Promises about devices that are known to a phone ([`NewSend::by_device`], [`dwar_otp::Guess::by_device`]).

use super::WINDOW;
use crate::contract::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, Line, MS, START, Stores, WRONG_CODE, minutes, race, seconds, verdict};
use dwar_kernel::{DevicePeriod, GuessBudget, Timestamp};
use dwar_login::{NewSend, Prepared, Redemption};
use dwar_otp::{GuessPolicy, GuessVerdict, Otp, OtpState};
use dwar_ratelimit::{DayBound, Quota, SendBound, SendQuota};
use std::sync::Arc;
use std::time::Duration;

const QUOTA: SendQuota = SendQuota {
    places: Quota { limit: 3, window: WINDOW },
    reach: Some(Quota { limit: 10, window: WINDOW }),
};
const DAY: Duration = minutes(24 * 60);
/// Stops strangers at the second wrong code for a day, and devices at the twentieth for 30 days.
const POLICY: GuessPolicy = GuessPolicy {
    slow_from: 1,
    slow_pace: minutes(60),
    stop_at: 2,
    stop_for: DAY,
    stop_pace: minutes(60),
    period: minutes(30 * 24 * 60),
    device_stop_at: 20,
    ..GuessPolicy::OFF
};

/// Who asks or guesses: a stranger, or a device that is known to the phone.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Stranger,
    Device,
}
use Who::{Device, Stranger};

impl Scene {
    fn send_of(&self, who: Who, line: &Line, now: Timestamp) -> NewSend {
        let otp = Otp { max_wrong: 100, ..self.make.otp_with(line, CODE, now) };
        let send = self.make.new_send_of(otp);
        NewSend { by_device: who == Device, quota: QUOTA, guesses: POLICY, ..send }
    }

    fn guess_of(&self, who: Who, line: &Line, code: &str) -> Redemption {
        let guess = self.make.guess(code).by_device(who == Device);
        Redemption { guess, policy: POLICY, ..self.make.redemption(line, code) }
    }

    /// The bound that refuses a send; `None` if it is on record.
    async fn asked_by(&self, who: Who, line: &Line, now: Timestamp) -> Option<SendBound> {
        self.sent_by(who, line, now).await.err()
    }

    /// A send as it is on record, or the bound that refuses it.
    async fn sent_by(&self, who: Who, line: &Line, now: Timestamp) -> Result<Otp, SendBound> {
        let send = self.send_of(who, line, now);
        let otp = send.otp.clone();
        match self.stores.logins.prepare(send, now).await.unwrap() {
            Prepared::Ready(_) => Ok(self.stored(&otp).await),
            Prepared::Limited(admission) => Err(admission.refused_by.unwrap()),
            other => panic!("it costs nothing: {other:?}"),
        }
    }

    async fn stored(&self, otp: &Otp) -> Otp {
        self.stores.otps.find(otp.project_mode, otp.id).await.unwrap().unwrap()
    }

    async fn guessed_by(&self, who: Who, line: &Line, code: &str, now: Timestamp) -> GuessVerdict {
        verdict(self.stores.logins.redeem(self.guess_of(who, line, code), now).await.unwrap())
    }

    /// A phone of which a stranger entered two wrong codes at [`START`], so that it is stopped.
    async fn stopped(&self) -> Line {
        let line = self.line();
        assert_eq!(self.asked_by(Stranger, &line, START).await, None);
        for _ in 0..2 {
            self.guessed_by(Stranger, &line, WRONG_CODE, START).await;
        }
        line
    }

    async fn counts(&self, line: &Line) -> GuessBudget {
        *self.stores.sends.log(line.send_key()).await.unwrap().guesses()
    }
}

const fn is_wrong(verdict: &GuessVerdict) -> bool {
    matches!(verdict, GuessVerdict::Wrong(_))
}

const fn is_locked(verdict: &GuessVerdict) -> bool {
    matches!(verdict, GuessVerdict::Locked(allowance) if allowance.remaining == 0)
}

/// A known device passes the pace and the stop, and neither of the bounds of the window.
pub async fn a_known_device_passes_pace_and_stop_and_not_the_limit(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let sent = scene.sent_by(Device, &line, START).await.unwrap();
    assert!(!sent.device_only, "a stranger would have been admitted too");
    scene.guessed_by(Stranger, &line, WRONG_CODE, START).await;
    assert_eq!(scene.asked_by(Stranger, &line, START).await, Some(SendBound::Pace));
    assert!(scene.sent_by(Device, &line, START).await.unwrap().device_only);
    assert_eq!(scene.asked_by(Device, &line, START).await, None);
    assert_eq!(scene.asked_by(Device, &line, START).await, Some(SendBound::Limit));
    assert_eq!(scene.asked_by(Device, &line, START + WINDOW - MS).await, Some(SendBound::Limit));
    assert_eq!(scene.asked_by(Device, &line, START + WINDOW).await, None);

    let line = scene.stopped().await;
    assert_eq!(scene.asked_by(Stranger, &line, START + WINDOW).await, Some(SendBound::Stop));
    for _ in 0..3 {
        assert_eq!(scene.asked_by(Device, &line, START + WINDOW).await, None);
    }
    assert_eq!(scene.asked_by(Device, &line, START + WINDOW).await, Some(SendBound::Limit));
}

/// The bound of a day, which a guard sets, refuses strangers alone.
pub async fn a_known_device_passes_the_bound_of_a_day(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let places = Quota { limit: 2, window: DAY };
    let day = Some(DayBound { places, is_enforced: true });
    for (number, who, refused_by) in [
        (0, Stranger, None),
        (1, Device, None),
        (2, Stranger, Some(SendBound::Day)),
        (3, Device, None),
        (4, Device, None),
        (5, Stranger, Some(SendBound::Day)),
    ] {
        let now = START + WINDOW * number;
        let send = NewSend { day, ..scene.send_of(who, &line, now) };
        let prepared = stores.logins.prepare(send, now).await.unwrap();
        let (Prepared::Ready(admission) | Prepared::Limited(admission)) = prepared else {
            panic!("it costs nothing: {prepared:?}");
        };
        assert_eq!(admission.refused_by, refused_by, "{number}");
        assert_eq!(admission.device_only, number > 2 && who == Device, "{number}");
    }
}

/// At the code of a known device that a stranger could not have asked for, no stranger's guess is judged, and
/// none locks it: the device logs in.
pub async fn no_stranger_guesses_at_the_code_of_a_device_or_locks_it(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.stopped().await;
    // During the stop, and after it, when a send within the last hour refuses strangers.
    let late = START + DAY + seconds(1);
    for now in [START + seconds(1), late] {
        if now == late {
            assert_eq!(scene.asked_by(Stranger, &line, now).await, None);
        }
        let sent = scene.sent_by(Device, &line, now).await.unwrap();
        let counted = scene.counts(&line).await;
        assert!(sent.device_only, "{now}");
        for code in [WRONG_CODE, CODE, WRONG_CODE, WRONG_CODE, WRONG_CODE, WRONG_CODE, CODE] {
            let verdict = scene.guessed_by(Stranger, &line, code, now).await;
            assert!(is_locked(&verdict), "{verdict:?}");
        }
        assert_eq!(scene.stored(&sent).await, sent);
        assert_eq!(scene.counts(&line).await, counted);
        assert!(is_wrong(&scene.guessed_by(Device, &line, WRONG_CODE, now).await));
        let right = scene.guessed_by(Device, &line, CODE, now).await;
        assert!(matches!(right, GuessVerdict::Accepted(_)), "{right:?}");
        assert_eq!(scene.stored(&sent).await.state, OtpState::Used);
    }
    let on_record = super::OnRecord::of(stores, &line).await;
    assert_eq!(on_record.sessions.len(), 2);
}

/// Wrong guesses of known devices have one count per phone. The twentieth makes the devices strangers, until
/// the exact instant at which 30 days since the first one are over.
pub async fn wrong_guesses_of_devices_are_counted_up_to_the_twentieth(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.stopped().await;
    let began = START + seconds(1);
    assert_eq!(scene.asked_by(Device, &line, began).await, None);
    for number in 1..=20 {
        let verdict = scene.guessed_by(Device, &line, WRONG_CODE, began).await;
        assert!(is_wrong(&verdict), "{number}: {verdict:?}");
        let devices = Some(DevicePeriod { began_at: began, wrong: number });
        assert_eq!(scene.counts(&line).await.devices, devices);
    }
    let counted = scene.counts(&line).await;
    assert_eq!((counted.wrong, counted.period.unwrap().wrong), (2, 2), "strangers have their own");
    for code in [WRONG_CODE, CODE] {
        let verdict = scene.guessed_by(Device, &line, code, began).await;
        assert!(is_locked(&verdict), "{verdict:?}");
    }
    assert_eq!(scene.asked_by(Device, &line, began).await, Some(SendBound::Stop));
    assert_eq!(scene.counts(&line).await, counted);

    // Strangers may ask again, once an hour: the devices are told from them by that pace.
    let over = began + POLICY.period;
    let earlier = over - minutes(30);
    assert_eq!(scene.asked_by(Stranger, &line, earlier).await, None);
    scene.guessed_by(Stranger, &line, WRONG_CODE, earlier).await;
    assert_eq!(scene.asked_by(Device, &line, over - MS).await, Some(SendBound::Pace));
    assert_eq!(scene.asked_by(Device, &line, over).await, None);
    assert!(is_wrong(&scene.guessed_by(Device, &line, WRONG_CODE, over).await));
    let devices = Some(DevicePeriod { began_at: over, wrong: 1 });
    assert_eq!(scene.counts(&line).await.devices, devices);
}

/// Of two hundred concurrent wrong guesses of known devices at a stopped phone exactly those are judged that
/// the count has left.
pub async fn wrong_guesses_of_devices_at_once_are_judged_up_to_the_twentieth(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let (line, now) = (scene.stopped().await, START + seconds(1));
        let sent = scene.sent_by(Device, &line, now).await.unwrap();
        for _ in 0..3 {
            scene.guessed_by(Device, &line, WRONG_CODE, now).await;
        }
        let answers = race(CROWD, |number| {
            let who = if number % 4 == 0 { Stranger } else { Device };
            let (store, wrong) =
                (Arc::clone(&stores.logins), scene.guess_of(who, &line, WRONG_CODE));
            async move { verdict(store.redeem(wrong, now).await.unwrap()) }
        })
        .await;
        assert_eq!(count(&answers, is_wrong), 17);
        assert_eq!(count(&answers, is_locked), CROWD - 17);
        let (counted, otp) = (scene.counts(&line).await, scene.stored(&sent).await);
        assert_eq!((counted.devices.unwrap().wrong, counted.wrong), (20, 2));
        assert_eq!((otp.wrong, otp.state), (20, OtpState::Active));
    }
}

/// Concurrent sends of strangers and of known devices to a phone under a pace: exactly the places of the window
/// are taken, by devices alone.
pub async fn sends_of_devices_at_once_are_admitted_up_to_the_limit(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let (line, now) = (scene.stopped().await, START + WINDOW);
        let sends: Vec<_> = (0..60)
            .map(|number| if number % 2 == 0 { Stranger } else { Device })
            .map(|who| (who, scene.send_of(who, &line, now)))
            .collect();
        let answers = race(sends.len(), |number| {
            let (store, (who, send)) = (Arc::clone(&stores.logins), sends[number].clone());
            async move { (who, store.prepare(send, now).await.unwrap()) }
        })
        .await;
        let is_ready = |(_, it): &(Who, Prepared)| matches!(it, Prepared::Ready(_));
        assert_eq!(count(&answers, is_ready), 3);
        assert_eq!(count(&answers, |it| it.0 == Stranger && is_ready(it)), 0);
        let on_record = super::OnRecord::of(stores, &line).await;
        assert_eq!(count(&on_record.requests, |otp| otp.device_only), 3);
    }
}

/// A send and a login of a known device that are repeated, because their answers were lost, happen once.
pub async fn what_a_device_repeats_is_done_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (line, now) = (scene.stopped().await, START + seconds(1));
    let send = scene.send_of(Device, &line, now);
    let first = stores.logins.prepare(send.clone(), now).await.unwrap();
    assert!(matches!(first, Prepared::Ready(admission) if admission.device_only));
    let sent = scene.stored(&send.otp).await;
    assert_eq!(sent, Otp { device_only: true, ..send.otp.clone() });
    assert_eq!(stores.logins.prepare(send, now).await.unwrap(), first);
    assert_eq!(scene.stored(&sent).await, sent);
    let right = scene.guess_of(Device, &line, CODE);
    let logged_in = stores.logins.redeem(right.clone(), now).await.unwrap();
    assert!(matches!(verdict(logged_in), GuessVerdict::Accepted(_)));
    let on_record = super::OnRecord::of(stores, &line).await;
    let again = verdict(stores.logins.redeem(right, now).await.unwrap());
    let is_repeated = again == verdict(logged_in) || again == GuessVerdict::NotFound;
    assert!(is_repeated, "{again:?}");
    assert_eq!(super::OnRecord::of(stores, &line).await, on_record);
}

/// Wrong guesses of known devices count for their phone alone, in one mode of one project.
pub async fn wrong_guesses_of_devices_stay_inside_project_mode_and_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    assert_eq!(scene.asked_by(Device, &line, START).await, None);
    for _ in 0..20 {
        scene.guessed_by(Device, &line, WRONG_CODE, START).await;
    }
    let elsewhere = scene.elsewhere(&line).await;
    for other in elsewhere.iter().chain([&scene.line()]) {
        assert_eq!(scene.counts(other).await, GuessBudget::default());
        assert_eq!(scene.asked_by(Device, other, START).await, None);
        scene.guessed_by(Device, other, WRONG_CODE, START).await;
        assert_eq!(scene.counts(other).await.devices.unwrap().wrong, 1);
        assert_eq!(scene.counts(other).await.wrong, 0);
    }
    assert_eq!(scene.counts(&line).await.devices.unwrap().wrong, 20);
    let Line { project_mode, index, .. } = line;
    let lifted = stores.otps.forget_guesses(project_mode, index).await.unwrap();
    assert_eq!(lifted.unwrap().devices.unwrap().wrong, 20);
    assert_eq!(scene.counts(&line).await, GuessBudget::default());
}
