use crate::store::{MemoryStore, State, drop_old};
use async_trait::async_trait;
use dwar_kernel::{AttemptId, BlindIndex, KeyMode, OtpId, ProjectId, StoreError, Timestamp};
use dwar_otp::{
    Guess, GuessBudget, GuessPolicy, Otp, OtpState, OtpStore, ReceiptTarget, Report, Reported,
    Route, Step, Verdict,
};
use std::time::Duration;

const fn is_open(otp: &Otp) -> bool {
    matches!(otp.state, OtpState::Active | OtpState::Locked)
}

#[async_trait]
impl OtpStore for MemoryStore {
    async fn issue(&self, otp: Otp) -> Result<(), StoreError> {
        self.step("OtpStore::issue", |state| {
            let line = (otp.project, otp.mode, otp.phone);
            for old in &mut state.otps {
                if (old.project, old.mode, old.phone) == line && is_open(old) {
                    old.state = OtpState::Superseded;
                }
            }
            state.otps.push(otp);
        })
        .await
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
        self.step("OtpStore::judge", |state| {
            let line = (project, mode, phone);
            let mut otps = state.otps.iter_mut();
            let open = otps.find(|otp| (otp.project, otp.mode, otp.phone) == line && is_open(otp));
            let budget = state.budgets.entry(line).or_default();
            let Some(otp) = open else { return Verdict::NotFound };
            let counted = *budget;
            let before = otp.clone();
            let verdict = otp.judge(&guess, budget, &policy, now);
            if let Some(told) = otp.judged_since((&before, &counted), budget, now) {
                state.record(&told);
            }
            verdict
        })
        .await
    }

    async fn forget_guesses(
        &self,
        project: ProjectId,
        mode: KeyMode,
        phone: BlindIndex,
    ) -> Result<Option<GuessBudget>, StoreError> {
        self.step("OtpStore::forget_guesses", |state| {
            let counted = state.budgets.remove(&(project, mode, phone));
            counted.filter(|counted| *counted != GuessBudget::default())
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
    ) -> Result<Option<(Otp, Step)>, StoreError> {
        self.step("OtpStore::report", |state| {
            let mut otps = state.otps.iter_mut();
            let found = otps.find(|found| (found.project, found.id) == request.key())?;
            let before = found.clone();
            let step = found.report(attempt, report, &route, next, now);
            let otp = found.clone();
            if let Some(told) = otp.reported_since(&before, now) {
                state.record(&told);
            }
            state.wake_receipts();
            Some((otp, step))
        })
        .await
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        otp: OtpId,
    ) -> Result<Option<Otp>, StoreError> {
        self.step("OtpStore::find", |state| {
            let wanted = (project, mode, otp);
            let mut otps = state.otps.iter();
            otps.find(|found| (found.project, found.mode, found.id) == wanted).cloned()
        })
        .await
    }

    async fn find_attempt(
        &self,
        provider: String,
        provider_ref: String,
    ) -> Result<Option<ReceiptTarget>, StoreError> {
        self.step("OtpStore::find_attempt", |state| {
            let attempts = state
                .otps
                .iter()
                .flat_map(|otp| otp.delivery.attempts.iter().map(move |a| (otp, a)));
            let meant = attempts.filter(|(_, attempt)| {
                attempt.provider == provider && attempt.provider_ref.as_ref() == Some(&provider_ref)
            });
            meant.max_by_key(|(_, attempt)| attempt.id).map(|(otp, attempt)| {
                let (project, mode, otp, attempt) = (otp.project, otp.mode, otp.id, attempt.id);
                ReceiptTarget { project, mode, otp, attempt }
            })
        })
        .await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        self.step("OtpStore::claim_due", |state| {
            let otps = state.otps.iter_mut();
            let mut due: Vec<_> =
                otps.filter(|otp| otp.delivery.due_at.is_some_and(|due| due <= now)).collect();
            due.sort_by_key(|otp| otp.delivery.due_at);
            due.truncate(limit as usize);
            due.iter_mut().for_each(|otp| otp.delivery.due_at = Some(now + lease));
            due.into_iter().map(|otp| otp.clone()).collect()
        })
        .await
    }

    async fn sweep(
        &self,
        requests_before: Timestamp,
        guesses_before: Timestamp,
    ) -> Result<u64, StoreError> {
        self.step("OtpStore::sweep", |state| {
            state.budgets.retain(|_, budget| budget.last_wrong_at >= Some(guesses_before));
            let dropped = drop_old(&mut state.otps, |otp| otp.created_at < requests_before);
            let State { otps, inbox, .. } = state;
            inbox.retain(|(_, message)| otps.iter().any(|otp| otp.id == message.otp));
            dropped
        })
        .await
    }
}
