//! One-time codes and their delivery attempts as rows.

use crate::convert::{Row, sealed_bytes, stored_count};
use crate::error::Failure;
use crate::schema::{guess_budgets, otp_attempts, otps};
use diesel::prelude::*;
use diesel::upsert::excluded;
use dwar_kernel::{BlindIndex, KeyMode, ProjectId, Sealed, StoreError, Timestamp};
use dwar_otp::{
    AttemptStatus, Channel, CodeDigest, Delivery, DeliveryAttempt, DeliveryStatus, GuessBudget,
    GuessPeriod, Otp, OtpState, Reason,
};
use std::collections::HashMap;
use uuid::Uuid;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = otps)]
pub(crate) struct OtpRow {
    pub(crate) id: Uuid,
    project_id: Uuid,
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
    created_at: Timestamp,
    expires_at: Timestamp,
    pub(crate) due_at: Option<Timestamp>,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = otp_attempts)]
struct AttemptRow {
    id: Uuid,
    otp_id: Uuid,
    position: i32,
    channel: String,
    provider: String,
    provider_ref: Option<String>,
    status: String,
    reason: Option<String>,
    changed_at: Timestamp,
    accepted: bool,
}

/// What of a request can change after it was made.
#[derive(AsChangeset)]
#[diesel(table_name = otps, treat_none_as_null = true)]
struct OtpChange {
    code_sealed: Option<Vec<u8>>,
    state: &'static str,
    wrong: i32,
    status: &'static str,
    due_at: Option<Timestamp>,
}

impl From<&Otp> for OtpRow {
    fn from(otp: &Otp) -> Self {
        Self {
            id: otp.id.uuid(),
            project_id: otp.project.uuid(),
            mode: otp.mode.as_str().to_owned(),
            phone_index: otp.phone.0.to_vec(),
            phone_sealed: otp.sealed_phone.0.clone(),
            code_key: otp.code.key,
            code_mac: otp.code.mac.to_vec(),
            code_sealed: sealed_bytes(otp.sealed_code.as_ref()),
            state: otp.state.as_str().to_owned(),
            wrong: stored_count(otp.wrong),
            max_wrong: stored_count(otp.max_wrong),
            status: otp.delivery.status.as_str().to_owned(),
            created_at: otp.created_at,
            expires_at: otp.expires_at,
            due_at: otp.delivery.due_at,
        }
    }
}

impl OtpRow {
    fn into_otp(self, attempts: Vec<DeliveryAttempt>) -> Result<Otp, StoreError> {
        let read = Row::new("otps", self.id);
        let mac = read.bytes("code_mac", self.code_mac)?;
        Ok(Otp {
            id: self.id.into(),
            project: self.project_id.into(),
            mode: read.parse("mode", &self.mode)?,
            phone: read.index("phone_index", self.phone_index)?,
            sealed_phone: Sealed(self.phone_sealed),
            code: CodeDigest { key: self.code_key, mac },
            sealed_code: self.code_sealed.map(Sealed),
            state: read.known("state", OtpState::from_word(&self.state))?,
            wrong: read.count("wrong", self.wrong)?,
            max_wrong: read.count("max_wrong", self.max_wrong)?,
            created_at: self.created_at,
            expires_at: self.expires_at,
            delivery: Delivery {
                status: read.known("status", DeliveryStatus::from_word(&self.status))?,
                attempts,
                due_at: self.due_at,
            },
        })
    }
}

impl AttemptRow {
    fn all_of(otp: &Otp) -> Vec<Self> {
        (0..).zip(&otp.delivery.attempts).map(|(at, attempt)| Self::new(otp, at, attempt)).collect()
    }

    fn new(otp: &Otp, position: i32, attempt: &DeliveryAttempt) -> Self {
        Self {
            id: attempt.id.uuid(),
            otp_id: otp.id.uuid(),
            position,
            channel: attempt.channel.as_str().to_owned(),
            provider: attempt.provider.clone(),
            provider_ref: attempt.provider_ref.clone(),
            status: attempt.status.as_str().to_owned(),
            reason: attempt.reason.map(|reason| reason.as_str().to_owned()),
            changed_at: attempt.at,
            accepted: attempt.accepted,
        }
    }
}

impl TryFrom<AttemptRow> for DeliveryAttempt {
    type Error = StoreError;

    fn try_from(row: AttemptRow) -> Result<Self, StoreError> {
        let read = Row::new("otp_attempts", row.id);
        let reason = row.reason.map(|word| read.known("reason", Reason::from_word(&word)));
        Ok(Self {
            id: row.id.into(),
            channel: read.known("channel", Channel::from_word(&row.channel))?,
            provider: row.provider,
            provider_ref: row.provider_ref,
            status: read.known("status", AttemptStatus::from_word(&row.status))?,
            reason: reason.transpose()?,
            at: row.changed_at,
            accepted: row.accepted,
        })
    }
}

/// Puts a request with its attempts on record.
pub(crate) fn insert(conn: &mut PgConnection, otp: &Otp) -> Result<(), Failure> {
    diesel::insert_into(otps::table).values(OtpRow::from(otp)).execute(conn)?;
    diesel::insert_into(otp_attempts::table).values(AttemptRow::all_of(otp)).execute(conn)?;
    Ok(())
}

