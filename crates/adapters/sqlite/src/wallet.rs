use crate::error::Failure;
use crate::pool::SqliteStore;
use crate::schema::{ledger_entries, wallet_holds, wallets};
use crate::wallet_row::{EntryRow, HoldRow, Movement, WalletRow};
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, EntryKind, HoldOutcome, LedgerEntry, OpenHold,
    Paise, Refunded, Settlement, WalletStore,
};
use std::collections::HashMap;

#[diesel::declare_sql_function]
extern "SQL" {
    /// diesel's own `sum` of whole numbers is a decimal; SQLite's is a whole number.
    #[aggregate]
    #[sql_name = "sum"]
    fn sum_paise(amount: BigInt) -> Nullable<BigInt>;
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
            let known = wallet.amount(connection, EntryKind::Credit, &credit.reference)?;
            if known.is_some() {
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

    async fn refund(
        &self,
        project: ProjectId,
        send: OtpId,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<Refunded, StoreError> {
        self.write(move |connection| {
            let mut wallet = WalletRow::load(connection, project)?;
            let reference = send.to_string();
            let captured = wallet.amount(connection, EntryKind::Capture, &reference)?;
            let Some(captured) = captured else { return Ok(Refunded::NothingCaptured) };
            if wallet.amount(connection, EntryKind::Refund, &reference)?.is_some() {
                return Ok(Refunded::Already);
            }
            let (kind, amount) = (EntryKind::Refund, -captured);
            let movement = Movement { id: entry, kind, amount, held: 0, reference, at: now };
            wallet.post(connection, movement)?;
            Ok(Refunded::Refunded(Paise(amount)))
        })
        .await
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        self.write(move |connection| {
            let mut wallet = WalletRow::load(connection, project)?;
            let (kind, amount) = (EntryKind::Adjustment, adjustment.amount.0);
            if wallet.amount(connection, kind, &adjustment.reference)?.is_some() {
                return Ok(Adjusted::Known);
            }
            if amount < 0 && wallet.balance().available().0 + amount < 0 {
                return Ok(Adjusted::Insufficient);
            }
            let (id, reference) = (adjustment.id, adjustment.reference);
            let movement = Movement { id, kind, amount, held: 0, reference, at: now };
            wallet.post(connection, movement)?;
            Ok(Adjusted::Booked)
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
