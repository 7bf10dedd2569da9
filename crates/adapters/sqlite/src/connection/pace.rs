//! How old rows leave without holding up the writer.

use crate::connection::pool::{SWEEP, SqliteStore};
use crate::connection::remembered::Changes;
use diesel::prelude::*;
use dwar_kernel::StoreError;
use std::time::{Duration, Instant};

/// How long the writer may be busy with one turn of a sweep: other writes wait for it. A row that has
/// left memory costs some hundred times what one does that is there, so turns go by time.
const TURN: Duration = Duration::from_millis(3);
/// A turn takes so many rows at least, whatever they cost, and so many at first.
const FEWEST: u16 = 8;

/// How many rows the next turn of a sweep drops, and how long it waits before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    rows: u16,
    begun: Instant,
}

impl Pace {
    /// Slow, until it is known what a row costs.
    pub(crate) fn new() -> Self {
        Self { rows: FEWEST, begun: Instant::now() }
    }

    /// From [`FEWEST`] to [`SWEEP`].
    pub(crate) const fn rows(self) -> u16 {
        self.rows
    }

    /// After a turn that kept the writer busy for so long.
    fn after(self, took: Duration) -> Self {
        let rows = match took.as_micros() {
            took if took > TURN.as_micros() => self.rows / 2,
            took if took < TURN.as_micros() / 2 => self.rows * 2,
            _ => self.rows,
        };
        Self { rows: rows.clamp(FEWEST, SWEEP), ..self }
    }
}

impl SqliteStore {
    /// Runs one turn on the writer, then leaves it to others for a while; gives what went, and the
    /// pace from here on. If it changes no look-up nobody waits for the disk: what a loss of power
    /// brings back goes again.
    pub(crate) async fn turn<F>(
        &self,
        pace: Pace,
        changes: Changes,
        work: F,
    ) -> Result<(u16, Pace), StoreError>
    where
        F: FnOnce(&mut SqliteConnection) -> QueryResult<usize> + Send + 'static,
    {
        let turn = move |connection: &mut SqliteConnection| {
            let begun = Instant::now();
            let gone = work(connection)?;
            Ok((gone, begun.elapsed()))
        };
        let (gone, took) = match changes {
            Changes::NoLookUp => self.write_ahead_of_disk("pace.turn", turn).await?,
            changes => self.write_that("pace.turn", changes, turn).await?,
        };
        tokio::time::sleep(dwar_sql::pause(took, pace.begun.elapsed())).await;
        Ok((u16::try_from(gone).unwrap_or(u16::MAX), pace.after(took)))
    }

    /// Repeats a deletion of so many rows as it is told until fewer are left, at a [`Pace`]; gives how
    /// many went. It MUST change no look-up.
    pub(crate) async fn drain_gently<F>(&self, delete: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut SqliteConnection, u16) -> QueryResult<usize> + Copy + Send + 'static,
    {
        let (mut total, mut pace) = (0, Pace::new());
        loop {
            let rows = pace.rows();
            let turn = move |connection: &mut SqliteConnection| delete(connection, rows);
            let (gone, next) = self.turn(pace, Changes::NoLookUp, turn).await?;
            total += u64::from(gone);
            if gone < rows {
                return Ok(total);
            }
            pace = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(rows: u16, micros: u64) -> u16 {
        Pace { rows, ..Pace::new() }.after(Duration::from_micros(micros)).rows()
    }

    #[test]
    fn turns_grow_and_shrink_with_what_rows_cost() {
        assert_eq!(Pace::new().rows(), FEWEST);
        assert_eq!(after(100, 1_499), 200);
        assert_eq!(after(100, 1_500), 100);
        assert_eq!(after(100, 3_000), 100);
        assert_eq!(after(100, 3_001), 50);
        assert_eq!(after(FEWEST, 50_000), FEWEST);
        assert_eq!(after(SWEEP, 1), SWEEP);
    }
}
