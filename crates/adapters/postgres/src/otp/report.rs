//! What became of requests: any number of one project, in one guarded statement.

use crate::connection::error::Failure;
use crate::connection::project_queue::Joined;
use crate::connection::statement::{Done, Statement, each};
use crate::otp::row::{Found, placed};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text};
use dwar_kernel::{ProjectId, Timestamp};
use dwar_otp::{DeliveryAttempt, Otp, Reason};
use dwar_sql::{At, EventRow, Id, sealed_bytes};

/// A request as a report leaves it.
pub(crate) struct ReportUpdate {
    before: Id,
    otp: Otp,
    version: Id,
    told: Option<EventRow>,
    now: Timestamp,
}

impl ReportUpdate {
    /// From the request as it was found to what it is under a version of its own.
    pub(crate) fn of(found: &Found, otp: &Otp, version: Id, now: Timestamp) -> Self {
        let told = otp.reported_since(&found.otp, now).as_ref().map(EventRow::from);
        Self { before: found.version, otp: otp.clone(), version, told, now }
    }
}

/// Writes down what reports changed, except where a request has changed since it was looked at. A
/// repetition does nothing; whoever looks finds the version that was written. Of two changes of one
/// request one is written.
///
/// Requests are locked in the order of their ids, so that two who want the same ones cannot deadlock; all
/// of them before an event locks anything.
const REPORT: &str = concat!(
    ", step AS ( \
         SELECT s.* FROM given g, unnest(g.otps, g.befores, g.versions, g.codes, g.states, \
             g.stands, g.dues, g.events, g.kinds, g.vias, g.moments) WITH ORDINALITY \
             AS s (otp, before, version, code, state, status, due, event, kind, via, at, place) \
         ORDER BY s.otp \
     ), changed AS ( \
         UPDATE otps o SET code_sealed = s.code, state = s.state, status = s.status, \
             due_at = s.due, version = s.version \
         FROM step s WHERE o.id = s.otp AND o.version = s.before \
         RETURNING o.id, o.project_id, o.mode, o.phone_index, o.phone_sealed, \
             s.place, s.event, s.kind, s.via, s.at \
     )",
    attempted!(),
    " SELECT EXISTS (SELECT FROM changed c WHERE c.place = s.place) AS done, ",
    told!("c.place = s.place"),
    " AS told FROM step s WHERE (SELECT count(*) FROM changed) >= 0 ORDER BY s.place"
);

impl Joined for ReportUpdate {
    /// Whether it is written.
    type Done = bool;

    fn all(
        steps: &[Self],
        conn: &mut PgConnection,
        _: ProjectId,
        _: bool,
    ) -> Result<Vec<bool>, Failure> {
        let written: Vec<Done> = write(conn, steps)?;
        Ok(written.into_iter().map(|Done { done }| done).collect())
    }
}

/// A column of the event, if there is one.
fn told<'a>(
    step: &'a ReportUpdate,
    column: impl Fn(&'a EventRow) -> Option<&'a String>,
) -> Option<&'a str> {
    step.told.as_ref().and_then(column).map(String::as_str)
}

fn write(conn: &mut PgConnection, steps: &[ReportUpdate]) -> QueryResult<Vec<Done>> {
    let statement = Statement::new(REPORT)
        .given::<Array<Id>, _>("otps", each(steps, |step| Id::from(step.otp.id)))
        .given::<Array<Id>, _>("befores", each(steps, |step| step.before))
        .given::<Array<Id>, _>("versions", each(steps, |step| step.version))
        .given::<Array<Nullable<Binary>>, _>(
            "codes",
            each(steps, |step| sealed_bytes(step.otp.sealed_code.as_ref())),
        )
        .given::<Array<Text>, _>("states", each(steps, |step| step.otp.state.as_str()))
        .given::<Array<Text>, _>("stands", each(steps, |step| step.otp.delivery.status.as_str()))
        .given::<Array<Nullable<At>>, _>(
            "dues",
            each(steps, |step| step.otp.delivery.due_at.map(At::from)),
        )
        .given::<Array<Nullable<Text>>, _>(
            "events",
            each(steps, |step| told(step, |it| Some(&it.id))),
        )
        .given::<Array<Nullable<Text>>, _>(
            "kinds",
            each(steps, |step| told(step, |it| Some(&it.kind))),
        )
        .given::<Array<Nullable<Text>>, _>(
            "vias",
            each(steps, |step| told(step, |it| it.channel.as_ref())),
        )
        .given::<Array<At>, _>("moments", each(steps, |step| At::from(step.now)));
    attempts!(statement, steps.iter().map(|step| &step.otp)).load(conn)
}
