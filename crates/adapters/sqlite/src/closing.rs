//! Removes the ledger entries of a closed month without blocking the writer.

use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::pool::SqliteStore;
use crate::connection::sweep_pace::SweepPace;
use diesel::prelude::*;
use dwar_kernel::StoreError;
use std::time::Duration;

/// Most attempts of a step in a row, and the pause between two attempts. A service that writes
/// constantly retakes the file lock at once, so a command may wait its whole busy timeout in vain.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_millis(500);

/// Repeats a step until it removes nothing. The step is told how many positions it may remove
/// entries from.
pub(crate) async fn in_turns<F>(store: &SqliteStore, step: F) -> Result<(), StoreError>
where
    F: Fn(&mut SqliteConnection, i64) -> QueryResult<usize> + Copy + Send + 'static,
{
    let (mut pace, mut refused) = (SweepPace::new(), 0);
    loop {
        let most = i64::from(pace.rows());
        let turn = move |connection: &mut SqliteConnection| step(connection, most);
        // Entries that a loss of power restores are not counted by any closing and are removed
        // again.
        match store.turn(pace, OutdatedLookUps::NoLookUp, turn).await {
            Ok((0, _)) => return Ok(()),
            Ok((_, next)) => (pace, refused) = (next, 0),
            Err(cause) if cause.is_transient() && refused < TRIES => {
                refused += 1;
                tokio::time::sleep(PAUSE).await;
            }
            Err(cause) => return Err(cause),
        }
    }
}
