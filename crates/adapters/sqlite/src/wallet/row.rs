//! A wallet and what moves it.

use crate::connection::error::Failure;
use crate::event;
use diesel::prelude::*;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError};
use dwar_sql::schema::{ledger_entries, projects, wallet_holds, wallets};
use dwar_sql::{EntryRow, HoldRow, Id, WalletRow, read_one, statement};
use dwar_wallet::{
    Balance, EntryKind, HoldOutcome, Impossible, LedgerEntry, Movement, OpenHold, Paise, Reference,
    Wallet,
};

/// A wallet on record, with the threshold of its project.
pub(crate) struct Purse {
    row: WalletRow,
    low_balance: Option<i64>,
}

impl Purse {
    /// One that never was credited is empty, and cannot fall.
    pub(crate) fn new(
        project: ProjectId,
        row: Option<WalletRow>,
        low_balance: Option<i64>,
    ) -> Self {
        let row = row.unwrap_or_else(|| WalletRow::new(project, Balance::default(), 0));
        Self { row, low_balance }
    }

    pub(crate) fn read(connection: &mut SqliteConnection, project: ProjectId) -> QueryResult<Self> {
        let found = wallets::table
            .inner_join(projects::table)
            .filter(wallets::project_id.eq(Id::from(project)))
            .select((WalletRow::as_select(), projects::low_balance))
            .get_result(connection)
            .optional()?;
        let (row, low_balance) = found.unzip();
        Ok(Self::new(project, row, low_balance.flatten()))
    }
}

/// Applies a rule to a project's wallet and writes down what came of it, with the event.
pub(crate) fn apply<T>(
    connection: &mut SqliteConnection,
    project: ProjectId,
    rule: impl FnOnce(&mut Wallet) -> Result<Movement<T>, Impossible>,
) -> Result<Movement<T>, Failure> {
    let purse = Purse::read(connection, project)?;
    let movement = book(connection, project, purse, rule)?;
    if let Some(event) = &movement.event {
        event::record(connection, event)?;
    }
    Ok(movement)
}

/// Applies a rule to a wallet that was read in this step, and writes down all but the event.
pub(crate) fn book<T>(
    connection: &mut SqliteConnection,
    project: ProjectId,
    Purse { row, low_balance }: Purse,
    rule: impl FnOnce(&mut Wallet) -> Result<Movement<T>, Impossible>,
) -> Result<Movement<T>, Failure> {
    let mut wallet =
        Wallet { project, balance: row.balance(), low_balance: low_balance.map(Paise) };
    let movement = rule(&mut wallet).map_err(StoreError::from)?;
    if !movement.entries.is_empty() {
        let added = i64::try_from(movement.entries.len()).unwrap_or(i64::MAX);
        let row = WalletRow::new(project, wallet.balance, row.entries + added);
        let insert = diesel::insert_into(wallets::table).values(&row);
        statement::upsert(insert, "project_id", &row).execute(connection)?;
    }
    let numbered = (row.entries + 1..).zip(&movement.entries);
    let entries = numbered.map(|(position, entry)| EntryRow::new(project, position, entry));
    let insert = diesel::insert_into(ledger_entries::table);
    // A list of any length would be prepared anew each time; a rule makes two entries at most.
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

/// Sets money aside for a send; no event comes of that.
pub(crate) fn hold(
    connection: &mut SqliteConnection,
    purse: Purse,
    hold: OpenHold,
    entry: EntryId,
) -> Result<HoldOutcome, Failure> {
    let held = book(connection, hold.project, purse, |wallet| wallet.hold(&hold, entry))?;
    if !held.entries.is_empty() {
        let row = HoldRow::from(hold);
        diesel::insert_into(wallet_holds::table).values(row).execute(connection)?;
    }
    Ok(held.outcome)
}

/// Takes the open hold of a send off the record, and gives it.
pub(crate) fn end_hold(
    connection: &mut SqliteConnection,
    project: ProjectId,
    send: OtpId,
) -> Result<Option<OpenHold>, Failure> {
    let hold = wallet_holds::table
        .filter(wallet_holds::send_id.eq(Id::from(send)))
        .filter(wallet_holds::project_id.eq(Id::from(project)));
    let ended = diesel::delete(hold).returning(HoldRow::as_returning());
    let row = ended.get_result(connection).optional()?;
    Ok(row.map(OpenHold::try_from).transpose()?)
}

/// What a send was charged by, and whether that was given back.
pub(crate) fn captured(
    connection: &mut SqliteConnection,
    project: ProjectId,
    send: OtpId,
) -> Result<(Option<LedgerEntry>, bool), Failure> {
    let mut entry = |kind| entry_of(connection, project, kind, &send.into());
    let capture = entry(EntryKind::Capture)?;
    Ok((capture, entry(EntryKind::Refund)?.is_some()))
}

/// The project's one entry of this kind and reference, if there is one.
pub(crate) fn entry_of(
    connection: &mut SqliteConnection,
    project: ProjectId,
    kind: EntryKind,
    reference: &Reference,
) -> Result<Option<LedgerEntry>, Failure> {
    let query = ledger_entries::table
        .filter(ledger_entries::project_id.eq(Id::from(project)))
        .filter(ledger_entries::kind.eq(kind.as_str()))
        .filter(ledger_entries::reference.eq(reference.as_str()));
    Ok(read_one!(EntryRow of query, connection))
}
