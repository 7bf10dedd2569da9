//! Rows of wallets, ledger entries and holds.

use crate::schema::{ledger_entries, projects, wallet_holds, wallets};
use crate::{At, Id, Row};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::{ProjectId, StoreError};
use dwar_wallet::{
    Balance, DaySpend, EntryKind, LedgerAudit, LedgerEntry, OpenHold, Paise, Reference, Wallet,
};
use std::collections::{BTreeMap, HashMap};

/// Row of `wallets`: balances in paise, the number of entries, and the spend of a day.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = wallets, primary_key(project_id))]
pub struct WalletRow {
    pub project_id: Id,
    pub balance: i64,
    pub held: i64,
    pub entries: i64,
    pub spend_since: At,
    pub spend: i64,
    pub spend_told: i32,
    pub spend_told_of: i64,
}

/// The settings of a project that its wallet goes by, in paise.
#[derive(Clone, Copy, Default, Queryable, Selectable)]
#[diesel(table_name = projects)]
pub struct WalletSettings {
    low_balance: Option<i64>,
    daily_spend: Option<i64>,
}

/// Row of `ledger_entries`: one movement of money, in paise.
#[derive(Queryable, QueryableByName, Selectable, Insertable)]
#[diesel(table_name = ledger_entries, treat_none_as_default_value = false)]
pub struct EntryRow {
    pub id: Id,
    pub project_id: Id,
    pub position: i64,
    pub kind: String,
    pub amount: i64,
    pub held: i64,
    pub balance_after: i64,
    pub held_after: i64,
    pub reference: String,
    pub made_at: At,
    pub relayed: bool,
}

/// Row of `wallet_holds`: money that a send reserves, in paise.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = wallet_holds)]
pub struct HoldRow {
    pub send_id: Id,
    pub project_id: Id,
    pub amount: i64,
    pub held_since: At,
    pub relayed: bool,
}

/// Makes a balance from its stored figures in paise.
pub const fn balance(balance: i64, held: i64) -> Balance {
    Balance { balance: Paise(balance), held: Paise(held) }
}

/// The balance of each project; zero for a project without a wallet.
pub fn balances(projects: &[ProjectId], rows: &[WalletRow]) -> BTreeMap<ProjectId, Balance> {
    let found: HashMap<Id, Balance> =
        rows.iter().map(|row| (row.project_id, row.balance())).collect();
    let of = |project: &ProjectId| {
        let known = found.get(&Id::from(*project)).copied();
        (*project, known.unwrap_or_default())
    };
    projects.iter().map(of).collect()
}

impl WalletRow {
    /// Makes the row of a wallet after so many entries.
    pub fn new(wallet: &Wallet, entries: i64) -> Self {
        let DaySpend { since, spent, told, told_of } = wallet.spend;
        Self {
            project_id: wallet.project.into(),
            balance: wallet.balance.balance.0,
            held: wallet.balance.held.0,
            entries,
            spend_since: since.into(),
            spend: spent.0,
            spend_told: told.into(),
            spend_told_of: told_of.0,
        }
    }

    /// The row of a wallet that was never credited.
    pub fn empty(project: ProjectId) -> Self {
        Self::new(&Wallet::new(project, Balance::default()), 0)
    }

    /// The balance of the wallet and its held part, in paise.
    pub const fn balance(&self) -> Balance {
        balance(self.balance, self.held)
    }

    /// What was spent on a day.
    ///
    /// # Errors
    /// If the row says what no wallet can.
    pub fn day_spend(&self) -> Result<DaySpend, StoreError> {
        let read = Row::new("wallets", self.project_id);
        Ok(DaySpend {
            since: read.at("spend_since", self.spend_since)?,
            spent: Paise(self.spend),
            told: read.known("spend_told", u8::try_from(self.spend_told).ok())?,
            told_of: Paise(self.spend_told_of),
        })
    }

