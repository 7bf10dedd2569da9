use crate::PostgresStore;
use crate::statement::Statement;
use crate::wallet_row::{amount_of, apply};
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{BigInt, Bool, Text};
use dwar_kernel::{
    EntryId, Event, EventKind, KeyMode, OtpId, ProjectId, StoreError, Subject, Timestamp,
};
use dwar_sql::schema::{ledger_entries, wallet_holds, wallets};
use dwar_sql::{
    AUDIT, At, AuditRow, EntryRow, HoldRow, Id, WalletRow, balance, balances, read_all,
};
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, EntryKind, HoldOutcome, LedgerEntry, OpenHold,
    Paise, Refunded, Settlement, WalletStore,
};
use std::collections::BTreeMap;

/// [`dwar_wallet::Wallet::hold`] as one guarded statement, since every send of a project wants the
/// same row. Run again after a lost connection, it finds its own entry and answers the same.
///
/// Its commit is not waited for on disk: the request that comes next takes it there.
const HOLD: &str = "\
, moved AS ( \
    UPDATE wallets w SET held = w.held + g.amount, entries = w.entries + 1 FROM given g \
    WHERE w.project_id = g.project AND g.amount > 0 AND w.balance - w.held >= g.amount \
    AND NOT EXISTS (SELECT FROM ledger_entries WHERE id = (SELECT entry FROM given)) \
    RETURNING w.balance, w.held, w.entries \
), written AS ( \
    INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, \
        balance_after, held_after, reference, made_at) \
    SELECT g.entry, g.project, m.entries, 'hold', 0, g.amount, m.balance, m.held, g.reference, g.now \
    FROM moved m CROSS JOIN given g \
), kept AS ( \
    INSERT INTO wallet_holds (send_id, project_id, amount, held_since) \
    SELECT g.send, g.project, g.amount, g.now FROM moved CROSS JOIN given g \
) SELECT g.amount = 0 OR EXISTS (SELECT FROM moved) \
      OR EXISTS (SELECT FROM ledger_entries WHERE id = g.entry) AS done, \
    set_config('synchronous_commit', 'off', true) FROM given g";

/// [`dwar_wallet::Wallet::settle`] as one guarded statement: whoever deletes the hold settles it, by
/// one change of the wallet. Run again after a lost connection, it finds its own entries and answers
/// the same.
///
/// Its commit is not waited for on disk: if a crash of the server takes it back, the hold is open
/// again, and the sweep settles it by what is on record.
const SETTLE: &str = concat!(
    "\
, ended AS ( \
    DELETE FROM wallet_holds h USING given g WHERE h.send_id = g.send AND h.project_id = g.project \
    RETURNING h.amount, least(g.price, h.amount) AS spent \
), moved AS ( \
    UPDATE wallets w SET balance = w.balance - e.spent, held = w.held - e.amount, \
        entries = w.entries + (e.spent > 0)::int + (e.amount > e.spent)::int \
    FROM ended e CROSS JOIN given g WHERE w.project_id = g.project \
    RETURNING w.balance, w.held, w.entries, e.spent, e.amount - e.spent AS rest \
), written AS ( \
    INSERT INTO ledger_entries (id, project_id, position, kind, amount, held, \
        balance_after, held_after, reference, made_at) \
    SELECT g.capture, g.project, m.entries - (m.rest > 0)::int, 'capture', -m.spent, -m.spent, \
        m.balance, m.held + m.rest, g.reference, g.now \
    FROM moved m CROSS JOIN given g WHERE m.spent > 0 \
    UNION ALL \
    SELECT g.release, g.project, m.entries, 'release', 0, -m.rest, \
        m.balance, m.held, g.reference, g.now \
    FROM moved m CROSS JOIN given g WHERE m.rest > 0 \
), happened AS ( \
    SELECT g.event AS id, g.project AS project_id, g.mode, g.kind, g.now AS happened_at, \
        g.capture AS subject_id, m.balance AS amount, p.low_balance AS threshold \
    FROM moved m CROSS JOIN given g JOIN projects p ON p.id = g.project \
    WHERE m.balance < p.low_balance AND p.low_balance <= m.balance + m.spent \
), ",
    recording!("subject_id, amount, threshold"),
    " SELECT EXISTS (SELECT FROM ended) \
      OR EXISTS (SELECT FROM ledger_entries WHERE id IN (g.capture, g.release)) AS done, \
    set_config('synchronous_commit', 'off', true) FROM given g"
);

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    done: bool,
}

