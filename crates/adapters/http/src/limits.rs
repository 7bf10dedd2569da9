use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use dwar_otp::Allowance;
use dwar_ratelimit::Admission;

const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// The rate limit headers of an answer (docs/contract.md, Limits).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RateLimit {
    limit: u32,
    remaining: u32,
    /// Whole seconds, rounded up, so that a client which waits that long is not early.
    reset: u64,
}

impl RateLimit {
    /// Seconds until a refused client may try again; at least one.
    pub(crate) fn retry_after(self) -> u64 {
        self.reset.max(1)
    }

    pub(crate) fn write(self, headers: &mut HeaderMap) {
        headers.insert(LIMIT, HeaderValue::from(self.limit));
        headers.insert(REMAINING, HeaderValue::from(self.remaining));
        headers.insert(RESET, HeaderValue::from(self.reset));
    }
}

impl From<Admission> for RateLimit {
    fn from(admission: Admission) -> Self {
        let Admission { limit, remaining, .. } = admission;
        Self { limit, remaining, reset: admission.reset_seconds() }
    }
}

impl From<Allowance> for RateLimit {
    fn from(Allowance { limit, remaining, reset }: Allowance) -> Self {
        let reset = reset.as_secs() + u64::from(reset.subsec_nanos() > 0);
        Self { limit, remaining, reset }
    }
}