    /// The wallet of a project with these settings.
    ///
    /// # Errors
    /// Those of [`Self::day_spend`].
    pub fn wallet(
        &self,
        project: ProjectId,
        settings: WalletSettings,
    ) -> Result<Wallet, StoreError> {
        let WalletSettings { low_balance, daily_spend } = settings;
        let (low_balance, daily_spend) = (low_balance.map(Paise), daily_spend.map(Paise));
        let (balance, spend) = (self.balance(), self.day_spend()?);
        Ok(Wallet { project, balance, low_balance, spend, daily_spend })
    }
}

impl EntryRow {
    /// Makes the row of an entry at this position in the project's ledger, counted from 1.
    pub fn new(project: ProjectId, position: i64, entry: &LedgerEntry) -> Self {
        Self {
            id: entry.id.into(),
            project_id: project.into(),
            position,
            kind: entry.kind.as_str().to_owned(),
            amount: entry.amount.0,
            held: entry.held.0,
            balance_after: entry.after.balance.0,
            held_after: entry.after.held.0,
            reference: entry.reference.to_string(),
            made_at: entry.at.into(),
            relayed: entry.relayed,
        }
    }
}

impl TryFrom<EntryRow> for LedgerEntry {
    type Error = StoreError;

    fn try_from(row: EntryRow) -> Result<Self, StoreError> {
        let read = Row::new("ledger_entries", row.id);
        Ok(Self {
            id: read.id("id", row.id)?,
            kind: read.known("kind", EntryKind::from_word(&row.kind))?,
            amount: Paise(row.amount),
            held: Paise(row.held),
            after: balance(row.balance_after, row.held_after),
            reference: Reference::stored(row.reference),
            relayed: row.relayed,
            at: read.at("made_at", row.made_at)?,
        })
    }
}

impl From<OpenHold> for HoldRow {
    fn from(hold: OpenHold) -> Self {
        Self {
            send_id: hold.send.into(),
            project_id: hold.project.into(),
            amount: hold.amount.0,
            held_since: hold.since.into(),
            relayed: hold.relayed,
        }
    }
}

impl TryFrom<HoldRow> for OpenHold {
    type Error = StoreError;

    fn try_from(row: HoldRow) -> Result<Self, StoreError> {
        let read = Row::new("wallet_holds", row.send_id);
        Ok(Self {
            project: read.id("project_id", row.project_id)?,
            send: read.id("send_id", row.send_id)?,
            relayed: row.relayed,
            amount: Paise(row.amount),
            since: read.at("held_since", row.held_since)?,
        })
    }
}

/// Selects every wallet with the sums of its entries, closed months and open holds, as
/// [`AuditRow`]s.
pub const AUDIT: &str = "SELECT w.balance, w.held, \
     CAST(coalesce(e.amount, 0) + coalesce(c.amount, 0) AS bigint) AS amount, \
     CAST(coalesce(e.held, 0) + coalesce(c.held, 0) AS bigint) AS entered, \
     CAST(coalesce(h.amount, 0) AS bigint) AS open FROM wallets w \
     LEFT JOIN (SELECT project_id, sum(amount) AS amount, sum(held) AS held \
                FROM ledger_entries GROUP BY project_id) e ON e.project_id = w.project_id \
     LEFT JOIN (SELECT project_id, sum(amount) AS amount, sum(held) AS held \
                FROM ledger_closings GROUP BY project_id) c ON c.project_id = w.project_id \
     LEFT JOIN (SELECT project_id, sum(amount) AS amount \
                FROM wallet_holds GROUP BY project_id) h ON h.project_id = w.project_id";

/// Row of [`AUDIT`]: a wallet and the sums that it must equal.
#[derive(QueryableByName)]
pub struct AuditRow {
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
    /// Compares a wallet with its entries and holds, and adds the result to the audit.
    pub fn add_to(audit: LedgerAudit, row: &Self) -> LedgerAudit {
        let stored = balance(row.balance, row.held);
        audit.and(stored, balance(row.amount, row.entered), Paise(row.open))
    }
}
