use crate::convert::Row;
use crate::error::Failure;
use crate::pool::SqliteStore;
use crate::schema::{ledger_entries, wallet_holds, wallets};
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Audit, Balance, Credit, EntryKind, HoldOutcome, LedgerEntry, OpenHold, Paise, Settlement,
    WalletStore,
};
use std::collections::HashMap;

#[diesel::declare_sql_function]
extern "SQL" {
    /// diesel's own `sum` of whole numbers is a decimal; SQLite's is a whole number.
    #[aggregate]
    #[sql_name = "sum"]
    fn sum_paise(amount: BigInt) -> Nullable<BigInt>;
}

#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = wallets, primary_key(project_id))]
struct WalletRow {
    project_id: String,
    balance: i64,
    held: i64,
    entries: i64,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = ledger_entries)]
struct EntryRow {
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
struct HoldRow {
    send_id: String,
    project_id: String,
    amount: i64,
    held_since: i64,
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
struct Movement {
    id: EntryId,
    kind: EntryKind,
    amount: i64,
    held: i64,
    reference: String,
    at: Timestamp,
}

impl WalletRow {
    /// The project's wallet; one that never was credited is empty.
    fn load(connection: &mut SqliteConnection, project: ProjectId) -> QueryResult<Self> {
        let project_id = project.to_string();
        let stored = wallets::table.find(&project_id).select(Self::as_select());
        let stored = stored.first(connection).optional()?;
        Ok(stored.unwrap_or(Self { project_id, balance: 0, held: 0, entries: 0 }))
    }

    const fn balance(&self) -> Balance {
        Balance { balance: Paise(self.balance), held: Paise(self.held) }
    }

    /// Makes a movement: the wallet and the entry that says why, never one without the other.
    fn post(
        &mut self,
        connection: &mut SqliteConnection,
        movement: Movement,
    ) -> Result<(), Failure> {
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
            reference: movement.reference,
            made_at: movement.at.timestamp_millis(),
        };
        diesel::insert_into(ledger_entries::table).values(entry).execute(connection)?;
        Ok(())
    }
}

fn plus(stored: i64, change: i64) -> Result<i64, StoreError> {
    let sum = stored.checked_add(change);
    sum.ok_or_else(|| StoreError::Failed("an amount exceeds what a wallet can hold".into()))
}

#[async_trait]
impl WalletStore for SqliteStore {
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let mut wallet = WalletRow::load(connection, project)?;
            let known = ledger_entries::table
                .filter(ledger_entries::project_id.eq(&wallet.project_id))
                .filter(ledger_entries::kind.eq(EntryKind::Credit.as_str()))
                .filter(ledger_entries::reference.eq(&credit.reference));
            if known.count().get_result::<i64>(connection)? > 0 {
                return Ok(false);
            }
            let movement = Movement {
                id: credit.id,
                kind: EntryKind::Credit,
                amount: credit.amount.0,
                held: 0,
                reference: credit.reference,
                at: now,
            };
            wallet.post(connection, movement).map(|()| true)
        })
        .await
    }

    async fn hold(
        &self,
        project: ProjectId,
        send: OtpId,
        amount: Paise,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<HoldOutcome, StoreError> {
        self.write(move |connection| {
            let mut wallet = WalletRow::load(connection, project)?;
            if wallet.balance().available() < amount {
                return Ok(HoldOutcome::Insufficient);
            }
            let movement = Movement {
                id: entry,
                kind: EntryKind::Hold,
                amount: 0,
                held: amount.0,
                reference: send.to_string(),
                at: now,
            };
            wallet.post(connection, movement)?;
            let hold = HoldRow {
                send_id: send.to_string(),
                project_id: wallet.project_id,
                amount: amount.0,
                held_since: now.timestamp_millis(),
            };
            diesel::insert_into(wallet_holds::table).values(hold).execute(connection)?;
            Ok(HoldOutcome::Held)
        })
        .await
    }

    async fn settle(
        &self,
        project: ProjectId,
        send: OtpId,
        settlement: Settlement,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let hold = wallet_holds::table
                .filter(wallet_holds::send_id.eq(send.to_string()))
                .filter(wallet_holds::project_id.eq(project.to_string()));
            let ended = diesel::delete(hold).returning(wallet_holds::amount);
            let held: Option<i64> = ended.get_result(connection).optional()?;
            let Some(held) = held else { return Ok(false) };
            let spent = match settlement {
                Settlement::Capture(price) => price.0.clamp(0, held),
                Settlement::Release => 0,
            };
            let mut wallet = WalletRow::load(connection, project)?;
            let [capture, release] = entries;
            let ends = [
                (capture, EntryKind::Capture, -spent, spent),
                (release, EntryKind::Release, 0, held - spent),
            ];
            for (id, kind, amount, freed) in ends.into_iter().filter(|(.., freed)| *freed > 0) {
                let reference = send.to_string();
                let movement = Movement { id, kind, amount, held: -freed, reference, at: now };
                wallet.post(connection, movement)?;
            }
            Ok(true)
        })
        .await
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        self.read(move |connection| Ok(WalletRow::load(connection, project)?.balance())).await
    }

    async fn statement(
        &self,
        project: ProjectId,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.scan(move |connection| {
            let rows = ledger_entries::table
                .filter(ledger_entries::project_id.eq(project.to_string()))
                .order(ledger_entries::position.desc())
                .limit(i64::from(limit))
                .select(EntryRow::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(LedgerEntry::try_from).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn stale_holds(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError> {
        self.scan(move |connection| {
            let rows = wallet_holds::table
                .filter(wallet_holds::held_since.lt(before.timestamp_millis()))
                .order((wallet_holds::held_since, wallet_holds::send_id))
                .limit(i64::from(limit))
                .select(HoldRow::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(OpenHold::try_from).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        self.scan(|connection| connection.transaction(audit)).await
    }
}

/// Three sums over one snapshot, compared wallet by wallet.
fn audit(connection: &mut SqliteConnection) -> Result<Audit, Failure> {
    let wallets = wallets::table.select(WalletRow::as_select()).load(connection)?;
    let entries: Vec<(String, Option<i64>, Option<i64>)> = ledger_entries::table
        .group_by(ledger_entries::project_id)
        .select((
            ledger_entries::project_id,
            sum_paise(ledger_entries::amount),
            sum_paise(ledger_entries::held),
        ))
        .load(connection)?;
    let holds: Vec<(String, Option<i64>)> = wallet_holds::table
        .group_by(wallet_holds::project_id)
        .select((wallet_holds::project_id, sum_paise(wallet_holds::amount)))
        .load(connection)?;
    let entries: HashMap<_, _> =
        entries.into_iter().map(|(project, amount, held)| (project, (amount, held))).collect();
    let holds: HashMap<_, _> = holds.into_iter().collect();
    let mut audit = Audit::default();
    for wallet in wallets {
        let (amount, held) = entries.get(&wallet.project_id).copied().unwrap_or_default();
        let open = holds.get(&wallet.project_id).copied().flatten();
        let difference = [(wallet.balance, amount), (wallet.held, held), (wallet.held, open)]
            .map(|(stored, told)| stored.saturating_sub(told.unwrap_or_default()).saturating_abs())
            .into_iter()
            .fold(audit.difference.0, i64::saturating_add);
        audit = Audit { projects: audit.projects + 1, difference: Paise(difference) };
    }
    Ok(audit)
}
