//! One-time codes, their delivery attempts and what became of them, written down.

use crate::connection::error::Failure;
use crate::connection::statement::{Done, Statement, each};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text};
use dwar_kernel::Timestamp;
use dwar_otp::{DeliveryAttempt, GuessBudget, Otp, Reason};
use dwar_sql::schema::{guess_budgets, otps};
use dwar_sql::{At, AttemptRow, BudgetRow, EventRow, Id, OtpRow, stored_count, stored_guesses};

/// The attempts that are given, as they are now, each of the request that has its place in `changed`.
macro_rules! attempted {
    () => {
        ", attempted AS ( \
             INSERT INTO otp_attempts (id, otp_id, position, channel, provider, provider_ref, \
                 status, reason, changed_at, accepted) \
             SELECT a.id, changed.id, a.position, a.channel, a.provider, a.provider_ref, \
                 a.status, a.reason, a.changed_at, a.accepted \
             FROM changed, given, unnest(given.places, given.positions, given.attempts, \
                 given.channels, given.providers, given.provider_refs, given.statuses, \
                 given.reasons, given.times, given.accepts) \
                 AS a (place, position, id, channel, provider, provider_ref, status, reason, \
                     changed_at, accepted) \
             WHERE a.place = changed.place \
             ON CONFLICT (id) DO UPDATE SET provider_ref = excluded.provider_ref, \
                 status = excluded.status, reason = excluded.reason, \
                 changed_at = excluded.changed_at, accepted = excluded.accepted \
         )"
    };
}

/// Gives a statement the parameters of `attempted!`: of each request all its attempts, in order.
macro_rules! attempts {
    ($statement:expr, $requests:expr) => {{
        let attempts: Vec<(i64, i32, &DeliveryAttempt)> = placed($requests);
        let attempts = attempts.as_slice();
        $statement
            .given::<Array<BigInt>, _>("places", each(attempts, |a| a.0))
            .given::<Array<Integer>, _>("positions", each(attempts, |a| a.1))
            .given::<Array<Id>, _>("attempts", each(attempts, |a| Id::from(a.2.id)))
            .given::<Array<Text>, _>("channels", each(attempts, |a| a.2.channel.as_str()))
            .given::<Array<Text>, _>("providers", each(attempts, |a| a.2.provider.as_str()))
            .given::<Array<Nullable<Text>>, _>(
                "provider_refs",
                each(attempts, |a| a.2.provider_ref.as_deref()),
            )
            .given::<Array<Text>, _>("statuses", each(attempts, |a| a.2.status.as_str()))
            .given::<Array<Nullable<Text>>, _>(
                "reasons",
                each(attempts, |a| a.2.reason.map(Reason::as_str)),
            )
            .given::<Array<At>, _>("times", each(attempts, |a| At::from(a.2.at)))
            .given::<Array<Bool>, _>("accepts", each(attempts, |a| a.2.accepted))
    }};
}

/// The attempts of requests, each with the place of its request, from one, and its own, from zero.
pub(crate) fn placed<'a>(
    requests: impl IntoIterator<Item = &'a Otp>,
) -> Vec<(i64, i32, &'a DeliveryAttempt)> {
    let of_one = |(place, otp): (i64, &'a Otp)| {
        (0..).zip(&otp.delivery.attempts).map(move |(position, attempt)| (place, position, attempt))
    };
    (1..).zip(requests).flat_map(of_one).collect()
}

/// Gives a statement the parameters of `told!`: of each step its event, if there is one, and its time.
macro_rules! events {
    ($statement:expr, $steps:expr) => {{
        let steps = $steps;
        $statement
            .given::<Array<Nullable<Text>>, _>(
                "events",
                each(steps, |step| step.event.as_ref().map(|event| event.id.as_str())),
            )
            .given::<Array<Nullable<Text>>, _>(
                "kinds",
                each(steps, |step| step.event.as_ref().map(|event| event.kind.as_str())),
            )
            .given::<Array<Nullable<Text>>, _>(
                "vias",
                each(steps, |step| step.event.as_ref().and_then(|event| event.channel.as_deref())),
            )
            .given::<Array<At>, _>("moments", each(steps, |step| At::from(step.now)))
    }};
}

