mod prepare;
mod redeem;
mod report;

pub(crate) use prepare::SendStep;
pub(crate) use redeem::GuessStep;
pub(crate) use report::ReportStep;

use crate::PostgresStore;
use crate::connection::error::{Failure, unavailable};
use crate::otp::{TRIES, as_seen, find, target};
use crate::ports::wallet::refund;
use crate::send_log::{LogSnapshot, read_log};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{EntryId, IdentityId, OtpId, ProjectId, SessionId, StoreError, Timestamp};
use dwar_login::{LoginStore, MoneyOutcome, NewSend, Prepared, Redeemed, Redemption, SendReport};
use dwar_otp::{DeliveryStep, GuessVerdict, Otp, ReportedRequest};
use dwar_ratelimit::guard::GuardMark;
use dwar_sql::schema::{otps, sessions};
use dwar_sql::{EventRow, Id, Row};
use dwar_wallet::HoldOutcome;
use prepare::SendOutcome;
use redeem::GuessOutcome;
use std::sync::Arc;

#[async_trait]
impl LoginStore for PostgresStore {
    async fn prepare(&self, send: NewSend, now: Timestamp) -> Result<Prepared, StoreError> {
        let project = send.otp.project_mode.project;
        let send = Arc::new(send);
        // Most phones have no record yet, so try that case first.
        let mut seen: Option<Arc<LogSnapshot>> = None;
        for _ in 0..TRIES {
            let judged = |held| judge(&send, seen.as_deref(), held, now);
            let prepared = judged(HoldOutcome::Held);
            let Prepared::Ready(admission) = prepared else {
                if seen.is_some() {
                    return Ok(prepared);
                }
                let key = send.key();
                let log = self
                    .of(project)
                    .read("login.prepare", move |conn| read_log(conn, &key))
                    .await?;
                seen = Some(Arc::new(log));
                continue;
            };
            let (device_only, verdict) = (admission.device_only, admission.verdict(send.guard));
            let (request, log) = (Arc::clone(&send), seen.clone());
            let step = SendStep { send: request, seen: log, device_only, verdict, now };
            match self.shared.sends.done(project, step).await? {
                SendOutcome::Ready(mark) => return Ok(prepared.marked(mark)),
                SendOutcome::Known(LogSnapshot { mut log, .. }, mark) => {
                    return Ok(Prepared::Ready(send.admit(&mut log, now)).marked(mark));
                }
                SendOutcome::Changed => {
                    return Err(unavailable(
                        "the repeated send was changed after it had been recorded",
                    ));
                }
                SendOutcome::Unaffordable => return Ok(judged(HoldOutcome::Insufficient)),
                SendOutcome::SpendLimited => return Ok(judged(HoldOutcome::SpendLimited)),
                SendOutcome::Unseen(log) => seen = Some(Arc::new(log)),
            }
        }
        Err(unavailable("the places of a phone are taken too fast"))
    }

    async fn report(
        &self,
        request: ReportedRequest,
        report: SendReport,
        now: Timestamp,
    ) -> Result<Option<(Otp, DeliveryStep)>, StoreError> {
        let (project, id) = request.key();
        let version = report.next.into();
        let mut seen = as_seen(request);
        let mut written = None;
        for _ in 0..TRIES {
            let by_view = seen.is_some();
            let found = match seen.take() {
                Some(seen) => Some(seen),
                None => {
                    self.of(project)
                        .read("login.report", move |conn| find(conn, project, id))
                        .await?
                }
            };
            let Some(found) = found else { return Ok(None) };
            // Already written: the answer was lost with the connection.
            if found.version == version && written.is_some() {
                return Ok(written.take());
            }
            let mut otp = found.otp.clone();
            let concluded = report.apply(&mut otp, now);
            if otp != found.otp {
                let (ending, entries) = (concluded.ending, report.entries);
                let step = ReportStep::of(&found, (&otp, &concluded), version, entries, now);
                written = Some((otp, concluded.step));
                let done = match ending {
                    Some(MoneyOutcome::Refund) => {
                        self.refunded(project, id, step, entries[0], now).await
                    }
                    _ => self.shared.reports.done(project, step).await,
                };
                if done? {
                    return Ok(written.take());
                }
            } else if !by_view {
                return Ok(Some((otp, concluded.step)));
            }
        }
        Err(unavailable("a request keeps changing"))
    }

