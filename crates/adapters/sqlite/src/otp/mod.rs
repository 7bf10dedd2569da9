pub(crate) mod row;

use crate::connection::command::snapshot;
use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, OtpId, ProjectMode, StoreError, Timestamp};
use dwar_otp::{GuessBudget, Otp, OtpState, OtpStore, ReceiptTarget};
use dwar_sql::schema::{guess_budgets, otp_attempts, otps};
use dwar_sql::{At, Id, OtpRow, Row, in_mode, legible, withdrawable};
use std::time::Duration;

#[async_trait]
impl OtpStore for SqliteStore {
    async fn forget_guesses(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<GuessBudget>, StoreError> {
        self.of(project_mode.project)
            .write_that("otp.forget_guesses", OutdatedLookUps::NoLookUp, move |connection| {
                let counted = row::budget(connection, project_mode, phone)?;
                let key = (
                    Id::from(project_mode.project),
                    project_mode.mode.as_str(),
                    phone.0.as_slice(),
                );
                diesel::delete(guess_budgets::table.find(key)).execute(connection)?;
                Ok(Some(counted).filter(|counted| *counted != GuessBudget::default()))
            })
            .await
    }

    async fn find(&self, project_mode: ProjectMode, otp: OtpId) -> Result<Option<Otp>, StoreError> {
        self.of(project_mode.project)
            .read("otp.find", move |connection| {
                snapshot(connection, |connection| {
                    let found = in_mode!(otps of project_mode, otp)
                        .select(OtpRow::as_select())
                        .get_result(connection)
                        .optional()?;
                    row::load(connection, found)
                })
            })
            .await
    }

    async fn find_attempt(
        &self,
        provider: String,
        provider_ref: String,
    ) -> Result<Option<ReceiptTarget>, StoreError> {
        self.read("otp.find_attempt", move |connection| {
            let found = otp_attempts::table
                .inner_join(otps::table)
                .filter(otp_attempts::provider.eq(provider))
                .filter(otp_attempts::provider_ref.eq(provider_ref))
                .order(otp_attempts::id.desc())
                .select((otps::project_id, otps::mode, otps::id, otp_attempts::id))
                .load::<(Id, String, Id, Id)>(connection)?;
            let newest = found.into_iter().next();
            let Some((project, mode, otp, attempt)) = newest else { return Ok(None) };
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
        self.write_that("otp.claim_due", OutdatedLookUps::NoLookUp, move |connection| {
            let due = otps::table
                .filter(otps::due_at.le(At::from(now)))
                .order((otps::due_at, otps::id))
                .limit(i64::from(limit))
                .select(OtpRow::as_select())
                .load(connection)?;
            let mut claimed = Vec::with_capacity(due.len());
            for row in due {
                let id = Row::new("otps", row.id).id::<OtpId>("id", row.id);
                let Some(id) = legible!(id) else { continue };
                let again = now + lease;
                diesel::update(otps::table.find(Id::from(id)))
                    .set(otps::due_at.eq(At::from(again)))
                    .execute(connection)?;
                let attempts = row::attempts(connection, &row)?;
                let Some(mut otp) = legible!(row.into_otp(attempts)) else { continue };
                otp.delivery.due_at = Some(again);
                claimed.push(otp);
            }
            Ok(claimed)
        })
        .await
    }

    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        self.write_that("otp.bring_forward", OutdatedLookUps::NoLookUp, move |connection| {
            let brought = diesel::update(otps::table.filter(otps::due_at.gt(At::from(later_than))))
                .set(otps::due_at.eq(At::from(to)))
                .execute(connection)?;
            Ok(u64::try_from(brought).unwrap_or(u64::MAX))
        })
        .await
    }

    async fn withdraw_all(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.write_that("otp.withdraw_all", OutdatedLookUps::NoLookUp, move |connection| {
            let withdrawn = diesel::update(withdrawable!(now))
                .set(otps::state.eq(OtpState::Void.as_str()))
                .execute(connection)?;
            Ok(u64::try_from(withdrawn).unwrap_or(u64::MAX))
        })
        .await
    }

    async fn sweep(
        &self,
        requests_before: Timestamp,
        guesses_before: Timestamp,
    ) -> Result<u64, StoreError> {
        let (requests_before, guesses_before) =
            (Id::first_at(requests_before), At::from(guesses_before));
        self.drain_gently(move |connection, rows| {
            let stale =
                guess_budgets::table.filter(guess_budgets::last_wrong_at.lt(guesses_before));
            let edge: Option<Option<At>> = stale
                .order(guess_budgets::last_wrong_at)
                .select(guess_budgets::last_wrong_at)
                .offset(rows.into())
                .first(connection)
                .optional()?;
            let edge = edge.flatten().unwrap_or(guesses_before);
            diesel::delete(stale.filter(guess_budgets::last_wrong_at.le(edge))).execute(connection)
        })
        .await?;
        self.drain_gently(move |connection, rows| {
            let old: Vec<Id> = otps::table
                .filter(otps::id.lt(requests_before))
                .select(otps::id)
                .limit(rows.into())
                .load(connection)?;
            diesel::delete(otps::table.filter(otps::id.eq_any(old))).execute(connection)
        })
        .await
    }
}
