use crate::Access;
use dwar_kernel::{AdminTokenId, Digest, Timestamp};
use std::net::IpAddr;
use std::time::Duration;

/// Stored record of a bearer token of the admin API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminToken {
    /// Identifies the token in lists and the audit log.
    pub id: AdminTokenId,
    pub digest: Digest,
    pub name: String,
    pub access: Access,
    /// Whether the token may make things that outlive it ([`crate::Command::makes`]).
    pub may_delegate: bool,
    /// The author, as named in the audit log.
    pub made_by: String,
    pub made_at: Timestamp,
    /// The first instant at which it is no longer valid.
    pub expires_at: Timestamp,
    /// Last use, to within a minute.
    pub used_at: Option<Timestamp>,
    pub used_from: Option<IpAddr>,
}

impl AdminToken {
    /// Longest lifetime of a token, so that a forgotten one expires.
    pub const LONGEST: Duration = Duration::from_secs(366 * 86_400);
    /// Least time between two recorded uses of one token.
    pub const NOTED_EVERY: Duration = Duration::from_secs(60);

    /// Whether the token has not expired at `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// Records a use; `false` if the last one was recorded too recently to write again.
    pub fn note(&mut self, now: Timestamp, from: Option<IpAddr>) -> bool {
        let due = self.used_at.is_none_or(|used| now >= used + Self::NOTED_EVERY);
        if due {
            (self.used_at, self.used_from) = (Some(now), from);
        }
        due
    }
}
