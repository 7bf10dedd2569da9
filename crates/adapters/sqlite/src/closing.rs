//! How the entries of a closed month leave without holding up the writer.

use crate::connection::pace::Pace;
use crate::connection::pool::SqliteStore;
use crate::connection::remembered::Changes;
use diesel::prelude::*;
use dwar_kernel::StoreError;
use std::time::Duration;

/// How often in a row a step is tried, and how long between two tries. A service that writes all the time takes the lock
/// of the file again at once, so a command may wait its busy timeout in vain.
const TRIES: u32 = 30;
const PAUSE: Duration = Duration::from_millis(500);

/// Repeats a step, told at how many positions it may take entries away, until it took none.
pub(crate) async fn in_turns<F>(store: &SqliteStore, step: F) -> Result<(), StoreError>
where
    F: Fn(&mut SqliteConnection, i64) -> QueryResult<usize> + Copy + Send + 'static,
{
    let (mut pace, mut refused) = (Pace::new(), 0);
    loop {
        let most = i64::from(pace.rows());
        let turn = move |connection: &mut SqliteConnection| step(connection, most);
        // What a loss of power brings back is counted by no closing, and goes again.
        match store.turn(pace, Changes::NoLookUp, turn).await {
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
