use crate::{
    AdminToken, Admission, Attempt, AuditCursor, AuditEntry, AuditFilter, Count, Link, Operator,
    OperatorChange, OperatorName, OperatorSession, Origin, Password, PasswordHash, PhoneSearch,
    Proof, SearchAdmission, Standing,
};
use async_trait::async_trait;
use dwar_kernel::{AdminTokenId, Digest, OperatorId, StoreError, Timestamp};
use std::net::IpAddr;

/// Keeps operators, the links that let them in, their sessions, and their counts of failures.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OperatorStore: Send + Sync {
    /// Records an operator with the link that lets them in; `false` if the name is taken,
    /// regardless of case. Of any number of calls at once with one name exactly one MUST answer
    /// `true`.
    async fn invite(&self, operator: Operator, link: Link) -> Result<bool, StoreError>;

    /// As [`OperatorStore::invite`], if there is no operator yet. Of any number of calls at once on
    /// an empty store exactly one MUST answer `true`.
    async fn invite_first(&self, operator: Operator, link: Link) -> Result<bool, StoreError>;

    /// One operator, or `None`.
    async fn find(&self, operator: OperatorId) -> Result<Option<Operator>, StoreError>;

    /// The operator with this name, regardless of case.
    async fn find_by_name(&self, name: OperatorName) -> Result<Option<Operator>, StoreError>;

    /// Every operator, oldest first, equals by id.
    async fn list(&self) -> Result<Vec<Operator>, StoreError>;

    /// Applies a change, by [`Operator::apply`]; `false` if there is no such operator. Where the
    /// change [ends sessions](OperatorChange::ends_sessions), all but `keep` end in the same step.
    async fn change(
        &self,
        operator: OperatorId,
        change: OperatorChange,
        keep: Option<Digest>,
    ) -> Result<bool, StoreError>;

    /// Takes away what an operator signs in with, by [`Operator::reset`], their sessions, links and
    /// standings too, and adds `link`; `false` if there is no such operator.
    ///
    /// What let them in before MUST NOT do so for any request that begins after this returns.
    async fn reset(&self, operator: OperatorId, link: Link) -> Result<bool, StoreError>;

    /// Removes an operator, their sessions, links and standings; `false` if there is none.
    async fn remove(&self, operator: OperatorId) -> Result<bool, StoreError>;

    /// A link that is on record, and whom it lets in; [`Link::is_open`] says whether it is still
    /// open.
    async fn link(&self, link: Digest) -> Result<Option<(Link, Operator)>, StoreError>;

    /// Every link on record, in any order.
    async fn links(&self) -> Result<Vec<Link>, StoreError>;

    /// Puts `link` in place of every other of its operator, who [was only invited](Operator::is_invited);
    /// `false` if there is no such operator or they have been in, and nothing changed.
    ///
    /// Somebody who follows the link before at the same time MUST NOT leave the new one behind.
    async fn renew_link(&self, link: Link) -> Result<bool, StoreError>;

    /// Uses a link up, by [`Link::spend`], and begins `session`; gives the operator after that, or
    /// `None` if nothing changed.
    ///
    /// Of any number of calls at once with one link exactly one MUST be let in. It removes all
    /// links of the operator, their standings, and all their other sessions.
    async fn spend(
        &self,
        link: Digest,
        password: Option<PasswordHash>,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<Option<Operator>, StoreError>;

    /// Begins an attempt, by [`Attempt::admit`]; it may be about an operator who does not exist,
    /// see [`Attempt::of_nobody`]. A refused attempt leaves no new row for its origin.
    ///
    /// Of many attempts at once no more MUST be admitted than of as many in turn.
    async fn admit(&self, attempt: Attempt, now: Timestamp) -> Result<Admission, StoreError>;

    /// Takes an attempt back, by [`Standing::withdraw`](crate::Standing::withdraw).
    async fn withdraw(&self, attempt: Attempt) -> Result<(), StoreError>;

    /// Lets an operator in, by [`Operator::sign_in`]: `session` begins, and the attempt has succeeded,
    /// by [`Count::after_success`](crate::Count::after_success). `false`, with nothing changed, if the
    /// proof no longer holds, or there is no such operator.
    ///
    /// Of any number of calls at once whose codes follow the same time step exactly one MUST be let in.
    async fn sign_in(
        &self,
        proof: Proof,
        attempt: Attempt,
        session: OperatorSession,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// The counts of operators on record that are locked at `now`, and those of their names, in any order.
    async fn standings(&self, now: Timestamp) -> Result<Vec<(Count, Standing)>, StoreError>;

    /// Forgets every count of an operator; `false` if there was none.
    async fn forget_standings(&self, operator: OperatorId) -> Result<bool, StoreError>;

    /// A session and its operator; [`OperatorSession::is_alive`] says whether it is valid.
    ///
    /// MUST see every end and every change that returned before this call began, from any process.
    async fn session(
        &self,
        session: Digest,
    ) -> Result<Option<(OperatorSession, Operator)>, StoreError>;

    /// Notes a request of a session, by [`OperatorSession::note`].
    async fn note_session(&self, session: Digest, now: Timestamp) -> Result<(), StoreError>;

    /// The sessions of an operator, newest first, equals by digest.
    async fn sessions(&self, operator: OperatorId) -> Result<Vec<OperatorSession>, StoreError>;

    /// Ends one session of the operator, or all but `keep`; gives how many ended.
    async fn end_sessions(
        &self,
        operator: OperatorId,
        which: EndSessions,
    ) -> Result<u64, StoreError>;

    /// Takes back what may have let operators in since the state that is on record: every session,
    /// every link, and codes of authenticator apps up to time step `step`, by [`Totp::take`](crate::Totp::take). For a
    /// database from a backup.
    async fn outdate(&self, step: u64) -> Result<(), StoreError>;

    /// Drops links, sessions and used challenges that are no longer valid at `now`, and standings
    /// that are [forgotten](crate::Standing::is_forgotten); gives their number.
    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError>;
}

/// Which sessions of an operator end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndSessions {
    One(Digest),
    All,
    AllBut(Digest),
}

