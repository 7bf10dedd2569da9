use crate::dialect::{Conn, Failure, Store};
use crate::wallet::apply;
use async_trait::async_trait;
use diesel::dsl::max;
use diesel::prelude::*;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{ledger_closings, ledger_entries, wallet_holds, wallets};
use dwar_sql::{
    AUDIT, At, AuditRow, EntryRow, HoldRow, Id, Row, WalletRow, balance, balances, read_each,
    read_one,
};
use dwar_wallet::{
    Adjusted, Adjustment, Balance, Credit, Credited, DaySpend, EntryKind, LedgerAudit, LedgerEntry,
    OpenHold, Reference, Refunded, Settlement, WalletStore,
};
use std::collections::BTreeMap;

#[async_trait]
impl WalletStore for Store {
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<Credited, StoreError> {
        self.of(project)
            .changing_no_look_up()
            .write("wallet.credit", move |conn| {
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
        self.of(project)
            .changing_no_look_up()
            .write("wallet.settle", move |conn| {
                let hold = end_hold(conn, project, send)?;
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
        self.of(project)
            .changing_no_look_up()
            .write("wallet.refund", move |conn| refund(conn, project, send, entry, now))
            .await
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        self.of(project)
            .changing_no_look_up()
            .write("wallet.adjust", move |conn| {
                apply(conn, project, |conn, wallet| {
                    let (kind, reference) = (EntryKind::Adjustment, &adjustment.reference);
                    let known = entry_of(conn, project, kind, reference)?;
                    Ok(wallet.adjust(&adjustment, known.is_some(), now))
                })
            })
            .await
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        self.of(project)
            .read("wallet.balance", move |conn| {
                let found: Option<(i64, i64)> = wallets::table
                    .find(Id::from(project))
                    .select((wallets::balance, wallets::held))
                    .get_result(conn)
                    .optional()?;
                Ok(found.map(|(owned, held)| balance(owned, held)).unwrap_or_default())
            })
            .await
    }

    async fn day_spend(&self, project: ProjectId) -> Result<DaySpend, StoreError> {
        self.of(project)
            .read("wallet.day_spend", move |conn| {
                let found: Option<WalletRow> = wallets::table
                    .find(Id::from(project))
                    .select(WalletRow::as_select())
                    .get_result(conn)
                    .optional()?;
                let spend = found.map(|row| row.day_spend()).transpose()?;
                Ok(spend.unwrap_or_default())
            })
            .await
    }

    async fn balances(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Balance>, StoreError> {
        self.scan("wallet.balances", move |conn| {
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
        after: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError> {
        self.scan("wallet.stale_holds", move |conn| {
            let after = after.map_or(Id::first_at(Timestamp::UNIX_EPOCH), Id::from);
            let query = wallet_holds::table
                .filter(wallet_holds::send_id.gt(after))
                .filter(wallet_holds::send_id.lt(Id::first_at(before)))
                .order(wallet_holds::send_id)
                .limit(i64::from(limit));
            Ok(read_each!(HoldRow of query, conn))
        })
        .await
    }

    async fn audit(&self) -> Result<LedgerAudit, StoreError> {
        self.scan_all("wallet.audit", |conn| {
            let rows: Vec<AuditRow> = diesel::sql_query(AUDIT).load(conn)?;
            Ok(rows.iter().fold(LedgerAudit::default(), AuditRow::add_to))
        })
        .await
    }
}

/// Refunds the charge of a send, once; see [`dwar_wallet::Wallet::refund`].
pub(crate) fn refund(
    conn: &mut Conn,
    project: ProjectId,
    send: OtpId,
    entry: EntryId,
    now: Timestamp,
) -> Result<Refunded, Failure> {
    let refunded = apply(conn, project, |conn, wallet| {
        let (capture, refunded) = captured(conn, project, send)?;
        Ok(wallet.refund(capture.as_ref(), refunded, entry, now))
    })?;
    if refunded != Refunded::NothingCaptured {
        return Ok(refunded);
    }
    let closed_until: Option<At> = ledger_closings::table
        .filter(ledger_closings::project_id.eq(Id::from(project)))
        .select(max(ledger_closings::until))
        .get_result(conn)?;
    let row = Row::new("ledger_closings", project);
    Ok(refunded.or_closed(send, row.maybe_at("until", closed_until)?))
}

/// The entry that charged a send, and whether it was refunded.
pub(crate) fn captured(
    conn: &mut Conn,
    project: ProjectId,
    send: OtpId,
) -> Result<(Option<LedgerEntry>, bool), Failure> {
    let mut known = |kind| entry_of(conn, project, kind, &send.into());
    Ok((known(EntryKind::Capture)?, known(EntryKind::Refund)?.is_some()))
}

/// Deletes the open hold of a send and returns it.
pub(crate) fn end_hold(
    conn: &mut Conn,
    project: ProjectId,
    send: OtpId,
) -> Result<Option<OpenHold>, Failure> {
    let hold = wallet_holds::table
        .filter(wallet_holds::send_id.eq(Id::from(send)))
        .filter(wallet_holds::project_id.eq(Id::from(project)));
    let ended = diesel::delete(hold).returning(HoldRow::as_returning());
    let row = ended.get_result(conn).optional()?;
    Ok(row.map(OpenHold::try_from).transpose()?)
}

/// The project's only entry with this kind and reference, if there is one.
pub(crate) fn entry_of(
    conn: &mut Conn,
    project: ProjectId,
    kind: EntryKind,
    reference: &Reference,
) -> Result<Option<LedgerEntry>, Failure> {
    let query = ledger_entries::table
        .filter(ledger_entries::project_id.eq(Id::from(project)))
        .filter(ledger_entries::kind.eq(kind.as_str()))
        .filter(ledger_entries::reference.eq(reference.as_str()));
    Ok(read_one!(EntryRow of query, conn))
}
