use crate::named_project::named;
use crate::{AuditedChange, Control, ManageError};
use dwar_app::{CreateProject, CreatedProject, SmsPreview, sms_preview};
use dwar_kernel::{ApiKeyId, ProjectId, ProjectMode, StoreError, TRACE, Timestamp};
use dwar_operator::{Action, AuditDetails, Command, Requester};
use dwar_project::{
    ApiKey, InvalidSetting, KeyRecord, Project, ProjectChange, ProjectChangeResult, ProjectName,
    ProjectRules, Setting, SettingValue,
};
use dwar_wallet::Amount;
use tracing::instrument;

/// Creates projects, and changes their settings and keys.
#[derive(Clone)]
pub struct ManageProjects {
    pub control: Control,
    /// Creates a project after the audit entry is written.
    pub create: CreateProject,
    pub rules: ProjectRules,
}

impl ManageProjects {
    /// Creates a project with one key per mode and an opening balance.
    #[instrument(name = "projects.create", target = TRACE, level = "error", skip_all)]
    pub async fn create(
        &self,
        by: &Requester,
        name: &ProjectName,
        balance: Amount,
    ) -> Result<CreatedProject, ManageError> {
        self.control.admit(by, Command::CreateProject, None)?;
        let draft = self.create.draft(name, balance);
        self.control.record(by, creation(&draft.project)).await?;
        Ok(self.create.keep(draft).await?)
    }

    /// Like [`ManageProjects::create`], on behalf of the person who started the service, but only if the
    /// store has no project yet.
    #[instrument(name = "projects.create_first", target = TRACE, level = "error", skip_all)]
    pub async fn create_first(
        &self,
        name: &ProjectName,
        balance: Amount,
    ) -> Result<Option<CreatedProject>, StoreError> {
        // Checked first, so that not every start leaves an audit entry.
        if !self.control.projects.list().await?.is_empty() {
            return Ok(None);
        }
        let draft = self.create.draft(name, balance);
        self.control.record(&Requester::command_line(), creation(&draft.project)).await?;
        self.create.keep_first(draft).await
    }

    /// Replaces the current key with a new one; the old key has stopped working when this returns. With
    /// `replaces`, only if that is the current key, so that a repeated request replaces one key only.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] if another key is current.
    #[instrument(name = "projects.regenerate_key", target = TRACE, level = "error", skip_all)]
    pub async fn regenerate_key(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        replaces: Option<ApiKeyId>,
    ) -> Result<ApiKey, ManageError> {
        let ProjectMode { project, mode } = project_mode;
        self.control.project(by, Command::RegenerateKey, project).await?;
        let keys = self.control.projects.keys(project).await?;
        let present = keys.iter().find(|key| key.mode == mode).ok_or(ManageError::NoSuchProject)?;
        if replaces.is_some_and(|replaced| replaced != present.id) {
            return Err(ManageError::Conflict(
                "The present key is another one. Nothing was replaced.",
            ));
        }
        let key = ApiKey::generate(mode, self.control.tools.entropy.as_ref());
        let now = self.control.tools.now();
        let id = ApiKeyId::new(now, self.control.tools.entropy.as_ref());
        let record = key.record(id, self.control.tools.vault.as_ref(), now);
        let change =
            AuditedChange::new(Action::KeyRegenerated, format!("{mode} key")).within(project);
        let change = change.before(of_key(present)).after(of_key(&record));
        self.control.record(by, change).await?;
        let replaced = self.control.projects.replace_key(project, record).await?;
        if replaced { Ok(key) } else { Err(ManageError::NoSuchProject) }
    }

