use crate::Rotations;
use dwar_kernel::{
    ApiKeyId, BlindIndex, Digest, Event, EventKind, IdentityId, ProjectMode, Sealed, SessionId,
    Subject, Timestamp, TokenId, TokenProfile,
};
use std::time::Duration;
use subtle::ConstantTimeEq;

/// One login: a line of refresh tokens, of which only the newest works, and one current access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The `session_id` of answers and the `sid` claim.
    pub id: SessionId,
    pub project_mode: ProjectMode,
    pub identity: IdentityId,
    pub created_at: Timestamp,
    /// The first instant at which the session can no longer be refreshed.
    pub expires_at: Timestamp,
    pub refresh: Digest,
    /// Number of refresh tokens that came before the current one.
    pub generation: u32,
    /// The first instant at which the current refresh token no longer works.
    pub refresh_expires_at: Timestamp,
    pub access: CurrentAccess,
    pub rotations: Rotations,
    /// Answer of the last exchange, if it came with an `Idempotency-Key`.
    pub replay: Option<Replay>,
    /// When the session was ended, by logout or by theft detection.
    pub revoked_at: Option<Timestamp>,
}

/// The only access token of a session that works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentAccess {
    /// Its `jti`.
    pub token: TokenId,
    /// Its `iat`, whole seconds.
    pub issued_at: Timestamp,
    /// Its `exp`, whole seconds.
    pub expires_at: Timestamp,
}

/// The stored answer of a refresh that came with an `Idempotency-Key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Digest of the `Idempotency-Key` and the refresh token together.
    pub key: Digest,
    pub answer: Sealed,
}

/// A refresh token that a client presents, in stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentedRefreshToken {
    pub generation: u32,
    pub refresh: Digest,
    /// Digest of the client's `Idempotency-Key` and the token: two tokens with the same key never get each
    /// other's answer.
    pub key: Option<Digest>,
}

/// The token pair that replaces the old one in a refresh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    pub refresh: Digest,
    /// The first instant at which the new refresh token no longer works.
    pub refresh_expires_at: Timestamp,
    pub access: CurrentAccess,
    /// The sealed pair, if the request came with an `Idempotency-Key`.
    pub replay: Option<Replay>,
}

/// What happens when a used refresh token is presented again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotationPolicy {
    /// Up to this long after its own exchange a used token revokes nothing, because two tabs may refresh at
    /// once.
    pub leeway: Duration,
    /// Within this long of its exchange the last used token gets the same pair again, for the same key.
    pub replay: Duration,
}

/// Result of presenting a refresh token to its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotation {
    Rotated,
    /// The same request exchanged the token a moment ago, with this answer.
    Replayed(Sealed),
    /// The token does not work; the session is unaffected.
    Refused,
    /// The token was used before: the session is considered stolen and ends (RFC 9700 section 4.14.2).
    Reused,
}

/// Key and session of a request about a session, from one look-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAndSession {
    pub key: ApiKeyId,
    pub project_mode: ProjectMode,
    /// Token profile of a project that has its own issuer.
    pub own_profile: Option<TokenProfile>,
    /// The session, if it exists in this project and mode.
    pub session: Option<Session>,
}

/// A session that begins because a phone number was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// Its identity is created with this id if the phone is new.
    pub session: Session,
    pub phone: BlindIndex,
    pub sealed_phone: Sealed,
}

impl Session {
    /// Whether the session is neither revoked nor expired at `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }

    /// Whether `token` is the valid access token at `now`.
    pub fn honours(&self, token: TokenId, now: Timestamp) -> bool {
        self.is_alive(now) && self.access.token == token && now < self.access.expires_at
    }

    /// When a refresh token issued at `now` expires: after its own lifetime, or with the session.
    pub fn refresh_end(&self, lifetime: Duration, now: Timestamp) -> Timestamp {
        (now + lifetime).min(self.expires_at)
    }

    /// Exchanges the presented refresh token for `next` (RFC 9700 section 4.14.2).
    ///
    /// The current token rotates. A token of a lower generation was used before: until the leeway after its
    /// own exchange it is refused, later it ends the session. Any other token is unknown to this record and
    /// is refused without revoking: an older backup may have been restored.
    pub fn rotate(
        &mut self,
        presented: &PresentedRefreshToken,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Rotation {
        if !self.is_alive(now) {
            return Rotation::Refused;
        }
        if self.refresh == next.refresh {
            // The same call was made before, and its answer was lost on the way.
            return Rotation::Rotated;
        }
        if presented.generation < self.generation {
            return self.judge_used(presented, policy, now);
        }
        let current = presented.generation == self.generation
            && bool::from(self.refresh.0.ct_eq(&presented.refresh.0));
        if !current || now >= self.refresh_expires_at {
            return Rotation::Refused;
        }
        self.refresh = next.refresh;
        self.generation = self.generation.saturating_add(1);
        self.refresh_expires_at = next.refresh_expires_at;
        self.access = next.access;
        self.rotations.push(now);
        self.replay = next.replay;
        Rotation::Rotated
    }

    fn judge_used(
        &mut self,
        presented: &PresentedRefreshToken,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Rotation {
        let later = self.generation - presented.generation - 1;
        let age = self.rotations.before(later).map(|at| (now - at).to_std().unwrap_or_default());
        let same =
            self.replay.as_ref().filter(|replay| later == 0 && Some(replay.key) == presented.key);
        match (age, same) {
            (Some(age), Some(replay)) if age < policy.replay => {
                Rotation::Replayed(replay.answer.clone())
            }
            (Some(age), _) if age <= policy.leeway => Rotation::Refused,
            _ => {
                self.revoked_at = Some(now);
                Rotation::Reused
            }
        }
    }

    /// Ends the session at `now` if `token` is the valid access token; `false` if it is not.
    pub fn revoke(&mut self, token: TokenId, now: Timestamp) -> bool {
        self.honours(token, now) && self.end(now)
    }

    /// Ends the session at `now`, whatever its tokens; `false` if it has ended already.
    pub fn end(&mut self, now: Timestamp) -> bool {
        let alive = self.is_alive(now);
        if alive {
            self.revoked_at = Some(now);
        }
        alive
    }

    /// When the token pair was last exchanged; `None` if never.
    pub fn refreshed_at(&self) -> Option<Timestamp> {
        self.rotations.before(0)
    }

    /// The revocation event of the change from `before`, if there is one.
    pub fn event(&self, before: &Self) -> Option<Event> {
        let at = self.revoked_at.filter(|_| before.revoked_at.is_none())?;
        Some(Event {
            project_mode: self.project_mode,
            kind: EventKind::SessionRevoked,
            subject: Subject::Session { session: self.id, identity: self.identity },
            at,
        })
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
