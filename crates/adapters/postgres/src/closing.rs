//! Removes the ledger entries of a closed month while requests go on.

use crate::PostgresStore;
use crate::connection::sweep::SWEEP_BATCH;
use diesel::prelude::*;
use dwar_kernel::StoreError;
use std::time::Instant;

/// Repeats a step until it removes nothing. The step is told how many positions it may remove
/// entries from.
pub(crate) async fn in_turns<F>(store: &PostgresStore, step: F) -> Result<(), StoreError>
where
    F: Fn(&mut PgConnection, i64) -> QueryResult<usize> + Copy + Send + 'static,
{
    let begun = Instant::now();
    loop {
        let turn = Instant::now();
        let gone = store.write("closing.close", move |conn| Ok(step(conn, SWEEP_BATCH)?)).await?;
        if gone == 0 {
            return Ok(());
        }
        tokio::time::sleep(dwar_sql::pause(turn.elapsed(), begun.elapsed())).await;
    }
}
