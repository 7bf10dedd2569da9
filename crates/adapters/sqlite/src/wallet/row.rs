//! A wallet and what moves it.

use crate::connection::error::Failure;
use crate::connection::statement;
use crate::event;
use diesel::prelude::*;
use dwar_kernel::{ProjectId, StoreError};
use dwar_sql::schema::{ledger_entries, projects, wallets};
use dwar_sql::{EntryRow, Id, WalletRow};
use dwar_wallet::{Balance, EntryKind, Impossible, Movement, Paise, Reference, Wallet};

/// Applies a rule to a project's wallet and writes down what came of it.
pub(crate) fn apply<T>(
    connection: &mut SqliteConnection,
    project: ProjectId,
    rule: impl FnOnce(&mut Wallet) -> Result<Movement<T>, Impossible>,
) -> Result<Movement<T>, Failure> {
    let found: Option<(WalletRow, Option<i64>)> = wallets::table
        .inner_join(projects::table)
        .filter(wallets::project_id.eq(Id::from(project)))
        .select((WalletRow::as_select(), projects::low_balance))
        .get_result(connection)
        .optional()?;
    // One that never was credited is empty, and cannot fall.
    let none = || (WalletRow::new(project, Balance::default(), 0), None);
    let (row, low_balance) = found.unwrap_or_else(none);
    let mut wallet =
        Wallet { project, balance: row.balance(), low_balance: low_balance.map(Paise) };
    let movement = rule(&mut wallet).map_err(StoreError::from)?;
    let first = row.entries + 1;
    if !movement.entries.is_empty() {
        let added = i64::try_from(movement.entries.len()).unwrap_or(i64::MAX);
        let row = WalletRow::new(project, wallet.balance, row.entries + added);
        let insert = diesel::insert_into(wallets::table).values(&row);
        statement::upsert(insert, "project_id", &row).execute(connection)?;
    }
    for (position, entry) in (first..).zip(&movement.entries) {
        let entry = EntryRow::new(project, position, entry);
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
    reference: &Reference,
) -> QueryResult<Option<i64>> {
    ledger_entries::table
        .filter(ledger_entries::project_id.eq(Id::from(project)))
        .filter(ledger_entries::kind.eq(kind.as_str()))
        .filter(ledger_entries::reference.eq(reference.as_str()))
        .select(ledger_entries::amount)
        .get_result(connection)
        .optional()
}
