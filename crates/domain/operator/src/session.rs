use crate::{Client, Device};
use dwar_kernel::{Digest, OperatorId, Timestamp};
use std::net::IpAddr;
use std::time::Duration;

/// One signed-in browser of an operator, as stores keep it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorSession {
    pub digest: Digest,
    pub operator: OperatorId,
    pub from: Option<IpAddr>,
    pub device: Option<Device>,
    pub created_at: Timestamp,
    /// Last request, to within a minute.
    pub seen_at: Timestamp,
    /// The first instant at which the session has expired, used or not.
    pub expires_at: Timestamp,
}

impl OperatorSession {
    /// A session ends this long after its beginning, even if it is in use.
    pub const LIFETIME: Duration = Duration::from_secs(12 * 3_600);
    /// A session ends this long after its last request.
    pub const IDLE: Duration = Duration::from_secs(3_600);
    /// Requests are recorded at most this often, so that a page with many requests does not write for each.
    pub const NOTED_EVERY: Duration = Duration::from_secs(60);

    /// A session that begins at `now`, and expires after [`OperatorSession::LIFETIME`].
    pub fn begin(digest: Digest, operator: OperatorId, client: Client, now: Timestamp) -> Self {
        let Client { address: from, device } = client;
        let expires_at = now + Self::LIFETIME;
        Self { digest, operator, from, device, created_at: now, seen_at: now, expires_at }
    }

    /// Whether the session has neither expired nor been idle for too long.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        now < self.expires_at && now < self.seen_at + Self::IDLE
    }

    /// Records a request; `false` if the last one was recorded too recently to write again.
    pub fn note(&mut self, now: Timestamp) -> bool {
        let due = now >= self.seen_at + Self::NOTED_EVERY;
        if due {
            self.seen_at = now;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn start() -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000, 0).unwrap()
    }

    fn session() -> OperatorSession {
        let operator = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        OperatorSession::begin(Digest([1; 32]), operator, Client::default(), start())
    }

    #[test]
    fn it_ends_an_hour_after_the_last_request_and_twelve_after_its_beginning() {
        let mut it = session();
        let idle = start() + OperatorSession::IDLE;
        assert!(it.is_alive(idle - MS) && !it.is_alive(idle));
        it.seen_at = start() + OperatorSession::LIFETIME - MS;
        assert!(it.is_alive(it.expires_at - MS) && !it.is_alive(it.expires_at));
    }

    #[test]
    fn requests_are_noted_once_a_minute() {
        let mut it = session();
        let due = start() + OperatorSession::NOTED_EVERY;
        assert!(!it.note(due - MS));
        assert_eq!(it, session());
        assert!(it.note(due) && !it.note(due));
        assert_eq!(it.seen_at, due);
    }
}
