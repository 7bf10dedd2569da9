#[macro_use]
pub(crate) mod row;
pub(crate) mod report;

use crate::PostgresStore;
use crate::connection::error::{Failure, unavailable};
use crate::otp::report::ReportUpdate;
use crate::otp::row::{Found, Issued};
use async_trait::async_trait;
use diesel::dsl::AsSelect;
use diesel::expression::ValidGrouping;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::Bool;
use dwar_kernel::{AttemptId, BlindIndex, KeyMode, OtpId, ProjectId, StoreError, Timestamp};
use dwar_otp::{
    DeliveryStep, Guess, GuessBudget, GuessPolicy, Otp, OtpStore, ReceiptTarget, Report, Reported,
    Route, Verdict,
};
use dwar_sql::schema::{guess_budgets, otp_attempts, otps};
use dwar_sql::{At, AttemptRow, BudgetRow, Id, OtpRow, Row, maybe, of_phone};
use std::collections::HashMap;
use std::time::Duration;

diesel::define_sql_function! {
    /// A value that nobody else has.
    fn gen_random_uuid() -> dwar_sql::Id;
}

/// How often a step reads again what was changed under it. Each read after the first means that
/// another step was committed: a guess, a report or a resend, of which a phone gets few.
pub(crate) const TRIES: u32 = 100;

/// That a code is in a state of which a phone has one code at most.
///
/// The states are literal, since the index of those codes serves no plan that is made for states yet
/// to come. A type of its own, since diesel has a query with `sql` in it planned anew each time.
#[derive(Clone, Copy, QueryId, ValidGrouping)]
struct InForce;

impl Expression for InForce {
    type SqlType = Bool;
}

impl<Source> AppearsOnTable<Source> for InForce where otps::state: AppearsOnTable<Source> {}

impl QueryFragment<Pg> for InForce {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("otps.state IN ('active', 'locked')");
        Ok(())
    }
}

fn issue(conn: &mut PgConnection, otp: &Otp, held: bool) -> Result<(), Failure> {
    for _ in 0..TRIES {
        match row::issue(conn, otp, held)? {
            Issued { done: true, .. } => return Ok(()),
            Issued { lacking: true, .. } => {
                return Err(
                    unavailable("the hold or the rate-limit place of a send is gone").into()
                );
            }
            Issued { .. } => {}
        }
    }
    Err(unavailable("a code keeps being replaced").into())
}

#[async_trait]
impl OtpStore for PostgresStore {
    async fn issue(&self, otp: Otp) -> Result<(), StoreError> {
        self.pool.of(otp.project).run(move |conn| issue(conn, &otp, false)).await
    }

    async fn issue_held(&self, otp: Otp) -> Result<(), StoreError> {
        self.pool.of(otp.project).run(move |conn| issue(conn, &otp, true)).await
    }

    async fn judge(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
        guess: Guess,
        policy: GuessPolicy,
        now: Timestamp,
    ) -> Result<Verdict, StoreError> {
        let mut written: Option<Written> = None;
        self.pool
            .of(project)
            .run(move |conn| {
                // The connection was lost: what was written last may be there or not.
                let in_doubt = written.is_some();
                for _ in 0..TRIES {
                    let target = target(conn, (project, mode, phone))?;
                    if let Some(written) = &written
                        && let Some(verdict) = written.verdict(conn, target.as_ref(), in_doubt)?
                    {
                        return Ok(verdict);
                    }
                    let Some(Target { found, counted, fresh }) = target else {
                        return Ok(Verdict::NotFound);
                    };
                    let (mut otp, mut budget) = (found.otp.clone(), counted);
                    let verdict = otp.judge(&guess, &mut budget, &policy, now);
                    if otp == found.otp && budget == counted {
                        return Ok(verdict);
                    }
                    let version = written.as_ref().map_or(fresh, |written| written.version);
                    let (otp_id, before) = (otp.id, found.version);
                    written = Some(Written { otp: otp_id, before, version, verdict });
                    if row::judge(conn, (&found, &counted), (&otp, &budget), version, now)? {
                        return Ok(verdict);
                    }
                }
                Err(unavailable("a code keeps changing").into())
            })
            .await
    }

