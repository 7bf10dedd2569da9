//! Rows and statements for closed months of a ledger.

use crate::proof::count;
use crate::schema::ledger_closings;
use crate::{At, Id, Row, balance, stored_position};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::StoreError;
use dwar_wallet::{Balance, Closable, Closed, Closing, FileDigest, Month, Paise};

/// Row of `ledger_closings`: a closed month of a project, and the progress of its closing.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = ledger_closings)]
pub struct ClosingRow {
    pub id: Id,
    pub project_id: Id,
    pub month: String,
    pub since: At,
    pub until: At,
    pub exported: i64,
    pub first_position: i64,
    pub last_position: i64,
    pub digest: Vec<u8>,
    pub entries: i64,
    pub position: i64,
    pub amount: i64,
    pub held: i64,
    pub balance_after: i64,
    pub held_after: i64,
    pub made_at: At,
}

/// Selects the closable entries of a month as a [`ClosableRow`]. Parameters: project, first instant
/// (inclusive), last instant (exclusive).
pub const CLOSABLE: &str = "SELECT count(*) AS entries, \
     CAST(coalesce(min(position), 0) AS bigint) AS first, \
     CAST(coalesce(max(position), 0) AS bigint) AS last FROM ledger_entries \
     WHERE project_id = $1 AND kind IN ('hold', 'capture', 'release') AND made_at >= $2 AND made_at < $3";

/// The entries of a month between two positions. Kind and time are hidden from the planner: with
/// the index of these columns it would read the whole month for each step.
macro_rules! of_month {
    () => {
        " FROM ledger_entries WHERE project_id = $1 AND position >= $2 AND position < $3 \
         AND coalesce(kind, '') IN ('hold', 'capture', 'release') \
         AND coalesce(made_at, $4) >= $4 AND coalesce(made_at, $5) < $5"
    };
}

/// Selects the first position of an entry of a month. Parameters: project, first position
/// (inclusive), last position (exclusive), first instant (inclusive), last instant (exclusive).
pub const NEXT_TO_CLOSE: &str =
    concat!("SELECT position", of_month!(), " ORDER BY position LIMIT 1");

/// Deletes the entries of a month; same parameters as [`NEXT_TO_CLOSE`].
pub const CLOSE: &str = concat!("DELETE", of_month!());

/// Row of [`NEXT_TO_CLOSE`]: the position of the next entry to remove.
#[derive(QueryableByName)]
pub struct NextRow {
    #[diesel(sql_type = BigInt)]
    pub position: i64,
}

/// Row of [`CLOSABLE`]: number and positions of the closable entries.
#[derive(QueryableByName)]
pub struct ClosableRow {
    #[diesel(sql_type = BigInt)]
    entries: i64,
    #[diesel(sql_type = BigInt)]
    first: i64,
    #[diesel(sql_type = BigInt)]
    last: i64,
}

impl From<ClosableRow> for Option<Closable> {
    fn from(ClosableRow { entries, first, last }: ClosableRow) -> Self {
        let closable = Closable { entries: count(entries), first: count(first), last: count(last) };
        (entries > 0).then_some(closable)
    }
}

impl From<&Closing> for ClosingRow {
    fn from(closing: &Closing) -> Self {
        let Closing { id, project, month, exported, digest, closed } = *closing;
        let Balance { balance: Paise(amount), held: Paise(held) } = closed.sums;
        let Balance { balance: Paise(balance_after), held: Paise(held_after) } = closed.after;
        Self {
            id: id.into(),
            project_id: project.into(),
            month: month.to_string(),
            since: month.since().into(),
            until: month.until().into(),
            exported: stored_position(exported.entries),
            first_position: stored_position(exported.first),
            last_position: stored_position(exported.last),
            digest: digest.0.to_vec(),
            entries: stored_position(closed.entries),
            position: stored_position(closed.position),
            amount,
            held,
            balance_after,
            held_after,
            made_at: closed.at.into(),
        }
    }
}

impl TryFrom<ClosingRow> for Closing {
    type Error = StoreError;

    fn try_from(row: ClosingRow) -> Result<Self, StoreError> {
        let read = Row::new("ledger_closings", row.id);
        let month: Month = read.parse("month", &row.month)?;
        Ok(Self {
            id: read.id("id", row.id)?,
            project: read.id("project_id", row.project_id)?,
            month,
            exported: Closable {
                entries: count(row.exported),
                first: count(row.first_position),
                last: count(row.last_position),
            },
            digest: FileDigest(read.bytes("digest", row.digest)?),
            closed: Closed {
                entries: count(row.entries),
                position: count(row.position),
                sums: balance(row.amount, row.held),
                after: balance(row.balance_after, row.held_after),
                at: read.at("made_at", row.made_at)?,
            },
        })
    }
}
