#[macro_use]
pub(crate) mod row;

use crate::PostgresStore;
use crate::connection::error::Failure;
use crate::otp::row::Found;
use async_trait::async_trait;
use diesel::dsl::AsSelect;
use diesel::expression::ValidGrouping;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::Bool;
use dwar_kernel::{BlindIndex, OtpId, ProjectId, ProjectMode, StoreError, Timestamp};
use dwar_otp::{GuessBudget, Otp, OtpState, OtpStore, ReceiptTarget, ReportedRequest};
use dwar_ratelimit::guard::GuardMark;
use dwar_sql::schema::{guess_budgets, otp_attempts, otps};
use dwar_sql::{
    At, AttemptRow, BudgetRow, GuardMarkRow, Id, OtpRow, Row, legible, maybe, of_phone,
    withdrawable,
};
use std::collections::HashMap;
use std::time::Duration;

diesel::define_sql_function! {
    fn gen_random_uuid() -> dwar_sql::Id;
}

/// Most reads of a step whose code keeps changing. Each read after the first means that another
/// step was committed: a guess, a report or a resend, of which a phone gets few.
pub(crate) const TRIES: u32 = 100;

/// Filters codes in a state that at most one code of a phone can have.
///
/// The states are literals, because a plan with parameters cannot use the partial index of those
/// codes. This is a type of its own, because diesel prepares a query that contains `sql` anew each
/// time.
#[derive(Clone, Copy, QueryId, ValidGrouping)]
struct ActiveCodes;

impl Expression for ActiveCodes {
    type SqlType = Bool;
}

impl<Source> AppearsOnTable<Source> for ActiveCodes where otps::state: AppearsOnTable<Source> {}

impl QueryFragment<Pg> for ActiveCodes {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("otps.state IN ('active', 'locked')");
        Ok(())
    }
}

