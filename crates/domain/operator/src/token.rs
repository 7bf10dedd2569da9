use crate::Access;
use dwar_kernel::{AdminTokenId, Digest, Timestamp};
use std::net::IpAddr;
use std::time::Duration;

/// What is kept of a bearer token of the admin API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminToken {
    /// Its id, for lists and the audit log.
    pub id: AdminTokenId,
    /// The digest of its text.
    pub digest: Digest,
    pub name: String,
    pub access: Access,
    /// Whether it may make what works by itself, and so outlives it ([`crate::Command::makes`]).
    pub may_delegate: bool,
    /// Who made it, as the audit log names them.
    pub made_by: String,
    pub made_at: Timestamp,
    /// The first instant at which it is no longer valid.
    pub expires_at: Timestamp,
    /// The last use, to within a minute.
    pub used_at: Option<Timestamp>,
    pub used_from: Option<IpAddr>,
}

impl AdminToken {
    /// No token lives longer, so none is forgotten for ever.
    pub const LONGEST: Duration = Duration::from_secs(366 * 86_400);
    /// Uses are noted this far apart.
    pub const NOTED_EVERY: Duration = Duration::from_secs(60);

    /// Whether it is valid.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// Notes a use; `false` if the last one was noted too recently to write again.
    pub fn note(&mut self, now: Timestamp, from: Option<IpAddr>) -> bool {
        let due = self.used_at.is_none_or(|used| now >= used + Self::NOTED_EVERY);
        if due {
            (self.used_at, self.used_from) = (Some(now), from);
        }
        due
    }
}
