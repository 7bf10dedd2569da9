//! A code, its attempts and its phone's guesses, from their rows and back.

use crate::convert::{Row, millis, sealed_bytes, stored_count};
use crate::error::Failure;
use crate::schema::{guess_budgets, otp_attempts, otps};
use crate::statement;
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, KeyMode, ProjectId, Sealed, StoreError};
use dwar_otp::{
    AttemptStatus, Channel, CodeDigest, Delivery, DeliveryAttempt, DeliveryStatus, GuessBudget,
    GuessPeriod, Otp, OtpState, Reason,
};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = otps)]
pub(crate) struct OtpRow {
    id: String,
    project_id: String,
    mode: String,
    phone_index: Vec<u8>,
    phone_sealed: Vec<u8>,
    code_key: i32,
    code_mac: Vec<u8>,
    code_sealed: Option<Vec<u8>>,
    state: String,
    wrong: i32,
    max_wrong: i32,
    status: String,
    created_at: i64,
    expires_at: i64,
    due_at: Option<i64>,
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = otp_attempts, treat_none_as_null = true)]
struct AttemptRow {
    id: String,
    otp_id: String,
    position: i32,
    channel: String,
    provider: String,
    provider_ref: Option<String>,
    status: String,
    reason: Option<String>,
    changed_at: i64,
    accepted: bool,
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = guess_budgets, treat_none_as_null = true)]
struct BudgetRow {
    project_id: String,
    mode: String,
    phone_index: Vec<u8>,
    wrong: i32,
    last_wrong_at: Option<i64>,
    period_began_at: Option<i64>,
    period_wrong: i32,
    stopped_at: Option<i64>,
}

impl From<&Otp> for OtpRow {
    fn from(otp: &Otp) -> Self {
        Self {
            id: otp.id.to_string(),
            project_id: otp.project.to_string(),
            mode: otp.mode.to_string(),
            phone_index: otp.phone.0.to_vec(),
            phone_sealed: otp.sealed_phone.0.clone(),
            code_key: otp.code.key,
            code_mac: otp.code.mac.to_vec(),
            code_sealed: sealed_bytes(otp.sealed_code.as_ref()),
            state: otp.state.as_str().to_owned(),
            wrong: stored_count(otp.wrong),
            max_wrong: stored_count(otp.max_wrong),
            status: otp.delivery.status.as_str().to_owned(),
            created_at: otp.created_at.timestamp_millis(),
            expires_at: otp.expires_at.timestamp_millis(),
            due_at: millis(otp.delivery.due_at),
        }
    }
}

impl OtpRow {
    fn into_otp(self, attempts: Vec<DeliveryAttempt>) -> Result<Otp, StoreError> {
        let row = Row::new("otps", &self.id);
        Ok(Otp {
            id: row.parse("id", &self.id)?,
            project: row.parse("project_id", &self.project_id)?,
            mode: row.parse("mode", &self.mode)?,
            phone: row.index("phone_index", &self.phone_index)?,
            code: CodeDigest { key: self.code_key, mac: row.bytes("code_mac", &self.code_mac)? },
            state: row.known("state", OtpState::from_word(&self.state))?,
            wrong: row.count("wrong", self.wrong)?,
            max_wrong: row.count("max_wrong", self.max_wrong)?,
            created_at: row.instant("created_at", self.created_at)?,
            expires_at: row.instant("expires_at", self.expires_at)?,
            delivery: Delivery {
                status: row.known("status", DeliveryStatus::from_word(&self.status))?,
                due_at: row.maybe_instant("due_at", self.due_at)?,
                attempts,
            },
            sealed_phone: Sealed(self.phone_sealed),
            sealed_code: self.code_sealed.map(Sealed),
        })
    }
}

impl AttemptRow {
    fn new(otp: &Otp, position: usize, attempt: &DeliveryAttempt) -> Self {
        Self {
            id: attempt.id.to_string(),
            otp_id: otp.id.to_string(),
            position: i32::try_from(position).unwrap_or(i32::MAX),
            channel: attempt.channel.as_str().to_owned(),
            provider: attempt.provider.clone(),
            provider_ref: attempt.provider_ref.clone(),
            status: attempt.status.as_str().to_owned(),
            reason: attempt.reason.map(|reason| reason.as_str().to_owned()),
            changed_at: attempt.at.timestamp_millis(),
            accepted: attempt.accepted,
        }
    }
}

impl TryFrom<AttemptRow> for DeliveryAttempt {
    type Error = StoreError;