#[async_trait]
impl OtpStore for PostgresStore {
    async fn forget_guesses(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<GuessBudget>, StoreError> {
        self.of(project_mode.project)
            .write("otp.forget_guesses", move |conn| {
                // A concurrent guess that has read the budget has to read it again.
                let code = of_phone!(otps of project_mode, phone.0.as_slice()).filter(ActiveCodes);
                diesel::update(code).set(otps::version.eq(gen_random_uuid())).execute(conn)?;
                let key = (
                    Id::from(project_mode.project),
                    project_mode.mode.as_str(),
                    phone.0.as_slice(),
                );
                let row: Option<BudgetRow> = diesel::delete(guess_budgets::table.find(key))
                    .returning(BudgetRow::as_returning())
                    .get_result(conn)
                    .optional()?;
                Ok(maybe(row)?)
            })
            .await
    }

    async fn find(&self, project_mode: ProjectMode, otp: OtpId) -> Result<Option<Otp>, StoreError> {
        let project = project_mode.project;
        let found = self.of(project).read("otp.find", move |conn| find(conn, project, otp)).await?;
        Ok(found.map(|found| found.otp).filter(|otp| otp.project_mode == project_mode))
    }

    async fn find_attempt(
        &self,
        provider: String,
        provider_ref: String,
    ) -> Result<Option<ReceiptTarget>, StoreError> {
        self.read("otp.find_attempt", move |conn| {
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
                project_mode: row.project_mode(project, &mode)?,
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
        self.write("otp.claim_due", move |conn| {
            let due: Vec<Id> = otps::table
                .filter(otps::due_at.le(At::from(now)))
                .order((otps::due_at, otps::id))
                .limit(i64::from(limit))
                .select(otps::id)
                .for_update()
                .skip_locked()
                .load(conn)?;
            diesel::update(otps::table.filter(otps::id.eq_any(&due)))
                .set((otps::due_at.eq(At::from(now + lease)), otps::version.eq(gen_random_uuid())))
                .execute(conn)?;
            let rows: Vec<StoredOtp> = with_attempts().filter(otps::id.eq_any(&due)).load(conn)?;
            let mut by_request: HashMap<Id, Vec<_>> = HashMap::new();
            for row in rows {
                by_request.entry(row.0.id).or_default().push(row);
            }
            let claimed = due.iter().filter_map(|id| by_request.remove(id));
            let claimed = claimed.filter_map(|rows| legible!(row::rebuild(rows)));
            Ok(claimed.flatten().map(|found| found.otp).collect())
        })
        .await
    }

    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        self.write_one("otp.bring_forward", move |conn| {
            let brought = diesel::update(otps::table.filter(otps::due_at.gt(At::from(later_than))))
                .set((otps::due_at.eq(At::from(to)), otps::version.eq(gen_random_uuid())))
                .execute(conn)?;
            Ok(u64::try_from(brought).unwrap_or(u64::MAX))
        })
        .await
    }

    async fn withdraw_all(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.write_one("otp.withdraw_all", move |conn| {
            let void = otps::state.eq(OtpState::Void.as_str());
            let withdrawn = diesel::update(withdrawable!(now))
                .set((void, otps::version.eq(gen_random_uuid())))
                .execute(conn)?;
            Ok(u64::try_from(withdrawn).unwrap_or(u64::MAX))
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

pub(crate) struct Target {
    pub(crate) found: Found,
    pub(crate) counted: GuessBudget,
    pub(crate) fresh: Id,
    pub(crate) mark: Option<GuardMark>,
}

/// The request as the reporter read it. The last attempt has the id of the step that opened it,
/// which is also the version until another step writes.
pub(crate) fn as_seen(request: ReportedRequest) -> Option<Found> {
    match request {
        ReportedRequest::Seen(otp) => {
            let version = otp.delivery.attempts.last()?.id.into();
            Some(Found { otp: *otp, version })
        }
        ReportedRequest::Id(..) => None,
    }
}

type StoredOtp = (OtpRow, Id, Option<AttemptRow>);
type StoredGuess = (OtpRow, Id, Option<AttemptRow>, Option<BudgetRow>, Id, GuardMarkRow);

/// Reads requests in one statement, one row per attempt.
#[diesel::dsl::auto_type(no_type_alias)]
fn with_attempts() -> _ {
    let attempt: AsSelect<Option<AttemptRow>, Pg> = Option::<AttemptRow>::as_select();
    let request: AsSelect<OtpRow, Pg> = OtpRow::as_select();
    otps::table.left_join(otp_attempts::table).select((request, otps::version, attempt))
}

/// Reads a request of a project with its attempts, in one statement.
pub(crate) fn find(
    conn: &mut PgConnection,
    project: ProjectId,
    otp: OtpId,
) -> Result<Option<Found>, Failure> {
    let rows: Vec<StoredOtp> = with_attempts()
        .filter(otps::id.eq(Id::from(otp)))
        .filter(otps::project_id.eq(Id::from(project)))
        .load(conn)?;
    Ok(row::rebuild(rows)?)
}

/// Reads the phone's code in force, of which the schema allows one, and its wrong guesses, in one
/// statement.
pub(crate) fn target(
    conn: &mut PgConnection,
    (project_mode, phone): (ProjectMode, BlindIndex),
) -> Result<Option<Target>, Failure> {
    let counted = guess_budgets::project_id
        .eq(otps::project_id)
        .and(guess_budgets::mode.eq(otps::mode))
        .and(guess_budgets::phone_index.eq(otps::phone_index));
    let rows: Vec<StoredGuess> = of_phone!(otps of project_mode, phone.0.as_slice())
        .left_join(otp_attempts::table)
        .left_join(guess_budgets::table.on(counted))
        .filter(ActiveCodes)
        .select((
            OtpRow::as_select(),
            otps::version,
            Option::<AttemptRow>::as_select(),
            Option::<BudgetRow>::as_select(),
            gen_random_uuid(),
            GuardMarkRow::as_select(),
        ))
        .load(conn)?;
    let (mut beside, mut request) = (None, Vec::new());
    for (otp, version, attempt, budget, fresh, mark) in rows {
        beside = Some((budget, fresh, mark.into_mark(otp.id)?));
        request.push((otp, version, attempt));
    }
    let found = row::rebuild(request)?;
    let Some((found, (counted, fresh, mark))) = found.zip(beside) else { return Ok(None) };
    let counted = maybe(counted)?.unwrap_or_default();
    Ok(Some(Target { found, counted, fresh, mark }))
}