    async fn forget_guesses(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
    ) -> Result<Option<GuessBudget>, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| {
                // A guess that has looked at the count has to look again.
                let code = of_phone!(otps of project, mode, phone.0.as_slice()).filter(InForce);
                diesel::update(code).set(otps::version.eq(gen_random_uuid())).execute(conn)?;
                let key = (Id::from(project), mode.as_str(), phone.0.as_slice());
                let row: Option<BudgetRow> = diesel::delete(guess_budgets::table.find(key))
                    .returning(BudgetRow::as_returning())
                    .get_result(conn)
                    .optional()?;
                Ok(maybe(row)?)
            })
            .await
    }

    async fn report(
        &self,
        request: Reported,
        attempt: AttemptId,
        report: Report,
        route: Route,
        next: AttemptId,
        now: Timestamp,
    ) -> Result<Option<(Otp, DeliveryStep)>, StoreError> {
        let (project, id) = request.key();
        let mut seen = as_seen(request);
        let mut written = None;
        for _ in 0..TRIES {
            let by_view = seen.is_some();
            let found = match seen.take() {
                Some(seen) => Some(seen),
                None => self.pool.of(project).run(move |conn| find(conn, project, id)).await?,
            };
            let Some(found) = found else { return Ok(None) };
            // Written, and the answer was lost with the connection.
            if found.version == next.into() && written.is_some() {
                return Ok(written.take());
            }
            let mut otp = found.otp.clone();
            let step = otp.report(attempt, report.clone(), &route, next, now);
            if otp != found.otp {
                let change = ReportUpdate::of(&found, &otp, next.into(), now);
                written = Some((otp, step));
                if self.otp_reports.done(project, change).await? {
                    return Ok(written.take());
                }
            } else if !by_view {
                return Ok(Some((otp, step)));
            }
        }
        Err(unavailable("a request keeps changing"))
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        otp: OtpId,
    ) -> Result<Option<Otp>, StoreError> {
        let found = self.pool.of(project).run(move |conn| find(conn, project, otp)).await?;
        Ok(found.map(|found| found.otp).filter(|otp| otp.mode == mode))
    }

    async fn find_attempt(
        &self,
        provider: String,
        provider_ref: String,
    ) -> Result<Option<ReceiptTarget>, StoreError> {
        self.pool
            .run(move |conn| {
                let found: Option<(Id, Id, Id, String)> = otp_attempts::table
                    .inner_join(otps::table)
                    .filter(otp_attempts::provider.eq(&provider))
                    .filter(otp_attempts::provider_ref.eq(&provider_ref))
                    .order(otp_attempts::id.desc())
                    .select((otp_attempts::id, otps::id, otps::project_id, otps::mode))
                    .first(conn)
                    .optional()?;
                let Some((attempt, otp, project, mode)) = found else { return Ok(None) };
                let row = Row::new("otps", otp);
                Ok(Some(ReceiptTarget {
                    project: row.id("project_id", project)?,
                    mode: row.parse("mode", &mode)?,
                    otp: row.id("id", otp)?,
                    attempt: Row::new("otp_attempts", attempt).id("id", attempt)?,
                }))
            })
            .await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        self.pool
            .transaction(move |conn| {
                let due: Vec<Id> = otps::table
                    .filter(otps::due_at.le(At::from(now)))
                    .order((otps::due_at, otps::id))
                    .limit(i64::from(limit))
                    .select(otps::id)
                    .for_update()
                    .skip_locked()
                    .load(conn)?;
                diesel::update(otps::table.filter(otps::id.eq_any(&due)))
                    .set((
                        otps::due_at.eq(At::from(now + lease)),
                        otps::version.eq(gen_random_uuid()),
                    ))
                    .execute(conn)?;
                let rows: Vec<Stored> = with_attempts().filter(otps::id.eq_any(&due)).load(conn)?;
                let mut by_request: HashMap<Id, Vec<_>> = HashMap::new();
                for row in rows {
                    by_request.entry(row.0.id).or_default().push(row);
                }
                let claimed = due.iter().filter_map(|id| by_request.remove(id));
                let claimed = claimed.map(|rows| Ok(row::rebuild(rows)?.map(|found| found.otp)));
                Ok(claimed.collect::<Result<Vec<_>, Failure>>()?.into_iter().flatten().collect())
            })
            .await
    }

    async fn sweep(
        &self,
        requests_before: Timestamp,
        guesses_before: Timestamp,
    ) -> Result<u64, StoreError> {
        self.drop_before("guess_budgets", "last_wrong_at", guesses_before).await?;
        self.drop_made_before("otps", "id", requests_before).await
    }
}