    async fn redeem(&self, redemption: Redemption, now: Timestamp) -> Result<Redeemed, StoreError> {
        let Redemption { project_mode, phone, .. } = redemption;
        let of_project = || self.of(project_mode.project);
        let mut written: Option<Written> = None;
        for _ in 0..TRIES {
            let target = of_project()
                .read("login.redeem", move |conn| target(conn, (project_mode, phone)))
                .await?;
            if let Some(written) = written.take() {
                let seen =
                    target.as_ref().map(|target| (target.found.otp.id, target.found.version));
                let done = of_project()
                    .write_one("login.redeem", move |conn| written.done(conn, seen))
                    .await?;
                if let Some(done) = done {
                    return Ok(done);
                }
            }
            let Some(target) = target else { return Ok(Redeemed::NotFound) };
            let (mut otp, mut budget) = (target.found.otp.clone(), target.counted);
            let (verdict, event) = redemption.judge(&mut otp, &mut budget, now);
            if otp == target.found.otp && budget == target.counted {
                return Ok(Redeemed::of(verdict, None, None));
            }
            let (before, version, mark) = (target.found.version, target.fresh, target.mark);
            let logs_in = matches!(verdict, GuessVerdict::Accepted(_));
            let step = GuessStep {
                before,
                version,
                otp: otp.clone(),
                budget: (budget != target.counted).then_some(budget),
                login: redemption.login.clone().filter(|_| logs_in),
                event: event.as_ref().map(EventRow::from),
                now,
            };
            let outcome = self.shared.guesses.done(project_mode.project, step).await?;
            if let GuessOutcome::Written(home) = outcome {
                return Ok(Redeemed::of(verdict, home, mark));
            }
            let in_doubt = matches!(outcome, GuessOutcome::InDoubt);
            let session = redemption.session().map(|session| session.id);
            let otp = otp.id;
            written = Some(Written { otp, before, version, verdict, session, mark, in_doubt });
        }
        Err(unavailable("a code keeps changing"))
    }
}

impl PostgresStore {
    /// Stores a report that refunds a charge; `false` if the request has changed since it was read.
    async fn refunded(
        &self,
        project: ProjectId,
        send: OtpId,
        step: ReportStep,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.of(project)
            .write("login.refunded", move |conn| {
                let steps = std::slice::from_ref(&step);
                let written = report::write(steps, conn, project)?.iter().any(|step| step.done);
                if written {
                    refund(conn, project, send, entry, now)?;
                }
                Ok(written)
            })
            .await
    }
}

/// Judges the send by its log and what the wallet says to its hold.
fn judge(
    send: &NewSend,
    seen: Option<&LogSnapshot>,
    held: HoldOutcome,
    now: Timestamp,
) -> Prepared {
    let mut log = seen.map(|seen| seen.log.clone()).unwrap_or_default();
    let Ok(prepared) = send.judge(&mut log, |_| Ok::<_, std::convert::Infallible>(held), now);
    prepared
}

struct Written {
    otp: OtpId,
    before: Id,
    version: Id,
    verdict: GuessVerdict,
    /// Id of the session to begin on a right guess, if the caller asks for one.
    session: Option<SessionId>,
    mark: Option<GuardMark>,
    /// The connection was lost, so the write may or may not have been kept.
    in_doubt: bool,
}

impl Written {
    /// The answer, if it is on record, where the code in force and its version are as `seen`; `None` if the
    /// guess has to be judged anew.
    ///
    /// # Errors
    /// If the answer was lost and other steps have written since: whether the guess was counted is
    /// then unknown.
    fn done(
        &self,
        conn: &mut PgConnection,
        seen: Option<(OtpId, Id)>,
    ) -> Result<Option<Redeemed>, Failure> {
        let version = match seen.filter(|(otp, _)| *otp == self.otp) {
            Some((_, version)) => Some(version),
            None => {
                let row = otps::table.find(Id::from(self.otp)).select(otps::version);
                row.get_result(conn).optional()?
            }
        };
        match version {
            Some(version) if version == self.version => self.answer(conn).map(Some),
            Some(version) if self.in_doubt && version != self.before => {
                Err(unavailable("the connection was lost while a guess was counted").into())
            }
            _ => Ok(None),
        }
    }

    fn answer(&self, conn: &mut PgConnection) -> Result<Redeemed, Failure> {
        let home: Option<Id> = match (self.verdict, self.session) {
            (GuessVerdict::Accepted(_), Some(session)) => {
                let begun = sessions::table.find(Id::from(session));
                Some(begun.select(sessions::identity_id).get_result(conn)?)
            }
            _ => None,
        };
        let whose = |home: Id| Row::new("sessions", home).id("identity_id", home);
        let home: Option<IdentityId> = home.map(whose).transpose()?;
        Ok(Redeemed::of(self.verdict, home, self.mark))
    }
}
