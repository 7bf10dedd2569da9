//! Promises of [`dwar_ratelimit::RequestLimiter`]. Every function uses keys of its own, so a limiter may be
//! shared, except for «fresh» ones.

use super::{CROWD, count};
use crate::{Fixtures, MS, START, SeededEntropy, minutes, race, seconds};
use dwar_kernel::{Entropy, Timestamp};
use dwar_ratelimit::{Quota, RequestKey, RequestLimiter, RequestScope, Window};
use std::sync::Arc;
use std::time::Duration;

/// A limiter in memory is fast: only many rounds bring two hits close enough together.
const ROUNDS: usize = 60;
const THREE: Quota = Quota { limit: 3, window: minutes(1) };
const ONE: Quota = Quota { limit: 1, window: minutes(1) };

type Limiter = Arc<dyn RequestLimiter>;

fn fresh_key() -> RequestKey {
    RequestKey { key: Fixtures::random().id(), scope: RequestScope::General }
}

async fn admits(limiter: &Limiter, key: RequestKey, quota: Quota, now: Timestamp) -> bool {
    limiter.hit(key, quota, now).await.unwrap().admitted
}

/// Every answer equals that of the domain's window, to the millisecond.
pub async fn hit_answers_as_the_window_does(limiter: &Limiter) {
    let (key, mut window) = (fresh_key(), Window::default());
    let full = START + THREE.window;
    let steps = [
        START,
        START + seconds(20),
        START + seconds(21),
        START + seconds(22),
        full - MS,
        full,
        full,
        full + seconds(20) - MS,
        full + seconds(20),
        full + minutes(30),
    ];
    for now in steps {
        let admission = limiter.hit(key, THREE, now).await.unwrap();
        assert_eq!(admission, window.hit(THREE, now), "at {now}");
    }
}

/// For any quotas, and a clock that jumps forwards and backwards, every answer equals that of the domain's
/// window.
pub async fn every_hit_is_what_the_window_says(limiter: &Limiter) {
    let entropy = SeededEntropy::new(1);
    let below = |bound: u32| {
        let mut bytes = [0; 4];
        entropy.fill(&mut bytes);
        u32::from_le_bytes(bytes) % bound
    };
    let mut refused = 0;
    for case in 0..12 {
        let (key, mut window, mut now) = (fresh_key(), Window::default(), START);
        for step in 0..120 {
            now = match below(12) {
                0 => now - MS * below(30_000),
                1 => now + seconds(10) - MS,
                2 => now + MS * below(40_000),
                _ => now + MS * below(400),
            };
            // Includes half milliseconds: a place becomes free only when the whole window is over.
            let length = seconds(10) + Duration::from_micros(500) * (case % 2);
            let quota = Quota { limit: below(4) * below(6), window: length };
            let admission = limiter.hit(key, quota, now).await.unwrap();
            assert_eq!(admission, window.hit(quota, now), "case {case}, step {step}");
            refused += usize::from(!admission.admitted);
        }
    }
    assert!((300..1_140).contains(&refused), "{refused} refusals say little");
}

/// The quota of the call applies: zero admits nothing, a wider one admits more.
pub async fn hit_takes_the_quota_of_the_call(limiter: &Limiter) {
    let key = fresh_key();
    assert!(!admits(limiter, key, Quota { limit: 0, ..THREE }, START).await);
    assert!(admits(limiter, key, ONE, START).await);
    assert!(!admits(limiter, key, ONE, START).await);
    assert!(admits(limiter, key, THREE, START).await);
    assert!(!admits(limiter, key, ONE, START).await);
}

/// A refusal is not counted: the key is free again when the admitted request leaves the window.
pub async fn a_refused_hit_is_not_counted(limiter: &Limiter) {
    let key = fresh_key();
    assert!(admits(limiter, key, ONE, START).await);
    for second in 1..50 {
        assert!(!admits(limiter, key, ONE, START + seconds(second)).await);
    }
    assert!(!admits(limiter, key, ONE, START + ONE.window - MS).await);
    assert!(admits(limiter, key, ONE, START + ONE.window).await);
}

