use crate::{TokenPair, Tokens};
use dwar_idempotency::IdempotencyKey;
use dwar_kernel::{Digest, Purpose, Sealed, StoreError, Timestamp};
use dwar_project::Caller;
use dwar_session::{
    AccessToken, Presented, RefreshToken, Replay, Rotation, RotationPolicy, Session, SessionStore,
    Successor,
};
use std::sync::Arc;

use crate::tokens::seconds;
use zeroize::Zeroizing;

/// Exchanges a refresh token for a new pair (`POST /v1/session/refresh`).
pub struct RefreshSession {
    /// Keeps sessions.
    pub sessions: Arc<dyn SessionStore>,
    /// Makes token pairs.
    pub tokens: Tokens,
}

/// Why there is no new pair.
#[derive(Debug, thiserror::Error)]
pub enum RefreshSessionError {
    /// Expired, used, revoked, or no token of ours.
    #[error("the session has expired")]
    Expired,
    /// A store failed. The old pair may be spent; the same `Idempotency-Key` gets the new one.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RefreshSession {
    /// Rotates `token`; of any number of calls with one token exactly one gets a new pair.
    ///
    /// With an `Idempotency-Key`, the same token and key get the same pair again for a minute
    /// (decisions, Idempotency-Key): a lost response must not cost a login.
    pub async fn refresh(
        &self,
        caller: &Caller,
        token: &str,
        key: Option<&IdempotencyKey>,
    ) -> Result<TokenPair, RefreshSessionError> {
        let token: RefreshToken = token.parse().map_err(|_| RefreshSessionError::Expired)?;
        let now = self.tokens.tools.now();
        let (project, mode) = (caller.project.id, caller.mode);
        let digest = token.digest(self.tokens.tools.vault.as_ref());
        let session = self.sessions.find_by_refresh(project, mode, digest).await?;
        let session = session.ok_or(RefreshSessionError::Expired)?;

        let key = key.map(|key| self.digest(caller, key));
        let (next, pair) = self.successor(&session, key, now).await?;
        let presented = Presented { refresh: digest, key };
        let rotation =
            self.sessions.rotate(project, mode, presented, next, self.policy(), now).await?;
        match rotation {
            Some(Rotation::Rotated) => Ok(pair),
            Some(Rotation::Replayed(answer)) => Ok(self.reopen(&session, &answer, now)?),
            Some(Rotation::Reused) => {
                tracing::warn!(session = %session.id, "a used refresh token came again; session revoked");
                Err(RefreshSessionError::Expired)
            }
            Some(Rotation::Refused) | None => Err(RefreshSessionError::Expired),
        }
    }

    async fn successor(
        &self,
        session: &Session,
        key: Option<Digest>,
        now: Timestamp,
    ) -> Result<(Successor, TokenPair), StoreError> {
        let refresh = RefreshToken::generate(self.tokens.tools.entropy.as_ref());
        let next = Session {
            refresh_expires_at: session.refresh_end(self.tokens.policy.refresh, now),
            access: self.tokens.access(now, session.expires_at),
            ..session.clone()
        };
        let pair = self.tokens.pair(&next, refresh, now).await?;
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

    fn digest(&self, caller: &Caller, key: &IdempotencyKey) -> Digest {
        let project = caller.project.id.uuid();
        let parts = [b"refresh", project.as_bytes().as_slice(), key.expose().as_bytes()];
        self.tokens.tools.vault.digest(Purpose::Idempotency, &parts)
    }

    /// Keeps the pair as lines of text: tokens hold no line breaks.
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
        session: &Session,
        answer: &Sealed,
        now: Timestamp,
    ) -> Result<TokenPair, StoreError> {
        let context = session.id.uuid();
        let vault = &self.tokens.tools.vault;
        let plain = Zeroizing::new(vault.open(Purpose::Answer, context.as_bytes(), answer)?);
        parse(&plain, session, now).ok_or_else(|| StoreError::Inconsistent {
            table: "sessions",
            column: "replay_answer",
            row: session.id.to_string(),
        })
    }
}

fn parse(plain: &[u8], session: &Session, now: Timestamp) -> Option<TokenPair> {
    let mut lines = std::str::from_utf8(plain).ok()?.lines();
    let access = AccessToken::new(lines.next()?);
    let refresh = lines.next()?.parse().ok()?;
    let mut instant = || Timestamp::from_timestamp_millis(lines.next()?.parse().ok()?);
    Some(TokenPair {
        access,
        refresh,
        expires_in: seconds(instant()?, now),
        refresh_expires_in: seconds(instant()?, now),
        session: session.id,
        identity: session.identity,
    })
}
