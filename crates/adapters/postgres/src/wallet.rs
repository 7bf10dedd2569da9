//! A wallet and its ledger entries.

use crate::connection::error::Failure;
use crate::event;
use diesel::prelude::*;
use dwar_kernel::{ProjectId, StoreError};
use dwar_sql::schema::{ledger_entries, projects, wallets};
use dwar_sql::{EntryRow, Id, WalletRow, WalletSettings};
use dwar_wallet::{ImpossibleBalance, Movement, Wallet};

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
        let of_project = || projects::table.find(Id::from(project));
        let settings = (
            of_project().select(projects::low_balance).single_value(),
            of_project().select(projects::daily_spend).single_value(),
        );
        let found: Option<(WalletRow, WalletSettings)> = wallets::table
            .find(Id::from(project))
            .select((WalletRow::as_select(), settings))
            .for_update()
            .get_result(conn)
            .optional()?;
        let is_stored = found.is_some();
        // A wallet that was never credited is empty and cannot fall below its threshold.
        let empty = || (WalletRow::empty(project), WalletSettings::default());
        let (row, settings) = found.unwrap_or_else(empty);
        let before = row.wallet(project, settings)?;
        let mut wallet = before;
        let movement = rule(conn, &mut wallet)?.map_err(StoreError::from)?;
        if wallet == before {
            return Ok(movement.outcome);
        }
        if is_stored {
            save(conn, &wallet, row.entries, &movement)?;
            return Ok(movement.outcome);
        }
        // Another step may open the wallet first, so the rule is applied again under its lock.
        diesel::insert_into(wallets::table)
            .values(WalletRow::empty(project))
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
        .set(WalletRow::new(wallet, position))
        .execute(conn)?;
    diesel::insert_into(ledger_entries::table).values(rows).execute(conn)?;
    for event in &movement.events {
        event::record(conn, event)?;
    }
    Ok(())
}
