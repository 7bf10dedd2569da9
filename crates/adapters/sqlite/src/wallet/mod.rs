pub(crate) mod row;

use crate::connection::pool::SqliteStore;
use crate::connection::remembered::Changes;
use crate::wallet::row::{apply, captured, end_hold, entry_of};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{wallet_holds, wallets};
use dwar_sql::{AUDIT, AuditRow, HoldRow, Id, WalletRow, balances, read_each};
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, Credited, EntryKind, OpenHold, Refunded,
    Settlement, Wallet, WalletStore,
};
use std::collections::BTreeMap;

#[async_trait]
impl WalletStore for SqliteStore {
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<Credited, StoreError> {
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                let known = entry_of(connection, project, EntryKind::Credit, &credit.reference)?;
                let rule = |wallet: &mut Wallet| wallet.credit(&credit, known.is_some(), now);
                Ok(apply(connection, project, rule)?.outcome)
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
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                let hold = end_hold(connection, project, send)?;
                let rule = |wallet: &mut Wallet| wallet.settle(hold, settlement, entries, now);
                Ok(apply(connection, project, rule)?.outcome)
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
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                let (capture, refunded) = captured(connection, project, send)?;
                let rule =
                    |wallet: &mut Wallet| wallet.refund(capture.as_ref(), refunded, entry, now);
                Ok(apply(connection, project, rule)?.outcome)
            })
            .await
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                let (kind, reference) = (EntryKind::Adjustment, &adjustment.reference);
                let known = entry_of(connection, project, kind, reference)?;
                let rule = |wallet: &mut Wallet| wallet.adjust(&adjustment, known.is_some(), now);
                Ok(apply(connection, project, rule)?.outcome)
            })
            .await
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        self.of(project)
            .read(move |connection| {
                let wallet = wallets::table.find(Id::from(project)).select(WalletRow::as_select());
                let found: Option<WalletRow> = wallet.get_result(connection).optional()?;
                Ok(found.map(|row| row.balance()).unwrap_or_default())
            })
            .await
    }

    async fn balances(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Balance>, StoreError> {
        self.scan(move |connection| {
            let ids = projects.iter().copied().map(Id::from);
            let rows: Vec<WalletRow> = wallets::table
                .filter(wallets::project_id.eq_any(ids))
                .select(WalletRow::as_select())
                .load(connection)?;
            Ok(balances(&projects, &rows))
        })
        .await
    }

    async fn stale_holds(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError> {
        self.scan(move |connection| {
            let query = wallet_holds::table
                .filter(wallet_holds::send_id.lt(Id::first_at(before)))
                .order(wallet_holds::send_id)
                .limit(i64::from(limit));
            Ok(read_each!(HoldRow of query, connection))
        })
        .await
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        self.scan(|connection| {
            let rows: Vec<AuditRow> = diesel::sql_query(AUDIT).load(connection)?;
            Ok(rows.iter().fold(Audit::default(), AuditRow::add_to))
        })
        .await
    }
}
