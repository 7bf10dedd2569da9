use crate::{
    AccessToken, Algorithm, Claims, InvalidToken, JwkSet, Presented, PresentedToken, Rotation,
    RotationPolicy, Session, SigningKey, Sought, Successor,
};
use async_trait::async_trait;
use dwar_kernel::{Digest, SessionId, StoreError, Timestamp, TokenId, TokenProfile};

/// Keeps sessions, one record each.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Exchanges a refresh token of the session, by [`Session::rotate`]; `None` if it is gone.
    ///
    /// `seen` is the session as [`SessionStore::seek`] gave it to this very request, which saves a
    /// look-up: a store MUST write only if the session is still as it was seen, and otherwise look
    /// again. Of any number of calls at once with the same token exactly one MUST be
    /// [`Rotation::Rotated`]; repeating a call with the same `next` is the same exchange. A
    /// revocation by [`Rotation::Reused`] is on disk before this answers.
    async fn rotate(
        &self,
        seen: Session,
        presented: Presented,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError>;

    /// Whom the API key with this digest speaks for, and the named session, if any, provided that it
    /// is of the same project and mode, in one look-up; `None` if no such key is in force or its
    /// project is archived. [`Session::honours`] tells whether a token is valid.
    ///
    /// MUST see every change of either that returned before this call began, from any process.
    async fn seek(
        &self,
        key: Digest,
        session: Option<SessionId>,
    ) -> Result<Option<Sought>, StoreError>;

    /// Ends the session by [`Session::revoke`]; `false` if it does not honour `token` at `now`.
    ///
    /// `seen` saves a look-up as in [`SessionStore::rotate`]. The tokens of the session MUST NOT work
    /// for any request that begins after this returns, nor may a concurrent refresh survive it.
    async fn revoke(
        &self,
        seen: Session,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Drops sessions that ended, by expiry or revocation, before `before`; gives their number.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// Keeps signing keys.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SigningKeyStore: Send + Sync {
    /// Every key that is not gone at `now`, oldest first; those of one instant by `kid`.
    async fn keys(&self, now: Timestamp) -> Result<Vec<SigningKey>, StoreError>;

    /// Adds the first key; `false` if there is one that [serves](SigningKey::serves) already.
    ///
    /// Of any number of calls at once on an empty store exactly one MUST answer `true`.
    async fn add_first(&self, key: SigningKey, now: Timestamp) -> Result<bool, StoreError>;

    /// Adds a successor as one step: every other key [retires](SigningKey::retire) when it starts
    /// to sign, and is published until `retire_until`.
    async fn rotate(&self, key: SigningKey, retire_until: Timestamp) -> Result<(), StoreError>;
}

/// Makes and checks access tokens.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TokenSigner: Send + Sync {
    /// Makes sure that the key that is active at `instant` is at hand: signing with it then waits for no
    /// store, and fails for none.
    async fn ready(&self, instant: Timestamp) -> Result<(), StoreError>;

    /// Signs with the key that is active at `claims.issued_at`. With a profile of its `own` the token names the
    /// issuer of its project; without one that of the installation, and is a [`TokenType::AccessToken`].
    ///
    /// [`TokenType::AccessToken`]: dwar_kernel::TokenType::AccessToken
    async fn sign<'a>(
        &self,
        claims: &Claims,
        own: Option<&'a TokenProfile>,
    ) -> Result<AccessToken, StoreError>;

    /// Takes a token as it is presented, without a look-up.
    fn read(&self, token: AccessToken) -> PresentedToken;

    /// Checks signature, algorithm, type, issuer and lifetime at `now`, with no skew. The issuer is ours, or
    /// for a live token that of its project, whose tokens may be of any [`TokenType`](dwar_kernel::TokenType).
    ///
    /// Only a key of ours, for its own algorithm, counts (RFC 8725), and it signs nothing but access tokens.
    /// Revocation, project and mode are the caller's to check.
    ///
    /// # Errors
    /// The outer error is a store out of reach, the inner one an invalid token.
    async fn verify(
        &self,
        token: &PresentedToken,
        now: Timestamp,
    ) -> Result<Result<Claims, InvalidToken>, StoreError>;

    /// The issuer that the token names, on its own word: [`TokenSigner::verify`] tells whether that is true.
    fn issuer(&self, token: &PresentedToken) -> Option<String>;

    /// The public keys of every key that is published at `now`.
    async fn public_keys(&self, now: Timestamp) -> Result<JwkSet, StoreError>;

    /// A fresh key, sealed, that is published at once and signs from `signs_from` on.
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