pub async fn keys_and_scopes_are_apart(limiter: &Limiter) {
    let key = fresh_key();
    let scopes = [RequestScope::Validate, RequestScope::Send, RequestScope::Verify];
    let [validate, send, verify] = scopes.map(|scope| RequestKey { scope, ..key });
    let others = [validate, send, verify, fresh_key()];
    assert!(admits(limiter, key, ONE, START).await);
    for other in others {
        assert!(admits(limiter, other, ONE, START).await);
    }
    for key in others.into_iter().chain([key]) {
        assert!(!admits(limiter, key, ONE, START).await);
    }
}

/// The quota is exact for two hundred concurrent hits: neither more nor fewer are admitted.
pub async fn hits_at_once_are_admitted_up_to_the_quota(limiter: &Limiter) {
    for (limit, wanted) in [(3, 3), (20, 20), (150, 150)].repeat(ROUNDS / 3) {
        let (key, quota) = (fresh_key(), Quota { limit, ..THREE });
        let answers = race(CROWD, |_| {
            let limiter = Arc::clone(limiter);
            async move { limiter.hit(key, quota, START).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| answer.admitted), wanted);
        let mut left: Vec<_> =
            answers.iter().filter(|a| a.admitted).map(|answer| answer.remaining).collect();
        left.sort_unstable();
        assert_eq!(left, (0..limit).collect::<Vec<_>>());
        assert!(!admits(limiter, key, quota, START + THREE.window - MS).await);
    }
}

/// Concurrent clients that hit without a pause are together admitted up to the quota.
pub async fn streams_at_once_are_admitted_up_to_the_quota(limiter: &Limiter) {
    let quota = Quota { limit: 1_000, window: minutes(1) };
    for _ in 0..5 {
        let key = fresh_key();
        let admitted = race(8, |_| {
            let limiter = Arc::clone(limiter);
            async move {
                let mut admitted = 0;
                for _ in 0..250 {
                    admitted += usize::from(admits(&limiter, key, quota, START).await);
                }
                admitted
            }
        })
        .await;
        assert_eq!(admitted.iter().sum::<usize>(), 1_000);
    }
}

/// A ceiling of thousands is as exact as a small quota, however its hits are spread over time: as many places
/// become free at an instant as admissions leave the window.
pub async fn a_window_of_thousands_is_exact(limiter: &Limiter) {
    let quota = Quota { limit: 6_000, window: minutes(1) };
    for pace in [MS * 7, MS] {
        let (key, burst) = (fresh_key(), 100);
        // In bursts of a hundred, `pace` apart: the last place is taken in the 60th.
        for number in 0..quota.limit {
            let now = START + pace * (number / burst);
            assert!(admits(limiter, key, quota, now).await, "{number}");
        }
        assert!(!admits(limiter, key, quota, START + quota.window - MS).await);
        for round in 0..3 {
            let now = START + quota.window + pace * round;
            let mut admitted = 0;
            while admits(limiter, key, quota, now).await {
                admitted += 1;
            }
            assert_eq!(admitted, burst, "{now}");
        }
    }
}

/// Fresh: a sweep keeps every place that is still occupied at its instant.
pub async fn sweep_keeps_what_is_occupied(limiter: &Limiter) {
    let (key, wide) = (fresh_key(), fresh_key());
    let hour = Quota { limit: 1, window: minutes(60) };
    assert!(admits(limiter, key, ONE, START).await);
    assert!(admits(limiter, wide, hour, START).await);
    let end = START + ONE.window;
    limiter.sweep(end - MS).await.unwrap();
    assert!(!admits(limiter, key, ONE, end - MS).await);
    limiter.sweep(end).await.unwrap();
    assert!(admits(limiter, key, ONE, end).await);
    assert!(!admits(limiter, wide, hour, START + hour.window - MS).await);
}

/// Fresh: concurrent sweeps never admit a request twice.
pub async fn sweeps_and_hits_at_once_keep_the_quota(limiter: &Limiter) {
    for _ in 0..ROUNDS {
        let key = fresh_key();
        let answers = race(CROWD, |number| {
            let limiter = Arc::clone(limiter);
            async move {
                if number % 4 == 0 {
                    limiter.sweep(START).await.unwrap();
                    return false;
                }
                admits(&limiter, key, THREE, START).await
            }
        })
        .await;
        assert_eq!(count(&answers, |admitted| *admitted), 3);
    }
}
