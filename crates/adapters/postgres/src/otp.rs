use crate::PostgresStore;
use crate::convert::Row;
use crate::error::{Failure, unavailable};
use crate::event;
use crate::lock::Lock;
use crate::otp_row::{self, OtpRow};
use crate::schema::{guess_budgets, otp_attempts, otps};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_event::EventKind;
use dwar_kernel::{AttemptId, BlindIndex, KeyMode, OtpId, ProjectId, StoreError, Timestamp};
use dwar_otp::{
    Attempt, Guess, GuessBudget, GuessPolicy, Otp, OtpState, OtpStore, ReceiptTarget, Report,
    Route, Step,
};
use std::time::Duration;
use uuid::Uuid;

/// How often a guess looks for a code that is replaced under it. Each look after the first means
/// that a resend was committed meanwhile, so the limit of sends is reached long before this.
const LOOKS: u32 = 20;

/// States of which a phone has one at most.
const IN_FORCE: [&str; 2] = [OtpState::Active.as_str(), OtpState::Locked.as_str()];

#[async_trait]
impl OtpStore for PostgresStore {
    async fn issue(&self, otp: Otp) -> Result<(), StoreError> {
        self.pool
            .transaction(move |conn| {
                Lock::CodeInForce(&otp.phone).take(conn)?;
                diesel::update(otps::table)
                    .filter(otps::project_id.eq(otp.project.uuid()))
                    .filter(otps::mode.eq(otp.mode.as_str()))
                    .filter(otps::phone_index.eq(otp.phone.0.as_slice()))
                    .filter(otps::state.eq_any(IN_FORCE))
                    .set(otps::state.eq(OtpState::Superseded.as_str()))
                    .execute(conn)?;
                otp_row::insert(conn, &otp)
            })
            .await
    }

    async fn attempt(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
        guess: Guess,
        policy: GuessPolicy,
        now: Timestamp,
    ) -> Result<Attempt, StoreError> {
        for _ in 0..LOOKS {
            let guess = guess.clone();
            // A transaction for each look: what the last one locked is free again.
            let judged = self
                .pool
                .transaction(move |conn| judge(conn, (project, mode, phone), &guess, &policy, now));
            if let Some(attempt) = judged.await? {
                return Ok(attempt);
            }
        }
        Err(unavailable("a code is replaced over and over"))
    }

