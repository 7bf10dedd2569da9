use crate::connection::command::snapshot;
use crate::connection::error::Failure;
use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{GuessBudget, OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendKey, SendLimiter, SendLog, SendSlot};
use dwar_sql::schema::{guess_budgets, send_slots};
use dwar_sql::statement;
use dwar_sql::{At, BudgetRow, Id, Row, maybe, of_phone};

#[async_trait]
impl SendLimiter for SqliteStore {
    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError> {
        self.of(key.project_mode.project)
            .read("ratelimit.log", move |connection| {
                snapshot(connection, |connection| read_log(connection, &key))
            })
            .await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.of(key.project_mode.project)
            .write_that("ratelimit.forgive", OutdatedLookUps::NoLookUp, move |connection| {
                Ok(forgive(connection, &key, send)?)
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = Id::first_at(before);
        self.drain_gently(move |connection, rows| {
            let old: Vec<Id> = send_slots::table
                .filter(send_slots::send_id.lt(before))
                .select(send_slots::send_id)
                .limit(rows.into())
                .load(connection)?;
            let old = send_slots::table.filter(send_slots::send_id.eq_any(old));
            diesel::delete(old).execute(connection)
        })
        .await
    }
}

/// Reads the log that decides whether the phone's next send is admitted.
fn read_log(connection: &mut SqliteConnection, key: &SendKey) -> Result<SendLog, Failure> {
    let SendKey { project_mode, phone } = key;
    let phone = phone.0.as_slice();
    let budget = guess_budgets::table.find((
        Id::from(project_mode.project),
        project_mode.mode.as_str(),
        phone,
    ));
    let budget = budget.select(BudgetRow::as_select()).get_result(connection).optional()?;
    let places = of_phone!(send_slots of project_mode, phone)
        .order(send_slots::taken_at)
        .select(PlaceRow::as_select());
    Ok(log_of(places.load(connection)?, budget)?)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = send_slots)]
pub(crate) struct PlaceRow {
    pub(crate) send_id: Id,
    taken_at: At,
    forgiven: bool,
}

/// Builds the log of these sends, oldest first, with the wrong guesses of a phone.
pub(crate) fn log_of(
    places: impl IntoIterator<Item = PlaceRow>,
    budget: Option<BudgetRow>,
) -> Result<SendLog, StoreError> {
    let slot = |place: PlaceRow| {
        let at = Row::new("send_slots", place.send_id).at("taken_at", place.taken_at)?;
        Ok(SendSlot { at, forgiven: place.forgiven })
    };
    let slots = places.into_iter().map(slot).collect::<Result<Vec<_>, StoreError>>()?;
    let budget: Option<GuessBudget> = maybe(budget)?;
    Ok(SendLog::new(slots, budget.unwrap_or_default()))
}

pub(crate) fn take_place(
    connection: &mut SqliteConnection,
    key: &SendKey,
    send: OtpId,
    now: Timestamp,
) -> QueryResult<()> {
    let slot = (
        send_slots::send_id.eq(Id::from(send)),
        send_slots::project_id.eq(Id::from(key.project_mode.project)),
        send_slots::mode.eq(key.project_mode.mode.as_str()),
        send_slots::phone_index.eq(key.phone.0.as_slice()),
        send_slots::taken_at.eq(At::from(now)),
        send_slots::forgiven.eq(false),
    );
    diesel::insert_into(send_slots::table).values(slot).execute(connection)?;
    Ok(())
}

pub(crate) fn forgive(
    connection: &mut SqliteConnection,
    key: &SendKey,
    send: OtpId,
) -> QueryResult<()> {
    let slot = of_phone!(send_slots of key.project_mode, key.phone.0.as_slice())
        .filter(send_slots::send_id.eq(Id::from(send)));
    statement::update(slot, send_slots::forgiven.eq(true)).execute(connection)?;
    Ok(())
}
