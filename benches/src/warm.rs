//! Warm-up of services: a runtime that compiles while it runs gets faster for a long time, and a
//! measurement of a cold one does not show its capacity.

use crate::Outcome;
use serde::Serialize;
use std::time::Duration;

/// Length of the window in which each rate is measured.
pub const WINDOW: Duration = Duration::from_secs(3);
/// Shortest warm-up of a service in the first round: a runtime that compiles seems stable before it
/// is.
pub const HALF_A_MINUTE: Duration = Duration::from_secs(30);
/// After this many windows, a minute, the service is measured as it is.
const MOST: usize = 20;

/// The warm-up of a service.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Warmth {
    /// Duration of the warm-up.
    pub seconds: u64,
    /// Whether the rate was stable by then.
    pub steady: bool,
}

/// Measures one window after another, for at least `least` and until the rate is stable; `window`
/// returns the rate of the next.
pub fn warm(least: Duration, mut window: impl FnMut() -> Outcome<f64>) -> Outcome<Warmth> {
    let least = usize::try_from(least.as_secs() / WINDOW.as_secs())?;
    let mut rates = Vec::new();
    while rates.len() < least || (rates.len() < MOST && !is_steady(&rates)) {
        rates.push(window()?);
    }
    let seconds = WINDOW.as_secs() * u64::try_from(rates.len())?;
    Ok(Warmth { seconds, steady: is_steady(&rates) })
}

/// Tells whether the last two rates differ by at most a tenth of the greater one.
fn is_steady(rates: &[f64]) -> bool {
    match rates {
        [.., one, other] => one.min(*other) >= 0.9 * one.max(*other) && one.max(*other) > 0.0,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warmed(least: Duration, rates: &[f64]) -> Warmth {
        let mut rates = rates.iter();
        warm(least, || Ok(*rates.next().unwrap())).unwrap()
    }

    #[test]
    fn a_rate_is_steady_when_two_windows_are_within_a_tenth() {
        for rates in [&[100.0, 90.0][..], &[90.0, 100.0], &[1.0, 50.0, 50.0], &[200.0, 180.0]] {
            assert!(is_steady(rates), "{rates:?}");
        }
        for rates in
            [&[][..], &[100.0], &[100.0, 89.9], &[89.9, 100.0], &[100.0, 100.0, 120.0], &[0.0, 0.0]]
        {
            assert!(!is_steady(rates), "{rates:?}");
        }
    }

    #[test]
    fn what_gets_faster_is_waited_for() {
        let rates = [100.0, 130.0, 170.0, 210.0, 240.0, 262.0];
        assert_eq!(warmed(Duration::ZERO, &rates), Warmth { seconds: 18, steady: true });
        assert_eq!(warmed(Duration::ZERO, &[100.0, 100.0]), Warmth { seconds: 6, steady: true });
    }

    #[test]
    fn the_least_is_waited_for_though_the_rate_seems_to_stand() {
        let rates: Vec<f64> = [119.0, 119.0].into_iter().chain([250.0; 8]).collect();
        assert_eq!(warmed(HALF_A_MINUTE, &rates), Warmth { seconds: 30, steady: true });
    }

    #[test]
    fn after_a_minute_it_is_said_that_it_does_not_stand() {
        let rates: Vec<f64> = (0..20).map(|n| if n % 2 == 0 { 100.0 } else { 200.0 }).collect();
        assert_eq!(warmed(HALF_A_MINUTE, &rates), Warmth { seconds: 60, steady: false });
        let late: Vec<f64> = rates.iter().take(19).copied().chain([100.0]).collect();
        assert_eq!(warmed(HALF_A_MINUTE, &late), Warmth { seconds: 60, steady: true });
    }
}
