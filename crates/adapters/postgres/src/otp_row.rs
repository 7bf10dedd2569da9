//! One-time codes and their delivery attempts as rows.

use crate::convert::{Row, sealed_bytes, stored_count};
use crate::error::Failure;
use crate::event_row::EventRow;
use crate::schema::{guess_budgets, otp_attempts, otps};
use crate::statement::Statement;
use diesel::prelude::*;
use diesel::sql_types::{
    Array, Binary, Bool, Integer, Nullable, Text, Timestamptz, Uuid as SqlUuid,
};
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_otp::{
    AttemptStatus, Channel, CodeDigest, Delivery, DeliveryAttempt, DeliveryStatus, GuessBudget,
    GuessPeriod, Otp, OtpState, Reason,
};
use uuid::Uuid;

/// The attempts that are given, as they are now.
macro_rules! attempted {
    () => {
        ", attempted AS ( \
             INSERT INTO otp_attempts (id, otp_id, position, channel, provider, provider_ref, \
                 status, reason, changed_at, accepted) \
             SELECT a.id, changed.id, (a.place - 1)::integer, a.channel, a.provider, a.provider_ref, \
                 a.status, a.reason, a.changed_at, a.accepted \
             FROM changed, given, unnest(given.attempts, given.channels, given.providers, \
                 given.provider_refs, given.statuses, given.reasons, given.times, given.accepts) \
                 WITH ORDINALITY AS a (id, channel, provider, provider_ref, status, reason, \
                     changed_at, accepted, place) \
             ON CONFLICT (id) DO UPDATE SET provider_ref = excluded.provider_ref, \
                 status = excluded.status, reason = excluded.reason, \
                 changed_at = excluded.changed_at, accepted = excluded.accepted \
         )"
    };
}

/// The event that is given, if there is one, about the request that was changed.
macro_rules! happened {
    () => {
        concat!(
            ", happened AS ( \
                 SELECT given.event AS id, changed.project_id, changed.mode, given.kind, \
                     given.at AS happened_at, changed.id AS subject_id, given.channel, \
                     changed.phone_index, changed.phone_sealed \
                 FROM changed, given WHERE given.event IS NOT NULL \
             ), ",
            recording!("subject_id, channel, phone_index, phone_sealed")
        )
    };
}

/// Gives a statement the parameters of `attempted!`.
macro_rules! attempts {
    ($statement:expr, $attempts:expr) => {{
        let attempts: &[DeliveryAttempt] = $attempts;
        $statement
            .given::<Array<SqlUuid>, _>("attempts", each(attempts, |a| a.id.uuid()))
            .given::<Array<Text>, _>("channels", each(attempts, |a| a.channel.as_str()))
            .given::<Array<Text>, _>("providers", each(attempts, |a| a.provider.as_str()))
            .given::<Array<Nullable<Text>>, _>(
                "provider_refs",
                each(attempts, |a| a.provider_ref.as_deref()),
            )
            .given::<Array<Text>, _>("statuses", each(attempts, |a| a.status.as_str()))
            .given::<Array<Nullable<Text>>, _>(
                "reasons",
                each(attempts, |a| a.reason.map(Reason::as_str)),
            )
            .given::<Array<Timestamptz>, _>("times", each(attempts, |a| a.at))
            .given::<Array<Bool>, _>("accepts", each(attempts, |a| a.accepted))
    }};
}

/// Gives a statement the parameters of `happened!`.
macro_rules! event {
    ($statement:expr, $told:expr, $now:expr) => {{
        let told: Option<EventRow> = $told;
        let (event, kind, channel) = match told {
            Some(row) => (Some(row.id), Some(row.kind), row.channel),
            None => (None, None, None),
        };
        $statement
            .given::<Nullable<Text>, _>("event", event)
            .given::<Nullable<Text>, _>("kind", kind)
            .given::<Nullable<Text>, _>("channel", channel)
            .given::<Timestamptz, _>("at", $now)
    }};
}

fn each<'all, T>(
    attempts: &'all [DeliveryAttempt],
    column: impl Fn(&'all DeliveryAttempt) -> T,
) -> Vec<T> {
    attempts.iter().map(column).collect()
}

#[derive(Queryable, Selectable)]
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
    due_at: Option<Timestamp>,
    version: Uuid,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = otp_attempts)]
