//! Begins sends. One statement handles any number of one project.

use crate::connection::error::{Failure, unavailable};
use crate::connection::project_queue::BatchedStep;
use crate::connection::statement::{Statement, each};
use crate::otp::row::placed;
use crate::send_log::LogSnapshot;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use diesel::sql_types::{Array, BigInt, Binary, Bool, Integer, Nullable, Text};
use dwar_kernel::{BlindIndex, GuardVerdict, ProjectId, StoreError, Timestamp};
use dwar_login::{Cost, NewSend};
use dwar_otp::{DeliveryAttempt, Reason};
use dwar_ratelimit::guard::GuardMark;
use dwar_sql::{At, BudgetRow, GuardMarkRow, Id, OtpRow, Row};
use std::sync::Arc;

/// A send, and the log that admitted it; `None` if the phone is assumed to have no record.
pub(crate) struct SendStep {
    pub(crate) send: Arc<NewSend>,
    pub(crate) seen: Option<Arc<LogSnapshot>>,
    /// Whether that log admitted it only as the send of a known device.
    pub(crate) device_only: bool,
    pub(crate) verdict: Option<GuardVerdict>,
    pub(crate) now: Timestamp,
}

pub(crate) enum SendOutcome {
    /// Recorded as given, with this mark.
    Ready(Option<GuardMark>),
    /// Recorded by an earlier attempt of this call. Contains the phone's other records, and the mark.
    Known(LogSnapshot, Option<GuardMark>),
    /// Recorded, and changed since by another step.
    Changed,
    Unaffordable,
    SpendLimited,
    /// The phone's log differs from the log that admitted the send.
    Unseen(LogSnapshot),
}

/// The outcome of one send, as the schema's function reports it.
#[derive(QueryableByName)]
struct Outcome {
    #[diesel(sql_type = Text)]
    outcome: String,
    #[diesel(sql_type = Nullable<Array<Id>>)]
    slots: Option<Vec<Id>>,
    #[diesel(sql_type = Nullable<Array<At>>)]
    slot_times: Option<Vec<At>>,
    #[diesel(sql_type = Nullable<Array<Bool>>)]
    slots_forgiven: Option<Vec<bool>>,
    #[diesel(sql_type = Nullable<Integer>)]
    wrong: Option<i32>,
    #[diesel(sql_type = Nullable<At>)]
    last_wrong_at: Option<At>,
    #[diesel(sql_type = Nullable<At>)]
    period_began_at: Option<At>,
    #[diesel(sql_type = Nullable<Integer>)]
    period_wrong: Option<i32>,
    #[diesel(sql_type = Nullable<At>)]
    stopped_at: Option<At>,
    #[diesel(sql_type = Nullable<At>)]
    device_began_at: Option<At>,
    #[diesel(sql_type = Nullable<Integer>)]
    device_wrong: Option<i32>,
    #[diesel(sql_type = Id)]
    send: Id,
    #[diesel(sql_type = Nullable<Binary>)]
    visitor: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<At>)]
    taken_at: Option<At>,
    #[diesel(sql_type = Bool)]
    is_new: bool,
    #[diesel(sql_type = Bool)]
    earns: bool,
}

