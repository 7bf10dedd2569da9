use crate::PostgresStore;
use crate::connection::error::Failure;
use crate::connection::sweep::SWEEP_BATCH;
use async_trait::async_trait;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use diesel::upsert::excluded;
use dwar_activity::{Chunk, Figure, FiguresStore, Grain, Progress, Sent, Span, Tenure, Window};
use dwar_kernel::{KeeperId, KeyMode, OtpId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{figures, figures_tenure};
use dwar_sql::{At, FigureRow, Id, SentRow, TenureRow, read_all, read_one, requests};
use std::time::Duration;

const SENT: &str = dwar_sql::sent_requests!("$1", "$2", "$3", "ledger_entries e", "o.id::text");
const DROP: &str = dwar_sql::sweep_figures!("$1", "$2", "$3");
/// Figures in one statement, whose parameters are counted in 16 bits.
const AT_ONCE: usize = 1_000;

#[async_trait]
impl FiguresStore for PostgresStore {
    async fn lead(
        &self,
        keeper: KeeperId,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Progress>, StoreError> {
        self.step_of_figures(move |_, tenure| Ok(tenure.lead(keeper, now, lease))).await
    }

    async fn sent(
        &self,
        window: Window,
        last: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Sent>, StoreError> {
        let after = last.map_or_else(|| Id::first_at(window.from), Id::from);
        self.pool
            .run(move |conn| {
                know_the_ledger(conn)?;
                let rows: Vec<SentRow> = diesel::sql_query(SENT)
                    .bind::<Id, _>(after)
                    .bind::<Id, _>(Id::first_at(window.until))
                    .bind::<BigInt, _>(i64::from(limit))
                    .load(conn)?;
                Ok(requests(rows)?)
            })
            .await
    }

    async fn replace(&self, keeper: KeeperId, chunk: Chunk) -> Result<bool, StoreError> {
        self.step_of_figures(move |conn, tenure| {
            let replaces = tenure.may_replace(keeper, chunk.window);
            if replaces {
                put(conn, &chunk)?;
            }
            Ok(replaces)
        })
        .await
    }

    async fn settle(&self, keeper: KeeperId, chunk: Chunk) -> Result<bool, StoreError> {
        self.step_of_figures(move |conn, tenure| {
            let settles = tenure.settle(keeper, chunk.window);
            if settles {
                roll_up(conn, &chunk)?;
                put(conn, &chunk)?;
            }
            Ok(settles)
        })
        .await
    }

    async fn refreshed(&self, keeper: KeeperId, as_of: Timestamp) -> Result<bool, StoreError> {
        self.step_of_figures(move |_, tenure| Ok(tenure.refresh(keeper, as_of))).await
    }

    async fn progress(&self) -> Result<Progress, StoreError> {
        self.pool
            .run(|conn| {
                let row = figures_tenure::table.find(1);
                let found: Option<Tenure> = read_one!(TenureRow of row, conn);
                Ok(found.unwrap_or_default().progress)
            })
            .await
    }

    async fn figures(
        &self,
        project: ProjectId,
        mode: KeyMode,
        spans: Vec<Span>,
    ) -> Result<Vec<Figure>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                let mut found = Vec::new();
                for Span { grain, window } in &spans {
                    let query = figures::table
                        .filter(figures::project_id.eq(Id::from(project)))
                        .filter(figures::mode.eq(mode.as_str()))
                        .filter(figures::grain.eq(grain.as_str()))
                        .filter(figures::began_at.ge(At::from(window.from)))
                        .filter(figures::began_at.lt(At::from(window.until)));
                    found.extend::<Vec<Figure>>(read_all!(FigureRow of query, conn));
                }
                Ok(found)
            })
            .await
    }

    async fn sweep(&self, minutes: Timestamp, hours: Timestamp) -> Result<u64, StoreError> {
        let mut gone = 0;
        let grains = [(Grain::Minute, minutes), (Grain::Hour, hours), (Grain::Day, hours)];
        for (grain, before) in grains {
            let drop = move |conn: &mut PgConnection| {
                diesel::sql_query(DROP)
                    .bind::<Text, _>(grain.as_str())
                    .bind::<At, _>(At::from(before))
                    .bind::<BigInt, _>(SWEEP_BATCH)
                    .execute(conn)
            };
            gone += self.in_batches(drop).await?;
        }
        Ok(gone)
    }
}

