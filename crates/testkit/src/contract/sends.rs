//! What [`dwar_ratelimit::SendLimiter`] promises.

use super::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{Line, MS, START, Stores, WRONG_CODE, minutes, race, seconds};
use dwar_kernel::{GuessPolicy, OtpId, Timestamp};
use dwar_ratelimit::{Quota, SendAdmission, SendBound, SendKey, SendLog, SendQuota};
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
    async fn admit(
        &self,
        key: SendKey,
        quota: SendQuota,
        now: Timestamp,
    ) -> (OtpId, SendAdmission) {
        let send = self.make.id_at(now);
        (send, self.stores.sends.admit(key, send, quota, GuessPolicy::OFF, now).await.unwrap())
    }

    async fn admits(&self, key: SendKey, quota: SendQuota, now: Timestamp) -> bool {
        self.admit(key, quota, now).await.1.counted.admitted
    }

    async fn forgive(&self, key: SendKey, send: OtpId) {
        self.stores.sends.forgive(key, send).await.unwrap();
    }
}

/// Every answer is the one the log of the domain gives, to the millisecond.
pub async fn admit_answers_as_the_log_does(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let key = scene.line().send_key();
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
        let (_, admission) = scene.admit(key, LIVE, now).await;
        assert_eq!(admission, log.admit(&LIVE, &GuessPolicy::OFF, now), "at {now}");
    }
}

/// A quota is that of the call: none admits nothing, a wider one admits more.
pub async fn admit_takes_the_quota_of_the_call(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let key = scene.line().send_key();
    assert!(!scene.admits(key, places(0), START).await);
    assert!(scene.admits(key, ONE, START).await);
    assert!(!scene.admits(key, ONE, START).await);
    assert!(scene.admits(key, THREE, START).await);
    assert!(!scene.admits(key, ONE, START).await);
}

/// Wrong guesses count for the next send: they slow it down, and stop it where there were too many;
/// those for another phone, mode or project do not.
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
    // One send in the window: its answers look like those of a pace, and say which they are.
    let quota = SendQuota { places: ONE.places, ..LIVE };
    let (line, now) = (scene.line(), START + minutes(1));
    let ask = async |key, now| {
        let send = scene.make.id();
        stores.sends.admit(key, send, quota, policy, now).await.unwrap()
    };
    stores.otps.issue(scene.make.otp(&line)).await.unwrap();
    let mut answers = Vec::new();
    for _ in 0..5 {
        answers.push(ask(line.send_key(), now).await);
        let guess = scene.make.guess(WRONG_CODE);
        let Line { project, mode, index, .. } = line;
        stores.otps.judge(project, mode, index, guess, policy, now).await.unwrap();
    }
    let told: Vec<_> = answers.iter().map(|a| (a.refused_by, a.counted.reset)).collect();
    let limit = (Some(SendBound::Limit), WINDOW);
    let slow = (Some(SendBound::Pace), minutes(60));
    let stopped = (Some(SendBound::Stop), minutes(1_440));
    assert_eq!(told, [(None, WINDOW), limit, slow, slow, stopped]);
    assert_eq!(ask(line.send_key(), now + minutes(1_440)).await.refused_by, None);
    for other in scene.elsewhere(&line).await.iter().chain([&scene.line()]) {
        assert_eq!(ask(other.send_key(), now).await.refused_by, None);
    }
}

/// A refusal takes no place: the phone is free again when the admitted one has gone.
pub async fn a_refused_send_takes_no_place(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let key = scene.line().send_key();
    assert!(scene.admits(key, ONE, START).await);
    for second in 1..20 {
        assert!(!scene.admits(key, ONE, START + seconds(second)).await);
    }
    assert!(scene.admits(key, ONE, START + WINDOW).await);
}

/// Projects, modes and phones are counted apart.
pub async fn sends_stay_inside_project_mode_and_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    assert!(scene.admits(line.send_key(), ONE, START).await);
    let [mode, project] = scene.elsewhere(&line).await;
    for other in [mode, project, scene.line()] {
        assert!(scene.admits(other.send_key(), ONE, START).await);
    }
    assert!(!scene.admits(line.send_key(), ONE, START).await);
}

