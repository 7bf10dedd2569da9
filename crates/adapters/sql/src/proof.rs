//! Rows and statements for proofs of a ledger.

use crate::schema::{ledger_proof_runs, ledger_proofs};
use crate::{At, EntryRow, Id, Row, balance};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::StoreError;
use dwar_wallet::{
    Balance, LedgerProof, LedgerSum, Paise, ProofRun, StatementLine, WalletSnapshot,
};

/// Row of `ledger_proofs`: the result of a proof.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = ledger_proofs)]
pub struct ProofRow {
    pub project_id: Id,
    pub begun_at: At,
    pub ended_at: At,
    pub made_by: String,
    pub entries: i64,
    pub position: i64,
    pub balance_sum: i64,
    pub held_sum: i64,
    pub last_position: i64,
    pub balance: i64,
    pub held: i64,
    pub open_holds: i64,
    pub sound: bool,
    pub closed: i64,
}

/// Row of `ledger_proof_runs`: a proof in progress, who began it, and its last activity.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = ledger_proof_runs)]
pub struct ProofRunRow {
    pub project_id: Id,
    pub begun_at: At,
    pub made_by: String,
    pub seen_at: At,
}

/// The number of closed entries of a project.
macro_rules! closed {
    () => {
        "(SELECT CAST(coalesce(sum(c.entries), 0) AS bigint) FROM ledger_closings c \
          WHERE c.project_id = $1) AS closed"
    };
}

/// Selects a wallet and its open holds at one instant as a [`WalletSnapshotRow`]. Parameter:
/// project. Open holds are those of sends in progress, too few to justify an index that every send
/// would have to maintain.
pub const WALLET_SNAPSHOT: &str = concat!(
    "SELECT w.entries, w.balance, w.held, \
     (SELECT CAST(coalesce(sum(h.amount), 0) AS bigint) FROM wallet_holds h \
      WHERE h.project_id = w.project_id) AS open, ",
    closed!(),
    " FROM wallets w WHERE w.project_id = $1"
);

/// Row of [`WALLET_SNAPSHOT`]: a wallet and the sum of its open holds.
#[derive(QueryableByName)]
pub struct WalletSnapshotRow {
    #[diesel(sql_type = BigInt)]
    entries: i64,
    #[diesel(sql_type = BigInt)]
    balance: i64,
    #[diesel(sql_type = BigInt)]
    held: i64,
    #[diesel(sql_type = BigInt)]
    open: i64,
    #[diesel(sql_type = BigInt)]
    closed: i64,
}

/// Sums entries as a [`SumRow`]. Parameters: project, first position (exclusive), last position
/// (inclusive). A closing entry counts as the entries it replaces.
pub const SUM: &str = concat!(
    "SELECT CAST(sum(t.entries) AS bigint) AS entries, \
     CAST(coalesce(max(t.position), 0) AS bigint) AS position, \
     CAST(coalesce(sum(t.amount), 0) AS bigint) AS amount, \
     CAST(coalesce(sum(t.held), 0) AS bigint) AS held, ",
    closed!(),
    " FROM (SELECT count(*) AS entries, max(position) AS position, sum(amount) AS amount, \
            sum(held) AS held FROM ledger_entries \
            WHERE project_id = $1 AND position > $2 AND position <= $3 \
      UNION ALL SELECT entries, position, amount, held FROM ledger_closings \
            WHERE project_id = $1 AND position > $2 AND position <= $3 AND entries > 0) t"
);

/// Row of [`SUM`]: number, last position and amounts of some entries.
#[derive(QueryableByName)]
pub struct SumRow {
    #[diesel(sql_type = BigInt)]
    entries: i64,
    #[diesel(sql_type = BigInt)]
    position: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = BigInt)]
    held: i64,
    #[diesel(sql_type = BigInt)]
    closed: i64,
}

/// Converts a stored count or position; a negative number becomes zero.
pub(crate) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

