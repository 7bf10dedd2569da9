use crate::RedisUrl;
use crate::link::Link;
use async_trait::async_trait;
use dwar_kernel::{StoreError, TRACE, Timestamp};
use dwar_ratelimit::{Admission, Quota, RequestKey, RequestLimiter, RequestScope};
use redis::{RedisError, Script, ServerErrorKind};
use std::time::Duration;
use tracing::Instrument;
use tracing::field::Empty;

const HIT: &str = include_str!("hit.lua");
/// What traces call it.
const HITS: &str = "requests.hit";

/// Counts the requests of every instance that asks the same Redis, exactly.
///
/// A hit is one script, which Redis runs by itself: however many instances hit at once, together
/// they are admitted up to the quota. A key's window is a list of instants, about ten bytes for
/// each request admitted in it; it expires once the last of them has left it.
///
/// Clocks: a hit is judged by the clock of its instance, not by that of Redis. An instance whose
/// clock is ahead or behind by `d` sees places become free `d` earlier or later than the others do;
/// as many requests as that moves are admitted too early, and no wait is longer than the window.
/// Keep the clocks in sync (NTP), and `d` is a few milliseconds.
///
/// Nothing answers here while Redis does not: see [`crate::FallbackRequestLimiter`].
pub struct RedisRequestLimiter {
    link: Link,
    script: Script,
}

impl RedisRequestLimiter {
    /// Connects when it is first hit. No hit takes longer than `timeout`.
    pub fn new(url: &RedisUrl, timeout: Duration) -> Self {
        Self { link: Link::new(url, timeout), script: Script::new(HIT) }
    }

    /// Makes a hit that counts for no key and is forgotten within a second, to check that all that
    /// hits need is there: a connection, rights, room, and a server that takes writes.
    ///
    /// # Errors
    /// As [`RequestLimiter::hit`] has them.
    pub async fn probe(&self, now: Timestamp) -> Result<(), StoreError> {
        let quota = Quota { limit: 1, window: Duration::from_secs(1) };
        self.judge("dwar:requests:{probe}", quota, now).await.map(drop)
    }

    async fn judge(
        &self,
        log: &str,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        let span = tracing::error_span!(
            target: TRACE,
            "store call",
            otel.kind = "client",
            otel.name = HITS,
            db.system.name = "redis",
            db.operation.name = HITS,
            error.r#type = Empty,
        );
        let judged = self.asked(log, quota, now).instrument(span.clone()).await;
        if judged.is_err() {
            span.record("error.type", "unavailable");
        }
        judged
    }

    async fn asked(
        &self,
        log: &str,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        let window = whole_millis(quota.window);
        let call = |command: &str, script: &str| {
            let mut call = redis::cmd(command);
            call.arg(script).arg(1).arg(log);
            call.arg(now.timestamp_millis()).arg(window).arg(quota.limit);
            call
        };
        let asked = self.link.with(async |mut connection| {
            let known = call("EVALSHA", self.script.get_hash()).query_async(&mut connection).await;
            match known {
                // It was restarted, or never saw this version.
                Err(cause) if is_unknown_script(&cause) => {
                    call("EVAL", HIT).query_async(&mut connection).await
                }
                answer => answer,
            }
        });
        let (admitted, taken, next_free): (bool, usize, Option<i64>) = asked.await?;
        Ok(Admission { admitted, ..Admission::next(quota, taken, next_free, now) })
    }
}

#[async_trait]
impl RequestLimiter for RedisRequestLimiter {
    /// # Errors
    /// [`StoreError::Unavailable`] if Redis did not answer in time, or not as it should. It may
    /// still have counted the hit.
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        self.judge(&name(key), quota, now).await
    }

    /// Does nothing: Redis forgets windows by itself.
    async fn sweep(&self, _: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }
}

/// The braces are for clusters: all that is kept of an API key is in one place.
fn name(RequestKey { key, scope }: RequestKey) -> String {
    let scope = match scope {
        RequestScope::Send => "send",
        RequestScope::Verify => "verify",
        RequestScope::Validate => "validate",
        RequestScope::General => "general",
    };
    format!("dwar:requests:{{{key}}}:{scope}")
}

/// An admission has left the window no sooner than all of it is over.
fn whole_millis(window: Duration) -> u64 {
    u64::try_from(window.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

fn is_unknown_script(cause: &RedisError) -> bool {
    cause.kind() == redis::ErrorKind::Server(ServerErrorKind::NoScript)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_testkit::Fixtures;

    #[test]
    fn a_name_keeps_what_belongs_to_a_key_together() {
        let key = Fixtures::random().id();
        let name = |scope| name(RequestKey { key, scope });
        assert_eq!(name(RequestScope::General), format!("dwar:requests:{{{key}}}:general"));
        assert_ne!(name(RequestScope::Send), name(RequestScope::Verify));
    }

    #[test]
    fn a_window_is_rounded_up() {
        assert_eq!(whole_millis(Duration::from_secs(60)), 60_000);
        assert_eq!(whole_millis(Duration::from_micros(10_001)), 11);
    }
}
