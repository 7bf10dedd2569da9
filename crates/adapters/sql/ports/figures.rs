use crate::dialect::{Conn, Failure, SWEEP_BATCH, Store};
use crate::figures_statements::{DROP, SENT, before_reading, save};
use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use dwar_activity::{
    Figure, FigureChunk, FigureSpan, FiguresLease, FiguresStore, Grain, Interval, Progress,
    RefusalFigure, RequestFacts, Traffic,
};
use dwar_kernel::{KeeperId, KeyMode, OtpId, ProjectId, ProjectMode, StoreError, Timestamp};
use dwar_sql::schema::{figures, figures_lease, refused_sends};
use dwar_sql::{
    At, FigureRow, FiguresLeaseRow, Id, RefusedSumRow, Row, SentRow, TrafficRow, legible, read_all,
    read_each, read_one, requests,
};
use std::collections::BTreeMap;
use std::time::Duration;

/// No step waits until its changes are on disk: figures that are lost with the power are counted again.
#[async_trait]
impl FiguresStore for Store {
    async fn acquire_lease(
        &self,
        keeper: KeeperId,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Progress>, StoreError> {
        self.steps_ahead_of_disk("activity.lead", move |conn| {
            step(conn, |figures_lease| figures_lease.acquire_lease(keeper, now, lease))
        })
        .await
    }

    async fn sent(
        &self,
        window: Interval,
        last: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<RequestFacts>, StoreError> {
        let after = last.map_or_else(|| Id::first_at(window.from), Id::from);
        self.scan("activity.sent", move |conn| {
            before_reading(conn)?;
            let (mut after, mut left, mut found) = (after, limit, Vec::new());
            // A page with fewer requests than asked for is the last one. Requests that cannot be decoded
            // count here too, or one of them would end the loop early.
            while left > 0 {
                let rows: Vec<SentRow> = diesel::sql_query(SENT)
                    .bind::<Id, _>(after)
                    .bind::<Id, _>(Id::first_at(window.until))
                    .bind::<BigInt, _>(i64::from(left))
                    .load(conn)?;
                let read: Vec<_> = requests(&rows).collect();
                let is_last = u32::try_from(read.len()).unwrap_or(u32::MAX) < left;
                found.extend(read.into_iter().filter_map(|sent| legible!(sent)));
                let Some(row) = rows.last().filter(|_| !is_last) else { break };
                after = row.id();
                left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
            }
            Ok(found)
        })
        .await
    }

    async fn refused(&self, window: Interval) -> Result<Vec<RefusalFigure>, StoreError> {
        self.scan("activity.refused", move |conn| {
            let within = |from: At, until: At| {
                let since = refused_sends::table.filter(refused_sends::minute.ge(from));
                since.filter(refused_sends::minute.lt(until))
            };
            let first: Option<At> = within(window.from.into(), window.until.into())
                .order(refused_sends::minute)
                .select(refused_sends::minute)
                .first(conn)
                .optional()?;
            let Some(first) = first else { return Ok(Vec::new()) };
            let first = Row::new("refused_sends", 1).at("minute", first)?;
            let hour_ends = Grain::Hour.begin(first) + Grain::Hour.length();
            let sums = within(first.into(), window.until.min(hour_ends).into()).group_by((
                refused_sends::project_id,
                refused_sends::mode,
                refused_sends::minute,
                refused_sends::reason,
            ));
            Ok(read_each!(RefusedSumRow of sums, conn))
        })
        .await
    }

    async fn replace(&self, keeper: KeeperId, chunk: FigureChunk) -> Result<bool, StoreError> {
        self.steps_ahead_of_disk("activity.replace", move |conn| {
            let replaces =
                step(conn, |figures_lease| figures_lease.may_replace(keeper, chunk.window))?;
            if replaces {
                put(conn, &chunk)?;
            }
            Ok(replaces)
        })
        .await
    }

    async fn settle(&self, keeper: KeeperId, chunk: FigureChunk) -> Result<bool, StoreError> {
        self.steps_ahead_of_disk("activity.settle", move |conn| {
            let settles = step(conn, |figures_lease| figures_lease.settle(keeper, chunk.window))?;
            if settles {
                roll_up(conn, &chunk)?;
                put(conn, &chunk)?;
            }
            Ok(settles)
        })
        .await
    }

    async fn refreshed(&self, keeper: KeeperId, as_of: Timestamp) -> Result<bool, StoreError> {
        self.steps_ahead_of_disk("activity.refreshed", move |conn| {
            step(conn, |figures_lease| figures_lease.refresh(keeper, as_of))
        })
        .await
    }

    async fn progress(&self) -> Result<Progress, StoreError> {
        self.read("activity.progress", |conn| {
            let row = figures_lease::table.find(1);
            let found: Option<FiguresLease> = read_one!(FiguresLeaseRow of row, conn);
            Ok(found.unwrap_or_default().progress)
        })
        .await
    }

    async fn figures(
        &self,
        project_mode: ProjectMode,
        spans: Vec<FigureSpan>,
    ) -> Result<Vec<Figure>, StoreError> {
        self.of(project_mode.project)
            .scan("activity.figures", move |conn| {
                let mut found = Vec::new();
                for FigureSpan { grain, window } in &spans {
                    let query = figures::table
                        .filter(figures::project_id.eq(Id::from(project_mode.project)))
                        .filter(figures::mode.eq(project_mode.mode.as_str()))
                        .filter(figures::grain.eq(grain.as_str()))
                        .filter(figures::began_at.ge(At::from(window.from)))
                        .filter(figures::began_at.lt(At::from(window.until)));
                    found.extend::<Vec<Figure>>(read_all!(FigureRow of query, conn));
                }
                Ok(found)
            })
            .await
    }

    async fn traffic(
        &self,
        projects: Vec<ProjectId>,
        mode: KeyMode,
        spans: Vec<FigureSpan>,
    ) -> Result<BTreeMap<ProjectId, Traffic>, StoreError> {
        self.scan("activity.traffic", move |conn| {
            let ids: Vec<_> = projects.iter().copied().map(Id::from).collect();
            let mut sums: BTreeMap<ProjectId, Traffic> = BTreeMap::new();
            for FigureSpan { grain, window } in &spans {
                let rows: Vec<TrafficRow> = figures::table
                    .filter(figures::project_id.eq_any(&ids))
                    .filter(figures::mode.eq(mode.as_str()))
                    .filter(figures::grain.eq(grain.as_str()))
                    .filter(figures::began_at.ge(At::from(window.from)))
                    .filter(figures::began_at.lt(At::from(window.until)))
                    .group_by(figures::project_id)
                    .select((
                        figures::project_id,
                        sum("requests"),
                        sum("relays"),
                        sum("verified"),
                        sum("spent"),
                        sum("trusted"),
                        sum("trusted_verified"),
                    ))
                    .load(conn)?;
                for row in rows {
                    let (project, traffic) = row.try_into()?;
                    sums.entry(project).or_default().add(&traffic);
                }
            }
            Ok(sums)
        })
        .await
    }

    async fn sweep(&self, minutes: Timestamp, hours: Timestamp) -> Result<u64, StoreError> {
        let mut gone = 0;
        let grains = [(Grain::Minute, minutes), (Grain::Hour, hours), (Grain::Day, hours)];
        for (grain, before) in grains {
            let drop = move |conn: &mut Conn| {
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

/// The sum of a column as an integer; without the cast PostgreSQL returns a decimal number.
fn sum(column: &str) -> SqlLiteral<BigInt> {
    sql(&format!("CAST(sum({column}) AS bigint)"))
}

/// Applies a rule to the only row of the lease, under its lock, and stores the change.
fn step<T>(conn: &mut Conn, rule: impl FnOnce(&mut FiguresLease) -> T) -> Result<T, Failure> {
    let row = for_update!(figures_lease::table.find(1));
    let found: Option<FiguresLease> = read_one!(FiguresLeaseRow of row, conn);
    let before = found.unwrap_or_default();
    let mut after = before;
    let outcome = rule(&mut after);
    if after != before {
        let row = figures_lease::table.find(1);
        diesel::update(row).set(FiguresLeaseRow::from(&after)).execute(conn)?;
    }
    Ok(outcome)
}

/// Replaces the stored figures of the chunk's minutes.
fn put(conn: &mut Conn, chunk: &FigureChunk) -> Result<(), Failure> {
    let Interval { from, until } = chunk.window;
    let old = figures::table
        .filter(figures::grain.eq(Grain::Minute.as_str()))
        .filter(figures::began_at.ge(At::from(from)))
        .filter(figures::began_at.lt(At::from(until)));
    diesel::delete(old).execute(conn)?;
    Ok(save(conn, chunk.minutes.clone())?)
}

/// Adds a chunk to the figures of its hour and its day.
fn roll_up(conn: &mut Conn, chunk: &FigureChunk) -> Result<(), Failure> {
    let projects: Vec<_> = chunk.projects().into_iter().map(Id::from).collect();
    let mut present: Vec<Figure> = Vec::new();
    for (grain, began) in chunk.parents() {
        let query = figures::table
            .filter(figures::project_id.eq_any(&projects))
            .filter(figures::mode.eq_any([KeyMode::Live.as_str(), KeyMode::Test.as_str()]))
            .filter(figures::grain.eq(grain.as_str()))
            .filter(figures::began_at.eq(At::from(began)));
        present.extend::<Vec<Figure>>(read_each!(FigureRow of query, conn));
    }
    Ok(save(conn, chunk.rolled_up(present))?)
}
