//! How the entries of a closed month leave without holding up the writer.

use crate::connection::pace::Pace;
use crate::connection::pool::SqliteStore;
use crate::connection::remembered::Changes;
use diesel::prelude::*;
use dwar_kernel::StoreError;

/// Repeats a step, told at how many positions it may take entries away, until it took none.
pub(crate) async fn in_turns<F>(store: &SqliteStore, step: F) -> Result<(), StoreError>
where
    F: Fn(&mut SqliteConnection, i64) -> QueryResult<usize> + Copy + Send + 'static,
{
    let mut pace = Pace::new();
    loop {
        let most = i64::from(pace.rows());
        let turn = move |connection: &mut SqliteConnection| step(connection, most);
        // What a loss of power brings back is counted by no closing, and goes again.
        let (gone, next) = store.turn(pace, Changes::NoLookUp, turn).await?;
        if gone == 0 {
            return Ok(());
        }
        pace = next;
    }
}