    /// Changes settings, from the very next request on, and returns the changed project. If nothing differs,
    /// nothing is changed or recorded.
    ///
    /// # Errors
    /// [`ManageError::Invalid`] for a setting that the rules refuse.
    #[instrument(name = "projects.change", target = TRACE, level = "error", skip_all)]
    pub async fn change(
        &self,
        by: &Requester,
        project: ProjectId,
        change: ProjectChange,
    ) -> Result<Project, ManageError> {
        let before = self.admit_change(by, project, &change).await?;
        // Judged again under the lock; judged here so that a refused change leaves no audit entry.
        let after = before.clone().changed(change.clone(), &self.rules)?;
        if after == before {
            return Ok(before);
        }
        self.control.record(by, alteration(&before, &after, &change)).await?;
        let rules = self.rules.clone();
        match self.control.projects.change(project, change, rules).await? {
            ProjectChangeResult::Done(project) => Ok(*project),
            ProjectChangeResult::Refused(cause) => Err(cause.into()),
            ProjectChangeResult::NoSuchProject => Err(ManageError::NoSuchProject),
        }
    }

    /// Archives a project: its API keys are refused from the very next request on, on every instance. Nothing
    /// else changes, and [`ManageProjects::restore`] reverts it. Archiving again changes nothing.
    #[instrument(name = "projects.archive", target = TRACE, level = "error", skip_all)]
    pub async fn archive(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<Project, ManageError> {
        let found = self.control.project(by, Command::ArchiveProject, project).await?;
        let at = found.archived_at.unwrap_or_else(|| self.control.tools.now());
        self.set_archived(by, found, Action::ProjectArchived, Some(at)).await
    }

    /// Restores a project: its API keys are accepted again from the very next request on.
    #[instrument(name = "projects.restore", target = TRACE, level = "error", skip_all)]
    pub async fn restore(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<Project, ManageError> {
        let found = self.control.project(by, Command::RestoreProject, project).await?;
        self.set_archived(by, found, Action::ProjectRestored, None).await
    }

    async fn set_archived(
        &self,
        by: &Requester,
        found: Project,
        action: Action,
        at: Option<Timestamp>,
    ) -> Result<Project, ManageError> {
        if found.archived_at == at {
            return Ok(found);
        }
        let (was, is_to_be) = (since(found.archived_at), since(at));
        let change = AuditedChange::new(action, found.id).within(found.id);
        self.control.record(by, change.before(was).after(is_to_be)).await?;
        let kept = self.control.projects.set_archived(found.id, at).await?;
        kept.ok_or(ManageError::NoSuchProject)
    }

    /// The project and its SMS if this change were made; changes nothing.
    #[instrument(name = "projects.preview", target = TRACE, level = "error", skip_all)]
    pub async fn preview(
        &self,
        by: &Requester,
        project: ProjectId,
        change: ProjectChange,
    ) -> Result<(Project, SmsPreview), ManageError> {
        let found = self.control.project(by, Command::ShowProject, project).await?;
        let project = found.changed(change, &self.rules)?;
        let preview = sms_preview(&project);
        Ok((project, preview.map_err(|cause| ManageError::invalid("sms_text", cause))?))
    }

    /// Why the project cannot have this value, to warn before it is chosen; `None` if it can, or has it
    /// already.
    pub fn obstacle(
        &self,
        project: &Project,
        setting: Setting,
        value: SettingValue,
    ) -> Option<String> {
        let mut change = ProjectChange::default();
        change.set(setting, value);
        let refused = project.clone().changed(change, &self.rules).err()?;
        (refused.field == setting.as_str()).then_some(refused.reason)
    }

    /// The projects that the caller may see, oldest first.
    #[instrument(name = "projects.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(&self, by: &Requester) -> Result<Vec<Project>, ManageError> {
        self.control.admit(by, Command::ListProjects, None)?;
        let mut all = self.control.projects.list().await?;
        all.retain(|project| by.access.knows(project.id));
        Ok(all)
    }

    /// Finds a project by its id, at least four first characters of its id, or its whole name.
    ///
    /// # Errors
    /// [`ManageError::NoSuchProject`], or [`ManageError::Invalid`] that names the candidates if there are several.
    #[instrument(name = "projects.named", target = TRACE, level = "error", skip_all)]
    pub async fn named(&self, by: &Requester, text: &str) -> Result<Project, ManageError> {
        named(&self.list(by).await?, text).cloned()
    }

    /// Projects of the caller that are in use and whose settings cannot work, each with the cause: a provider
    /// may have been removed from the configuration since its name was checked.
    #[instrument(name = "projects.unfit", target = TRACE, level = "error", skip_all)]
    pub async fn unfit(
        &self,
        by: &Requester,
    ) -> Result<Vec<(Project, InvalidSetting)>, ManageError> {
        let mut in_use = self.list(by).await?;
        in_use.retain(|project| project.archived_at.is_none());
        let judged = in_use.into_iter().flat_map(|project| {
            let faults = (self.rules)(&project);
            faults.into_iter().map(move |fault| (project.clone(), fault))
        });
        Ok(judged.collect())
    }

    /// Whether a project in use has settings that cannot work, as far as the caller may see it.
    pub fn is_unfit(&self, by: &Requester, project: &Project) -> bool {
        project.archived_at.is_none()
            && by.may(Command::ShowProject, Some(project.id))
            && !(self.rules)(project).is_empty()
    }

    /// One project by its id, if the caller may see its settings.
    #[instrument(name = "projects.show", target = TRACE, level = "error", skip_all)]
    pub async fn show(&self, by: &Requester, project: ProjectId) -> Result<Project, ManageError> {
        self.control.project(by, Command::ShowProject, project).await
    }

    /// The current keys of a project, live first.
    #[instrument(name = "projects.keys", target = TRACE, level = "error", skip_all)]
    pub async fn keys(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<Vec<KeyRecord>, ManageError> {
        self.control.project(by, Command::ListKeys, project).await?;
        Ok(self.control.projects.keys(project).await?)
    }

    /// Prices need a permission of their own; all other settings share one.
    async fn admit_change(
        &self,
        by: &Requester,
        project: ProjectId,
        change: &ProjectChange,
    ) -> Result<Project, ManageError> {
        if change.is_about_money() && change.is_about_settings() {
            self.control.project(by, Command::ChangePrices, project).await?;
        }
        let command = match change.is_about_settings() {
            true => Command::ChangeProject,
            false => Command::ChangePrices,
        };
        self.control.project(by, command, project).await
    }
}

fn creation(created: &CreatedProject) -> AuditedChange {
    let facts = AuditDetails::new()
        .text("name", &created.name)
        .number("balance_paise", created.balance.paise().0);
    AuditedChange::new(Action::ProjectCreated, created.id).within(created.id).after(facts)
}

fn alteration(before: &Project, after: &Project, change: &ProjectChange) -> AuditedChange {
    let action = match change.is_about_money() {
        true => Action::ProjectRepriced,
        false => Action::ProjectChanged,
    };
    let (was, is_to_be) = AuditDetails::difference(&of_project(before), &of_project(after));
    AuditedChange::new(action, before.id).within(before.id).before(was).after(is_to_be)
}

fn since(archived_at: Option<Timestamp>) -> AuditDetails {
    match archived_at {
        Some(at) => AuditDetails::new().word("archived_at", at.to_rfc3339()),
        None => AuditDetails::new().null("archived_at"),
    }
}

/// The parts of a key that may be shown.
fn of_key(key: &KeyRecord) -> AuditDetails {
    AuditDetails::new().word("key_id", key.id).word("ending", &key.ending)
}

fn of_project(project: &Project) -> AuditDetails {
    Setting::ALL.into_iter().fold(AuditDetails::new(), |facts, setting| {
        let name = setting.as_str();
        match project.get(setting) {
            SettingValue::Switch(on) => facts.flag(name, on),
            SettingValue::Name(text) => facts.text(name, &text),
            SettingValue::Text(own) => facts.maybe(name, own.as_deref()),
            SettingValue::Lines(lines) => facts.list(name, Some(&lines)),
            SettingValue::Providers(own) => facts.list(name, own.as_deref()),
            SettingValue::Seconds(own) => facts.maybe_number(name, own),
            SettingValue::Paise(own) => facts.maybe_number(name, own.map(|paise| paise.0)),
            SettingValue::Claims(claims) => facts.text(name, &claims.to_string()),
            SettingValue::TokenType(token_type) => facts.word(name, token_type),
            SettingValue::Guard(mode) => facts.word(name, mode),
        }
    })
}
