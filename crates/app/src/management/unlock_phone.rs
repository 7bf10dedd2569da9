use crate::refusals::refusals;
use crate::{Audit, Change, Limits, Toolbox};
use dwar_kernel::{KeyMode, Phone, ProjectId};
use dwar_operator::{Action, By};
use dwar_otp::{GuessBudget, OtpStore, SendPace};
use dwar_project::ProjectStore;
use std::sync::Arc;

/// Lifts what wrong codes put in the way of a phone (`dwar project unlock`); live keys only, since
/// test keys have no guess budget.
pub struct UnlockPhone {
    pub tools: Toolbox,
    pub projects: Arc<dyn ProjectStore>,
    pub otps: Arc<dyn OtpStore>,
    /// What the counts meant.
    pub limits: Limits,
    pub audit: Audit,
}

/// What was lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlocked {
    /// The counts as they stood.
    pub guesses: GuessBudget,
    /// How fast codes could be sent with them.
    pub pace: SendPace,
}

refusals! {
    /// Why nothing was lifted.
    UnlockPhoneError {
        NoSuchProject = "no such project",
        Forbidden = "your role does not allow this",
    }
}

impl UnlockPhone {
    /// Forgets the wrong codes of `phone`, in a row and in the period, for the very next send.
    ///
    /// A code that is locked stays locked until it is over or a new one takes its place.
    pub async fn unlock(
        &self,
        by: &By,
        project: ProjectId,
        phone: &Phone,
    ) -> Result<Unlocked, UnlockPhoneError> {
        if self.projects.find(project).await?.is_none() {
            return Err(UnlockPhoneError::NoSuchProject);
        }
        let change = Change::new(Action::PhoneUnlocked, phone).within(project);
        self.audit.record(by, change).await?;
        let (mode, now) = (KeyMode::Live, self.tools.now());
        let policy = self.limits.guesses(mode);
        let index = self.tools.vault.phone_index(project, mode, phone);
        let counted = self.otps.forget_guesses(project, mode, index).await?;
        let guesses = counted.unwrap_or_default().at(&policy, now);
        Ok(Unlocked { guesses, pace: guesses.pace(&policy, now) })
    }
}
