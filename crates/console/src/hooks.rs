use crate::endpoints::OVERLAP;
use crate::{AuditedChange, Control, ManageError};
use dwar_kernel::{
    HookId, KeptSecret, KeyMode, NewSecret, ProjectId, Purpose, Sealed, TRACE, WebhookSecret,
};
use dwar_operator::{Action, AuditDetails, Command, Requester};
use dwar_otp::RelayLifetime;
use dwar_project::{Hook, HookChange, HookKind, HookStore};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

const NO_HOOK: ManageError = ManageError::NotFound("hook with this id in the project");
const NO_MFA: &str = "the codes of this system are all alike; only Supabase has a second factor";
const TOO_MANY: ManageError =
    ManageError::Conflict("A project has 20 hooks at most. Remove one that is no longer called.");

/// Manages the hooks at which other systems have codes delivered.
#[derive(Clone)]
pub struct ManageHooks {
    pub control: Control,
    pub hooks: Arc<dyn HookStore>,
}

/// A hook to add, as given by the caller.
#[derive(Clone, Copy, Debug)]
pub struct NewHook {
    pub kind: HookKind,
    pub mode: KeyMode,
    /// Lifetime of the other system's codes in seconds, within [`RelayLifetime`].
    pub expires_in: u64,
    /// The same for second-factor codes; [`HookKind::mfa_lifetime`] by default.
    pub mfa_expires_in: Option<u64>,
}

/// New lifetimes of a hook, in seconds; `None` leaves one unchanged.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangedLifetimes {
    pub expires_in: Option<u64>,
    pub mfa_expires_in: Option<u64>,
}

impl ManageHooks {
    /// Makes a hook; its secret is in clear only here.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] if the project has [`Hook::MOST`].
    #[instrument(name = "hooks.add", target = TRACE, level = "error", skip_all)]
    pub async fn add(
        &self,
        by: &Requester,
        project: ProjectId,
        new: NewHook,
    ) -> Result<(Hook, WebhookSecret), ManageError> {
        self.control.project(by, Command::AddHook, project).await?;
        let lifetime = lifetime_of("expires_in", new.expires_in)?;
        let mfa_lifetime = mfa_lifetime_of(new.kind, new.mfa_expires_in)?;
        if self.hooks.hooks(project).await?.len() >= Hook::MOST {
            return Err(TOO_MANY);
        }
        let now = self.control.tools.now();
        let id = HookId::new(now, self.control.tools.entropy.as_ref());
        let secret = WebhookSecret::generate(self.control.tools.entropy.as_ref());
        let hook = Hook {
            id,
            project_mode: project.in_mode(new.mode),
            kind: new.kind,
            lifetime,
            mfa_lifetime: mfa_lifetime.or(new.kind.mfa_lifetime()),
            secret: KeptSecret::first(self.seal(id, &secret)),
            created_at: now,
        };
        let change = AuditedChange::new(Action::HookAdded, id).within(project);
        self.control.record(by, change.after(facts(&hook))).await?;
        let added = self.hooks.add_hook(hook.clone()).await?;
        if added { Ok((hook, secret)) } else { Err(TOO_MANY) }
    }