pub(crate) struct AttemptRow {
    pub(crate) id: Uuid,
    position: i32,
    channel: String,
    provider: String,
    provider_ref: Option<String>,
    status: String,
    reason: Option<String>,
    changed_at: Timestamp,
    accepted: bool,
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

/// A request as it was found, and the step that wrote it last.
pub(crate) struct Found {
    pub(crate) otp: Otp,
    pub(crate) version: Uuid,
}

/// Rebuilds the one request that these rows, one for each of its attempts, are about.
pub(crate) fn rebuild(
    rows: impl IntoIterator<Item = (OtpRow, Option<AttemptRow>)>,
) -> Result<Option<Found>, Failure> {
    let mut request = None;
    let mut attempts: Vec<AttemptRow> = Vec::new();
    for (row, attempt) in rows {
        attempts.extend(attempt);
        request = Some(row);
    }
    let Some(row) = request else { return Ok(None) };
    attempts.sort_unstable_by_key(|attempt| attempt.position);
    let version = row.version;
    let attempts = attempts.into_iter().map(DeliveryAttempt::try_from).collect::<Result<_, _>>()?;
    Ok(Some(Found { otp: row.into_otp(attempts)?, version }))
}

/// Puts a request with its attempts on record and supersedes the phone's present code.
///
/// Of two that come at once the index of codes in force lets one in, and the other one has to look
/// again. A repetition finds its own row and does nothing.
const ISSUE: &str = concat!(
    ", superseded AS ( \
         UPDATE otps o SET state = 'superseded', version = given.otp FROM given \
         WHERE o.project_id = given.project AND o.mode = given.mode \
         AND o.phone_index = given.phone AND o.state IN ('active', 'locked') \
         AND NOT EXISTS (SELECT FROM otps own WHERE own.id = given.otp) RETURNING 1 \
     ), changed AS ( \
         INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, \
             code_sealed, state, wrong, max_wrong, status, created_at, expires_at, due_at, version) \
         SELECT otp, project, mode, phone, phone_sealed, code_key, code_mac, code_sealed, state, \
             wrong, max_wrong, status, created_at, expires_at, due_at, version FROM given \
         WHERE (SELECT count(*) FROM superseded) >= 0 ON CONFLICT DO NOTHING RETURNING id \
     )",
    attempted!(),
    " SELECT EXISTS (SELECT FROM changed) \
         OR EXISTS (SELECT FROM otps own WHERE own.id = given.otp) AS done FROM given"
);

/// Writes down what a report changed, unless the request has changed since it was looked at. A
/// repetition finds the version that it wrote.
const REPORT: &str = concat!(
    ", changed AS ( \
         UPDATE otps o SET code_sealed = given.code_sealed, state = given.state, \
             status = given.status, due_at = given.due_at, version = given.version \
         FROM given WHERE o.id = given.otp AND o.version = given.before \
         RETURNING o.id, o.project_id, o.mode, o.phone_index, o.phone_sealed \
     )",
    attempted!(),
    happened!(),
    " SELECT EXISTS (SELECT FROM changed) AS done"
);

/// Writes down what a guess changed: the code, then the phone's count, unless the code has changed
/// since it was looked at. Each guess writes the code, so the count has not changed either.
const JUDGE: &str = concat!(
    ", changed AS ( \
         UPDATE otps o SET state = given.state, wrong = given.wrong, version = given.version \
         FROM given WHERE o.id = given.otp AND o.version = given.before \
         RETURNING o.id, o.project_id, o.mode, o.phone_index, o.phone_sealed \
     ), counted AS ( \
         INSERT INTO guess_budgets (project_id, mode, phone_index, wrong, last_wrong_at, \
             period_began_at, period_wrong, stopped_at) \
         SELECT c.project_id, c.mode, c.phone_index, given.guesses, given.last_wrong_at, \
             given.period_began_at, given.period_wrong, given.stopped_at \
         FROM changed c, given WHERE given.count = 'kept' \
         ON CONFLICT (project_id, mode, phone_index) DO UPDATE SET wrong = excluded.wrong, \
             last_wrong_at = excluded.last_wrong_at, period_began_at = excluded.period_began_at, \
             period_wrong = excluded.period_wrong, stopped_at = excluded.stopped_at \
     ), cleared AS ( \
         DELETE FROM guess_budgets WHERE (SELECT count FROM given) = 'cleared' \
         AND (project_id, mode, phone_index) = \
             (SELECT c.project_id, c.mode, c.phone_index FROM changed c) \
     )",
    happened!(),
    " SELECT EXISTS (SELECT FROM changed) AS done"
);

#[derive(QueryableByName)]
struct Done {
    #[diesel(sql_type = Bool)]
    done: bool,
}

/// Puts a new request on record; false if another one of the phone came in at the same moment.
pub(crate) fn issue(conn: &mut PgConnection, otp: &Otp) -> QueryResult<bool> {
    let first = otp.delivery.attempts.last().map_or(otp.id.uuid(), |attempt| attempt.id.uuid());
    let statement = Statement::new(ISSUE)
        .given::<SqlUuid, _>("otp", otp.id.uuid())
        .given::<SqlUuid, _>("project", otp.project.uuid())
        .given::<Text, _>("mode", otp.mode.as_str())
        .given::<Binary, _>("phone", otp.phone.0.as_slice())
        .given::<Binary, _>("phone_sealed", otp.sealed_phone.0.as_slice())
        .given::<Integer, _>("code_key", otp.code.key)
        .given::<Binary, _>("code_mac", otp.code.mac.as_slice())
        .given::<Nullable<Binary>, _>("code_sealed", sealed_bytes(otp.sealed_code.as_ref()))
        .given::<Text, _>("state", otp.state.as_str())
        .given::<Integer, _>("wrong", stored_count(otp.wrong))
        .given::<Integer, _>("max_wrong", stored_count(otp.max_wrong))
        .given::<Text, _>("status", otp.delivery.status.as_str())
        .given::<Timestamptz, _>("created_at", otp.created_at)
        .given::<Timestamptz, _>("expires_at", otp.expires_at)
        .given::<Nullable<Timestamptz>, _>("due_at", otp.delivery.due_at)
        .given::<SqlUuid, _>("version", first);
    attempts!(statement, &otp.delivery.attempts).get_result(conn).map(|Done { done }| done)
}

/// Writes down what became of a request under `version`, attempts that are new included; false if
/// it was not as `before` any more.
pub(crate) fn report(
    conn: &mut PgConnection,
    before: &Found,
    otp: &Otp,
    version: Uuid,
    now: Timestamp,
) -> QueryResult<bool> {
    let statement = Statement::new(REPORT)
        .given::<SqlUuid, _>("otp", otp.id.uuid())
        .given::<SqlUuid, _>("before", before.version)
        .given::<SqlUuid, _>("version", version)
        .given::<Nullable<Binary>, _>("code_sealed", sealed_bytes(otp.sealed_code.as_ref()))
        .given::<Text, _>("state", otp.state.as_str())
        .given::<Text, _>("status", otp.delivery.status.as_str())
        .given::<Nullable<Timestamptz>, _>("due_at", otp.delivery.due_at);
    let statement = attempts!(statement, &otp.delivery.attempts);
    let told = otp.reported_since(&before.otp, now).as_ref().map(EventRow::from);
    event!(statement, told, now).get_result(conn).map(|Done { done }| done)
}

/// Writes down what became of a code and of its phone's count under `version`; false if the code
/// was not as `before` any more.
pub(crate) fn judge(
    conn: &mut PgConnection,
    (before, counted): (&Found, &GuessBudget),
    (otp, budget): (&Otp, &GuessBudget),
    version: Uuid,
    now: Timestamp,
) -> QueryResult<bool> {
    let count = match budget {
        same if same == counted => "same",
        none if *none == GuessBudget::default() => "cleared",
        _ => "kept",
    };
    let period = budget.period.as_ref();
    let statement = Statement::new(JUDGE)
        .given::<SqlUuid, _>("otp", otp.id.uuid())
        .given::<SqlUuid, _>("before", before.version)
        .given::<SqlUuid, _>("version", version)
        .given::<Text, _>("state", otp.state.as_str())
        .given::<Integer, _>("wrong", stored_count(otp.wrong))
        .given::<Text, _>("count", count)
        .given::<Integer, _>("guesses", stored_count(budget.wrong))
        .given::<Nullable<Timestamptz>, _>("last_wrong_at", budget.last_wrong_at)
        .given::<Nullable<Timestamptz>, _>("period_began_at", period.map(|p| p.began_at))
        .given::<Integer, _>("period_wrong", stored_count(period.map_or(0, |p| p.wrong)))
        .given::<Nullable<Timestamptz>, _>("stopped_at", period.and_then(|p| p.stopped_at));
    let told = otp.judged_since((&before.otp, counted), budget, now).as_ref().map(EventRow::from);
    event!(statement, told, now).get_result(conn).map(|Done { done }| done)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = guess_budgets)]
pub(crate) struct BudgetRow {
    project_id: Uuid,
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
