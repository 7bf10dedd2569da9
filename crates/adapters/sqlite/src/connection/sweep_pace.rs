//! Deletes old rows without blocking the writer.

use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::pool::{SWEEP, SqliteStore};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use std::time::{Duration, Instant};

/// Longest time that one turn of a sweep may occupy the writer, since other writes wait. A row that
/// is not in memory costs some hundred times more than a cached one, so turns are measured by time.
const TURN: Duration = Duration::from_millis(3);
/// Fewest rows of a turn, whatever they cost. Also the rows of the first turn.
const FEWEST: u16 = 8;

/// How many rows the next turn of a sweep deletes, and when the sweep began. A long sweep makes shorter pauses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SweepPace {
    rows: u16,
    begun: Instant,
}

impl SweepPace {
    /// Starts slowly, until the cost of a row is known.
    pub(crate) fn new() -> Self {
        Self { rows: FEWEST, begun: Instant::now() }
    }

    /// Rows of the next turn, from [`FEWEST`] to [`SWEEP`].
    pub(crate) const fn rows(self) -> u16 {
        self.rows
    }

    /// The pace after a turn that occupied the writer for `took`.
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
    /// Runs one turn on the writer and then pauses for other writes. Returns the deleted rows and
    /// the next pace. If the turn changes no cached look-up, it does not wait until
    /// the deletion is on disk: if the power fails, the next sweep deletes the rows again.
    pub(crate) async fn turn<F>(
        &self,
        pace: SweepPace,
        changes: OutdatedLookUps,
        work: F,
    ) -> Result<(u16, SweepPace), StoreError>
    where
        F: FnOnce(&mut SqliteConnection) -> QueryResult<usize> + Send + 'static,
    {
        let turn = move |connection: &mut SqliteConnection| {
            let begun = Instant::now();
            let gone = work(connection)?;
            Ok((gone, begun.elapsed()))
        };
        let (gone, took) = match changes {
            OutdatedLookUps::NoLookUp => self.write_ahead_of_disk("pace.turn", turn).await?,
            changes => self.write_that("pace.turn", changes, turn).await?,
        };
        tokio::time::sleep(dwar_sql::pause(took, pace.begun.elapsed())).await;
        Ok((u16::try_from(gone).unwrap_or(u16::MAX), pace.after(took)))
    }

    /// Repeats a deletion at a [`SweepPace`] until fewer rows are left than asked for, and returns how
    /// many were deleted. The deletion MUST change no look-up.
    pub(crate) async fn drain_gently<F>(&self, delete: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut SqliteConnection, u16) -> QueryResult<usize> + Copy + Send + 'static,
    {
        let (mut total, mut pace) = (0, SweepPace::new());
        loop {
            let rows = pace.rows();
            let turn = move |connection: &mut SqliteConnection| delete(connection, rows);
            let (gone, next) = self.turn(pace, OutdatedLookUps::NoLookUp, turn).await?;
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
        SweepPace { rows, ..SweepPace::new() }.after(Duration::from_micros(micros)).rows()
    }

    #[test]
    fn turns_grow_and_shrink_with_what_rows_cost() {
        assert_eq!(SweepPace::new().rows(), FEWEST);
        assert_eq!(after(100, 1_499), 200);
        assert_eq!(after(100, 1_500), 100);
        assert_eq!(after(100, 3_000), 100);
        assert_eq!(after(100, 3_001), 50);
        assert_eq!(after(FEWEST, 50_000), FEWEST);
        assert_eq!(after(SWEEP, 1), SWEEP);
    }
}