impl PostgresStore {
    /// One step of whoever keeps the figures, under the lock of the one row, which keeps what the
    /// step changed. Its commit is not waited for on disk: what a crash takes back is done again.
    async fn step_of_figures<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Fn(&mut PgConnection, &mut Tenure) -> Result<T, Failure> + Send + 'static,
    {
        self.pool
            .transaction(move |conn| {
                conn.batch_execute("SET LOCAL synchronous_commit = off")?;
                let row = figures_tenure::table.find(1).for_update();
                let found: Option<Tenure> = read_one!(TenureRow of row, conn);
                let before = found.unwrap_or_default();
                let mut after = before;
                let outcome = work(conn, &mut after)?;
                if after != before {
                    diesel::update(figures_tenure::table.find(1))
                        .set(TenureRow::from(&after))
                        .execute(conn)?;
                }
                Ok(outcome)
            })
            .await
    }
}

/// Lets the server look at the ledger again when it has grown to twice what is known of it.
///
/// The server does so itself, once a minute at most. Until then it believes that a project has no entry or
/// few, and may go through all of them for each request.
fn know_the_ledger(conn: &mut PgConnection) -> QueryResult<()> {
    let has_grown = sql::<Bool>(
        "SELECT pg_relation_size(oid) > (2 * relpages + 2) * current_setting('block_size')::bigint \
         FROM pg_class WHERE oid = 'ledger_entries'::regclass",
    );
    if has_grown.get_result(conn)?
        && let Err(cause) = conn.batch_execute("ANALYZE ledger_entries")
    {
        // Only the plan depends on it.
        tracing::debug!(%cause, "no statistics of the ledger");
    }
    Ok(())
}

/// Puts a chunk in the place of what there is of its minutes.
fn put(conn: &mut PgConnection, chunk: &Chunk) -> Result<(), Failure> {
    let Window { from, until } = chunk.window;
    let old = figures::table
        .filter(figures::grain.eq(Grain::Minute.as_str()))
        .filter(figures::began_at.ge(At::from(from)))
        .filter(figures::began_at.lt(At::from(until)));
    diesel::delete(old).execute(conn)?;
    save(conn, chunk.minutes.clone())
}

/// Adds a chunk to its hour and its day.
fn roll_up(conn: &mut PgConnection, chunk: &Chunk) -> Result<(), Failure> {
    let projects: Vec<_> = chunk.projects().into_iter().map(Id::from).collect();
    let mut present: Vec<Figure> = Vec::new();
    for (grain, began) in chunk.parents() {
        let query = figures::table
            .filter(figures::project_id.eq_any(&projects))
            .filter(figures::mode.eq_any([KeyMode::Live.as_str(), KeyMode::Test.as_str()]))
            .filter(figures::grain.eq(grain.as_str()))
            .filter(figures::began_at.eq(At::from(began)));
        present.extend::<Vec<Figure>>(read_all!(FigureRow of query, conn));
    }
    save(conn, chunk.rolled_up(present))
}

fn save(conn: &mut PgConnection, all: Vec<Figure>) -> Result<(), Failure> {
    let rows: Vec<_> = all.into_iter().map(FigureRow::from).collect();
    for rows in rows.chunks(AT_ONCE) {
        diesel::insert_into(figures::table)
            .values(rows)
            .on_conflict((
                figures::project_id,
                figures::mode,
                figures::grain,
                figures::began_at,
                figures::channel,
                figures::provider,
            ))
            .do_update()
            .set((
                figures::attempts.eq(excluded(figures::attempts)),
                figures::accepted.eq(excluded(figures::accepted)),
                figures::arrived.eq(excluded(figures::arrived)),
                figures::failed.eq(excluded(figures::failed)),
                figures::requests.eq(excluded(figures::requests)),
                figures::delivered.eq(excluded(figures::delivered)),
                figures::verified.eq(excluded(figures::verified)),
                figures::spent.eq(excluded(figures::spent)),
                figures::times.eq(excluded(figures::times)),
            ))
            .execute(conn)?;
    }
    Ok(())
}