/// The event of a request that was changed, if there is one and there may be somebody to tell.
macro_rules! told {
    ($of:literal) => {
        concat!(
            "(SELECT record_event(event => c.event, project => c.project_id, world => c.mode, \
                 happening => c.kind, moment => c.at, subject => c.id, via => c.via, \
                 phone => c.phone_index, sealed => c.phone_sealed) FROM changed c \
             WHERE ",
            $of,
            " AND c.event IS NOT NULL \
             AND EXISTS (SELECT FROM webhook_endpoints e WHERE e.project_id = c.project_id))"
        )
    };
}

/// A request as it was found, and the step that wrote it last.
pub(crate) struct Found {
    pub(crate) otp: Otp,
    pub(crate) version: Id,
}

/// Rebuilds the one request that these rows, one for each of its attempts, are about.
pub(crate) fn rebuild(
    rows: impl IntoIterator<Item = (OtpRow, Id, Option<AttemptRow>)>,
) -> Result<Option<Found>, Failure> {
    let mut request = None;
    let mut attempts = Vec::new();
    for (row, version, attempt) in rows {
        attempts.extend(attempt);
        request = Some((row, version));
    }
    let Some((row, version)) = request else { return Ok(None) };
    Ok(Some(Found { otp: row.into_otp(attempts)?, version }))
}

/// Puts a request with its attempts on record and supersedes the phone's present code.
///
/// Of two that come at once the index of codes in force lets one in, and the other one has to look
/// again. A repetition finds its own row and does nothing. Where hold and place are asked for and
/// one of them is gone, nothing is done either: they are not waited for on disk, so a crash before this
/// may have taken them back.
const ISSUE: &str = concat!(
    ", lacking AS ( \
         SELECT given.held AND NOT ( \
             EXISTS (SELECT FROM wallet_holds h WHERE h.send_id = given.id) \
             AND EXISTS (SELECT FROM send_slots s WHERE s.send_id = given.id)) AS one FROM given \
     ), superseded AS ( \
         UPDATE otps o SET state = 'superseded', version = given.id FROM given \
         WHERE o.project_id = given.project_id AND o.mode = given.mode \
         AND o.phone_index = given.phone_index AND o.state IN ('active', 'locked') \
         AND NOT EXISTS (SELECT FROM otps own WHERE own.id = given.id) \
         AND NOT (SELECT lacking.one FROM lacking) RETURNING 1 \
     ), changed AS ( \
         INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, \
             code_sealed, state, wrong, max_wrong, status, created_at, expires_at, due_at, version) \
         SELECT id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, code_sealed, \
             state, wrong, max_wrong, status, created_at, expires_at, due_at, version FROM given \
         WHERE (SELECT count(*) FROM superseded) >= 0 AND NOT (SELECT lacking.one FROM lacking) \
         ON CONFLICT DO NOTHING RETURNING id, 1 AS place \
     )",
    attempted!(),
    " SELECT EXISTS (SELECT FROM changed) \
         OR EXISTS (SELECT FROM otps own WHERE own.id = given.id) AS done, \
         lacking.one AS lacking FROM given, lacking"
);

/// Writes down what a guess changed: the code, then the phone's count, unless the code has changed
/// since it was looked at. Each guess writes the code, so the count has not changed either.
///
/// Every guess is on disk with this, the right one too: a crash of the database between it and the
/// session that comes next would make the code a good one again.
const JUDGE: &str = "\
, changed AS ( \
    UPDATE otps o SET state = given.state, wrong = given.wrong, guesses = given.guesses, \
        version = given.version \
    FROM given WHERE o.id = given.otp AND o.version = given.before \
    RETURNING o.id, o.project_id, o.mode, o.phone_index, o.phone_sealed, \
        given.event, given.kind, given.via, given.at \
)";

