//! A wallet and its ledger entries.

use crate::connection::error::Failure;
use crate::event;
use diesel::prelude::*;
use dwar_kernel::{EntryId, ProjectId, StoreError};
use dwar_sql::schema::{ledger_entries, projects, wallet_holds, wallets};
use dwar_sql::{EntryRow, HoldRow, Id, WalletRow, WalletSettings, statement};
use dwar_wallet::{HoldOutcome, ImpossibleBalance, Movement, OpenHold, Wallet};

/// A stored wallet with the settings of its project.
pub(crate) struct StoredWallet {
    row: WalletRow,
    settings: WalletSettings,
}

impl StoredWallet {
    /// A wallet that was never credited is empty and cannot fall below its threshold.
    pub(crate) fn new(
        project: ProjectId,
        row: Option<WalletRow>,
        settings: WalletSettings,
    ) -> Self {
        Self { row: row.unwrap_or_else(|| WalletRow::empty(project)), settings }
    }

    pub(crate) fn read(connection: &mut SqliteConnection, project: ProjectId) -> QueryResult<Self> {
        let found = wallets::table
            .inner_join(projects::table)
            .filter(wallets::project_id.eq(Id::from(project)))
            .select((WalletRow::as_select(), WalletSettings::as_select()))
            .get_result(connection)
            .optional()?;
        let (row, settings): (_, Option<WalletSettings>) = found.unzip();
        Ok(Self::new(project, row, settings.unwrap_or_default()))
    }
}

/// Applies a rule to a project's wallet and stores the result, with the event.
pub(crate) fn apply<T>(
    connection: &mut SqliteConnection,
    project: ProjectId,
    rule: impl FnOnce(
        &mut SqliteConnection,
        &mut Wallet,
    ) -> Result<Result<Movement<T>, ImpossibleBalance>, Failure>,
) -> Result<T, Failure> {
    let purse = StoredWallet::read(connection, project)?;
    let movement = book(connection, project, purse, rule)?;
    for event in &movement.events {
        event::record(connection, event)?;
    }
    Ok(movement.outcome)
}

/// Applies a rule to a wallet that was read in this step, and stores the result without the events.
pub(crate) fn book<T>(
    connection: &mut SqliteConnection,
    project: ProjectId,
    StoredWallet { row, settings }: StoredWallet,
    rule: impl FnOnce(
        &mut SqliteConnection,
        &mut Wallet,
    ) -> Result<Result<Movement<T>, ImpossibleBalance>, Failure>,
) -> Result<Movement<T>, Failure> {
    let before = row.wallet(project, settings)?;
    let mut wallet = before;
    let movement = rule(connection, &mut wallet)?.map_err(StoreError::from)?;
    if wallet != before {
        let added = i64::try_from(movement.entries.len()).unwrap_or(i64::MAX);
        let row = WalletRow::new(&wallet, row.entries + added);
        let insert = diesel::insert_into(wallets::table).values(&row);
        statement::upsert(insert, "project_id", &row).execute(connection)?;
    }
    let numbered = (row.entries + 1..).zip(&movement.entries);
    let entries = numbered.map(|(position, entry)| EntryRow::new(project, position, entry));
    let insert = diesel::insert_into(ledger_entries::table);
    // A list of variable length would be prepared anew each time. A rule makes two entries at most.
    match <[EntryRow; 2]>::try_from(entries.collect::<Vec<_>>()) {
        Ok(both) => drop(insert.values(both).execute(connection)?),
        Err(entries) => {
            for entry in entries {
                insert.values(entry).execute(connection)?;
            }
        }
    }
    Ok(movement)
}

/// Reserves money for a send, and records the events.
pub(crate) fn hold(
    connection: &mut SqliteConnection,
    purse: StoredWallet,
    hold: OpenHold,
    entry: EntryId,
) -> Result<HoldOutcome, Failure> {
    let held = book(connection, hold.project, purse, |_, wallet| Ok(wallet.hold(&hold, entry)))?;
    if !held.entries.is_empty() {
        let row = HoldRow::from(hold);
        diesel::insert_into(wallet_holds::table).values(row).execute(connection)?;
    }
    for event in &held.events {
        event::record(connection, event)?;
    }
    Ok(held.outcome)
}
