use crate::refusals::refusals;
use crate::{TokenPair, Tokens};
use dwar_kernel::{
    Digest, IdentityId, ProjectId, Purpose, Sealed, StoreError, TRACE, Timestamp, TokenProfile,
};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_session::{
    AccessToken, KeyAndSession, PresentedRefreshToken, RefreshToken, RefreshTokenId, Replay,
    Rotation, RotationPolicy, Session, SessionStore, Successor,
};
use std::sync::Arc;
use std::time::Duration;

use super::tokens::seconds;
use tracing::instrument;
use zeroize::Zeroizing;

/// Exchanges a refresh token for a new pair (`POST /v1/session/refresh`).
pub struct RefreshSession {
    pub sessions: Arc<dyn SessionStore>,
    pub tokens: Tokens,
}

refusals! {
    RefreshSessionError {
        /// The session or the token has expired, was used or revoked, or was never issued here.
        Expired = "the session has expired",
    }
}

impl RefreshSession {
    /// Rotates `token`; of any number of concurrent calls with one token exactly one gets a new pair.
    ///
    /// With an `Idempotency-Key`, the same token and key get the same pair again for a minute, so that a lost
    /// response does not cost a login. The same holds if a store failed after the old pair was spent.
    #[instrument(name = "refresh_session", target = TRACE, level = "error", skip_all)]
    pub async fn refresh(
        &self,
        caller: KeyAndSession,
        token: &str,
        key: Option<&IdempotencyKey>,
    ) -> Result<TokenPair, RefreshSessionError> {
        let (vault, now) = (self.tokens.tools.vault.as_ref(), self.tokens.tools.now());
        let KeyAndSession { project_mode, session, own_profile, .. } = caller;
        let token = RefreshToken::read(project_mode, token, vault);
        let token = token.ok_or(RefreshSessionError::Expired)?;
        let token_id = token.id();
        let seen = session.filter(|seen| seen.id == token_id.session);
        let seen = seen.ok_or(RefreshSessionError::Expired)?;

        let refresh = token.digest(vault);
        let key = key.map(|key| self.digest(project_mode.project, refresh, key));
        let presented = PresentedRefreshToken { generation: token_id.generation, refresh, key };
        let token_id =
            RefreshTokenId { generation: token_id.generation.saturating_add(1), ..token_id };
        let (next, pair) =
            self.successor((&seen, own_profile.as_ref()), token_id, key, now).await?;
        let identity = seen.identity;
        match self.sessions.rotate(seen, presented, next, self.policy(), now).await? {
            Some(Rotation::Rotated) => Ok(pair),
            Some(Rotation::Replayed(answer)) => Ok(self.reopen(token_id, identity, &answer, now)?),
            Some(Rotation::Reused) => {
                tracing::warn!(session = %token_id.session, "a used refresh token was used again; session revoked");
                Err(RefreshSessionError::Expired)
            }
            Some(Rotation::Refused) | None => Err(RefreshSessionError::Expired),
        }
    }

    async fn successor(
        &self,
        (session, own): (&Session, Option<&TokenProfile>),
        token_id: RefreshTokenId,
        key: Option<Digest>,
        now: Timestamp,
    ) -> Result<(Successor, TokenPair), StoreError> {
        let refresh = self.tokens.refresh(token_id);
        let next = Session {
            refresh_expires_at: session.refresh_end(self.tokens.policy.refresh, now),
            access: self.tokens.access(now, session.expires_at),
            ..session.clone()
        };
        let pair = self.tokens.pair(&next, own, refresh, now).await?;
        let successor = Successor {
            refresh: pair.refresh.digest(self.tokens.tools.vault.as_ref()),
            refresh_expires_at: next.refresh_expires_at,
            access: next.access,
            replay: key.map(|key| Replay { key, answer: self.seal(&next, &pair) }),
        };
        Ok((successor, pair))
    }

    const fn policy(&self) -> RotationPolicy {
        RotationPolicy { leeway: self.tokens.policy.leeway, replay: self.tokens.policy.replay }
    }

    fn digest(&self, project: ProjectId, token: Digest, key: &IdempotencyKey) -> Digest {
        let project = project.uuid();
        let parts: [&[u8]; 4] = [b"refresh", project.as_bytes(), &token.0, key.expose().as_bytes()];
        self.tokens.tools.vault.digest(Purpose::Idempotency, &parts)
    }

    /// Stores the pair as lines of text, since tokens contain no line breaks.
    fn seal(&self, session: &Session, pair: &TokenPair) -> Sealed {
        let lines = [
            pair.access.expose(),
            pair.refresh.expose(),
            &session.access.expires_at.timestamp_millis().to_string(),
            &session.refresh_expires_at.timestamp_millis().to_string(),
        ];
        let plain = Zeroizing::new(lines.join("\n"));
        self.tokens.tools.vault.seal(
            Purpose::Answer,
            session.id.uuid().as_bytes(),
            plain.as_bytes(),
        )
    }

    fn reopen(
        &self,
        token_id: RefreshTokenId,
        identity: IdentityId,
        answer: &Sealed,
        now: Timestamp,
    ) -> Result<TokenPair, StoreError> {
        let context = token_id.session.uuid();
        let vault = self.tokens.tools.vault.as_ref();
        let plain = Zeroizing::new(vault.open(Purpose::Answer, context.as_bytes(), answer)?);
        let read = || {
            let mut lines = std::str::from_utf8(&plain).ok()?.lines();
            let access = AccessToken::new(lines.next()?);
            let refresh = RefreshToken::read(token_id.project_mode, lines.next()?, vault)?;
            // A request that began before the first answer was given must not report more than a full
            // lifetime.
            let mut left = |lifetime: Duration| {
                let end = Timestamp::from_timestamp_millis(lines.next()?.parse().ok()?)?;
                let lifetime = i64::try_from(lifetime.as_secs()).unwrap_or(i64::MAX);
                Some(seconds(end, now).min(lifetime))
            };
            let policy = &self.tokens.policy;
            Some(TokenPair {
                access,
                refresh,
                expires_in: left(policy.access)?,
                refresh_expires_in: left(policy.refresh)?,
                session: token_id.session,
                identity,
            })
        };
        read().ok_or_else(|| StoreError::Inconsistent {
            table: "sessions",
            column: "replay_answer",
            row: token_id.session.to_string(),
        })
    }
}