/// Lets the schema's function judge the sends under its locks, and records those that are ready.
const PREPARE: &str = concat!(
    ", judged AS ( \
         SELECT j.* FROM given g, prepare_sends(g.owner, g.ids, g.modes, g.phones, g.versions, \
             g.made, g.placed, g.superseding, g.unguessed, g.costs, g.entries, g.seen_by, g.seen, \
             g.guards, g.visitors) AS j \
     ), changed AS ( \
         SELECT j.*, g.ids[j.place] AS id FROM judged j, given g WHERE j.outcome = 'ready' \
     ), inserted AS ( \
         INSERT INTO otps (id, project_id, mode, phone_index, phone_sealed, code_key, code_mac, \
             code_sealed, state, wrong, max_wrong, status, created_at, expires_at, due_at, version, \
             relayed, device_only, guard, visitor, taken_at, is_new, earns) \
         SELECT s.id, g.owner, s.mode, s.phone, s.phone_sealed, s.code_key, s.code_mac, \
             s.code_sealed, s.state, s.wrong, s.max_wrong, s.status, s.created_at, s.expires_at, \
             s.due_at, s.version, NOT s.supersedes, s.device_only, s.guard, \
             c.visitor, c.taken_at, c.is_new, c.earns \
         FROM given g, unnest(g.ids, g.modes, g.phones, g.phones_sealed, g.code_keys, g.code_macs, \
             g.codes_sealed, g.states, g.wrongs, g.most_wrong, g.otp_statuses, g.created, g.expiries, \
             g.dues, g.versions, g.superseding, g.device_only, g.guards) WITH ORDINALITY AS s (id, mode, \
             phone, phone_sealed, code_key, code_mac, code_sealed, state, wrong, max_wrong, status, \
             created_at, expires_at, due_at, version, supersedes, device_only, guard, place) \
         JOIN changed c ON c.place = s.place \
     )",
    attempted!(),
    " SELECT j.*, g.ids[j.place] AS send FROM judged j, given g ORDER BY j.place"
);

impl BatchedStep for SendStep {
    const NAME: &'static str = "login.prepare";
    type Done = SendOutcome;

    fn phone(&self) -> Option<BlindIndex> {
        Some(self.send.otp.phone)
    }

    fn all(
        steps: &[Self],
        conn: &mut PgConnection,
        project: ProjectId,
        _: bool,
    ) -> Result<Vec<SendOutcome>, Failure> {
        let done = match prepare(steps, conn, project) {
            // An instance of the previous version recorded a code for one of these phones.
            Err(Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _)) => {
                let alone = steps.chunks(1).map(|step| prepare(step, conn, project));
                let alone =
                    alone.collect::<QueryResult<Vec<_>>>().map_err(|cause| match cause {
                        Error::DatabaseError(DatabaseErrorKind::UniqueViolation, _) => {
                            unavailable("another code of the phone came in at the same moment")
                                .into()
                        }
                        other => Failure::from(other),
                    })?;
                alone.into_iter().flatten().collect()
            }
            done => done?,
        };
        done.into_iter().map(|one| one.read(project).map_err(Failure::from)).collect()
    }
}

fn prepare(
    steps: &[SendStep],
    conn: &mut PgConnection,
    project: ProjectId,
) -> QueryResult<Vec<Outcome>> {
    let rows: Vec<OtpRow> = each(steps, |step| OtpRow::from(&step.send.otp));
    let (seen_by, seen): (Vec<i32>, Vec<Id>) = (1..)
        .zip(steps)
        .flat_map(|(place, step)| {
            let seen = step.seen.iter().flat_map(|log| &log.seen);
            seen.map(move |send| (place, *send))
        })
        .unzip();
    let cost = |step: &SendStep| match step.send.cost {
        Cost::Hold(amount) => amount.0,
        Cost::Nothing | Cost::Unaffordable => 0,
    };
    let statement = Statement::new(PREPARE)
        .given::<Id, _>("owner", Id::from(project))
        .given::<Array<Id>, _>("ids", each(&rows, |row| row.id))
        .given::<Array<Text>, _>("modes", each(&rows, |row| row.mode.as_str()))
        .given::<Array<Binary>, _>("phones", each(&rows, |row| row.phone_index.as_slice()))
        .given::<Array<Id>, _>("versions", each(steps, |step| version_of(&step.send)))
        .given::<Array<At>, _>("made", each(steps, |step| At::from(step.now)))
        .given::<Array<Bool>, _>("placed", each(steps, |step| step.send.takes_place()))
        .given::<Array<Bool>, _>("superseding", each(steps, |step| step.send.supersedes()))
        .given::<Array<Bool>, _>("unguessed", each(steps, |step| step.seen.is_none()))
        .given::<Array<BigInt>, _>("costs", each(steps, cost))
        .given::<Array<Id>, _>("entries", each(steps, |step| Id::from(step.send.entry)))
        .given::<Array<Integer>, _>("seen_by", seen_by)
        .given::<Array<Id>, _>("seen", seen)
        .given::<Array<Nullable<Text>>, _>(
            "guards",
            each(steps, |step| step.verdict.map(GuardVerdict::as_str)),
        )
        .given::<Array<Nullable<Binary>>, _>("visitors", each(steps, visitor_of))
        .given::<Array<Binary>, _>("phones_sealed", each(&rows, |row| row.phone_sealed.as_slice()))
        .given::<Array<Integer>, _>("code_keys", each(&rows, |row| row.code_key))
        .given::<Array<Binary>, _>("code_macs", each(&rows, |row| row.code_mac.as_slice()))
        .given::<Array<Nullable<Binary>>, _>(
            "codes_sealed",
            each(&rows, |row| row.code_sealed.as_deref()),
        )
        .given::<Array<Text>, _>("states", each(&rows, |row| row.state.as_str()))
        .given::<Array<Integer>, _>("wrongs", each(&rows, |row| row.wrong))
        .given::<Array<Integer>, _>("most_wrong", each(&rows, |row| row.max_wrong))
        .given::<Array<Text>, _>("otp_statuses", each(&rows, |row| row.status.as_str()))
        .given::<Array<At>, _>("created", each(&rows, |row| row.created_at))
        .given::<Array<At>, _>("expiries", each(&rows, |row| row.expires_at))
        .given::<Array<Nullable<At>>, _>("dues", each(&rows, |row| row.due_at))
        .given::<Array<Bool>, _>("device_only", each(steps, |step| step.device_only));
    attempts!(statement, steps.iter().map(|step| &step.send.otp)).load(conn)
}