/// A forgiven send gives back its own place, once, and nobody else's.
pub async fn forgive_gives_back_one_place(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let key = line.send_key();
    let (first, _) = scene.admit(key, THREE, START).await;
    for _ in 0..2 {
        assert!(scene.admits(key, THREE, START + seconds(1)).await);
    }
    scene.forgive(key, scene.make.id()).await;
    for other in scene.elsewhere(&line).await {
        scene.forgive(other.send_key(), first).await;
    }
    assert!(!scene.admits(key, THREE, START + seconds(2)).await);
    for _ in 0..3 {
        scene.forgive(key, first).await;
    }
    let (_, admission) = scene.admit(key, THREE, START + seconds(2)).await;
    assert_eq!((admission.counted.admitted, admission.counted.remaining), (true, 0));
    scene.forgive(key, first).await;
    assert!(!scene.admits(key, THREE, START + seconds(2)).await);
}

/// A forgiven send counts on as one that reached a provider, to the exact instant; a withdrawn one
/// counts nowhere.
pub async fn forgiven_sends_are_bounded_and_withdrawn_ones_are_not(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let key = line.send_key();
    for second in 0..15 {
        let (send, _) = scene.admit(key, LIVE, START + seconds(second)).await;
        for other in scene.elsewhere(&line).await {
            stores.sends.withdraw(other.send_key(), send).await.unwrap();
        }
        for _ in 0..2 {
            stores.sends.withdraw(key, send).await.unwrap();
        }
    }
    for second in 0..10 {
        let (send, admission) = scene.admit(key, LIVE, START + seconds(second)).await;
        assert!(admission.counted.admitted);
        let left = u32::try_from(9 - second).unwrap().min(3);
        assert_eq!(admission.forgiven.remaining, left, "after {second}");
        scene.forgive(key, send).await;
    }
    let (_, refused) = scene.admit(key, LIVE, START + seconds(9)).await;
    assert_eq!((refused.counted.admitted, refused.counted.reset), (false, seconds(591)));
    assert!(!scene.admits(key, LIVE, START + WINDOW - MS).await);
    // The oldest leaves the window, and one more is let in.
    assert!(scene.admits(key, LIVE, START + WINDOW).await);
    assert!(!scene.admits(key, LIVE, START + WINDOW).await);
}

/// However many are sent and forgiven at once, no more reach a provider than the bound says.
pub async fn sends_forgiven_at_once_stay_within_the_reach(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let key = scene.line().send_key();
        let admitted = race(60, |_| {
            let (store, send) = (Arc::clone(&stores.sends), scene.make.id());
            async move {
                let admission =
                    store.admit(key, send, LIVE, GuessPolicy::OFF, START).await.unwrap();
                if admission.counted.admitted {
                    store.forgive(key, send).await.unwrap();
                }
                admission.counted.admitted
            }
        })
        .await;
        let mut reached = count(&admitted, |admitted| *admitted);
        assert!((3..=10).contains(&reached), "{reached} reached a provider");
        while scene.admits(key, LIVE, START).await {
            reached += 1;
        }
        assert!(reached <= 10, "{reached} reached a provider");
    }
}

/// Of two hundred sends to one phone at once exactly as many are admitted as the quota says.
pub async fn sends_at_once_are_admitted_up_to_the_quota(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for (limit, wanted) in [(3, 3), (20, 20)].repeat(ROUNDS / 2) {
        let (key, quota) = (scene.line().send_key(), places(limit));
        let answers = race(CROWD, |_| {
            let (store, send) = (Arc::clone(&stores.sends), scene.make.id());
            async move { store.admit(key, send, quota, GuessPolicy::OFF, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| answer.counted.admitted), wanted);
        let admitted = answers.iter().map(|a| a.counted).filter(|counted| counted.admitted);
        let mut left: Vec<_> = admitted.map(|counted| counted.remaining).collect();
        left.sort_unstable();
        assert_eq!(left, (0..limit).collect::<Vec<_>>());
        assert!(!scene.admits(key, quota, START + WINDOW - MS).await);
    }
}

/// Fresh: a sweep drops places taken before the instant, not those taken at it.
pub async fn sweep_drops_old_places(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (old, kept) = (scene.line().send_key(), scene.line().send_key());
    let instant = START + minutes(1);
    assert!(scene.admits(old, ONE, instant - MS).await);
    assert!(scene.admits(kept, ONE, instant).await);
    assert_eq!(stores.sends.sweep(instant - MS).await.unwrap(), 0);
    assert_eq!(stores.sends.sweep(instant).await.unwrap(), 1);
    assert_eq!(stores.sends.sweep(instant).await.unwrap(), 0);
    assert!(scene.admits(old, ONE, instant).await);
    assert!(!scene.admits(kept, ONE, instant).await);
}
