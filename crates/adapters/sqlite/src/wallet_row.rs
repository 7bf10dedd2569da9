//! A wallet, its entries and its holds, from their rows and back.

use crate::convert::Row;
use crate::error::Failure;
use crate::event;
use crate::schema::{ledger_entries, projects, wallet_holds, wallets};
use crate::statement;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::{ProjectId, StoreError};
use dwar_wallet::{
    Audit, Balance, EntryKind, Impossible, LedgerEntry, Movement, OpenHold, Paise, Wallet,
};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = wallets, primary_key(project_id))]
pub(crate) struct WalletRow {
    pub(crate) project_id: String,
    balance: i64,
    held: i64,
    entries: i64,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = ledger_entries)]
pub(crate) struct EntryRow {
    id: String,
    project_id: String,
    position: i64,
    kind: String,
    amount: i64,
    held: i64,
    balance_after: i64,
    held_after: i64,
    reference: String,
    made_at: i64,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = wallet_holds)]
pub(crate) struct HoldRow {
    send_id: String,
    project_id: String,
    amount: i64,
    held_since: i64,
}

impl WalletRow {
    pub(crate) const fn balance(&self) -> Balance {
        balance(self.balance, self.held)
    }
}

pub(crate) const fn balance(balance: i64, held: i64) -> Balance {
    Balance { balance: Paise(balance), held: Paise(held) }
}

impl TryFrom<EntryRow> for LedgerEntry {
    type Error = StoreError;

    fn try_from(stored: EntryRow) -> Result<Self, StoreError> {
        let row = Row::new("ledger_entries", &stored.id);
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            kind: row.known("kind", EntryKind::from_word(&stored.kind))?,
            amount: Paise(stored.amount),
            held: Paise(stored.held),
            after: balance(stored.balance_after, stored.held_after),
            at: row.instant("made_at", stored.made_at)?,
            reference: stored.reference,
        })
    }
}

impl From<OpenHold> for HoldRow {
    fn from(hold: OpenHold) -> Self {
        Self {
            send_id: hold.send.to_string(),
            project_id: hold.project.to_string(),
            amount: hold.amount.0,
            held_since: hold.since.timestamp_millis(),
        }
    }
}

impl TryFrom<HoldRow> for OpenHold {
    type Error = StoreError;

    fn try_from(stored: HoldRow) -> Result<Self, StoreError> {
        let row = Row::new("wallet_holds", &stored.send_id);
        Ok(Self {
            project: row.parse("project_id", &stored.project_id)?,
            send: row.parse("send_id", &stored.send_id)?,
            amount: Paise(stored.amount),
            since: row.instant("held_since", stored.held_since)?,
        })
    }
}

/// Every wallet beside the sums of its entries and of its open holds.
pub(crate) const AUDIT: &str = "SELECT w.balance, w.held, \
     CAST(coalesce(e.amount, 0) AS bigint) AS amount, CAST(coalesce(e.held, 0) AS bigint) AS entered, \
     CAST(coalesce(h.amount, 0) AS bigint) AS open FROM wallets w \
     LEFT JOIN (SELECT project_id, sum(amount) AS amount, sum(held) AS held \
                FROM ledger_entries GROUP BY project_id) e ON e.project_id = w.project_id \
     LEFT JOIN (SELECT project_id, sum(amount) AS amount \
                FROM wallet_holds GROUP BY project_id) h ON h.project_id = w.project_id";

#[derive(QueryableByName)]
pub(crate) struct AuditRow {
    #[diesel(sql_type = BigInt)]
    balance: i64,
    #[diesel(sql_type = BigInt)]
    held: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = BigInt)]
    entered: i64,
    #[diesel(sql_type = BigInt)]
    open: i64,
}

impl AuditRow {
    pub(crate) fn add_to(audit: Audit, row: &Self) -> Audit {
        let stored = balance(row.balance, row.held);
        audit.and(stored, balance(row.amount, row.entered), Paise(row.open))
    }
}

/// Applies a rule to a project's wallet and writes down what came of it.
pub(crate) fn apply<T>(
    connection: &mut SqliteConnection,
    project: ProjectId,
    rule: impl FnOnce(&mut Wallet) -> Result<Movement<T>, Impossible>,
) -> Result<Movement<T>, Failure> {
    let project_id = project.to_string();
    let found: Option<(WalletRow, Option<i64>)> = wallets::table
        .inner_join(projects::table)
        .filter(wallets::project_id.eq(&project_id))
        .select((WalletRow::as_select(), projects::low_balance))
        .get_result(connection)
        .optional()?;
    // One that never was credited is empty, and cannot fall.
    let none = || (WalletRow { project_id, balance: 0, held: 0, entries: 0 }, None);
    let (mut row, low_balance) = found.unwrap_or_else(none);
    let mut wallet =
        Wallet { project, balance: row.balance(), low_balance: low_balance.map(Paise) };
    let movement = rule(&mut wallet).map_err(StoreError::from)?;
    row.balance = wallet.balance.balance.0;
    row.held = wallet.balance.held.0;
    let first = row.entries + 1;
    row.entries += i64::try_from(movement.entries.len()).unwrap_or(i64::MAX);
    if row.entries >= first {
        let insert = diesel::insert_into(wallets::table).values(&row);
        statement::upsert(insert, "project_id", &row).execute(connection)?;
    }
    for (position, entry) in (first..).zip(&movement.entries) {
        let entry = EntryRow {
            id: entry.id.to_string(),
            project_id: row.project_id.clone(),
            position,
            kind: entry.kind.as_str().to_owned(),
            amount: entry.amount.0,
            held: entry.held.0,
            balance_after: entry.after.balance.0,
            held_after: entry.after.held.0,
            reference: entry.reference.clone(),
            made_at: entry.at.timestamp_millis(),
        };
        diesel::insert_into(ledger_entries::table).values(entry).execute(connection)?;
    }
    if let Some(event) = &movement.event {
        event::record(connection, event)?;
    }
    Ok(movement)
}

/// What the project's one entry of this kind and reference added to the balance, if there is one.
pub(crate) fn amount_of(
    connection: &mut SqliteConnection,
    project: ProjectId,
    kind: EntryKind,
    reference: &str,
) -> QueryResult<Option<i64>> {
    ledger_entries::table
        .filter(ledger_entries::project_id.eq(project.to_string()))
        .filter(ledger_entries::kind.eq(kind.as_str()))
        .filter(ledger_entries::reference.eq(reference))
        .select(ledger_entries::amount)
        .get_result(connection)
        .optional()
}