fn visitor_of(step: &SendStep) -> Option<&[u8]> {
    step.send.guard.as_ref().and_then(|it| it.visitor.as_ref()).map(|digest| digest.0.as_slice())
}

/// The version under which a request is recorded: the id of its first attempt, or its own id if it
/// has none.
fn version_of(send: &NewSend) -> Id {
    let first = send.otp.delivery.attempts.last().map(|attempt| Id::from(attempt.id));
    first.unwrap_or(send.otp.id.into())
}

impl Outcome {
    fn read(self, project: ProjectId) -> Result<SendOutcome, StoreError> {
        let row = Row::new("send_slots", Id::from(project));
        let mark = self.mark();
        match self.outcome.as_str() {
            "ready" => Ok(SendOutcome::Ready(mark?)),
            "known" => Ok(SendOutcome::Known(self.log(project)?, mark?)),
            "changed" => Ok(SendOutcome::Changed),
            "unaffordable" => Ok(SendOutcome::Unaffordable),
            "spend_limited" => Ok(SendOutcome::SpendLimited),
            "unseen" => self.log(project).map(SendOutcome::Unseen),
            _ => row.known("outcome", None),
        }
    }

    fn mark(&self) -> Result<Option<GuardMark>, StoreError> {
        let Self { taken_at, is_new, earns, .. } = *self;
        let row = GuardMarkRow { visitor: self.visitor.clone(), taken_at, is_new, earns };
        row.into_mark(self.send)
    }

    fn log(self, project: ProjectId) -> Result<LogSnapshot, StoreError> {
        let budget = self.wrong.map(|wrong| BudgetRow {
            project_id: project.into(),
            wrong,
            last_wrong_at: self.last_wrong_at,
            period_began_at: self.period_began_at,
            period_wrong: self.period_wrong.unwrap_or_default(),
            stopped_at: self.stopped_at,
            device_began_at: self.device_began_at,
            device_wrong: self.device_wrong.unwrap_or_default(),
        });
        let times = self.slot_times.unwrap_or_default().into_iter();
        let slots = self.slots.unwrap_or_default().into_iter().zip(times);
        let slots = slots.zip(self.slots_forgiven.unwrap_or_default());
        LogSnapshot::of(budget, slots.map(|((send, at), forgiven)| (send, at, forgiven)))
    }
}