fn stored(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl From<WalletSnapshotRow> for WalletSnapshot {
    fn from(row: WalletSnapshotRow) -> Self {
        let balance = balance(row.balance, row.held);
        let (position, closed) = (count(row.entries), count(row.closed));
        Self { position, balance, open: Paise(row.open), closed }
    }
}

impl From<SumRow> for LedgerSum {
    fn from(row: SumRow) -> Self {
        let sums = balance(row.amount, row.held);
        let closed = count(row.closed);
        Self { entries: count(row.entries), position: count(row.position), sums, closed }
    }
}

impl From<LedgerProof> for ProofRow {
    fn from(proof: LedgerProof) -> Self {
        let sound = proof.is_sound();
        let LedgerProof { project, since, at, by, sum, wallet } = proof;
        let Balance { balance: Paise(balance), held: Paise(held) } = wallet.balance;
        Self {
            project_id: project.into(),
            begun_at: since.into(),
            ended_at: at.into(),
            made_by: by,
            entries: stored(sum.entries),
            position: stored(sum.position),
            balance_sum: sum.sums.balance.0,
            held_sum: sum.sums.held.0,
            last_position: stored(wallet.position),
            balance,
            held,
            open_holds: wallet.open.0,
            sound,
            closed: stored(sum.closed),
        }
    }
}

impl TryFrom<ProofRow> for LedgerProof {
    type Error = StoreError;

    fn try_from(row: ProofRow) -> Result<Self, StoreError> {
        let read = Row::new("ledger_proofs", row.project_id);
        let sums = balance(row.balance_sum, row.held_sum);
        let wallet = WalletSnapshot {
            position: count(row.last_position),
            balance: balance(row.balance, row.held),
            open: Paise(row.open_holds),
            closed: count(row.closed),
        };
        Ok(Self {
            project: read.id("project_id", row.project_id)?,
            since: read.at("begun_at", row.begun_at)?,
            at: read.at("ended_at", row.ended_at)?,
            by: row.made_by,
            sum: LedgerSum {
                entries: count(row.entries),
                position: count(row.position),
                sums,
                closed: count(row.closed),
            },
            wallet,
        })
    }
}

impl From<ProofRun> for ProofRunRow {
    fn from(run: ProofRun) -> Self {
        Self {
            project_id: run.project.into(),
            begun_at: run.since.into(),
            made_by: run.by,
            seen_at: run.seen_at.into(),
        }
    }
}

impl TryFrom<ProofRunRow> for ProofRun {
    type Error = StoreError;

    fn try_from(row: ProofRunRow) -> Result<Self, StoreError> {
        let read = Row::new("ledger_proof_runs", row.project_id);
        Ok(Self {
            project: read.id("project_id", row.project_id)?,
            since: read.at("begun_at", row.begun_at)?,
            by: row.made_by,
            seen_at: read.at("seen_at", row.seen_at)?,
        })
    }
}

impl TryFrom<EntryRow> for StatementLine {
    type Error = StoreError;

    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        Ok(Self { position: count(row.position), entry: row.try_into()?, closing: None })
    }
}

/// The entries of one kind that match a [`StatementFilter`](dwar_wallet::StatementFilter), as a
/// boxed query of the backend: `lines_of!(Pg, project, kind, &filter, after, limit)`.
#[macro_export]
macro_rules! lines_of {
    ($backend:ty, $project:expr, $kind:expr, $filter:expr, $after:expr, $limit:expr) => {{
        use $crate::schema::ledger_entries::dsl;
        let mut query = dsl::ledger_entries
            .filter(dsl::project_id.eq($crate::Id::from($project)))
            .filter(dsl::kind.eq($kind.as_str()))
            .into_boxed::<$backend>();
        if let Some(since) = $filter.since {
            query = query.filter(dsl::made_at.ge($crate::At::from(since)));
        }
        if let Some(until) = $filter.until {
            query = query.filter(dsl::made_at.lt($crate::At::from(until)));
        }
        if let Some(reference) = &$filter.reference {
            query = query.filter(dsl::reference.eq(reference.to_string()));
        }
        if let Some(after) = $after {
            let (at, place) = ($crate::At::from(after.at), $crate::stored_position(after.position));
            query = query
                // The first condition is the one with which the index can begin.
                .filter(dsl::made_at.le(at))
                .filter(dsl::made_at.lt(at).or(dsl::position.lt(place)));
        }
        query.order((dsl::made_at.desc(), dsl::position.desc())).limit(i64::from($limit))
    }};
}

/// Converts a position in the ledger for storage.
pub fn stored_position(position: u64) -> i64 {
    stored(position)
}
