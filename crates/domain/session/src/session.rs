use crate::Rotations;
use dwar_kernel::{
    ApiKeyId, BlindIndex, Digest, Event, EventKind, IdentityId, ProjectMode, Sealed, SessionId,
    Subject, Timestamp, TokenId, TokenProfile,
};
use std::time::Duration;
use subtle::ConstantTimeEq;

/// One login: a line of refresh tokens, of which the newest works, and one current access token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The `session_id` of answers and the `sid` claim.
    pub id: SessionId,
    pub world: ProjectMode,
    pub identity: IdentityId,
    pub created_at: Timestamp,
    /// The first instant at which no refresh can prolong it any more.
    pub expires_at: Timestamp,
    pub refresh: Digest,
    /// How many were exchanged before it.
    pub generation: u32,
    /// The first instant at which it no longer does.
    pub refresh_expires_at: Timestamp,
    pub access: CurrentAccess,
    /// When the last of them were exchanged.
    pub rotations: Rotations,
    /// What the last exchange answered, if it came with an `Idempotency-Key`.
    pub replay: Option<Replay>,
    /// When it was ended, by logout or by theft detection.
    pub revoked_at: Option<Timestamp>,
}

/// The current access token of a session; every earlier one is superseded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentAccess {
    /// Its `jti`.
    pub token: TokenId,
    /// Its `iat`, whole seconds.
    pub issued_at: Timestamp,
    /// Its `exp`, whole seconds.
    pub expires_at: Timestamp,
}

/// The answer of a refresh that came with an `Idempotency-Key`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// Digest of the key and of the refresh token it came with.
    pub key: Digest,
    /// The pair that was given out, unreadable at rest.
    pub answer: Sealed,
}

/// A refresh token of the session that somebody presents, in stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Presented {
    pub generation: u32,
    /// Its digest.
    pub refresh: Digest,
    /// Digest of the `Idempotency-Key` that came along and of the token: of two tokens with one
    /// key, neither gets the other's answer.
    pub key: Option<Digest>,
}

/// What replaces the old pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Successor {
    /// Digest of the new refresh token.
    pub refresh: Digest,
    /// The first instant at which it no longer works.
    pub refresh_expires_at: Timestamp,
    pub access: CurrentAccess,
    /// The sealed pair, if the request came with an `Idempotency-Key`.
    pub replay: Option<Replay>,
}

/// How a used refresh token is treated when it is shown again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotationPolicy {
    /// Up to this long after its own exchange a used token revokes nothing: two tabs at once.
    pub leeway: Duration,
    /// Within this long of its exchange the token used last gets the same pair again for the same
    /// key.
    pub replay: Duration,
}

/// The answer to a presented refresh token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rotation {
    Rotated,
    /// It was exchanged a moment ago by the same request; this was the answer.
    Replayed(Sealed),
    /// It does not work, and the session lives on.
    Refused,
    /// It had been used before: the session is considered stolen and ends here (RFC 9700 section
    /// 4.14.2).
    Reused,
}

/// What a request about a session looks up first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sought {
    pub key: ApiKeyId,
    pub world: ProjectMode,
    /// How tokens of a project with an issuer of its own look.
    pub own_profile: Option<TokenProfile>,
    /// The session, if this caller has one of that id.
    pub session: Option<Session>,
}

/// A phone number was verified, and a session begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// Its identity is the one to make if the phone is new.
    pub session: Session,
    pub phone: BlindIndex,
    pub sealed_phone: Sealed,
}

impl Session {
    /// Whether the session as a whole is valid at `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }

    /// Whether `token` is the access token that is valid at `now`.
    pub fn honours(&self, token: TokenId, now: Timestamp) -> bool {
        self.is_alive(now) && self.access.token == token && now < self.access.expires_at
    }

    /// When a refresh token issued at `now` ends: after its own lifetime, or with the session.
    pub fn refresh_end(&self, lifetime: Duration, now: Timestamp) -> Timestamp {
        (now + lifetime).min(self.expires_at)
    }

    /// Exchanges the presented refresh token for `next` (RFC 9700 section 4.14.2).
    ///
    /// The current token rotates. One of a lower generation was used before: it is refused up to
    /// the leeway after its own exchange, and ends the session later. Anything else was never given
    /// out, as far as this record goes, and is refused: an older backup may have been restored.
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
        if self.refresh == next.refresh {
            // This very call was made before, and its answer was lost on the way.
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
        presented: &Presented,
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

    /// Ends the session at `now`, whatever its tokens; `false` if it is no longer valid.
    pub fn end(&mut self, now: Timestamp) -> bool {
        let alive = self.is_alive(now);
        if alive {
            self.revoked_at = Some(now);
        }
        alive
    }

    /// When its pair was last exchanged; `None` if never.
    pub fn refreshed_at(&self) -> Option<Timestamp> {
        self.rotations.before(0)
    }

    /// The event of the change from `before`, if there is one.
    pub fn event(&self, before: &Self) -> Option<Event> {
        let at = self.revoked_at.filter(|_| before.revoked_at.is_none())?;
        Some(Event {
            world: self.world,
            kind: EventKind::SessionRevoked,
            subject: Subject::Session { session: self.id, identity: self.identity },
            at,
        })
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