    /// The hooks of a project in both modes, oldest first.
    #[instrument(name = "hooks.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(&self, by: &Requester, project: ProjectId) -> Result<Vec<Hook>, ManageError> {
        self.control.project(by, Command::ListHooks, project).await?;
        Ok(self.hooks.hooks(project).await?)
    }

    /// Changes the lifetimes of the other system's codes, from the very next call on. If nothing differs,
    /// nothing is changed or recorded.
    ///
    /// # Errors
    /// [`ManageError::Invalid`] for a lifetime out of bounds, or a second-factor lifetime for a system
    /// without a second factor.
    #[instrument(name = "hooks.change", target = TRACE, level = "error", skip_all)]
    pub async fn change(
        &self,
        by: &Requester,
        project: ProjectId,
        hook: HookId,
        changed: ChangedLifetimes,
    ) -> Result<Hook, ManageError> {
        let present = self.found(by, Command::ChangeHook, project, hook).await?;
        let lifetime = changed.expires_in.map(|seconds| lifetime_of("expires_in", seconds));
        let lifetime = lifetime.transpose()?;
        let mfa_lifetime = mfa_lifetime_of(present.kind, changed.mfa_expires_in)?;
        let change = HookChange { lifetime, mfa_lifetime };
        let mut found = present.clone();
        change.apply(&mut found);
        if found == present {
            return Ok(present);
        }
        let entry = AuditedChange::new(Action::HookChanged, hook).within(project);
        let entry =
            entry.before(changed_facts(&present, change)).after(changed_facts(&found, change));
        self.control.record(by, entry).await?;
        let is_there = self.hooks.change_hook(project, hook, change).await?;
        if is_there { Ok(found) } else { Err(NO_HOOK) }
    }

    /// Gives a hook a new secret; the old one stays valid for a day.
    #[instrument(name = "hooks.rotate_secret", target = TRACE, level = "error", skip_all)]
    pub async fn rotate_secret(
        &self,
        by: &Requester,
        project: ProjectId,
        hook: HookId,
    ) -> Result<(Hook, WebhookSecret), ManageError> {
        let command = (Command::RotateHookSecret, Action::HookSecretRotated);
        let found = self.record(by, command, project, hook).await?;
        let secret = WebhookSecret::generate(self.control.tools.entropy.as_ref());
        let sealed = self.seal(hook, &secret);
        let new = NewSecret { secret: sealed, previous_until: self.control.tools.now() + OVERLAP };
        let replaced = self.hooks.replace_hook_secret(project, hook, new).await?;
        if replaced { Ok((found, secret)) } else { Err(NO_HOOK) }
    }

    /// Removes a hook: the very next call to it is refused.
    #[instrument(name = "hooks.remove", target = TRACE, level = "error", skip_all)]
    pub async fn remove(
        &self,
        by: &Requester,
        project: ProjectId,
        hook: HookId,
    ) -> Result<(), ManageError> {
        self.record(by, (Command::RemoveHook, Action::HookRemoved), project, hook).await?;
        let removed = self.hooks.remove_hook(project, hook).await?;
        if removed { Ok(()) } else { Err(NO_HOOK) }
    }

    /// Records a change to a hook of the project before it is made.
    async fn record(
        &self,
        by: &Requester,
        (command, action): (Command, Action),
        project: ProjectId,
        hook: HookId,
    ) -> Result<Hook, ManageError> {
        let found = self.found(by, command, project, hook).await?;
        let change = AuditedChange::new(action, hook).within(project);
        self.control.record(by, change.before(facts(&found))).await?;
        Ok(found)
    }

    /// Loads a hook, after checking the caller's right to the command.
    async fn found(
        &self,
        by: &Requester,
        command: Command,
        project: ProjectId,
        hook: HookId,
    ) -> Result<Hook, ManageError> {
        self.control.project(by, command, project).await?;
        let known = self.hooks.hooks(project).await?;
        known.into_iter().find(|known| known.id == hook).ok_or(NO_HOOK)
    }

    fn seal(&self, hook: HookId, secret: &WebhookSecret) -> Sealed {
        let vault = self.control.tools.vault.as_ref();
        secret.seal(vault, Purpose::HookSecret, hook.uuid())
    }
}

fn facts(hook: &Hook) -> AuditDetails {
    let facts =
        AuditDetails::new().word("kind", hook.kind).word("mode", hook.project_mode.mode.as_str());
    let facts = facts.word("expires_in", hook.lifetime.as_secs());
    match hook.mfa_lifetime {
        Some(lifetime) => facts.word("mfa_expires_in", lifetime.as_secs()),
        None => facts,
    }
}

/// The values of a hook that the change names.
fn changed_facts(hook: &Hook, change: HookChange) -> AuditDetails {
    let (lifetime, mfa) = (change.lifetime.map(|_| hook.lifetime), change.mfa_lifetime);
    let named = [("expires_in", lifetime), ("mfa_expires_in", mfa.and(hook.mfa_lifetime))];
    named.into_iter().fold(AuditDetails::new(), |facts, (name, lifetime)| match lifetime {
        Some(lifetime) => facts.word(name, lifetime.as_secs()),
        None => facts,
    })
}

fn lifetime_of(field: &'static str, seconds: u64) -> Result<Duration, ManageError> {
    let lifetime = RelayLifetime::from_seconds(seconds).map(RelayLifetime::duration);
    lifetime.ok_or_else(|| ManageError::invalid(field, RelayLifetime::RULE))
}

fn mfa_lifetime_of(kind: HookKind, seconds: Option<u64>) -> Result<Option<Duration>, ManageError> {
    let Some(seconds) = seconds else { return Ok(None) };
    if kind.mfa_lifetime().is_none() {
        return Err(ManageError::invalid("mfa_expires_in", NO_MFA));
    }
    lifetime_of("mfa_expires_in", seconds).map(Some)
}
