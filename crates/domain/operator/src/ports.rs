use crate::{
    AdminToken, Attempt, AttemptAdmission, AuditCursor, AuditEntry, AuditFilter, FailureCounter,
    FailureKey, OneTimeLink, Operator, OperatorChange, OperatorName, OperatorSession, Origin,
    Password, PasswordHash, PhoneSearch, SearchAdmission, SignInProof,
};
use async_trait::async_trait;
use dwar_kernel::{AdminTokenId, Digest, OperatorId, StoreError, Timestamp};
use std::net::IpAddr;

/// Keeps operators, their sign-in links, their sessions, and their counts of failures.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OperatorStore: Send + Sync {
    /// Stores an operator with a sign-in link; `false` if the name is taken, ignoring case. Exactly one of any number
    /// of concurrent calls with the same name MUST return `true`.
    async fn invite(&self, operator: Operator, link: OneTimeLink) -> Result<bool, StoreError>;

    /// Like [`OperatorStore::invite`], if there is no operator yet. Exactly one of any number of concurrent calls on an
    /// empty store MUST return `true`.
    async fn invite_first(&self, operator: Operator, link: OneTimeLink)
    -> Result<bool, StoreError>;

    /// The operator with this id, or `None` if there is none.
    async fn find(&self, operator: OperatorId) -> Result<Option<Operator>, StoreError>;

    /// The operator with this name, ignoring case, or `None`.
    async fn find_by_name(&self, name: OperatorName) -> Result<Option<Operator>, StoreError>;

    /// All operators, oldest first, equal times by id.
    async fn list(&self) -> Result<Vec<Operator>, StoreError>;

    /// Applies a change by [`Operator::apply`]; `false` if there is no such operator. If the change [ends
    /// sessions](OperatorChange::ends_sessions), all sessions except `keep` end in the same step.
    async fn change(
        &self,
        operator: OperatorId,
        change: OperatorChange,
        keep: Option<Digest>,
    ) -> Result<bool, StoreError>;

    /// Removes password, second factor and passkeys of an operator, by [`Operator::reset`],
    /// together with sessions, links and counts of failures, and adds `link`; `false` if there is
    /// no such operator.
    ///
    /// None of the removed ways to sign in may work for any request that begins after this returns.
    async fn reset(&self, operator: OperatorId, link: OneTimeLink) -> Result<bool, StoreError>;

    /// Removes an operator with sessions, links and counts of failures; `false` if there is no such operator.
    async fn remove(&self, operator: OperatorId) -> Result<bool, StoreError>;

    /// A link on record with its operator; [`OneTimeLink::is_open`] says whether it is still valid.
    async fn link(&self, link: Digest) -> Result<Option<(OneTimeLink, Operator)>, StoreError>;

    /// All links on record, used for lists of invitations, in any order.
    async fn links(&self) -> Result<Vec<OneTimeLink>, StoreError>;

    /// Replaces all links of an operator who [was only invited](Operator::is_invited) by `link`; `false`,
    /// with nothing changed, if there is no such operator or the operator has signed in before.
    ///
    /// If the old link is followed at the same time, the new link MUST NOT stay behind.
    async fn renew_link(&self, link: OneTimeLink) -> Result<bool, StoreError>;

    /// Uses up a link by [`OneTimeLink::spend`] and begins `session`; returns the changed operator, or `None` if
    /// nothing changed.
    ///
    /// Exactly one of any number of concurrent calls with the same link MUST succeed. It removes all links of the
    /// operator, the counts of failures, and all other sessions.
    async fn spend(
        &self,
        link: Digest,
        password: Option<PasswordHash>,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<Option<Operator>, StoreError>;

    /// Begins an attempt by [`Attempt::admit`]. The attempt may be for an operator who does not exist, see
    /// [`Attempt::of_nobody`]. A refused attempt leaves no new row for its origin.
    ///
    /// Concurrent attempts MUST NOT be admitted more often than attempts one after the other.
    async fn admit(&self, attempt: Attempt, now: Timestamp)
    -> Result<AttemptAdmission, StoreError>;

    /// Takes an attempt back by [`FailureCounter::withdraw`](crate::FailureCounter::withdraw).
    async fn withdraw(&self, attempt: Attempt) -> Result<(), StoreError>;

    /// Signs in an operator by [`Operator::sign_in`]: `session` begins, and the attempt succeeds by
    /// [`FailureKey::after_success`](crate::FailureKey::after_success). `false`, with nothing changed, if the proof no
    /// longer holds, or there is no such operator.
    ///
    /// Exactly one of any number of concurrent calls whose codes follow the same time step MUST succeed.
    async fn sign_in(
        &self,
        proof: SignInProof,
        attempt: Attempt,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// The counts of existing operators that are locked at `now`, and the counts of their names, in any
    /// order.
    async fn failure_counters(
        &self,
        now: Timestamp,
    ) -> Result<Vec<(FailureKey, FailureCounter)>, StoreError>;

    /// Deletes every count of failures of an operator; `false` if there was none.
    async fn forget_failures(&self, operator: OperatorId) -> Result<bool, StoreError>;

    /// A session with its operator; [`OperatorSession::is_alive`] says whether it is valid.
    ///
    /// MUST see every end and every change that returned before this call began, from any process.
    async fn session(
        &self,
        session: Digest,
    ) -> Result<Option<(OperatorSession, Operator)>, StoreError>;

    /// Records a request of a session by [`OperatorSession::note`].
    async fn record_session_use(&self, session: Digest, now: Timestamp) -> Result<(), StoreError>;

    /// The sessions of an operator, newest first, equal times by digest.
    async fn sessions(&self, operator: OperatorId) -> Result<Vec<OperatorSession>, StoreError>;

    /// Ends the chosen sessions of the operator; returns how many ended.
    async fn end_sessions(
        &self,
        operator: OperatorId,
        which: EndSessions,
    ) -> Result<u64, StoreError>;

    /// Invalidates what may have signed in operators since the recorded state: every session, every link, and
    /// codes of authenticator apps up to time step `step`, by [`Totp::take`](crate::Totp::take). Used on a
    /// database that was restored from a backup.
    async fn invalidate_sign_ins(&self, step: u64) -> Result<(), StoreError>;

    /// Deletes links, sessions and used challenges that have expired at `now`, and counts that are
    /// [forgotten](crate::FailureCounter::is_forgotten); returns how many.
    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError>;
}

/// Which sessions of an operator to end, in [`OperatorStore::end_sessions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndSessions {
    One(Digest),
    All,
    AllBut(Digest),
}

