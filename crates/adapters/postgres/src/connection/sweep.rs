//! How old rows leave: some at a time, and with pauses.

use crate::PostgresStore;
use crate::connection::error::Failure;
use diesel::prelude::*;
use dwar_kernel::{StoreError, Timestamp};
use dwar_sql::{At, Id};
use std::time::Instant;

/// How many rows one statement of a sweep drops at most: some tens of milliseconds of a server that has
/// other work.
pub(crate) const SWEEP_BATCH: i64 = 1_000;

/// A statement that drops the oldest rows of `table`, a batch at most, whose `age` is before `$1`, save those
/// that somebody is at. There has to be an index that begins with `age`.
///
/// The rows are named in an array: where they are joined with a sub-select, PostgreSQL plans for a tenth of
/// the table, whatever the limit is, and reads all of it.
fn drop_oldest(table: &str, age: &str) -> String {
    format!(
        "DELETE FROM {table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM {table} WHERE {age} < $1 \
         ORDER BY {age} LIMIT {SWEEP_BATCH} FOR UPDATE SKIP LOCKED))"
    )
}

pub(crate) struct Turn {
    /// How many rows it took on; fewer than it might have are the last.
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
                Ok(Turn { taken: gone, gone })
            })
        })
        .await
    }

    /// Drops the rows of `table` whose `id` was made before an instant, as [`drop_oldest`] says.
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

    /// Drops the rows of `table` whose `age` is before an instant, as [`drop_oldest`] says.
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

    /// Repeats a transaction that takes on at most [`SWEEP_BATCH`] rows until it finds fewer.
    pub(crate) async fn in_turns<W>(&self, name: &'static str, work: W) -> Result<u64, StoreError>
    where
        W: Fn(&mut PgConnection) -> Result<Turn, Failure> + Clone + Send + 'static,
    {
        drain(|| self.pool.transaction(name, work.clone())).await
    }
}

/// Repeats turns of at most [`SWEEP_BATCH`] rows until one finds fewer; in between the server belongs to
/// others.
async fn drain<T>(turn: impl Fn() -> T) -> Result<u64, StoreError>
where
    T: Future<Output = Result<Turn, StoreError>>,
{
    let full = usize::try_from(SWEEP_BATCH).unwrap_or(usize::MAX);
    let (start, mut dropped) = (Instant::now(), 0);
    loop {
        let begun = Instant::now();
        let Turn { taken, gone } = turn().await?;
        dropped += u64::try_from(gone).unwrap_or(u64::MAX);
        if taken < full {
            return Ok(dropped);
        }
        tokio::time::sleep(dwar_sql::pause(begun.elapsed(), start.elapsed())).await;
    }
}
