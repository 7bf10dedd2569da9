//! Rows of codes, delivery attempts and guess budgets.

use crate::schema::{guess_budgets, otp_attempts, otps};
use crate::{At, Id, Row, all, sealed_bytes, stored_count};
use diesel::prelude::*;
use dwar_kernel::{DevicePeriod, GuardVerdict, ProjectId, Sealed, StoreError, Timestamp};
use dwar_otp::{
    AttemptStatus, Channel, CodeDigest, Delivery, DeliveryAttempt, DeliveryStatus, GuessBudget,
    GuessPeriod, Otp, OtpState, Reason,
};
use std::cmp::Reverse;
use std::collections::HashMap;
use uuid::Uuid;

/// Row of `otps` without its attempts; PostgreSQL also stores a version.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = otps)]
pub struct OtpRow {
    pub id: Id,
    pub project_id: Id,
    pub mode: String,
    pub phone_index: Vec<u8>,
    pub phone_sealed: Vec<u8>,
    pub code_key: i32,
    pub code_mac: Vec<u8>,
    pub code_sealed: Option<Vec<u8>>,
    pub state: String,
    pub wrong: i32,
    pub max_wrong: i32,
    pub status: String,
    pub created_at: At,
    pub expires_at: At,
    pub due_at: Option<At>,
    pub guesses: Option<Vec<u8>>,
    pub relayed: bool,
    pub device_only: bool,
    pub guard: Option<String>,
}

/// The id of a code, of a query that is given as text.
#[derive(QueryableByName)]
pub struct OtpIdRow {
    #[diesel(sql_type = Id)]
    pub id: Id,
}

/// Row of `otp_attempts` without the id of its code.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = otp_attempts, primary_key(id, position), treat_none_as_null = true)]
pub struct AttemptRow {
    pub id: Id,
    pub position: i32,
    pub channel: String,
    pub provider: String,
    pub provider_ref: Option<String>,
    pub status: String,
    pub reason: Option<String>,
    pub changed_at: At,
    pub accepted: bool,
}

/// Row of `guess_budgets` without the phone: wrong guesses and the end of a stop.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = guess_budgets, primary_key(project_id), treat_none_as_null = true)]
pub struct BudgetRow {
    pub project_id: Id,
    pub wrong: i32,
    pub last_wrong_at: Option<At>,
    pub period_began_at: Option<At>,
    pub period_wrong: i32,
    pub stopped_at: Option<At>,
    pub device_began_at: Option<At>,
    pub device_wrong: i32,
}

impl From<&Otp> for OtpRow {
    fn from(otp: &Otp) -> Self {
        Self {
            id: otp.id.into(),
            project_id: otp.project_mode.project.into(),
            mode: otp.project_mode.mode.as_str().to_owned(),
            phone_index: otp.phone.0.to_vec(),
            phone_sealed: otp.sealed_phone.0.clone(),
            code_key: otp.code.key,
            code_mac: otp.code.mac.to_vec(),
            code_sealed: sealed_bytes(otp.sealed_code.as_ref()),
            state: stored_state(otp.state).to_owned(),
            wrong: stored_count(otp.wrong),
            max_wrong: stored_count(otp.max_wrong),
            status: otp.delivery.status.as_str().to_owned(),
            created_at: otp.created_at.into(),
            expires_at: otp.expires_at.into(),
            due_at: otp.delivery.due_at.map(At::from),
            guesses: stored_guesses(&otp.guesses),
            relayed: otp.is_relayed(),
            device_only: otp.device_only,
            guard: otp.guard.map(|verdict| verdict.as_str().to_owned()),
        }
    }
}

/// The stored state of a code. A column of its own tells whether the code is relayed. An instance
/// of the previous version does not know relayed codes and takes one for void: it stops sending it
/// and settles its money.
pub const fn stored_state(state: OtpState) -> &'static str {
    match state {
        OtpState::Relayed => OtpState::Void.as_str(),
        other => other.as_str(),
    }
}

/// The times at which guesses were judged: milliseconds since 1970, eight bytes each, big-endian,
/// oldest first. `None` if there are no guesses.
pub fn stored_guesses(guesses: &[Timestamp]) -> Option<Vec<u8>> {
    let bytes = guesses.iter().flat_map(|at| at.timestamp_millis().to_be_bytes());
    (!guesses.is_empty()).then(|| bytes.collect())
}

/// Decodes the bytes of [`stored_guesses`]; `None` if they are invalid.
pub fn guesses(stored: Option<&[u8]>) -> Option<Vec<Timestamp>> {
    let (instants, rest) = stored.unwrap_or_default().as_chunks();
    let instant = |bytes: &[u8; 8]| Timestamp::from_timestamp_millis(i64::from_be_bytes(*bytes));
    let guesses = || instants.iter().map(instant).collect();
    rest.is_empty().then(guesses)?
}

/// Builds the requests of these rows, in their order, each with its attempts.
///
/// # Errors
/// [`StoreError::Inconsistent`] for the first row that cannot be decoded.
pub fn with_attempts(
    rows: Vec<OtpRow>,
    attempts: Vec<(Id, AttemptRow)>,
) -> Result<Vec<Otp>, StoreError> {
    let mut of: HashMap<Option<Uuid>, Vec<AttemptRow>> = HashMap::new();
    for (otp, attempt) in attempts {
        of.entry(otp.0).or_default().push(attempt);
    }
    let whole = |row: OtpRow| {
        let attempts = of.remove(&row.id.0).unwrap_or_default();
        row.into_otp(attempts)
    };
    rows.into_iter().map(whole).collect()
}