/// What a guess is judged by.
pub(crate) struct Target {
    pub(crate) found: Found,
    pub(crate) counted: GuessBudget,
    /// What the step may write as its version.
    pub(crate) fresh: Id,
}

/// What a guess wrote, or tried to.
struct Written {
    otp: OtpId,
    before: Id,
    version: Id,
    verdict: Verdict,
}

impl Written {
    /// The verdict, if it is on record; `None` if the guess has to be judged anew.
    ///
    /// # Errors
    /// If the answer was lost and others have written since: nobody knows whether it was counted.
    fn verdict(
        &self,
        conn: &mut PgConnection,
        target: Option<&Target>,
        in_doubt: bool,
    ) -> Result<Option<Verdict>, Failure> {
        let same = target.filter(|target| target.found.otp.id == self.otp);
        let version = match same {
            Some(target) => Some(target.found.version),
            None => {
                let row = otps::table.find(Id::from(self.otp)).select(otps::version);
                row.get_result(conn).optional()?
            }
        };
        match version {
            Some(version) if version == self.version => Ok(Some(self.verdict)),
            Some(version) if in_doubt && version != self.before => {
                Err(unavailable("the connection was lost while a guess was counted").into())
            }
            _ => Ok(None),
        }
    }
}

/// The request as whoever reports saw it. The attempt that was opened last has the id of the step
/// that opened it, so that is the version for as long as no other step has written.
pub(crate) fn as_seen(request: Reported) -> Option<Found> {
    match request {
        Reported::Seen(otp) => {
            let version = otp.delivery.attempts.last()?.id.into();
            Some(Found { otp: *otp, version })
        }
        Reported::Id(..) => None,
    }
}

type Stored = (OtpRow, Id, Option<AttemptRow>);
type Judged = (OtpRow, Id, Option<AttemptRow>, Option<BudgetRow>, Id);

/// Requests, each once for every attempt, in one statement.
#[diesel::dsl::auto_type(no_type_alias)]
fn with_attempts() -> _ {
    let attempt: AsSelect<Option<AttemptRow>, Pg> = Option::<AttemptRow>::as_select();
    let request: AsSelect<OtpRow, Pg> = OtpRow::as_select();
    otps::table.left_join(otp_attempts::table).select((request, otps::version, attempt))
}

/// A request of a project with its attempts, in one statement.
pub(crate) fn find(
    conn: &mut PgConnection,
    project: ProjectId,
    otp: OtpId,
) -> Result<Option<Found>, Failure> {
    let rows: Vec<Stored> = with_attempts()
        .filter(otps::id.eq(Id::from(otp)))
        .filter(otps::project_id.eq(Id::from(project)))
        .load(conn)?;
    row::rebuild(rows)
}

/// The phone's code in force, of which the schema allows one, and its wrong guesses, in one
/// statement.
pub(crate) fn target(
    conn: &mut PgConnection,
    (project, mode, phone): (ProjectId, KeyMode, BlindIndex),
) -> Result<Option<Target>, Failure> {
    let counted = guess_budgets::project_id
        .eq(otps::project_id)
        .and(guess_budgets::mode.eq(otps::mode))
        .and(guess_budgets::phone_index.eq(otps::phone_index));
    let rows: Vec<Judged> = of_phone!(otps of project, mode, phone.0.as_slice())
        .left_join(otp_attempts::table)
        .left_join(guess_budgets::table.on(counted))
        .filter(InForce)
        .select((
            OtpRow::as_select(),
            otps::version,
            Option::<AttemptRow>::as_select(),
            Option::<BudgetRow>::as_select(),
            gen_random_uuid(),
        ))
        .load(conn)?;
    let (mut beside, mut request) = (None, Vec::new());
    for (otp, version, attempt, budget, fresh) in rows {
        beside = Some((budget, fresh));
        request.push((otp, version, attempt));
    }
    let found = row::rebuild(request)?;
    let Some((found, (counted, fresh))) = found.zip(beside) else { return Ok(None) };
    let counted = maybe(counted)?.unwrap_or_default();
    Ok(Some(Target { found, counted, fresh }))
}
