//! Promises of [`dwar_login::LoginStore`] about a phone's limit, and those of
//! [`dwar_ratelimit::SendLimiter`].

use super::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, Line, MS, START, Stores, WRONG_CODE, minutes, race, seconds};
use dwar_kernel::{GuessPolicy, OtpId, Timestamp};
use dwar_login::{NewSend, Prepared};
use dwar_ratelimit::{Quota, SendAdmission, SendBound, SendLog, SendQuota};
use std::sync::Arc;

const THREE: SendQuota = places(3);
const ONE: SendQuota = places(1);
const WINDOW: std::time::Duration = minutes(10);
/// As with live keys: three places, and ten sends that reach a provider.
const LIVE: SendQuota = SendQuota { reach: Some(Quota { limit: 10, window: WINDOW }), ..THREE };

const fn places(limit: u32) -> SendQuota {
    SendQuota { places: Quota { limit, window: WINDOW }, reach: None }
}

impl Scene {
    /// Makes one more send to a phone; returns its id and the admission.
    async fn admit(&self, line: &Line, quota: SendQuota, now: Timestamp) -> (OtpId, SendAdmission) {
        let send = NewSend { quota, ..self.make.new_send_of(self.make.otp_with(line, CODE, now)) };
        (send.otp.id, self.admission(send, now).await)
    }

    /// The admission of a send that costs nothing.
    pub(super) async fn admission(&self, send: NewSend, now: Timestamp) -> SendAdmission {
        admission(self.stores.logins.prepare(send, now).await.unwrap())
    }

    async fn admits(&self, line: &Line, quota: SendQuota, now: Timestamp) -> bool {
        self.admit(line, quota, now).await.1.counted.admitted
    }

    async fn forgive(&self, line: &Line, send: OtpId) {
        self.stores.sends.forgive(line.send_key(), send).await.unwrap();
    }
}

fn admission(prepared: Prepared) -> SendAdmission {
    match prepared {
        Prepared::Ready(admission) => {
            assert_eq!(admission.refused_by, None);
            admission
        }
        Prepared::Limited(admission) => {
            assert!(admission.refused_by.is_some());
            admission
        }
        Prepared::Unaffordable(_) | Prepared::SpendLimited(_) => panic!("it costs nothing"),
    }
}

/// Every answer equals that of the domain's log, to the millisecond.
pub async fn a_send_is_answered_as_the_log_does(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let mut log = SendLog::default();
    let full = START + WINDOW;
    let steps = [
        START,
        START + seconds(60),
        START + seconds(61),
        START + seconds(62),
        full - MS,
        full,
        full,
        full + seconds(60) - MS,
        full + seconds(60),
        full + minutes(30),
    ];
    for now in steps {
        let (_, admission) = scene.admit(&line, LIVE, now).await;
        assert_eq!(admission, log.admit(&LIVE, &GuessPolicy::OFF, now), "at {now}");
    }
}

/// The quota of the call applies: zero admits nothing, a wider one admits more.
pub async fn a_send_takes_the_quota_of_the_call(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    assert!(!scene.admits(&line, places(0), START).await);
    assert!(scene.admits(&line, ONE, START).await);
    assert!(!scene.admits(&line, ONE, START).await);
    assert!(scene.admits(&line, THREE, START).await);
    assert!(!scene.admits(&line, ONE, START).await);
}

/// Wrong guesses slow down the next send, and stop it after too many; wrong guesses of another phone, mode or
/// project do not.
pub async fn wrong_guesses_slow_sends_down(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let policy = GuessPolicy {
        slow_from: 2,
        slow_pace: minutes(60),
        stop_at: 4,
        stop_for: minutes(1_440),
        period: minutes(43_200),
        ..GuessPolicy::OFF
    };
    // With one send per window, its answers look like those of a pace; the bound tells them apart.
    let quota = SendQuota { places: ONE.places, ..LIVE };
    let (line, now) = (scene.line(), START + minutes(1));
    let ask = async |line, now| {
        let otp = scene.make.otp_with(line, CODE, now);
        let send = NewSend { quota, guesses: policy, ..scene.make.new_send_of(otp) };
        scene.admission(send, now).await
    };
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.push(ask(&line, now).await);
        scene.judge(&line, WRONG_CODE, policy, now).await;
    }
    let told: Vec<_> = answers.iter().map(|a| (a.refused_by, a.counted.reset)).collect();
    let limit = (Some(SendBound::Limit), WINDOW);
    let slow = (Some(SendBound::Pace), minutes(60));
    let stopped = (Some(SendBound::Stop), minutes(1_440));
    assert_eq!(told, [(None, WINDOW), limit, slow, slow, stopped]);
    assert_eq!(ask(&line, now + minutes(1_440)).await.refused_by, None);
    for other in scene.elsewhere(&line).await.iter().chain([&scene.line()]) {
        assert_eq!(ask(other, now).await.refused_by, None);
    }
}

