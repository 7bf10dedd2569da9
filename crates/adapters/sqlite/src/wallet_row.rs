//! A wallet, its entries and its holds, from their rows and back; every movement passes here.

use crate::convert::Row;
use crate::error::Failure;
use crate::event;
use crate::schema::{ledger_entries, projects, wallet_holds, wallets};
use diesel::prelude::*;
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{EntryId, KeyMode, ProjectId, StoreError, Timestamp};
use dwar_wallet::{Balance, EntryKind, LedgerEntry, OpenHold, Paise};

#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = wallets, primary_key(project_id))]
pub(crate) struct WalletRow {
    pub(crate) project_id: String,
    pub(crate) balance: i64,
    pub(crate) held: i64,
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
    pub(crate) send_id: String,
    pub(crate) project_id: String,
    pub(crate) amount: i64,
    pub(crate) held_since: i64,
}

impl TryFrom<EntryRow> for LedgerEntry {
    type Error = StoreError;

    fn try_from(stored: EntryRow) -> Result<Self, StoreError> {
        let row = Row::new("ledger_entries", &stored.id);
        let (balance, held) = (Paise(stored.balance_after), Paise(stored.held_after));
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            kind: row.known("kind", EntryKind::from_word(&stored.kind))?,
            amount: Paise(stored.amount),
            held: Paise(stored.held),
            after: Balance { balance, held },
            at: row.instant("made_at", stored.made_at)?,
            reference: stored.reference,
        })
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

/// What an entry adds to a wallet, and why.
pub(crate) struct Movement {
    pub(crate) id: EntryId,
    pub(crate) kind: EntryKind,
    pub(crate) amount: i64,
    pub(crate) held: i64,
    pub(crate) reference: String,
    pub(crate) at: Timestamp,
}

impl WalletRow {
    /// The project's wallet; one that never was credited is empty.
    pub(crate) fn load(connection: &mut SqliteConnection, project: ProjectId) -> QueryResult<Self> {
        let project_id = project.to_string();
        let stored = wallets::table.find(&project_id).select(Self::as_select());
        let stored = stored.first(connection).optional()?;
        Ok(stored.unwrap_or(Self { project_id, balance: 0, held: 0, entries: 0 }))
    }

    pub(crate) const fn balance(&self) -> Balance {
        Balance { balance: Paise(self.balance), held: Paise(self.held) }
    }

    /// The amount of the project's one entry of this kind with this reference, if it was made.
    pub(crate) fn amount(
        &self,
        connection: &mut SqliteConnection,
        kind: EntryKind,
        reference: &str,
    ) -> QueryResult<Option<i64>> {
        ledger_entries::table
            .filter(ledger_entries::project_id.eq(&self.project_id))
            .filter(ledger_entries::kind.eq(kind.as_str()))
            .filter(ledger_entries::reference.eq(reference))
            .select(ledger_entries::amount)
            .first(connection)
            .optional()
    }

    /// Makes a movement: the wallet and the entry that says why, never one without the other.
    pub(crate) fn post(
        &mut self,
        connection: &mut SqliteConnection,
        movement: Movement,
    ) -> Result<(), Failure> {
        let before = self.balance;
        self.balance = plus(self.balance, movement.amount)?;
        self.held = plus(self.held, movement.held)?;
        self.entries = plus(self.entries, 1)?;
        diesel::insert_into(wallets::table)
            .values(&*self)
            .on_conflict(wallets::project_id)
            .do_update()
            .set(&*self)
            .execute(connection)?;
        let entry = EntryRow {
            id: movement.id.to_string(),
            project_id: self.project_id.clone(),
            position: self.entries,
            kind: movement.kind.as_str().to_owned(),
            amount: movement.amount,
            held: movement.held,
            balance_after: self.balance,
            held_after: self.held,
            reference: movement.reference.clone(),
            made_at: movement.at.timestamp_millis(),
        };
        diesel::insert_into(ledger_entries::table).values(entry).execute(connection)?;
        if movement.amount < 0 { self.warn(connection, &movement, before) } else { Ok(()) }
    }

    /// Tells of a balance that this movement brought below the project's threshold.
    fn warn(
        &self,
        connection: &mut SqliteConnection,
        movement: &Movement,
        before: i64,
    ) -> Result<(), Failure> {
        let threshold: Option<i64> = projects::table
            .find(&self.project_id)
            .select(projects::low_balance)
            .first(connection)?;
        let crossed =
            threshold.filter(|threshold| self.balance < *threshold && *threshold <= before);
        let Some(threshold) = crossed else { return Ok(()) };
        let project =
            Row::new("wallets", &self.project_id).parse("project_id", &self.project_id)?;
        let (kind, mode, at) = (EventKind::WalletLow, KeyMode::Live, movement.at);
        let subject = Subject::Wallet {
            entry: movement.id,
            balance: Paise(self.balance),
            threshold: Paise(threshold),
        };
        Ok(event::record(connection, &Event { project, mode, kind, subject, at })?)
    }
}

fn plus(stored: i64, change: i64) -> Result<i64, StoreError> {
    let sum = stored.checked_add(change);
    sum.ok_or_else(|| StoreError::Failed("an amount exceeds what a wallet can hold".into()))
}
