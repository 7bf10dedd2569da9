use crate::{AuditedChange, Control, ManageError};
use dwar_app::Limits;
use dwar_kernel::{KeyMode, Phone, ProjectId, TRACE};
use dwar_operator::{Action, Command, Requester};
use dwar_otp::{GuessBudget, OtpStore, SendPace};
use std::sync::Arc;
use tracing::instrument;

/// Lifts the limits that wrong codes put on a phone (`dwar project unlock`). Only for live keys, since test
/// keys have no guess budget.
#[derive(Clone)]
pub struct UnlockPhone {
    pub control: Control,
    pub otps: Arc<dyn OtpStore>,
    pub limits: Limits,
}

/// The guess budget that was lifted, to show what the limits had been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlocked {
    pub guesses: GuessBudget,
    /// How often codes could be sent with it.
    pub pace: SendPace,
}

impl UnlockPhone {
    /// Forgets the wrong codes of `phone`, in a row and in the period, from the very next send on.
    ///
    /// A locked code stays locked until it expires or a new one replaces it.
    #[instrument(name = "unlock_phone.unlock", target = TRACE, level = "error", skip_all)]
    pub async fn unlock(
        &self,
        by: &Requester,
        project: ProjectId,
        phone: &Phone,
    ) -> Result<Unlocked, ManageError> {
        self.control.project(by, Command::UnlockPhone, project).await?;
        let change = AuditedChange::new(Action::PhoneUnlocked, phone).within(project);
        self.control.record(by, change).await?;
        let (project_mode, now) = (project.in_mode(KeyMode::Live), self.control.tools.now());
        let policy = self.limits.guesses(project_mode.mode);
        let index = self.control.tools.vault.phone_index(project_mode, phone);
        let counted = self.otps.forget_guesses(project_mode, index).await?;
        let guesses = counted.unwrap_or_default().at(&policy, now);
        Ok(Unlocked { guesses, pace: guesses.pace(&policy, now) })
    }
}