/// Whether it is done; asks again where nothing was.
///
/// One that was sent before, over a connection that was lost, may have been under way still: whoever
/// waited for its locks finds it at the second look alone.
fn surely(mut ask: impl FnMut() -> QueryResult<Answer>) -> QueryResult<bool> {
    match ask() {
        Ok(Answer { done: true }) => Ok(true),
        Ok(_) | Err(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => Ok(ask()?.done),
        Err(cause) => Err(cause),
    }
}

#[async_trait]
impl WalletStore for PostgresStore {
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                apply(conn, project, |conn, wallet| {
                    let known = amount_of(conn, project, EntryKind::Credit, &credit.reference)?;
                    Ok(wallet.credit(&credit, known.is_some(), now))
                })
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
        let place = self.wallets.enter(project).await?;
        self.pool
            .run(move |conn| {
                let _place = &place;
                let held = surely(|| {
                    Statement::new(HOLD)
                        .given::<Id, _>("project", Id::from(project))
                        .given::<Id, _>("send", Id::from(send))
                        .given::<Text, _>("reference", send.to_string())
                        .given::<BigInt, _>("amount", amount.0)
                        .given::<Id, _>("entry", Id::from(entry))
                        .given::<At, _>("now", At::from(now))
                        .get_result(conn)
                });
                Ok(if held? { HoldOutcome::Held } else { HoldOutcome::Insufficient })
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
        let [capture, release] = entries;
        // Its figures are not known yet, and not part of its id.
        let (balance, threshold) = (Paise::ZERO, Paise::ZERO);
        let subject = Subject::Wallet { entry: capture, balance, threshold };
        let (mode, kind) = (KeyMode::Live, EventKind::WalletLow);
        let low = Event { project, mode, kind, subject, at: now };
        let place = self.wallets.enter(project).await?;
        self.pool
            .run(move |conn| {
                let _place = &place;
                let settled = surely(|| {
                    Statement::new(SETTLE)
                        .given::<Id, _>("project", Id::from(project))
                        .given::<Id, _>("send", Id::from(send))
                        .given::<Text, _>("reference", send.to_string())
                        .given::<BigInt, _>("price", settlement.price().0)
                        .given::<Id, _>("capture", Id::from(capture))
                        .given::<Id, _>("release", Id::from(release))
                        .given::<At, _>("now", At::from(now))
                        .given::<Text, _>("event", low.id())
                        .given::<Text, _>("mode", low.mode.as_str())
                        .given::<Text, _>("kind", low.kind.as_str())
                        .get_result(conn)
                });
                Ok(settled?)
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
        let reference = send.to_string();
        self.pool
            .transaction(move |conn| {
                apply(conn, project, |conn, wallet| {
                    let mut amount = |kind| amount_of(conn, project, kind, &reference);
                    let captured = amount(EntryKind::Capture)?.map(|amount| Paise(-amount));
                    let refunded = amount(EntryKind::Refund)?.is_some();
                    Ok(wallet.refund(send, captured, refunded, entry, now))
                })
            })
            .await
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        self.pool
            .transaction(move |conn| {
                apply(conn, project, |conn, wallet| {
                    let (kind, reference) = (EntryKind::Adjustment, &adjustment.reference);
                    let known = amount_of(conn, project, kind, reference)?;
                    Ok(wallet.adjust(&adjustment, known.is_some(), now))
                })
            })
            .await
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        self.pool
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

    async fn statement(
        &self,
        project: ProjectId,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.pool
            .run(move |conn| {
                let query = ledger_entries::table
                    .filter(ledger_entries::project_id.eq(Id::from(project)))
                    .order(ledger_entries::position.desc())
                    .limit(i64::from(limit));
                Ok(read_all!(EntryRow of query, conn))
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
                    .filter(wallet_holds::held_since.lt(At::from(before)))
                    .order((wallet_holds::held_since, wallet_holds::send_id))
                    .limit(i64::from(limit));
                Ok(read_all!(HoldRow of query, conn))
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
