use crate::CommonPorts;
use dwar_kernel::{
    IdentityId, ProjectMode, SessionId, StoreError, Timestamp, TokenId, TokenProfile,
};
use dwar_session::{
    AccessToken, Claims, CurrentAccess, RefreshToken, RefreshTokenId, Rotations, Session,
    TokenSigner,
};
use std::sync::Arc;
use std::time::Duration;

/// Makes sessions and their token pairs, for verify and refresh.
#[derive(Clone)]
pub struct Tokens {
    pub tools: CommonPorts,
    pub signer: Arc<dyn TokenSigner>,
    pub policy: SessionPolicy,
}

/// Lifetimes and leeways of sessions; the defaults are those of docs/contract.md, Sessions.
#[derive(Clone, Copy, Debug)]
pub struct SessionPolicy {
    pub access: Duration,
    /// Lifetime of a refresh token, from its issue.
    pub refresh: Duration,
    /// Longest lifetime of a session, however often it is refreshed.
    pub session: Duration,
    /// Within this long of its exchange, a refresh token that is presented again revokes nothing.
    pub leeway: Duration,
    /// Within this long of its exchange, a refresh token gets the same pair again for the same
    /// `Idempotency-Key`.
    pub replay: Duration,
}

impl Default for SessionPolicy {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            access: seconds(900),
            refresh: seconds(30 * 24 * 3_600),
            session: seconds(90 * 24 * 3_600),
            leeway: seconds(10),
            replay: seconds(60),
        }
    }
}

/// The tokens that a verify or a refresh returns.
#[derive(Clone, Debug)]
pub struct TokenPair {
    pub access: AccessToken,
    pub refresh: RefreshToken,
    /// In whole seconds.
    pub expires_in: i64,
    pub refresh_expires_in: i64,
    pub session: SessionId,
    pub identity: IdentityId,
}

impl Tokens {
    /// Makes a session of `identity`, not yet on record, and its first refresh token.
    pub(crate) fn open(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        now: Timestamp,
    ) -> (Session, RefreshToken) {
        let id = SessionId::new(now, self.tools.entropy.as_ref());
        let refresh = self.refresh(RefreshTokenId { project_mode, session: id, generation: 0 });
        let session = Session {
            id,
            project_mode,
            identity,
            created_at: now,
            expires_at: now + self.policy.session,
            refresh: refresh.digest(self.tools.vault.as_ref()),
            generation: 0,
            refresh_expires_at: now + self.policy.refresh.min(self.policy.session),
            access: self.access(now, now + self.policy.session),
            rotations: Rotations::default(),
            replay: None,
            revoked_at: None,
        };
        (session, refresh)
    }

    pub(crate) fn refresh(&self, token_id: RefreshTokenId) -> RefreshToken {
        RefreshToken::generate(token_id, self.tools.vault.as_ref(), self.tools.entropy.as_ref())
    }

    /// A new access token id with its times. It expires with the session at the latest; JWT times are whole
    /// seconds.
    pub(crate) fn access(&self, now: Timestamp, session_end: Timestamp) -> CurrentAccess {
        let issued_at = whole_second(now);
        CurrentAccess {
            token: TokenId::new(now, self.tools.entropy.as_ref()),
            issued_at,
            expires_at: (issued_at + self.policy.access).min(whole_second(session_end)),
        }
    }

    /// Loads the key for the first access token of `session`, so that signing needs no store afterwards.
    pub(crate) async fn ready(&self, session: &Session) -> Result<(), StoreError> {
        self.signer.ready(session.access.issued_at).await
    }

    /// Signs the current access token of `session` and pairs it with `refresh`. With `own`, the token profile
    /// of a project, the token names that project's issuer.
    pub(crate) async fn pair(
        &self,
        session: &Session,
        own: Option<&TokenProfile>,
        refresh: RefreshToken,
        now: Timestamp,
    ) -> Result<TokenPair, StoreError> {
        let access = self.signer.sign(&Claims::of(session), own).await?;
        Ok(TokenPair {
            access,
            refresh,
            expires_in: seconds(session.access.expires_at, now),
            refresh_expires_in: seconds(session.refresh_expires_at, now),
            session: session.id,
            identity: session.identity,
        })
    }
}

/// Whole seconds from `now` to `end`, rounded up so that a lifetime of 900 s reads 900.
pub(crate) fn seconds(end: Timestamp, now: Timestamp) -> i64 {
    ((end - now).num_milliseconds().max(0) + 999) / 1_000
}

/// `instant` rounded down to whole seconds, as JWT times are (RFC 7519 section 2).
pub(crate) fn whole_second(instant: Timestamp) -> Timestamp {
    Timestamp::from_timestamp(instant.timestamp(), 0).unwrap_or(instant)
}