/// A refusal takes no place: the phone is free again when the admitted send leaves the window.
pub async fn a_refused_send_takes_no_place(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    assert!(scene.admits(&line, ONE, START).await);
    for second in 1..20 {
        assert!(!scene.admits(&line, ONE, START + seconds(second)).await);
    }
    assert!(scene.admits(&line, ONE, START + WINDOW).await);
}

pub async fn sends_stay_inside_project_mode_and_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    assert!(scene.admits(&line, ONE, START).await);
    let [mode, project] = scene.elsewhere(&line).await;
    for other in [mode, project, scene.line()] {
        assert!(scene.admits(&other, ONE, START).await);
    }
    assert!(!scene.admits(&line, ONE, START).await);
}

/// A forgiven send returns its own place, once, and no other.
pub async fn forgive_gives_back_one_place(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let (first, _) = scene.admit(&line, THREE, START).await;
    for _ in 0..2 {
        assert!(scene.admits(&line, THREE, START + seconds(1)).await);
    }
    scene.forgive(&line, scene.make.id()).await;
    for other in scene.elsewhere(&line).await {
        scene.forgive(&other, first).await;
    }
    assert!(!scene.admits(&line, THREE, START + seconds(2)).await);
    for _ in 0..3 {
        scene.forgive(&line, first).await;
    }
    let (_, admission) = scene.admit(&line, THREE, START + seconds(2)).await;
    assert_eq!((admission.counted.admitted, admission.counted.remaining), (true, 0));
    scene.forgive(&line, first).await;
    assert!(!scene.admits(&line, THREE, START + seconds(2)).await);
}

/// A forgiven send still counts as one that reached a provider, to the exact instant.
pub async fn forgiven_sends_are_bounded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    for second in 0..10 {
        let (send, admission) = scene.admit(&line, LIVE, START + seconds(second)).await;
        assert!(admission.counted.admitted);
        let left = u32::try_from(9 - second).unwrap().min(3);
        assert_eq!(admission.forgiven.remaining, left, "after {second}");
        scene.forgive(&line, send).await;
    }
    let (_, refused) = scene.admit(&line, LIVE, START + seconds(9)).await;
    assert_eq!((refused.counted.admitted, refused.counted.reset), (false, seconds(591)));
    assert!(!scene.admits(&line, LIVE, START + WINDOW - MS).await);
    // The oldest leaves the window, and one more is admitted.
    assert!(scene.admits(&line, LIVE, START + WINDOW).await);
    assert!(!scene.admits(&line, LIVE, START + WINDOW).await);
}

/// Under any number of concurrent sends and forgivings, no more reach a provider than the bound says.
pub async fn sends_forgiven_at_once_stay_within_the_reach(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let admitted = race(60, |_| {
            let send = NewSend { quota: LIVE, ..scene.make.new_send(&line) };
            let (stores, key, id) = (stores.clone(), send.key(), send.otp.id);
            async move {
                let prepared = stores.logins.prepare(send, START).await.unwrap();
                let admitted = admission(prepared).counted.admitted;
                if admitted {
                    stores.sends.forgive(key, id).await.unwrap();
                }
                admitted
            }
        })
        .await;
        let mut reached = count(&admitted, |admitted| *admitted);
        assert!((3..=10).contains(&reached), "{reached} reached a provider");
        while scene.admits(&line, LIVE, START).await {
            reached += 1;
        }
        assert!(reached <= 10, "{reached} reached a provider");
    }
}

/// The quota is exact for two hundred concurrent sends to one phone: neither more nor fewer are admitted.
pub async fn sends_at_once_are_admitted_up_to_the_quota(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for (limit, wanted) in [(3, 3), (20, 20)].repeat(ROUNDS / 2) {
        let (line, quota) = (scene.line(), places(limit));
        let answers = race(CROWD, |_| {
            let send = NewSend { quota, ..scene.make.new_send(&line) };
            let store = Arc::clone(&stores.logins);
            async move { admission(store.prepare(send, START).await.unwrap()) }
        })
        .await;
        assert_eq!(count(&answers, |answer| answer.counted.admitted), wanted);
        let admitted = answers.iter().map(|a| a.counted).filter(|counted| counted.admitted);
        let mut left: Vec<_> = admitted.map(|counted| counted.remaining).collect();
        left.sort_unstable();
        assert_eq!(left, (0..limit).collect::<Vec<_>>());
        assert!(!scene.admits(&line, quota, START + WINDOW - MS).await);
    }
}

/// Fresh: a sweep deletes places taken before the instant, not those taken at it.
pub async fn sweep_drops_old_places(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (old, kept) = (scene.line(), scene.line());
    let instant = START + minutes(1);
    assert!(scene.admits(&old, ONE, instant - MS).await);
    assert!(scene.admits(&kept, ONE, instant).await);
    assert_eq!(stores.sends.sweep(instant - MS).await.unwrap(), 0);
    assert_eq!(stores.sends.sweep(instant).await.unwrap(), 1);
    assert_eq!(stores.sends.sweep(instant).await.unwrap(), 0);
    assert!(scene.admits(&old, ONE, instant).await);
    assert!(!scene.admits(&kept, ONE, instant).await);
}
