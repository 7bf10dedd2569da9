//! Rows of codes, their attempts and the guess budgets of phones.

use crate::connection::error::Failure;
use diesel::dsl::{Eq, Or};
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, OtpId, ProjectId, ProjectMode};
use dwar_otp::{DeliveryAttempt, GuessBudget, Otp, OtpState};
use dwar_ratelimit::guard::GuardMark;
use dwar_sql::schema::{guess_budgets, otp_attempts, otps};
use dwar_sql::statement;
use dwar_sql::{
    At, AttemptRow, BudgetRow, GuardMarkRow, Id, OtpRow, of_phone, read_one, sealed_bytes,
    stored_count, stored_guesses, stored_state,
};

/// Rebuilds the code from its row; `None` if there is no row.
pub(crate) fn load(
    connection: &mut SqliteConnection,
    found: Option<OtpRow>,
) -> Result<Option<Otp>, Failure> {
    let Some(row) = found else { return Ok(None) };
    let attempts = attempts(connection, &row)?;
    Ok(Some(row.into_otp(attempts)?))
}

pub(crate) fn attempts(
    connection: &mut SqliteConnection,
    row: &OtpRow,
) -> QueryResult<Vec<AttemptRow>> {
    otp_attempts::table
        .filter(otp_attempts::otp_id.eq(row.id))
        .order(otp_attempts::position)
        .select(AttemptRow::as_select())
        .load(connection)
}

/// Builds the code from joined rows, one per attempt, and returns the other columns too.
pub(crate) fn whole<T>(
    rows: Vec<(OtpRow, Option<AttemptRow>, T)>,
) -> Result<Option<(Otp, T)>, Failure> {
    let mut rows = rows.into_iter();
    let Some((row, first, beside)) = rows.next() else { return Ok(None) };
    let attempts = first.into_iter().chain(rows.filter_map(|(_, attempt, _)| attempt)).collect();
    Ok(Some((row.into_otp(attempts)?, beside)))
}

/// The request with this id, in either mode of the project.
pub(crate) fn by_id(
    connection: &mut SqliteConnection,
    project: ProjectId,
    otp: OtpId,
) -> Result<Option<Otp>, Failure> {
    let found = otps::table
        .filter(otps::id.eq(Id::from(otp)))
        .filter(otps::project_id.eq(Id::from(project)))
        .select(OtpRow::as_select())
        .get_result(connection)
        .optional()?;
    load(connection, found)
}

/// Filters open codes; the schema allows a phone only one.
pub(crate) fn is_open() -> IsOpen {
    let [active, locked] = OtpState::OPEN.map(|state| otps::state.eq(state.as_str()));
    active.or(locked)
}

type IsOpen = Or<Eq<otps::state, &'static str>, Eq<otps::state, &'static str>>;

/// Closes the open code of a phone before a new one, as [`Otp::supersede`] does.
pub(crate) fn supersede(connection: &mut SqliteConnection, otp: &Otp) -> QueryResult<()> {
    let open = of_phone!(otps of otp.project_mode, otp.phone.0.as_slice()).filter(is_open());
    let superseded = otps::state.eq(OtpState::Superseded.as_str());
    statement::update(open, superseded).execute(connection)?;
    Ok(())
}

pub(crate) fn insert(
    connection: &mut SqliteConnection,
    otp: &Otp,
    mark: Option<&GuardMark>,
) -> QueryResult<()> {
    let mark = mark.map(GuardMarkRow::from).unwrap_or_default();
    diesel::insert_into(otps::table).values((OtpRow::from(otp), mark)).execute(connection)?;
    save_attempts(connection, &[], otp)
}

/// Stores the columns that a step can change; the others never change.
pub(crate) fn save(
    connection: &mut SqliteConnection,
    before: &Otp,
    after: &Otp,
) -> QueryResult<()> {
    if before == after {
        return Ok(());
    }
    let changed = (
        otps::code_sealed.eq(sealed_bytes(after.sealed_code.as_ref())),
        otps::state.eq(stored_state(after.state)),
        otps::wrong.eq(stored_count(after.wrong)),
        otps::guesses.eq(stored_guesses(&after.guesses)),
        otps::status.eq(after.delivery.status.as_str()),
        otps::due_at.eq(after.delivery.due_at.map(At::from)),
    );
    statement::update(otps::table.find(Id::from(after.id)), changed).execute(connection)?;
    save_attempts(connection, &before.delivery.attempts, after)
}

fn save_attempts(
    connection: &mut SqliteConnection,
    before: &[DeliveryAttempt],
    otp: &Otp,
) -> QueryResult<()> {
    let numbered = otp.delivery.attempts.iter().enumerate();
    for (position, attempt) in numbered.filter(|(at, attempt)| before.get(*at) != Some(*attempt)) {
        let row = AttemptRow::new(position, attempt);
        let row_of_otp = (otp_attempts::otp_id.eq(Id::from(otp.id)), &row);
        let insert = diesel::insert_into(otp_attempts::table).values(row_of_otp);
        statement::upsert(insert, "id", &row).execute(connection)?;
    }
    Ok(())
}

/// The guess budget of a phone; a missing row counts as no guesses.
pub(crate) fn budget(
    connection: &mut SqliteConnection,
    project_mode: ProjectMode,
    phone: BlindIndex,
) -> Result<GuessBudget, Failure> {
    let counted = guess_budgets::table.find((
        Id::from(project_mode.project),
        project_mode.mode.as_str(),
        phone.0.as_slice(),
    ));
    let counted: Option<GuessBudget> = read_one!(BudgetRow of counted, connection);
    Ok(counted.unwrap_or_default())
}

/// Stores the guess budget of the phone of `otp`.
pub(crate) fn save_budget(
    connection: &mut SqliteConnection,
    otp: &Otp,
    budget: GuessBudget,
) -> QueryResult<()> {
    let row = BudgetRow::new(otp.project_mode.project, &budget);
    let (mode, phone) = (otp.project_mode.mode.as_str(), otp.phone.0.as_slice());
    if budget == GuessBudget::default() {
        let key = (row.project_id, mode, phone);
        diesel::delete(guess_budgets::table.find(key)).execute(connection)?;
        return Ok(());
    }
    let of_phone = (guess_budgets::mode.eq(mode), guess_budgets::phone_index.eq(phone), &row);
    let insert = diesel::insert_into(guess_budgets::table).values(of_phone);
    statement::upsert(insert, "project_id, mode, phone_index", &row).execute(connection)?;
    Ok(())
}
