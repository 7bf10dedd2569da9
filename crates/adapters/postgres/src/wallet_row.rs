//! A wallet and its entries, from their rows and back.

use crate::convert::Row;
use crate::error::Failure;
use crate::event;
use crate::schema::{ledger_entries, projects, wallets};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_wallet::{Audit, Balance, EntryKind, Impossible, LedgerEntry, Movement, Paise, Wallet};
use uuid::Uuid;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = ledger_entries)]
pub(crate) struct EntryRow {
    id: Uuid,
    project_id: Uuid,
    position: i64,
    kind: String,
    amount: i64,
    held: i64,
    balance_after: i64,
    held_after: i64,
    reference: String,
    made_at: Timestamp,
}

impl TryFrom<EntryRow> for LedgerEntry {
    type Error = StoreError;

    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        let read = Row::new("ledger_entries", row.id);
        Ok(Self {
            id: row.id.into(),
            kind: read.known("kind", EntryKind::from_word(&row.kind))?,
            amount: Paise(row.amount),
            held: Paise(row.held),
            after: balance(row.balance_after, row.held_after),
            reference: row.reference,
            at: row.made_at,
        })
    }
}

pub(crate) const fn balance(balance: i64, held: i64) -> Balance {
    Balance { balance: Paise(balance), held: Paise(held) }
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

/// Applies a rule to a project's wallet, locked, and writes down what came of it.
pub(crate) fn apply<T>(
    conn: &mut PgConnection,
    project: ProjectId,
    mut rule: impl FnMut(
        &mut PgConnection,
        &mut Wallet,
    ) -> Result<Result<Movement<T>, Impossible>, Failure>,
) -> Result<T, Failure> {
    loop {
        // Not a join: the project's row is not to be locked.
        let threshold = projects::table.find(project.uuid()).select(projects::low_balance);
        let columns = (wallets::balance, wallets::held, wallets::entries, threshold.single_value());
        let found: Option<(i64, i64, i64, Option<i64>)> = wallets::table
            .find(project.uuid())
            .select(columns)
            .for_update()
            .get_result(conn)
            .optional()?;
        // One that never was credited is empty, and cannot fall.
        let (owned, held, entries, low_balance) = found.unwrap_or_default();
        let low_balance = low_balance.map(Paise);
        let mut wallet = Wallet { project, balance: balance(owned, held), low_balance };
        let movement = rule(conn, &mut wallet)?.map_err(StoreError::from)?;
        if movement.entries.is_empty() {
            return Ok(movement.outcome);
        }
        if found.is_some() {
            save(conn, &wallet, entries, &movement)?;
            return Ok(movement.outcome);
        }
        // Somebody else may open it first: it is judged again under its lock.
        diesel::insert_into(wallets::table)
            .values((
                wallets::project_id.eq(project.uuid()),
                wallets::balance.eq(0),
                wallets::held.eq(0),
                wallets::entries.eq(0),
            ))
            .on_conflict_do_nothing()
            .execute(conn)?;
    }
}

/// Writes down a wallet that the caller has locked, and what moved it.
fn save<T>(
    conn: &mut PgConnection,
    wallet: &Wallet,
    position: i64,
    movement: &Movement<T>,
) -> Result<(), Failure> {
    let row = |(position, entry): (i64, &LedgerEntry)| EntryRow {
        id: entry.id.uuid(),
        project_id: wallet.project.uuid(),
        position,
        kind: entry.kind.as_str().to_owned(),
        amount: entry.amount.0,
        held: entry.held.0,
        balance_after: entry.after.balance.0,
        held_after: entry.after.held.0,
        reference: entry.reference.clone(),
        made_at: entry.at,
    };
    let rows: Vec<_> = (position + 1..).zip(&movement.entries).map(row).collect();
    diesel::update(wallets::table.find(wallet.project.uuid()))
        .set((
            wallets::balance.eq(wallet.balance.balance.0),
            wallets::held.eq(wallet.balance.held.0),
            wallets::entries.eq(rows.last().map_or(position, |row| row.position)),
        ))
        .execute(conn)?;
    diesel::insert_into(ledger_entries::table).values(rows).execute(conn)?;
    match &movement.event {
        Some(event) => event::record(conn, event),
        None => Ok(()),
    }
}

/// What the project's one entry of this kind and reference added to the balance, if there is one.
pub(crate) fn amount_of(
    conn: &mut PgConnection,
    project: ProjectId,
    kind: EntryKind,
    reference: &str,
) -> QueryResult<Option<i64>> {
    ledger_entries::table
        .filter(ledger_entries::project_id.eq(project.uuid()))
        .filter(ledger_entries::kind.eq(kind.as_str()))
        .filter(ledger_entries::reference.eq(reference))
        .select(ledger_entries::amount)
        .get_result(conn)
        .optional()
}