/// Writes down what became of a request, attempts that are new included.
pub(crate) fn save(conn: &mut PgConnection, otp: &Otp) -> Result<(), Failure> {
    save_code(conn, otp)?;
    diesel::insert_into(otp_attempts::table)
        .values(AttemptRow::all_of(otp))
        .on_conflict(otp_attempts::id)
        .do_update()
        .set((
            otp_attempts::provider_ref.eq(excluded(otp_attempts::provider_ref)),
            otp_attempts::status.eq(excluded(otp_attempts::status)),
            otp_attempts::reason.eq(excluded(otp_attempts::reason)),
            otp_attempts::changed_at.eq(excluded(otp_attempts::changed_at)),
            otp_attempts::accepted.eq(excluded(otp_attempts::accepted)),
        ))
        .execute(conn)?;
    Ok(())
}

/// Writes down what became of a request whose attempts did not change.
pub(crate) fn save_code(conn: &mut PgConnection, otp: &Otp) -> Result<(), Failure> {
    let change = OtpChange {
        code_sealed: sealed_bytes(otp.sealed_code.as_ref()),
        state: otp.state.as_str(),
        wrong: stored_count(otp.wrong),
        status: otp.delivery.status.as_str(),
        due_at: otp.delivery.due_at,
    };
    diesel::update(otps::table.find(otp.id.uuid())).set(change).execute(conn)?;
    Ok(())
}

/// Rebuilds one request.
pub(crate) fn complete(
    conn: &mut PgConnection,
    row: Option<OtpRow>,
) -> Result<Option<Otp>, Failure> {
    Ok(complete_all(conn, row.into_iter().collect())?.pop())
}

/// Rebuilds requests, in the order given.
pub(crate) fn complete_all(
    conn: &mut PgConnection,
    rows: Vec<OtpRow>,
) -> Result<Vec<Otp>, Failure> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<Uuid> = rows.iter().map(|row| row.id).collect();
    let attempts: Vec<AttemptRow> = otp_attempts::table
        .filter(otp_attempts::otp_id.eq_any(ids))
        .order((otp_attempts::otp_id, otp_attempts::position))
        .select(AttemptRow::as_select())
        .load(conn)?;
    let mut by_request: HashMap<Uuid, Vec<DeliveryAttempt>> = HashMap::new();
    for attempt in attempts {
        by_request.entry(attempt.otp_id).or_default().push(attempt.try_into()?);
    }
    let otps = rows.into_iter().map(|row| {
        let attempts = by_request.remove(&row.id).unwrap_or_default();
        row.into_otp(attempts)
    });
    Ok(otps.collect::<Result<_, _>>()?)
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = guess_budgets, treat_none_as_null = true)]
pub(crate) struct BudgetRow {
    project_id: Uuid,
    mode: String,
    phone_index: Vec<u8>,
    wrong: i32,
    last_wrong_at: Option<Timestamp>,
    period_began_at: Option<Timestamp>,
    period_wrong: i32,
    stopped_at: Option<Timestamp>,
}

impl TryFrom<BudgetRow> for GuessBudget {
    type Error = StoreError;

    fn try_from(row: BudgetRow) -> Result<Self, StoreError> {
        let read = Row::new("guess_budgets", row.project_id);
        let period = match row.period_began_at {
            Some(began_at) => Some(GuessPeriod {
                began_at,
                wrong: read.count("period_wrong", row.period_wrong)?,
                stopped_at: row.stopped_at,
            }),
            None => None,
        };
        let wrong = read.count("wrong", row.wrong)?;
        Ok(Self { wrong, last_wrong_at: row.last_wrong_at, period })
    }
}

/// The guesses counted for a phone; none counted is none on record.
#[diesel::dsl::auto_type(no_type_alias)]
pub(crate) fn budget_of(project: ProjectId, mode: KeyMode, phone: &BlindIndex) -> _ {
    let (project, mode): (Uuid, &'static str) = (project.uuid(), mode.as_str());
    let phone: &[u8] = phone.0.as_slice();
    let columns: diesel::dsl::AsSelect<BudgetRow, diesel::pg::Pg> = BudgetRow::as_select();
    guess_budgets::table.find((project, mode, phone)).select(columns)
}

/// Writes down the guesses counted for the phone of `otp`.
pub(crate) fn save_budget(
    conn: &mut PgConnection,
    otp: &Otp,
    budget: GuessBudget,
) -> Result<(), Failure> {
    let row = BudgetRow {
        project_id: otp.project.uuid(),
        mode: otp.mode.as_str().to_owned(),
        phone_index: otp.phone.0.to_vec(),
        wrong: stored_count(budget.wrong),
        last_wrong_at: budget.last_wrong_at,
        period_began_at: budget.period.map(|period| period.began_at),
        period_wrong: stored_count(budget.period.map_or(0, |period| period.wrong)),
        stopped_at: budget.period.and_then(|period| period.stopped_at),
    };
    if budget == GuessBudget::default() {
        let key = (row.project_id, &row.mode, &row.phone_index);
        diesel::delete(guess_budgets::table.find(key)).execute(conn)?;
        return Ok(());
    }
    diesel::insert_into(guess_budgets::table)
        .values(&row)
        .on_conflict((guess_budgets::project_id, guess_budgets::mode, guess_budgets::phone_index))
        .do_update()
        .set(&row)
        .execute(conn)?;
    Ok(())
}