/// At most `limit` attempts, those of the newest code first, and of one code the last one first.
pub fn newest_first(mut attempts: Vec<(Id, AttemptRow)>, limit: u32) -> Vec<AttemptRow> {
    attempts.sort_unstable_by_key(|(otp, attempt)| Reverse((otp.0, attempt.position)));
    attempts.into_iter().take(limit as usize).map(|(_, attempt)| attempt).collect()
}

impl OtpRow {
    /// The code with its attempts, in any order.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] for a row that cannot be decoded.
    pub fn into_otp(self, mut attempts: Vec<AttemptRow>) -> Result<Otp, StoreError> {
        let read = Row::new("otps", self.id);
        attempts.sort_unstable_by_key(|attempt| attempt.position);
        let verdict = |word: String| read.known("guard", GuardVerdict::from_word(&word));
        Ok(Otp {
            id: read.id("id", self.id)?,
            project_mode: read.project_mode(self.project_id, &self.mode)?,
            phone: read.index("phone_index", self.phone_index)?,
            sealed_phone: Sealed(self.phone_sealed),
            code: CodeDigest { key: self.code_key, mac: read.bytes("code_mac", self.code_mac)? },
            sealed_code: self.code_sealed.map(Sealed),
            state: match OtpState::from_word(&self.state) {
                Some(OtpState::Void) if self.relayed => OtpState::Relayed,
                state => read.known("state", state)?,
            },
            wrong: read.count("wrong", self.wrong)?,
            max_wrong: read.count("max_wrong", self.max_wrong)?,
            device_only: self.device_only,
            guard: self.guard.map(verdict).transpose()?,
            guesses: read.known("guesses", guesses(self.guesses.as_deref()))?,
            created_at: read.at("created_at", self.created_at)?,
            expires_at: read.at("expires_at", self.expires_at)?,
            delivery: Delivery {
                status: read.known("status", DeliveryStatus::from_word(&self.status))?,
                attempts: all(attempts)?,
                due_at: read.maybe_at("due_at", self.due_at)?,
            },
        })
    }
}

impl AttemptRow {
    /// Makes the row of an attempt at this position in its code, counted from 0.
    pub fn new(position: usize, attempt: &DeliveryAttempt) -> Self {
        Self {
            id: attempt.id.into(),
            position: i32::try_from(position).unwrap_or(i32::MAX),
            channel: attempt.channel.as_str().to_owned(),
            provider: attempt.provider.clone(),
            provider_ref: attempt.provider_ref.clone(),
            status: attempt.status.as_str().to_owned(),
            reason: attempt.reason.map(|reason| reason.as_str().to_owned()),
            changed_at: attempt.at.into(),
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
            id: read.id("id", row.id)?,
            channel: read.known("channel", Channel::from_word(&row.channel))?,
            provider: row.provider,
            provider_ref: row.provider_ref,
            status: read.known("status", AttemptStatus::from_word(&row.status))?,
            reason: reason.transpose()?,
            at: read.at("changed_at", row.changed_at)?,
            accepted: row.accepted,
        })
    }
}

impl BudgetRow {
    /// Makes the row of the guess budget of one of the project's phones.
    pub fn new(project: ProjectId, budget: &GuessBudget) -> Self {
        let (period, devices) = (budget.period.as_ref(), budget.devices.as_ref());
        Self {
            project_id: project.into(),
            wrong: stored_count(budget.wrong),
            last_wrong_at: budget.last_wrong_at.map(At::from),
            period_began_at: period.map(|period| period.began_at.into()),
            period_wrong: stored_count(period.map_or(0, |period| period.wrong)),
            stopped_at: period.and_then(|period| period.stopped_at).map(At::from),
            device_began_at: devices.map(|devices| devices.began_at.into()),
            device_wrong: stored_count(devices.map_or(0, |devices| devices.wrong)),
        }
    }
}

impl TryFrom<BudgetRow> for GuessBudget {
    type Error = StoreError;

    fn try_from(row: BudgetRow) -> Result<Self, StoreError> {
        let read = Row::new("guess_budgets", row.project_id);
        let period = match read.maybe_at("period_began_at", row.period_began_at)? {
            Some(began_at) => Some(GuessPeriod {
                began_at,
                wrong: read.count("period_wrong", row.period_wrong)?,
                stopped_at: read.maybe_at("stopped_at", row.stopped_at)?,
            }),
            None => None,
        };
        let devices = match read.maybe_at("device_began_at", row.device_began_at)? {
            Some(began_at) => Some(DevicePeriod {
                began_at,
                wrong: read.count("device_wrong", row.device_wrong)?,
            }),
            None => None,
        };
        let wrong = read.count("wrong", row.wrong)?;
        let last_wrong_at = read.maybe_at("last_wrong_at", row.last_wrong_at)?;
        Ok(Self { wrong, last_wrong_at, period, devices })
    }
}