    async fn guess_budget(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
    ) -> Result<GuessBudget, StoreError> {
        self.pool
            .run(move |conn| {
                let row = otp_row::budget_of(project, mode, &phone).first(conn).optional()?;
                Ok(row.map(GuessBudget::try_from).transpose()?.unwrap_or_default())
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
            .transaction(move |conn| {
                let key = (project.uuid(), mode.as_str(), phone.0.as_slice());
                let row: Option<otp_row::BudgetRow> =
                    diesel::delete(guess_budgets::table.find(key))
                        .returning(otp_row::BudgetRow::as_returning())
                        .get_result(conn)
                        .optional()?;
                Ok(row.map(GuessBudget::try_from).transpose()?)
            })
            .await
    }

    async fn report(
        &self,
        project: ProjectId,
        otp: OtpId,
        attempt: AttemptId,
        report: Report,
        route: Route,
        next: AttemptId,
        now: Timestamp,
    ) -> Result<Option<(Otp, Step)>, StoreError> {
        self.pool
            .transaction(move |conn| {
                let row: Option<OtpRow> = otps::table
                    .find(otp.uuid())
                    .filter(otps::project_id.eq(project.uuid()))
                    .select(OtpRow::as_select())
                    .for_update()
                    .first(conn)
                    .optional()?;
                let Some(before) = otp_row::complete(conn, row)? else { return Ok(None) };
                let mut otp = before.clone();
                let step = otp.report(attempt, report.clone(), &route, next, now);
                if otp != before {
                    otp_row::save(conn, &otp)?;
                }
                if let Some(told) = otp.told_since(before.delivery.status, now) {
                    event::record(conn, &told)?;
                }
                Ok(Some((otp, step)))
            })
            .await
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        otp: OtpId,
    ) -> Result<Option<Otp>, StoreError> {
        // Two statements see one state only if the first one's snapshot serves both.
        self.pool
            .snapshot(move |conn| {
                let row: Option<OtpRow> = otps::table
                    .find(otp.uuid())
                    .filter(otps::project_id.eq(project.uuid()))
                    .filter(otps::mode.eq(mode.as_str()))
                    .select(OtpRow::as_select())
                    .first(conn)
                    .optional()?;
                otp_row::complete(conn, row)
            })
            .await
    }

    async fn find_attempt(
        &self,
        provider: String,
        provider_ref: String,
    ) -> Result<Option<ReceiptTarget>, StoreError> {
        self.pool
            .run(move |conn| {
                let found: Option<(Uuid, Uuid, Uuid, String)> = otp_attempts::table
                    .inner_join(otps::table)
                    .filter(otp_attempts::provider.eq(&provider))
                    .filter(otp_attempts::provider_ref.eq(&provider_ref))
                    .order(otp_attempts::changed_at.desc())
                    .select((otp_attempts::id, otps::id, otps::project_id, otps::mode))
                    .first(conn)
                    .optional()?;
                let Some((attempt, otp, project, mode)) = found else { return Ok(None) };
                Ok(Some(ReceiptTarget {
                    project: project.into(),
                    mode: Row::new("otps", otp).parse("mode", &mode)?,
                    otp: otp.into(),
                    attempt: attempt.into(),
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
                let mut rows: Vec<OtpRow> = otps::table
                    .filter(otps::due_at.le(now))
                    .order((otps::due_at, otps::id))
                    .limit(i64::from(limit))
                    .select(OtpRow::as_select())
                    .for_update()
                    .skip_locked()
                    .load(conn)?;
                let due_again = Some(now + lease);
                diesel::update(otps::table)
                    .filter(otps::id.eq_any(rows.iter().map(|row| row.id)))
                    .set(otps::due_at.eq(due_again))
                    .execute(conn)?;
                for row in &mut rows {
                    row.due_at = due_again;
                }
                otp_row::complete_all(conn, rows)
            })
            .await
    }

    async fn sweep(
        &self,
        requests_before: Timestamp,
        guesses_before: Timestamp,
    ) -> Result<u64, StoreError> {
        self.sweep_in_batches(move |conn| {
            let stale = diesel::alias!(guess_budgets as stale);
            let stale = stale
                .filter(stale.field(guess_budgets::last_wrong_at).lt(guesses_before))
                .select(stale.field(guess_budgets::phone_index))
                .for_update()
                .skip_locked();
            // A phone may be counted anew meanwhile: the condition has to stand outside as well.
            let stale = guess_budgets::table
                .filter(guess_budgets::phone_index.eq_any(stale))
                .filter(guess_budgets::last_wrong_at.lt(guesses_before));
            diesel::delete(stale).execute(conn)?;
            let old = diesel::alias!(otps as old);
            let old = old
                .filter(old.field(otps::created_at).lt(requests_before))
                .select(old.field(otps::id))
                .limit(crate::SWEEP_BATCH)
                .for_update()
                .skip_locked();
            diesel::delete(otps::table.filter(otps::id.eq_any(old))).execute(conn)
        })
        .await
    }
}

/// Judges a guess under the lock of the code in force, or answers `None`: look again.
///
/// A resend that commits while we wait for the old code leaves us without any, since our snapshot
/// is older than the new one. So when nothing was locked a plain look decides: it sees whatever was
/// committed meanwhile, and waits for nobody.
fn judge(
    conn: &mut PgConnection,
    (project, mode, phone): (ProjectId, KeyMode, BlindIndex),
    guess: &Guess,
    policy: &GuessPolicy,
    now: Timestamp,
) -> Result<Option<Attempt>, Failure> {
    let row: Option<OtpRow> = in_force(project, mode, &phone)
        .select(OtpRow::as_select())
        .for_update()
        .first(conn)
        .optional()?;
    let Some(before) = otp_row::complete(conn, row)? else {
        let found: i64 = in_force(project, mode, &phone).count().get_result(conn)?;
        return Ok((found == 0).then_some(Attempt::NotFound));
    };
    let row = otp_row::budget_of(project, mode, &phone).for_update().first(conn).optional()?;
    let counted = row.map(GuessBudget::try_from).transpose()?.unwrap_or_default();
    let (mut otp, mut budget) = (before.clone(), counted);
    let attempt = otp.attempt(guess, &mut budget, policy, now);
    if otp != before {
        otp_row::save_code(conn, &otp)?;
    }
    if budget != counted {
        otp_row::save_budget(conn, &otp, budget)?;
    }
    if matches!(attempt, Attempt::Accepted(_)) {
        event::record(conn, &otp.event(EventKind::OtpVerified, now))?;
    }
    if budget.stops_after(&counted) {
        event::record(conn, &otp.event(EventKind::OtpUnderAttack, now))?;
    }
    Ok(Some(attempt))
}

/// The phone's code in force; the schema allows one.
#[diesel::dsl::auto_type(no_type_alias)]
fn in_force(project: ProjectId, mode: KeyMode, phone: &BlindIndex) -> _ {
    let (project, mode): (Uuid, &'static str) = (project.uuid(), mode.as_str());
    let phone: &[u8] = phone.0.as_slice();
    let states: [&'static str; 2] = IN_FORCE;
    otps::table
        .filter(otps::project_id.eq(project))
        .filter(otps::mode.eq(mode))
        .filter(otps::phone_index.eq(phone))
        .filter(otps::state.eq_any(states))
}
