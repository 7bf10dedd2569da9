use std::time::Duration;

/// Most concurrent calls to one endpoint, learned from its answers: one more after each quick success, half
/// after a failure, one while it does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimit(u32);

impl CallLimit {
    /// Limit of an endpoint about which nothing is known.
    pub const FIRST: u32 = 4;
    /// Upper bound of the limit, however well an endpoint answers.
    pub const MOST: u32 = 64;
    /// Limit of an endpoint that does not answer.
    pub const HANGING: Self = Self(1);
    /// A call without an answer for this long reduces the limit to one.
    pub const HANGS: Duration = Duration::from_secs(1);
    /// An answer within this time raises the limit; a slower one does so up to [`CallLimit::FIRST`] only.
    const QUICK: Duration = Duration::from_millis(500);

    /// The limit of an endpoint that this process has not called yet.
    pub const fn new(failing: bool) -> Self {
        Self(if failing { 1 } else { Self::FIRST })
    }

    pub const fn get(self) -> u32 {
        self.0
    }

    /// The limit after a call that took `took`. A success raises it only if `used`: an endpoint that is
    /// called once a second has not shown that it can take two calls at a time.
    #[must_use]
    pub fn after_call(self, accepted: bool, took: Duration, used: bool) -> Self {
        let grows = used && (took <= Self::QUICK || self.0 < Self::FIRST);
        match (accepted, took >= Self::HANGS) {
            (_, true) => Self::HANGING,
            (false, false) => Self((self.0 / 2).max(1)),
            (true, false) => Self((self.0 + u32::from(grows)).min(Self::MOST)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Duration = Duration::from_millis(50);
    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn it_grows_with_quick_and_good_answers_and_halves_with_each_failure() {
        let mut limit = CallLimit::new(false);
        let mut seen = vec![limit.get()];
        for (accepted, took) in [
            (true, QUICK),
            (true, CallLimit::QUICK),
            (true, CallLimit::QUICK + MS),
            (false, QUICK),
            (true, CallLimit::HANGS - MS),
            (true, CallLimit::HANGS - MS),
            (false, QUICK),
            (false, QUICK),
            (false, QUICK),
        ] {
            limit = limit.after_call(accepted, took, true);
            seen.push(limit.get());
        }
        assert_eq!(seen, [4, 5, 6, 6, 3, 4, 4, 2, 1, 1]);
        assert_eq!(CallLimit::new(true).get(), 1);
        for accepted in [true, false] {
            assert_eq!(CallLimit(64).after_call(accepted, CallLimit::HANGS, true), CallLimit(1));
        }
        assert_eq!(CallLimit(9).after_call(true, QUICK, false), CallLimit(9));
        assert_eq!(CallLimit(64).after_call(true, QUICK, true), CallLimit(64));
    }
}
