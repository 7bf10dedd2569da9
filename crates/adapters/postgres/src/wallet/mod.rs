pub(crate) mod row;

use crate::PostgresStore;
use crate::connection::error::Failure;
use crate::wallet::row::{apply, entry_of};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{wallet_holds, wallets};
use dwar_sql::{AUDIT, AuditRow, HoldRow, Id, WalletRow, balance, balances, read_each};
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, Credited, EntryKind, OpenHold, Refunded,
    Settlement, WalletStore,
};
use std::collections::BTreeMap;

/// Gives back what was charged for a send, once, by [`dwar_wallet::Wallet::refund`].
pub(crate) fn refund(
    conn: &mut PgConnection,
    project: ProjectId,
    send: OtpId,
    entry: EntryId,
    now: Timestamp,
) -> Result<Refunded, Failure> {
    let reference = send.into();
    apply(conn, project, |conn, wallet| {
        let mut known = |kind| entry_of(conn, project, kind, &reference);
        let (capture, refunded) = (known(EntryKind::Capture)?, known(EntryKind::Refund)?.is_some());
        Ok(wallet.refund(capture.as_ref(), refunded, entry, now))
    })
}

#[async_trait]
impl WalletStore for PostgresStore {
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<Credited, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| {
                apply(conn, project, |conn, wallet| {
                    let known = entry_of(conn, project, EntryKind::Credit, &credit.reference)?;
                    Ok(wallet.credit(&credit, known.is_some(), now))
                })
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
        self.pool
            .of(project)
            .transaction(move |conn| {
                let hold = wallet_holds::table
                    .filter(wallet_holds::send_id.eq(Id::from(send)))
                    .filter(wallet_holds::project_id.eq(Id::from(project)));
                let ended = diesel::delete(hold).returning(HoldRow::as_returning());
                let hold =
                    ended.get_result(conn).optional()?.map(OpenHold::try_from).transpose()?;
                apply(conn, project, |_, wallet| Ok(wallet.settle(hold, settlement, entries, now)))
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
        self.pool.of(project).transaction(move |conn| refund(conn, project, send, entry, now)).await
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| {
                apply(conn, project, |conn, wallet| {
                    let (kind, reference) = (EntryKind::Adjustment, &adjustment.reference);
                    let known = entry_of(conn, project, kind, reference)?;
                    Ok(wallet.adjust(&adjustment, known.is_some(), now))
                })
            })
            .await
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                let found: Option<(i64, i64)> = wallets::table
                    .find(Id::from(project))
                    .select((wallets::balance, wallets::held))
                    .get_result(conn)
                    .optional()?;
                Ok(found.map(|(owned, held)| balance(owned, held)).unwrap_or_default())
            })
            .await
    }

    async fn balances(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Balance>, StoreError> {
        self.pool
            .run(move |conn| {
                let ids: Vec<Id> = projects.iter().copied().map(Id::from).collect();
                let rows: Vec<WalletRow> = wallets::table
                    .filter(wallets::project_id.eq_any(ids))
                    .select(WalletRow::as_select())
                    .load(conn)?;
                Ok(balances(&projects, &rows))
            })
            .await
    }

    async fn stale_holds(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError> {
        self.pool
            .run(move |conn| {
                let query = wallet_holds::table
                    .filter(wallet_holds::send_id.lt(Id::first_at(before)))
                    .order(wallet_holds::send_id)
                    .limit(i64::from(limit));
                Ok(read_each!(HoldRow of query, conn))
            })
            .await
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        let audit = |conn: &mut PgConnection| {
            let rows: Vec<AuditRow> = diesel::sql_query(AUDIT).load(conn)?;
            Ok(rows.iter().fold(Audit::default(), AuditRow::add_to))
        };
        self.pool.long_snapshot(audit).await
    }
}