impl EndSessions {
    /// Whether `session` is one of those to end.
    pub fn ends(self, session: &OperatorSession) -> bool {
        match self {
            Self::One(one) => session.digest == one,
            Self::All => true,
            Self::AllBut(kept) => session.digest != kept,
        }
    }
}

/// Keeps the tokens of the admin API, by their digests.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AdminTokenStore: Send + Sync {
    /// Stores a new token; its id and digest are unique.
    async fn add(&self, token: AdminToken) -> Result<(), StoreError>;

    /// All tokens, oldest first, equal times by id.
    async fn tokens(&self) -> Result<Vec<AdminToken>, StoreError>;

    /// The token with this digest; [`AdminToken::is_alive`] says whether it is valid.
    ///
    /// MUST see every revocation that returned before this call began, from any process.
    async fn token(&self, token: Digest) -> Result<Option<AdminToken>, StoreError>;

    /// Records a use by [`AdminToken::note`], from this address if it is known.
    async fn record_token_use(
        &self,
        token: AdminTokenId,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Deletes a token; `false` if there is no such token.
    async fn revoke(&self, token: AdminTokenId) -> Result<bool, StoreError>;

    /// Deletes tokens that expired at `before` or earlier; returns how many.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// Keeps the audit log: entries are never changed, and are deleted by age only.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Stores an entry. It is on disk when this returns, since the change follows.
    async fn append(&self, entry: AuditEntry) -> Result<(), StoreError>;

    /// At most `limit` entries that match the filter, after `after`: newest first, equal times by descending
    /// id.
    async fn page(
        &self,
        filter: AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError>;

    /// Deletes entries from before `before` in bounded steps; returns how many.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// Counts phone numbers that are searched for by callers who see them masked.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SearchStore: Send + Sync {
    /// Admits a search by [`Searches::admit`](crate::Searches::admit) of the searcher. If it counts, its
    /// entry is added to the audit log in the same step, and is on disk when this returns.
    ///
    /// Concurrent searches, from any processes, MUST NOT be admitted more often than searches one
    /// after the other.
    async fn admit_search(
        &self,
        search: PhoneSearch,
        now: Timestamp,
    ) -> Result<SearchAdmission, StoreError>;

    /// Deletes searches that no longer count at `now`; returns how many.
    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError>;
}

/// Result of giving a password to the hasher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hashing<T> {
    Done(T),
    /// The queue is full, mostly with passwords of the same origin; the same call may succeed in a moment.
    Busy,
}

impl<T> Hashing<T> {
    /// The result; `None` if the queue was full.
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(result) => Some(result),
            Self::Busy => None,
        }
    }
}

/// Hashes passwords, deliberately slowly.
///
/// An implementation bounds how many passwords it works on and how many wait; beyond that it returns
/// [`Hashing::Busy`] without delay. Origins take turns: many passwords of one origin MUST NOT delay those of
/// another by more than a few hashes.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// Hashes a password with a fresh random salt.
    async fn hash(
        &self,
        password: Password,
        origin: Origin,
    ) -> Result<Hashing<PasswordHash>, StoreError>;

    /// Whether the password matches the hash. Without a hash the result is `false` after the same time, so
    /// that timing does not reveal which names exist.
    async fn verify(
        &self,
        password: Password,
        hash: Option<PasswordHash>,
        origin: Origin,
    ) -> Result<Hashing<bool>, StoreError>;
}