/// Of a guess that changed the phone's count: the count as it is now.
const COUNTED: &str = "\
, counted AS ( \
    INSERT INTO guess_budgets (project_id, mode, phone_index, wrong, last_wrong_at, \
        period_began_at, period_wrong, stopped_at) \
    SELECT c.project_id, c.mode, c.phone_index, given.counted, given.last_wrong_at, \
        given.period_began_at, given.period_wrong, given.stopped_at \
    FROM changed c, given \
    ON CONFLICT (project_id, mode, phone_index) DO UPDATE SET wrong = excluded.wrong, \
        last_wrong_at = excluded.last_wrong_at, period_began_at = excluded.period_began_at, \
        period_wrong = excluded.period_wrong, stopped_at = excluded.stopped_at \
)";

/// Of a guess after which nothing is counted of the phone any more.
const CLEARED: &str = "\
, cleared AS ( \
    DELETE FROM guess_budgets WHERE (project_id, mode, phone_index) = \
        (SELECT c.project_id, c.mode, c.phone_index FROM changed c) \
)";

/// Whether the code was changed; if so, its event.
const JUDGED: &str =
    concat!(" SELECT EXISTS (SELECT FROM changed) AS done, ", told!("true"), " AS told");

/// What became of a new request.
#[derive(QueryableByName)]
pub(crate) struct Issued {
    /// Whether it is on record; if not, another one of the phone came in at the same moment,
    #[diesel(sql_type = Bool)]
    pub(crate) done: bool,
    /// or there is no hold or no place for it.
    #[diesel(sql_type = Bool)]
    pub(crate) lacking: bool,
}

/// Puts a new request on record, if need be only where it has a place and money is held for it.
pub(crate) fn issue(conn: &mut PgConnection, otp: &Otp, held: bool) -> QueryResult<Issued> {
    let first = otp.delivery.attempts.last().map(|attempt| Id::from(attempt.id));
    let statement = given!(
        Statement::new(ISSUE), otps of OtpRow::from(otp),
        id project_id mode phone_index phone_sealed code_key code_mac code_sealed state wrong
        max_wrong status created_at expires_at due_at
    );
    let statement = statement.column(otps::version, first.unwrap_or(otp.id.into()));
    let statement = statement.given::<Bool, _>("held", held);
    attempts!(statement, [otp]).get_result(conn)
}

/// Writes down what became of a code and of its phone's count under `version`; false if the code
/// was not as `before` any more.
pub(crate) fn judge(
    conn: &mut PgConnection,
    (before, counted): (&Found, &GuessBudget),
    (otp, budget): (&Otp, &GuessBudget),
    version: Id,
    now: Timestamp,
) -> QueryResult<bool> {
    let counting = match budget {
        same if same == counted => None,
        none if *none == GuessBudget::default() => Some(CLEARED),
        _ => Some(COUNTED),
    };
    let statement = Statement::new(JUDGE)
        .given::<Id, _>("otp", Id::from(otp.id))
        .given::<Id, _>("before", before.version)
        .column(otps::version, version)
        .column(otps::state, otp.state.as_str())
        .column(otps::wrong, stored_count(otp.wrong))
        .column(otps::guesses, stored_guesses(&otp.guesses))
        .given::<Integer, _>("counted", stored_count(budget.wrong));
    let statement = given!(
        statement, guess_budgets of BudgetRow::new(otp.project, budget),
        last_wrong_at period_began_at period_wrong stopped_at
    );
    let told = otp.judged_since((&before.otp, counted), budget, now).as_ref().map(EventRow::from);
    let told = told.as_ref();
    statement
        .given::<Nullable<Text>, _>("event", told.map(|told| told.id.as_str()))
        .given::<Nullable<Text>, _>("kind", told.map(|told| told.kind.as_str()))
        .given::<Nullable<Text>, _>("via", told.and_then(|told| told.channel.as_deref()))
        .given::<At, _>("at", At::from(now))
        .then(counting)
        .then([JUDGED])
        .get_result(conn)
        .map(|Done { done }| done)
}
