use crate::PostgresStore;
use crate::convert::{Row, stored_count};
use crate::error::Failure;
use crate::event;
use crate::lock::Lock;
use crate::otp_row::{self, OtpRow};
use crate::schema::{guess_budgets, otp_attempts, otps};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_event::{Event, EventKind, EventPhone, Subject};
use dwar_kernel::{AttemptId, BlindIndex, KeyMode, OtpId, ProjectId, StoreError, Timestamp};
use dwar_otp::{
    Attempt, Guess, GuessBudget, GuessPolicy, Otp, OtpState, OtpStore, ReceiptTarget, Report,
    Route, Step,
};
use std::time::Duration;
use uuid::Uuid;

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
        self.pool
            .transaction(move |conn| {
                let Some(mut otp) = lock_in_force(conn, project, mode, &phone)? else {
                    return Ok(Attempt::NotFound);
                };
                // The request's lock guards the budget too: nobody counts without it.
                let mut budget = load_budget(conn, project, mode, &phone)?;
                let (code_before, budget_before) = (otp.clone(), budget);
                let attempt = otp.attempt(&guess, &mut budget, &policy, now);
                if otp != code_before {
                    otp_row::save_code(conn, &otp)?;
                }
                if budget != budget_before {
                    save_budget(conn, &otp, budget)?;
                }
                if let Attempt::Accepted(_) = attempt {
                    event::record(conn, &event_of(&otp, EventKind::OtpVerified, now))?;
                }
                Ok(attempt)
            })
            .await
    }

    async fn guess_budget(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
    ) -> Result<GuessBudget, StoreError> {
        self.pool.run(move |conn| load_budget(conn, project, mode, &phone)).await
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
                if otp.delivery.status != before.delivery.status
                    && let Some(kind) = EventKind::of_delivery(otp.delivery.status.as_str())
                {
                    event::record(conn, &event_of(&otp, kind, now))?;
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
            let stale =
                guess_budgets::table.filter(guess_budgets::last_wrong_at.lt(guesses_before));
            diesel::delete(stale).execute(conn)?;
            let old = diesel::alias!(otps as old);
            let old = old
                .filter(old.field(otps::created_at).lt(requests_before))
                .select(old.field(otps::id))
                .limit(crate::SWEEP_BATCH);
            diesel::delete(otps::table.filter(otps::id.eq_any(old))).execute(conn)
        })
        .await
    }
}

fn event_of(otp: &Otp, kind: EventKind, at: Timestamp) -> Event {
    let subject = Subject::Otp {
        otp: otp.id,
        channel: otp.delivery.channel().map(|channel| channel.as_str().to_owned()),
        phone: Some(EventPhone { index: otp.phone, sealed: otp.sealed_phone.clone() }),
    };
    Event { project: otp.project, mode: otp.mode, kind, subject, at }
}

/// Locks the phone's code in force.
///
/// A resend that commits while we wait for the old code leaves us without any: our snapshot is
/// older than the new one. Under the resends' own lock a second look cannot miss it.
fn lock_in_force(
    conn: &mut PgConnection,
    project: ProjectId,
    mode: KeyMode,
    phone: &BlindIndex,
) -> Result<Option<Otp>, Failure> {
    let look = |conn: &mut PgConnection| -> QueryResult<Option<OtpRow>> {
        otps::table
            .filter(otps::project_id.eq(project.uuid()))
            .filter(otps::mode.eq(mode.as_str()))
            .filter(otps::phone_index.eq(phone.0.as_slice()))
            .filter(otps::state.eq_any(IN_FORCE))
            .select(OtpRow::as_select())
            .for_update()
            .first(conn)
            .optional()
    };
    let mut row = look(conn)?;
    if row.is_none() {
        Lock::CodeInForce(phone).take(conn)?;
        row = look(conn)?;
    }
    otp_row::complete(conn, row)
}

fn load_budget(
    conn: &mut PgConnection,
    project: ProjectId,
    mode: KeyMode,
    phone: &BlindIndex,
) -> Result<GuessBudget, Failure> {
    let found: Option<(i32, Option<Timestamp>)> = guess_budgets::table
        .find((project.uuid(), mode.as_str(), phone.0.as_slice()))
        .select((guess_budgets::wrong, guess_budgets::last_wrong_at))
        .first(conn)
        .optional()?;
    let Some((wrong, last_wrong_at)) = found else { return Ok(GuessBudget::default()) };
    let wrong = Row::new("guess_budgets", project).count("wrong", wrong)?;
    Ok(GuessBudget { wrong, last_wrong_at })
}

/// No row stands for no wrong guess.
fn save_budget(conn: &mut PgConnection, otp: &Otp, budget: GuessBudget) -> Result<(), Failure> {
    let key = (otp.project.uuid(), otp.mode.as_str(), otp.phone.0.as_slice());
    if budget == GuessBudget::default() {
        diesel::delete(guess_budgets::table.find(key)).execute(conn)?;
        return Ok(());
    }
    let counted = (
        guess_budgets::wrong.eq(stored_count(budget.wrong)),
        guess_budgets::last_wrong_at.eq(budget.last_wrong_at),
    );
    diesel::insert_into(guess_budgets::table)
        .values((
            guess_budgets::project_id.eq(key.0),
            guess_budgets::mode.eq(key.1),
            guess_budgets::phone_index.eq(key.2),
            counted,
        ))
        .on_conflict((guess_budgets::project_id, guess_budgets::mode, guess_budgets::phone_index))
        .do_update()
        .set(counted)
        .execute(conn)?;
    Ok(())
}
