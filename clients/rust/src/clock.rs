use std::sync::Arc;
use std::time::SystemTime;

use chrono::{DateTime, Utc};

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
