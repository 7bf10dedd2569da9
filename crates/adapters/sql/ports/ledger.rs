use crate::dialect::{Backend, Conn, Failure, Store};
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{ledger_closings, ledger_proof_runs, ledger_proofs};
use dwar_sql::{
    At, ClosingRow, EntryRow, Id, ProofRow, ProofRunRow, SUM, SumRow, WALLET_SNAPSHOT,
    WalletSnapshotRow, all, lines_of, read_all, read_one, stored_position,
};
use dwar_wallet::{
    Closing, EntryKind, LedgerProof, LedgerStore, LedgerSum, ProofRun, ProofStart, StatementCursor,
    StatementFilter, StatementLine, WalletSnapshot,
};

#[async_trait]
impl LedgerStore for Store {
    async fn lines(
        &self,
        project: ProjectId,
        filter: StatementFilter,
        after: Option<StatementCursor>,
        limit: u32,
    ) -> Result<Vec<StatementLine>, StoreError> {
        self.of(project)
            .scan("wallet.lines", move |conn| {
                let mut found = Vec::new();
                for kind in filter.kinds() {
                    if *kind == EntryKind::Closed {
                        found.extend(closed_months(conn, project, &filter, after)?);
                        continue;
                    }
                    let query = lines_of!(Backend, project, kind, &filter, after, limit);
                    let rows: Vec<EntryRow> = query.select(EntryRow::as_select()).load(conn)?;
                    found.extend(all::<_, StatementLine>(rows)?);
                }
                Ok(StatementFilter::merge(found, limit))
            })
            .await
    }

    async fn snapshot(&self, project: ProjectId) -> Result<WalletSnapshot, StoreError> {
        self.of(project)
            .read("wallet.snapshot", move |conn| {
                let query = diesel::sql_query(WALLET_SNAPSHOT).bind::<Id, _>(Id::from(project));
                let found: Option<WalletSnapshotRow> = query.get_result(conn).optional()?;
                Ok(found.map(WalletSnapshot::from).unwrap_or_default())
            })
            .await
    }

    async fn sum(
        &self,
        project: ProjectId,
        after: u64,
        through: u64,
    ) -> Result<LedgerSum, StoreError> {
        self.of(project)
            .scan("wallet.sum", move |conn| {
                let query = diesel::sql_query(SUM)
                    .bind::<Id, _>(Id::from(project))
                    .bind::<BigInt, _>(stored_position(after))
                    .bind::<BigInt, _>(stored_position(through));
                let row: SumRow = query.get_result(conn)?;
                Ok(row.into())
            })
            .await
    }

    async fn begin_proof(&self, run: ProofRun) -> Result<ProofStart, StoreError> {
        self.of(run.project)
            .write("wallet.begin_proof", move |conn| {
                // Only an existing row can be locked, so the first run inserts its own.
                loop {
                    let made = diesel::insert_into(ledger_proof_runs::table)
                        .values(ProofRunRow::from(run.clone()))
                        .on_conflict_do_nothing()
                        .execute(conn)?;
                    if made == 1 {
                        return Ok(ProofStart::Begun(run.clone()));
                    }
                    let place = ledger_proof_runs::table.find(Id::from(run.project));
                    let query = for_update!(place);
                    let present: Option<ProofRun> = read_one!(ProofRunRow of query, conn);
                    // The run ended during the wait, and another one may have started.
                    if present.is_none() {
                        continue;
                    }
                    let start = ProofRun::or_running(present, run.clone());
                    if matches!(start, ProofStart::Begun(_)) {
                        let next = ProofRunRow::from(run.clone());
                        let columns = (
                            ledger_proof_runs::begun_at.eq(next.begun_at),
                            ledger_proof_runs::made_by.eq(next.made_by),
                            ledger_proof_runs::seen_at.eq(next.seen_at),
                        );
                        diesel::update(place).set(columns).execute(conn)?;
                    }
                    return Ok(start);
                }
            })
            .await
    }

