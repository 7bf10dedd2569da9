use crate::connection::error::Failure;
use crate::connection::pool::{SWEEP, SqliteStore};
use crate::connection::statement;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use dwar_activity::{Chunk, Figure, FiguresStore, Grain, Progress, Sent, Span, Tenure, Window};
use dwar_kernel::{KeeperId, KeyMode, OtpId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{figures, figures_tenure};
use dwar_sql::{At, FigureRow, Id, SentRow, TenureRow, read_all, read_one, requests};
use std::time::Duration;

/// An entry of the ledger refers to its request by the id as people read it.
const SENT: &str = dwar_sql::sent_requests!(
    "?1",
    "?2",
    "?3",
    "ledger_entries e INDEXED BY ledger_entries_by_reference",
    "lower(hex(substr(o.id, 1, 4)) || '-' || hex(substr(o.id, 5, 2)) || '-' || \
     hex(substr(o.id, 7, 2)) || '-' || hex(substr(o.id, 9, 2)) || '-' || hex(substr(o.id, 11, 6)))"
);
const DROP: &str = dwar_sql::sweep_figures!("?1", "?2", "?3");
const KEY: &str = "project_id, mode, grain, began_at, channel, provider";

/// Nobody waits for the disk: what a loss of power takes back is done again.
#[async_trait]
impl FiguresStore for SqliteStore {
    async fn lead(
        &self,
        keeper: KeeperId,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Progress>, StoreError> {
        self.write_ahead_of_disk(move |connection| {
            step(connection, |tenure| tenure.lead(keeper, now, lease))
        })
        .await
    }

    async fn sent(
        &self,
        window: Window,
        last: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Sent>, StoreError> {
        let after = last.map_or_else(|| Id::first_at(window.from), Id::from);
        self.scan(move |connection| {
            let rows: Vec<SentRow> = diesel::sql_query(SENT)
                .bind::<Id, _>(after)
                .bind::<Id, _>(Id::first_at(window.until))
                .bind::<BigInt, _>(i64::from(limit))
                .load(connection)?;
            Ok(requests(rows)?)
        })
        .await
    }

    async fn replace(&self, keeper: KeeperId, chunk: Chunk) -> Result<bool, StoreError> {
        self.write_ahead_of_disk(move |connection| {
            let replaces = step(connection, |tenure| tenure.may_replace(keeper, chunk.window))?;
            if replaces {
                put(connection, chunk)?;
            }
            Ok(replaces)
        })
        .await
    }

    async fn settle(&self, keeper: KeeperId, chunk: Chunk) -> Result<bool, StoreError> {
        self.write_ahead_of_disk(move |connection| {
            let settles = step(connection, |tenure| tenure.settle(keeper, chunk.window))?;
            if settles {
                roll_up(connection, &chunk)?;
                put(connection, chunk)?;
            }
            Ok(settles)
        })
        .await
    }

    async fn refreshed(&self, keeper: KeeperId, as_of: Timestamp) -> Result<bool, StoreError> {
        self.write_ahead_of_disk(move |connection| {
            step(connection, |tenure| tenure.refresh(keeper, as_of))
        })
        .await
    }

    async fn progress(&self) -> Result<Progress, StoreError> {
        self.read(move |connection| Ok(tenure(connection)?.progress)).await
    }

    async fn figures(
        &self,
        project: ProjectId,
        mode: KeyMode,
        spans: Vec<Span>,
    ) -> Result<Vec<Figure>, StoreError> {
        self.of(project)
            .scan(move |connection| {
                let mut found = Vec::new();
                for Span { grain, window } in spans {
                    let query = figures::table
                        .filter(figures::project_id.eq(Id::from(project)))
                        .filter(figures::mode.eq(mode.as_str()))
                        .filter(figures::grain.eq(grain.as_str()))
                        .filter(figures::began_at.ge(At::from(window.from)))
                        .filter(figures::began_at.lt(At::from(window.until)));
                    found.extend::<Vec<Figure>>(read_all!(FigureRow of query, connection));
                }
                Ok(found)
            })
            .await
    }

    async fn sweep(&self, minutes: Timestamp, hours: Timestamp) -> Result<u64, StoreError> {
        let mut gone = 0;
        let grains = [(Grain::Minute, minutes), (Grain::Hour, hours), (Grain::Day, hours)];
        for (grain, before) in grains {
            let drop = move |connection: &mut SqliteConnection| {
                diesel::sql_query(DROP)
                    .bind::<Text, _>(grain.as_str())
                    .bind::<At, _>(At::from(before))
                    .bind::<BigInt, _>(i64::from(SWEEP))
                    .execute(connection)
            };
            gone += self.drain(drop).await?;
        }
        Ok(gone)
    }
}

fn tenure(connection: &mut SqliteConnection) -> Result<Tenure, Failure> {
    let row = figures_tenure::table.find(1);
    let found: Option<Tenure> = read_one!(TenureRow of row, connection);
    Ok(found.unwrap_or_default())
}

/// Applies a rule to the one row, and keeps what it changed.
fn step<T>(
    connection: &mut SqliteConnection,
    rule: impl FnOnce(&mut Tenure) -> T,
) -> Result<T, Failure> {
    let before = tenure(connection)?;
    let mut after = before;
    let outcome = rule(&mut after);
    if after != before {
        let row = figures_tenure::table.find(1);
        statement::update(row, TenureRow::from(&after)).execute(connection)?;
    }
    Ok(outcome)
}

/// Puts a chunk in the place of what there is of its minutes.
fn put(connection: &mut SqliteConnection, chunk: Chunk) -> Result<(), Failure> {
    let Window { from, until } = chunk.window;
    let old = figures::table
        .filter(figures::grain.eq(Grain::Minute.as_str()))
        .filter(figures::began_at.ge(At::from(from)))
        .filter(figures::began_at.lt(At::from(until)));
    diesel::delete(old).execute(connection)?;
    save(connection, chunk.minutes)
}

/// Adds a chunk to its hour and its day.
fn roll_up(connection: &mut SqliteConnection, chunk: &Chunk) -> Result<(), Failure> {
    let projects: Vec<_> = chunk.projects().into_iter().map(Id::from).collect();
    let mut present: Vec<Figure> = Vec::new();
    for (grain, began) in chunk.parents() {
        let query = figures::table
            .filter(figures::project_id.eq_any(&projects))
            .filter(figures::mode.eq_any([KeyMode::Live.as_str(), KeyMode::Test.as_str()]))
            .filter(figures::grain.eq(grain.as_str()))
            .filter(figures::began_at.eq(At::from(began)));
        present.extend::<Vec<Figure>>(read_all!(FigureRow of query, connection));
    }
    save(connection, chunk.rolled_up(present))
}

fn save(connection: &mut SqliteConnection, all: Vec<Figure>) -> Result<(), Failure> {
    for figure in all {
        let row = FigureRow::from(figure);
        let insert = diesel::insert_into(figures::table).values(row.clone());
        statement::upsert(insert, KEY, row).execute(connection)?;
    }
    Ok(())
}
