use crate::receipt::attempts_of;
use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, OtpId, ProjectMode, StoreError, Timestamp};
use dwar_otp::{GuessBudget, Otp, OtpStore, ReceiptTarget};
use std::time::Duration;

/// Tells whether this is the phone's open code.
pub(crate) fn is_open(otp: &Otp, line: (ProjectMode, BlindIndex)) -> bool {
    (otp.project_mode, otp.phone) == line && otp.state.is_open()
}

/// Closes the open code of a phone before a newer one.
pub(crate) fn supersede(otps: &mut [Otp], newer: &Otp) {
    let line = (newer.project_mode, newer.phone);
    otps.iter_mut().filter(|old| is_open(old, line)).for_each(Otp::supersede);
}

#[async_trait]
impl OtpStore for MemoryStore {
    async fn forget_guesses(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<GuessBudget>, StoreError> {
        let state = &mut *self.step("OtpStore::forget_guesses").await?;
        let counted = state.budgets.remove(&(project_mode, phone));
        Ok(counted.filter(|counted| *counted != GuessBudget::default()))
    }

    async fn find(&self, project_mode: ProjectMode, otp: OtpId) -> Result<Option<Otp>, StoreError> {
        let state = &*self.step("OtpStore::find").await?;
        let wanted = (project_mode, otp);
        let mut otps = state.otps.iter();
        Ok(otps.find(|found| (found.project_mode, found.id) == wanted).cloned())
    }

    async fn find_attempt(
        &self,
        provider: String,
        provider_ref: String,
    ) -> Result<Option<ReceiptTarget>, StoreError> {
        let state = &*self.step("OtpStore::find_attempt").await?;
        let meant = attempts_of(&state.otps, &provider, &provider_ref);
        let newest = meant.max_by_key(|(_, attempt)| attempt.id);
        Ok(newest.map(|(otp, attempt)| ReceiptTarget {
            project_mode: otp.project_mode,
            otp: otp.id,
            attempt: attempt.id,
        }))
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        let state = &mut *self.step("OtpStore::claim_due").await?;
        let is_due = |otp: &&mut Otp| otp.delivery.due_at.is_some_and(|due| due <= now);
        let mut due: Vec<_> = state.otps.iter_mut().filter(is_due).collect();
        due.sort_by_key(|otp| otp.delivery.due_at);
        due.truncate(limit as usize);
        due.iter_mut().for_each(|otp| otp.delivery.due_at = Some(now + lease));
        Ok(due.into_iter().map(|otp| otp.clone()).collect())
    }

    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("OtpStore::bring_forward").await?;
        let dues = state.otps.iter_mut().filter_map(|otp| otp.delivery.due_at.as_mut());
        Ok(dues.filter(|due| **due > later_than).map(|due| *due = to).count() as u64)
    }

    async fn withdraw_all(&self, now: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("OtpStore::withdraw_all").await?;
        let withdrawn = state.otps.iter_mut().filter_map(|otp| otp.withdraw(now).then_some(()));
        Ok(withdrawn.count() as u64)
    }

    async fn sweep(
        &self,
        requests_before: Timestamp,
        guesses_before: Timestamp,
    ) -> Result<u64, StoreError> {
        let state = &mut *self.step("OtpStore::sweep").await?;
        state.budgets.retain(|_, budget| budget.last_wrong_at >= Some(guesses_before));
        let dropped = state.otps.extract_if(.., |otp| otp.created_at < requests_before).count();
        state.drop_stray_messages();
        Ok(dropped as u64)
    }
}
