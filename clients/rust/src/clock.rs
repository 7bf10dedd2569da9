use std::sync::Arc;
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use tokio::time::Instant;

/// Tells the time of the backend; tests set it ahead.
#[derive(Clone)]
pub(crate) struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub fn now(&self) -> DateTime<Utc> {
        (self.0)().into()
    }
}

impl Default for Clock {
    fn default() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the port of Dwar is not this crate's")]
        Self::new(SystemTime::now)
    }
}

/// Measures elapsed time. A clock that is set back does not reduce it, and time counts during which
/// the machine slept, unlike with many monotonic clocks.
pub(crate) struct ElapsedTime {
    clock: Clock,
    wall: DateTime<Utc>,
    monotonic: Instant,
    elapsed: Duration,
}

impl ElapsedTime {
    pub fn new(clock: Clock) -> Self {
        let (wall, monotonic) = (clock.now(), Instant::now());
        Self { clock, wall, monotonic, elapsed: Duration::ZERO }
    }

    pub fn now(&mut self) -> Duration {
        let (wall, monotonic) = (self.clock.now(), Instant::now());
        let by_wall = (wall - self.wall).to_std().unwrap_or_default();
        self.elapsed += by_wall.max(monotonic - self.monotonic);
        (self.wall, self.monotonic) = (wall, monotonic);
        self.elapsed
    }
}