    fn try_from(stored: AttemptRow) -> Result<Self, StoreError> {
        let row = Row::new("otp_attempts", &stored.id);
        let reason = stored.reason.as_deref();
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            channel: row.known("channel", Channel::from_word(&stored.channel))?,
            status: row.known("status", AttemptStatus::from_word(&stored.status))?,
            reason: reason.map(|word| row.known("reason", Reason::from_word(word))).transpose()?,
            at: row.instant("changed_at", stored.changed_at)?,
            accepted: stored.accepted,
            provider: stored.provider,
            provider_ref: stored.provider_ref,
        })
    }
}

/// Rebuilds the code of a row that was found, if one was.
pub(crate) fn load(
    connection: &mut SqliteConnection,
    found: Option<OtpRow>,
) -> Result<Option<Otp>, Failure> {
    let Some(row) = found else { return Ok(None) };
    let attempts = otp_attempts::table
        .filter(otp_attempts::otp_id.eq(&row.id))
        .order(otp_attempts::position)
        .select(AttemptRow::as_select())
        .load(connection)?;
    let attempts = attempts.into_iter().map(DeliveryAttempt::try_from).collect::<Result<_, _>>()?;
    Ok(Some(row.into_otp(attempts)?))
}

/// Stores a code that is new.
pub(crate) fn insert(connection: &mut SqliteConnection, otp: &Otp) -> QueryResult<()> {
    diesel::insert_into(otps::table).values(OtpRow::from(otp)).execute(connection)?;
    save_attempts(connection, &[], otp)
}

/// Stores what a step changed; the rest of a code never does.
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
        otps::state.eq(after.state.as_str()),
        otps::wrong.eq(stored_count(after.wrong)),
        otps::status.eq(after.delivery.status.as_str()),
        otps::due_at.eq(millis(after.delivery.due_at)),
    );
    statement::update(otps::table.find(after.id.to_string()), changed).execute(connection)?;
    save_attempts(connection, &before.delivery.attempts, after)
}

fn save_attempts(
    connection: &mut SqliteConnection,
    before: &[DeliveryAttempt],
    otp: &Otp,
) -> QueryResult<()> {
    let numbered = otp.delivery.attempts.iter().enumerate();
    for (position, attempt) in numbered.filter(|(at, attempt)| before.get(*at) != Some(*attempt)) {
        let row = AttemptRow::new(otp, position, attempt);
        let insert = diesel::insert_into(otp_attempts::table).values(&row);
        statement::upsert(insert, "id", &row).execute(connection)?;
    }
    Ok(())
}

/// The guesses counted for a phone; none counted is none on record.
pub(crate) fn budget(
    connection: &mut SqliteConnection,
    project: ProjectId,
    mode: KeyMode,
    phone: BlindIndex,
) -> Result<GuessBudget, Failure> {
    let stored = guess_budgets::table
        .find((project.to_string(), mode.as_str(), phone.0.as_slice()))
        .select(BudgetRow::as_select())
        .get_result(connection)
        .optional()?;
    let Some(stored) = stored else { return Ok(GuessBudget::default()) };
    let row = Row::new("guess_budgets", &stored.project_id);
    let period = match row.maybe_instant("period_began_at", stored.period_began_at)? {
        Some(began_at) => Some(GuessPeriod {
            began_at,
            wrong: row.count("period_wrong", stored.period_wrong)?,
            stopped_at: row.maybe_instant("stopped_at", stored.stopped_at)?,
        }),
        None => None,
    };
    Ok(GuessBudget {
        wrong: row.count("wrong", stored.wrong)?,
        last_wrong_at: row.maybe_instant("last_wrong_at", stored.last_wrong_at)?,
        period,
    })
}

/// Stores the guesses counted for the phone of `otp`.
pub(crate) fn save_budget(
    connection: &mut SqliteConnection,
    otp: &Otp,
    budget: GuessBudget,
) -> QueryResult<()> {
    let row = BudgetRow {
        project_id: otp.project.to_string(),
        mode: otp.mode.to_string(),
        phone_index: otp.phone.0.to_vec(),
        wrong: stored_count(budget.wrong),
        last_wrong_at: millis(budget.last_wrong_at),
        period_began_at: millis(budget.period.map(|period| period.began_at)),
        period_wrong: stored_count(budget.period.map_or(0, |period| period.wrong)),
        stopped_at: millis(budget.period.and_then(|period| period.stopped_at)),
    };
    if budget == GuessBudget::default() {
        let key = (&row.project_id, &row.mode, &row.phone_index);
        diesel::delete(guess_budgets::table.find(key)).execute(connection)?;
        return Ok(());
    }
    let insert = diesel::insert_into(guess_budgets::table).values(&row);
    statement::upsert(insert, "project_id, mode, phone_index", &row).execute(connection)?;
    Ok(())
}
