//! A wallet and its ledger entries.

use crate::connection::error::Failure;
use crate::event;
use diesel::prelude::*;
use dwar_kernel::{ProjectId, StoreError};
use dwar_sql::schema::{ledger_entries, projects, wallets};
use dwar_sql::{EntryRow, Id, WalletRow, balance};
use dwar_wallet::{Balance, ImpossibleBalance, Movement, Paise, Wallet};

/// Applies a rule to a project's wallet under its lock, and stores the result.
pub(crate) fn apply<T>(
    conn: &mut PgConnection,
    project: ProjectId,
    mut rule: impl FnMut(
        &mut PgConnection,
        &mut Wallet,
    ) -> Result<Result<Movement<T>, ImpossibleBalance>, Failure>,
) -> Result<T, Failure> {
    loop {
        // Not a join, because the project's row must not be locked.
        let threshold = projects::table.find(Id::from(project)).select(projects::low_balance);
        let columns = (wallets::balance, wallets::held, wallets::entries, threshold.single_value());
        let found: Option<(i64, i64, i64, Option<i64>)> = wallets::table
            .find(Id::from(project))
            .select(columns)
            .for_update()
            .get_result(conn)
            .optional()?;
        // A wallet that was never credited is empty and cannot fall below its threshold.
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
        // Another step may open the wallet first, so the rule is applied again under its lock.
        diesel::insert_into(wallets::table)
            .values(WalletRow::new(project, Balance::default(), 0))
            .on_conflict_do_nothing()
            .execute(conn)?;
    }
}

/// Stores a wallet that the caller has locked, and its new entries.
fn save<T>(
    conn: &mut PgConnection,
    wallet: &Wallet,
    position: i64,
    movement: &Movement<T>,
) -> Result<(), Failure> {
    let rows: Vec<_> = (position + 1..)
        .zip(&movement.entries)
        .map(|(position, entry)| EntryRow::new(wallet.project, position, entry))
        .collect();
    let position = rows.last().map_or(position, |row| row.position);
    diesel::update(wallets::table.find(Id::from(wallet.project)))
        .set(WalletRow::new(wallet.project, wallet.balance, position))
        .execute(conn)?;
    diesel::insert_into(ledger_entries::table).values(rows).execute(conn)?;
    match &movement.event {
        Some(event) => event::record(conn, event),
        None => Ok(()),
    }
}
