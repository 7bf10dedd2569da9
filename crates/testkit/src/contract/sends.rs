//! What [`dwar_ratelimit::SendLimiter`] promises.

use super::{CROWD, ROUNDS, count};
use crate::stores::Scene;
use crate::{MS, START, Stores, minutes, race, seconds};
use dwar_kernel::{OtpId, Timestamp};
use dwar_ratelimit::{Admission, Quota, SendKey, Window};
use std::sync::Arc;

const THREE: Quota = Quota { limit: 3, window: minutes(10) };
const ONE: Quota = Quota { limit: 1, window: minutes(10) };

impl Scene {
    async fn admit(&self, key: SendKey, quota: Quota, now: Timestamp) -> (OtpId, Admission) {
        let send = self.make.id();
        (send, self.stores.sends.admit(key, send, quota, now).await.unwrap())
    }

    async fn admits(&self, key: SendKey, quota: Quota, now: Timestamp) -> bool {
        self.admit(key, quota, now).await.1.admitted
    }

    async fn forgive(&self, key: SendKey, send: OtpId) {
        self.stores.sends.forgive(key, send).await.unwrap();
    }
}

/// Every answer is the one the window of the domain gives, to the millisecond.
pub async fn admit_answers_as_the_window_does(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let key = scene.line().send_key();
    let mut window = Window::default();
    let full = START + THREE.window;
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
        let (_, admission) = scene.admit(key, THREE, now).await;
        assert_eq!(admission, window.hit(THREE, now), "at {now}");
    }
}

/// A quota is that of the call: none admits nothing, a wider one admits more.
pub async fn admit_takes_the_quota_of_the_call(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let key = scene.line().send_key();
    assert!(!scene.admits(key, Quota { limit: 0, ..THREE }, START).await);
    assert!(scene.admits(key, ONE, START).await);
    assert!(!scene.admits(key, ONE, START).await);
    assert!(scene.admits(key, THREE, START).await);
    assert!(!scene.admits(key, ONE, START).await);
}

/// A refusal takes no place: the phone is free again when the admitted one has gone.
pub async fn a_refused_send_takes_no_place(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let key = scene.line().send_key();
    assert!(scene.admits(key, ONE, START).await);
    for second in 1..20 {
        assert!(!scene.admits(key, ONE, START + seconds(second)).await);
    }
    assert!(scene.admits(key, ONE, START + ONE.window).await);
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
    assert_eq!((admission.admitted, admission.remaining), (true, 0));
    scene.forgive(key, first).await;
    assert!(!scene.admits(key, THREE, START + seconds(2)).await);
}

/// Of two hundred sends to one phone at once exactly as many are admitted as the quota says.
pub async fn sends_at_once_are_admitted_up_to_the_quota(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for (limit, wanted) in [(3, 3), (20, 20)].repeat(ROUNDS / 2) {
        let (key, quota) = (scene.line().send_key(), Quota { limit, ..THREE });
        let answers = race(CROWD, |_| {
            let (store, send) = (Arc::clone(&stores.sends), scene.make.id());
            async move { store.admit(key, send, quota, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| answer.admitted), wanted);
        let mut left: Vec<_> =
            answers.iter().filter(|a| a.admitted).map(|answer| answer.remaining).collect();
        left.sort_unstable();
        assert_eq!(left, (0..limit).collect::<Vec<_>>());
        assert!(!scene.admits(key, quota, START + THREE.window - MS).await);
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