impl EndSessions {
    /// Whether this session ends.
    pub fn ends(self, session: &OperatorSession) -> bool {
        match self {
            Self::One(one) => session.digest == one,
            Self::All => true,
            Self::AllBut(kept) => session.digest != kept,
        }
    }
}

/// Keeps the tokens of the admin API.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AdminTokenStore: Send + Sync {
    /// Puts a token on record.
    async fn add(&self, token: AdminToken) -> Result<(), StoreError>;

    /// Every token, oldest first, equals by id.
    async fn tokens(&self) -> Result<Vec<AdminToken>, StoreError>;

    /// The token with this digest; [`AdminToken::is_alive`] says whether it is valid.
    ///
    /// MUST see every revocation that returned before this call began, from any process.
    async fn token(&self, token: Digest) -> Result<Option<AdminToken>, StoreError>;

    /// Notes a use, by [`AdminToken::note`].
    async fn note_token(
        &self,
        token: AdminTokenId,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Removes a token; `false` if there is none.
    async fn revoke(&self, token: AdminTokenId) -> Result<bool, StoreError>;

    /// Drops tokens that ended at `before` or earlier; gives their number.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// Keeps the audit log: entries are never changed, and are removed by age alone.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Puts an entry on record. It is on disk when this returns, since the change comes after it.
    async fn append(&self, entry: AuditEntry) -> Result<(), StoreError>;

    /// The entries that match the filter, newest first, equals by id downwards, starting after
    /// `after`, at most `limit`.
    async fn page(
        &self,
        filter: AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError>;

    /// Drops entries from before `before`, in bounded steps; gives their number.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// Counts the phone numbers searched for by those who see them masked.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SearchStore: Send + Sync {
    /// Admits a search, by [`Searches::admit`](crate::Searches::admit) of the searcher. If it counts,
    /// its entry is put in the audit log, in the same step, and is on disk when this returns.
    ///
    /// Of many searches at once, by any processes, no more MUST be admitted than of as many in turn.
    async fn admit_search(
        &self,
        search: PhoneSearch,
        now: Timestamp,
    ) -> Result<SearchAdmission, StoreError>;

    /// Drops searches that no longer count at `now`; gives their number.
    async fn sweep(&self, now: Timestamp) -> Result<u64, StoreError>;
}

/// What became of a password that was to be hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hashing<T> {
    Done(T),
    /// The queue is full, mostly with the same origin; the same call may succeed in a moment.
    Busy,
}

impl<T> Hashing<T> {
    /// The result; none if it was not worked on.
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(result) => Some(result),
            Self::Busy => None,
        }
    }
}

/// Hashes passwords, slowly on purpose.
///
/// An implementation bounds how many it works on at once and how many wait; beyond that it answers
/// [`Hashing::Busy`] without delay. Origins take turns: many passwords of one MUST NOT keep those of
/// another waiting for more than a few of them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait PasswordHasher: Send + Sync {
    /// The hash of a password under a fresh salt.
    async fn hash(
        &self,
        password: Password,
        origin: Origin,
    ) -> Result<Hashing<PasswordHash>, StoreError>;

    /// Whether the password is the one that was hashed. Without a hash it is `false`, and takes as
    /// long as with one, so that the time does not tell which names exist.
    async fn verify(
        &self,
        password: Password,
        hash: Option<PasswordHash>,
        origin: Origin,
    ) -> Result<Hashing<bool>, StoreError>;
}
