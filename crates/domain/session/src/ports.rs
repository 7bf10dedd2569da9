use crate::{
    AccessToken, Algorithm, Claims, InvalidToken, JwkSet, KeyAndSession, PresentedRefreshToken,
    PresentedToken, Rotation, RotationPolicy, Session, SigningKey, Successor,
};
use async_trait::async_trait;
use dwar_kernel::{Digest, SessionId, StoreError, Timestamp, TokenId, TokenProfile};

/// Keeps sessions, one record for each, no matter how often it is refreshed.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Exchanges a refresh token of the session by [`Session::rotate`]; `None` if the session is gone.
    ///
    /// `seen` is the session as [`SessionStore::find_key_and_session`] returned it to this request, which saves a look-up: a
    /// store MUST write only if the session is unchanged since, and otherwise load it again. Exactly one of any number
    /// of concurrent calls with the same token MUST be [`Rotation::Rotated`]; a repeated call with the same `next`
    /// counts as the same exchange. A revocation by [`Rotation::Reused`] is on disk before this returns.
    async fn rotate(
        &self,
        seen: Session,
        presented: PresentedRefreshToken,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError>;

    /// Looks up the API key with this digest and the named session together. The session is
    /// returned only if it belongs to the same project and mode. `None` if no such key is in force
    /// or its project is archived. [`Session::honours`] says whether a token is valid.
    ///
    /// MUST see every change of key or session that returned before this call began, from any process.
    async fn find_key_and_session(
        &self,
        key: Digest,
        session: Option<SessionId>,
    ) -> Result<Option<KeyAndSession>, StoreError>;

    /// Ends the session by [`Session::revoke`]; `false` if `token` is not its valid access token at `now`.
    ///
    /// `seen` saves a look-up, as in [`SessionStore::rotate`]. The tokens of the session MUST NOT work
    /// for any request that begins after this returns, nor may a concurrent refresh keep it alive.
    async fn revoke(
        &self,
        seen: Session,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Deletes sessions that ended, by expiry or revocation, before `before`; returns how many.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// Keeps the signing keys of the installation, sealed, for all projects.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SigningKeyStore: Send + Sync {
    /// Every key that is not gone at `now`, oldest first; keys of the same instant by `kid`.
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError>;

    /// Adds the first key; `false` if a key already [serves](SigningKey::serves) its algorithm.
    ///
    /// Exactly one of any number of concurrent calls on an empty store MUST return `true`.
    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError>;

    /// Adds a successor in one step: every other key [retires](SigningKey::retire) when the successor starts
    /// to sign, and stays published until `retire_until`.
    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError>;
}

/// Signs and verifies access tokens with the keys of a [`SigningKeyStore`].
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TokenSigner: Send + Sync {
    /// Loads the key that is active at `instant`, so that signing needs no store: it neither waits for one
    /// nor fails with one.
    async fn ready(&self, instant: Timestamp) -> Result<(), StoreError>;

    /// Signs with the key that is active at `claims.issued_at`. With `own`, the token profile of a project,
    /// the token names the issuer of that project. Without it the token names the issuer of the installation
    /// and is a [`TokenType::AccessToken`].
    ///
    /// [`TokenType::AccessToken`]: dwar_kernel::TokenType::AccessToken
    async fn sign<'a>(
        &self,
        claims: &Claims,
        own: Option<&'a TokenProfile>,
    ) -> Result<AccessToken, StoreError>;

    /// Reads the session that a token names, without a look-up or a check.
    fn read(&self, token: AccessToken) -> PresentedToken;

    /// Checks signature, algorithm, type, issuer and lifetime at `now`, with no skew. The issuer is that of
    /// the installation, or for a live token that of its project, whose tokens may have any
    /// [`TokenType`](dwar_kernel::TokenType).
    ///
    /// Only keys of this installation count, each for its own algorithm (RFC 8725); they sign nothing but
    /// access tokens. The caller checks revocation, project and mode.
    ///
    /// # Errors
    /// The outer error means that the store is unreachable, the inner one that the token is invalid.
    async fn verify(
        &self,
        token: &PresentedToken,
        now: Timestamp,
    ) -> Result<Result<Claims, InvalidToken>, StoreError>;

    /// The issuer that the token claims, unverified: [`TokenSigner::verify`] checks it.
    fn issuer(&self, token: &PresentedToken) -> Option<String>;

    /// The public keys that are published at `now`.
    async fn public_keys(&self, now: Timestamp) -> Result<JwkSet, StoreError>;

    /// Makes a new key, sealed, that is published at once and signs from `signs_from` on.
    ///
    /// # Errors
    /// Fails only if the cryptographic library does.
    fn generate(
        &self,
        algorithm: Algorithm,
        now: Timestamp,
        signs_from: Timestamp,
    ) -> Result<SigningKey, StoreError>;
}
