//! The log of a phone's sends.

use crate::connection::error::Failure;
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_ratelimit::{SendKey, SendLog, SendSlot};
use dwar_sql::schema::{guess_budgets, projects, send_slots};
use dwar_sql::{At, BudgetRow, Id, Row, maybe};

#[derive(Default)]
pub(crate) struct LogSnapshot {
    pub(crate) seen: Vec<Id>,
    pub(crate) log: SendLog,
}

impl LogSnapshot {
    /// Builds the log of these sends, oldest first, and of these wrong guesses.
    pub(crate) fn of(
        guesses: Option<BudgetRow>,
        sends: impl Iterator<Item = (Id, At, bool)>,
    ) -> Result<Self, StoreError> {
        let (mut seen, mut slots) = (Vec::new(), Vec::new());
        for (send, at, forgiven) in sends {
            seen.push(send);
            slots.push(SendSlot { at: Row::new("send_slots", send).at("taken_at", at)?, forgiven });
        }
        let guesses = maybe(guesses)?.unwrap_or_default();
        Ok(Self { seen, log: SendLog::new(slots, guesses) })
    }
}

/// The guess budget of a phone, and one of its sends.
type LogRow = (Option<BudgetRow>, Option<(Id, At, bool)>);

/// Reads, in one statement, the log that decides whether a send is admitted.
pub(crate) fn read_log(conn: &mut PgConnection, key: &SendKey) -> Result<LogSnapshot, Failure> {
    let (mode, phone) = (key.project_mode.mode.as_str(), key.phone.0.to_vec());
    let counted = guess_budgets::project_id
        .eq(projects::id)
        .and(guess_budgets::mode.eq(mode))
        .and(guess_budgets::phone_index.eq(phone.clone()));
    let taken = send_slots::project_id
        .eq(projects::id)
        .and(send_slots::mode.eq(mode))
        .and(send_slots::phone_index.eq(phone));
    let rows: Vec<LogRow> = projects::table
        .find(Id::from(key.project_mode.project))
        .left_join(guess_budgets::table.on(counted))
        .left_join(send_slots::table.on(taken))
        .order(send_slots::taken_at)
        .select((
            Option::<BudgetRow>::as_select(),
            (send_slots::send_id, send_slots::taken_at, send_slots::forgiven).nullable(),
        ))
        .load(conn)?;
    let (budgets, slots): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let guesses = budgets.into_iter().next().flatten();
    Ok(LogSnapshot::of(guesses, slots.into_iter().flatten())?)
}