    async fn continue_proof(
        &self,
        project: ProjectId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        // A loss of power undoes the run as well.
        self.of(project)
            .write_ahead_of_disk("wallet.continue_proof", move |conn| {
                let run = ledger_proof_runs::table
                    .find(Id::from(project))
                    .filter(ledger_proof_runs::begun_at.eq(At::from(since)));
                let seen = ledger_proof_runs::seen_at.eq(At::from(now));
                Ok(diesel::update(run).set(seen).execute(conn)? == 1)
            })
            .await
    }

    async fn end_proof(&self, proof: LedgerProof) -> Result<bool, StoreError> {
        self.of(proof.project)
            .write("wallet.end_proof", move |conn| {
                let project = Id::from(proof.project);
                let run = ledger_proof_runs::table
                    .find(project)
                    .filter(ledger_proof_runs::begun_at.eq(At::from(proof.since)));
                if diesel::delete(run).execute(conn)? == 0 {
                    return Ok(false);
                }
                let row = ProofRow::from(proof.clone());
                diesel::insert_into(ledger_proofs::table).values(row).execute(conn)?;
                trim(conn, project)?;
                Ok(true)
            })
            .await
    }

    async fn last_proof(&self, project: ProjectId) -> Result<Option<LedgerProof>, StoreError> {
        self.of(project)
            .read("wallet.last_proof", move |conn| {
                let query = ledger_proofs::table
                    .filter(ledger_proofs::project_id.eq(Id::from(project)))
                    .order(ledger_proofs::begun_at.desc())
                    .limit(1);
                Ok(read_one!(ProofRow of query, conn))
            })
            .await
    }

    async fn last_sound_proof(
        &self,
        project: ProjectId,
    ) -> Result<Option<LedgerProof>, StoreError> {
        self.of(project)
            .read("wallet.last_sound_proof", move |conn| {
                let query = ledger_proofs::table
                    .filter(ledger_proofs::project_id.eq(Id::from(project)))
                    .filter(ledger_proofs::sound)
                    .order(ledger_proofs::begun_at.desc())
                    .limit(1);
                Ok(read_one!(ProofRow of query, conn))
            })
            .await
    }

    async fn proof_run(&self, project: ProjectId) -> Result<Option<ProofRun>, StoreError> {
        self.of(project)
            .read("wallet.proof_run", move |conn| {
                let query = ledger_proof_runs::table.find(Id::from(project));
                Ok(read_one!(ProofRunRow of query, conn))
            })
            .await
    }
}

/// Deletes all but the newest few proofs, and keeps the last sound one.
fn trim(conn: &mut Conn, project: Id) -> Result<(), Failure> {
    let own = || ledger_proofs::table.filter(ledger_proofs::project_id.eq(project));
    let newest: Vec<At> = own()
        .order(ledger_proofs::begun_at.desc())
        .limit(LedgerProof::KEPT.into())
        .select(ledger_proofs::begun_at)
        .load(conn)?;
    let sound: Vec<At> = own()
        .filter(ledger_proofs::sound)
        .order(ledger_proofs::begun_at.desc())
        .limit(1)
        .select(ledger_proofs::begun_at)
        .load(conn)?;
    let kept = newest.into_iter().chain(sound);
    diesel::delete(own().filter(ledger_proofs::begun_at.ne_all(kept))).execute(conn)?;
    Ok(())
}

/// The closed months that match the filter, one line per month.
fn closed_months(
    conn: &mut Conn,
    project: ProjectId,
    filter: &StatementFilter,
    after: Option<StatementCursor>,
) -> Result<Vec<StatementLine>, Failure> {
    let query = ledger_closings::table.filter(ledger_closings::project_id.eq(Id::from(project)));
    let closings: Vec<Closing> = read_all!(ClosingRow of query, conn);
    let lines = closings.iter().filter_map(StatementLine::of_closing);
    let wanted = lines.filter(|line| filter.wants(&line.entry));
    Ok(wanted.filter(|line| after.is_none_or(|cursor| line.follows(cursor))).collect())
}
