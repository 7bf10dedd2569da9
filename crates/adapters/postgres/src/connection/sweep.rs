//! Deletes old rows in batches, with pauses.

use crate::PostgresStore;
use crate::connection::error::Failure;
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_sql::{At, Id};
use std::time::Instant;

/// Most rows that one statement of a sweep deletes. Takes some tens of milliseconds of a server
/// with other work.
pub(crate) const SWEEP_BATCH: i64 = 1_000;

/// A statement that deletes at most one batch of the oldest rows of `table` with an `age` before
/// `$1`. Skips rows that are locked. Needs an index that begins with `age`.
///
/// The rows are selected into an array. For a join with a sub-select PostgreSQL plans for a tenth
/// of the table, whatever the limit is, and reads all of it.
fn drop_oldest(table: &str, age: &str) -> String {
    format!(
        "DELETE FROM {table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {table} WHERE {age} < $1 \
         ORDER BY {age} LIMIT {SWEEP_BATCH} FOR UPDATE SKIP LOCKED))"
    )
}

pub(crate) struct SweepTurn {
    /// Number of rows that the turn examined; fewer than a batch means that it was the last turn.
    pub(crate) taken: usize,
    pub(crate) gone: usize,
}

impl PostgresStore {
    /// Repeats a deletion of at most [`SWEEP_BATCH`] rows until it finds fewer.
    pub(crate) async fn in_batches<W>(&self, work: W) -> Result<u64, StoreError>
    where
        W: Fn(&mut PgConnection) -> QueryResult<usize> + Clone + Send + 'static,
    {
        drain(|| {
            let work = work.clone();
            self.pool.run("sweep.in_batches", move |conn| {
                let gone = work(conn)?;
                Ok(SweepTurn { taken: gone, gone })
            })
        })
        .await
    }

    /// Deletes the rows of `table` with an `id` made before an instant; see [`drop_oldest`].
    pub(crate) async fn drop_made_before(
        &self,
        table: &'static str,
        id: &'static str,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        self.in_batches(move |conn| {
            let drop = diesel::sql_query(drop_oldest(table, id));
            drop.bind::<Id, _>(Id::first_at(before)).execute(conn)
        })
        .await
    }

    /// Deletes the rows of `table` with an `age` before an instant; see [`drop_oldest`].
    pub(crate) async fn drop_before(
        &self,
        table: &'static str,
        age: &'static str,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        self.in_batches(move |conn| {
            diesel::sql_query(drop_oldest(table, age)).bind::<At, _>(At::from(before)).execute(conn)
        })
        .await
    }

    /// Repeats a transaction that examines at most [`SWEEP_BATCH`] rows until it finds fewer.
    pub(crate) async fn in_turns<W>(&self, name: &'static str, work: W) -> Result<u64, StoreError>
    where
        W: Fn(&mut PgConnection) -> Result<SweepTurn, Failure> + Clone + Send + 'static,
    {
        drain(|| self.pool.transaction(name, work.clone())).await
    }
}

/// Repeats turns of at most [`SWEEP_BATCH`] rows until one finds fewer. Pauses between turns for
/// other work.
async fn drain<T>(turn: impl Fn() -> T) -> Result<u64, StoreError>
where
    T: Future<Output = Result<SweepTurn, StoreError>>,
{
    let full = usize::try_from(SWEEP_BATCH).unwrap_or(usize::MAX);
    let (start, mut dropped) = (Instant::now(), 0);
    loop {
        let begun = Instant::now();
        let SweepTurn { taken, gone } = turn().await?;
        dropped += u64::try_from(gone).unwrap_or(u64::MAX);
        if taken < full {
            return Ok(dropped);
        }
        tokio::time::sleep(dwar_sql::pause(begun.elapsed(), start.elapsed())).await;
    }
}
