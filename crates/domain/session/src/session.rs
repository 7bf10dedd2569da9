use dwar_kernel::{Digest, IdentityId, KeyMode, ProjectId, Sealed, SessionId, Timestamp, TokenId};
use std::time::Duration;

/// One login: a line of refresh tokens, of which the newest works, and one current access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The `session_id` of answers and the `sid` claim.
    pub id: SessionId,
    /// The tenant.
    pub project: ProjectId,
    /// The world.
    pub mode: KeyMode,
    /// Whose session it is.
    pub identity: IdentityId,
    /// When the login happened.
    pub created_at: Timestamp,
    /// The first instant at which no refresh can prolong it any more.
    pub expires_at: Timestamp,
    /// The refresh token that works.
    pub refresh: Digest,
    /// The first instant at which it no longer does.
    pub refresh_expires_at: Timestamp,
    /// The access token that counts.
    pub access: CurrentAccess,
    /// The refresh token before the present one.
    pub predecessor: Option<Predecessor>,
    /// When it was ended, by logout or by theft detection.
    pub revoked_at: Option<Timestamp>,
}

/// The access token of a session that counts; every earlier one is superseded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentAccess {
    /// Its `jti`.
    pub token: TokenId,
    /// Its `iat`, whole seconds.
    pub issued_at: Timestamp,
    /// Its `exp`, whole seconds.
    pub expires_at: Timestamp,
}

/// The refresh token that was exchanged for the present one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predecessor {
    /// Its digest.
    pub refresh: Digest,
    /// When it was exchanged.
    pub rotated_at: Timestamp,
    /// What is needed to give the same answer again.
    pub replay: Option<Replay>,
}

/// The answer of a refresh that came with an `Idempotency-Key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Digest of the key.
    pub key: Digest,
    /// The pair that was given out, unreadable at rest.
    pub answer: Sealed,
}

/// A refresh token that somebody presents, in stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented {
    /// Digest of the refresh token.
    pub refresh: Digest,
    /// Digest of the `Idempotency-Key`, if one came along.
    pub key: Option<Digest>,
}

/// What takes the place of the old pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// Digest of the new refresh token.
    pub refresh: Digest,
    /// The first instant at which it no longer works.
    pub refresh_expires_at: Timestamp,
    /// The new access token.
    pub access: CurrentAccess,
    /// The sealed pair, if the request came with an `Idempotency-Key`.
    pub replay: Option<Replay>,
}

/// How a used refresh token is treated when it is shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotationPolicy {
    /// Within this of its exchange the immediate predecessor revokes nothing: two tabs at once.
    pub leeway: Duration,
    /// Within this of its exchange it gets the same pair again, if it brings the same key.
    pub replay: Duration,
}

/// The answer to a presented refresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotation {
    /// The pair was exchanged.
    Rotated,
    /// It was exchanged a moment ago by the same request; this was the answer.
    Replayed(Sealed),
    /// It does not work, and the session lives on.
    Refused,
    /// It had been used before: the session is taken for stolen and ends here (RFC 9700
    /// section 4.14.2).
    Reused,
}

/// The answer to a new session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// It is on record.
    Started,
    /// Its identity was deleted meanwhile; nothing is on record.
    IdentityGone,
}

impl Session {
    /// Whether the session as a whole counts at `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }

    /// Whether `token` is the access token that counts at `now`.
    pub fn honours(&self, token: TokenId, now: Timestamp) -> bool {
        self.is_alive(now) && self.access.token == token && now < self.access.expires_at
    }

    /// When a refresh token issued at `now` ends: after its own lifetime, or with the session.
    pub fn refresh_end(&self, lifetime: Duration, now: Timestamp) -> Timestamp {
        (now + lifetime).min(self.expires_at)
    }

    /// Exchanges the presented refresh token for `next` (decisions, Session; RFC 9700).
    ///
    /// The present token rotates. A predecessor is refused; later than the leeway, or if it is
    /// older than the immediate one, its reuse ends the session.
    pub fn rotate(
        &mut self,
        presented: &Presented,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Rotation {
        if !self.is_alive(now) {
            return Rotation::Refused;
        }
        if self.refresh != presented.refresh {
            return self.judge_spent(presented, policy, now);
        }
        if now >= self.refresh_expires_at {
            return Rotation::Refused;
        }
        let spent = std::mem::replace(&mut self.refresh, next.refresh);
        self.refresh_expires_at = next.refresh_expires_at;
        self.access = next.access;
        self.predecessor =
            Some(Predecessor { refresh: spent, rotated_at: now, replay: next.replay });
        Rotation::Rotated
    }

    fn judge_spent(
        &mut self,
        presented: &Presented,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Rotation {
        if let Some(last) = self.predecessor.as_ref().filter(|p| p.refresh == presented.refresh) {
            let age = (now - last.rotated_at).to_std().unwrap_or_default();
            let same = last.replay.as_ref().filter(|r| Some(r.key) == presented.key);
            if let Some(replay) = same.filter(|_| age < policy.replay) {
                return Rotation::Replayed(replay.answer.clone());
            }
            if age <= policy.leeway {
                return Rotation::Refused;
            }
        }
        self.revoked_at = Some(now);
        Rotation::Reused
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
