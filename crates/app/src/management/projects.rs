use crate::refusals::refusals;
use crate::{AdminError, Audit, Change, Toolbox};
use dwar_kernel::{ApiKeyId, EntryId, KeyMode, ProjectId, StoreError, Timestamp};
use dwar_operator::{Action, By, Facts};
use dwar_project::{ApiKey, KeyRecord, NewProject, Project, ProjectChange, ProjectStore};
use dwar_wallet::{Credit, Paise, WalletStore};
use std::sync::Arc;

/// Makes and changes projects and their keys; driven by the command line.
pub struct ManageProjects {
    pub tools: Toolbox,
    pub projects: Arc<dyn ProjectStore>,
    pub wallets: Arc<dyn WalletStore>,
    pub audit: Audit,
}

/// A project that was just made; the only time its keys are in the clear.
#[derive(Debug)]
pub struct CreatedProject {
    pub id: ProjectId,
    pub name: String,
    pub live_key: ApiKey,
    pub test_key: ApiKey,
    pub balance: Paise,
}

refusals! {
    /// Why no key was made.
    RegenerateKeyError {
        NoSuchProject = "there is no project with this id",
        Forbidden = "your role does not allow this",
    }
}

impl ManageProjects {
    /// Makes a project with a key per mode and an opening balance.
    pub async fn create(
        &self,
        by: &By,
        name: &str,
        balance: Paise,
    ) -> Result<CreatedProject, AdminError> {
        let now = self.tools.now();
        let (new, created) = self.compose(name, balance, now);
        self.audit.record(by, creation(&created)).await?;
        self.projects.create(new, self.records(&created, now)).await?;
        self.open_wallet(&created, now).await?;
        Ok(created)
    }

    /// As [`ManageProjects::create`], by whoever started the service, but only if the store holds
    /// no project yet.
    pub async fn create_first(
        &self,
        name: &str,
        balance: Paise,
    ) -> Result<Option<CreatedProject>, StoreError> {
        // Else each start would leave a line.
        if !self.projects.list().await?.is_empty() {
            return Ok(None);
        }
        let now = self.tools.now();
        let (new, created) = self.compose(name, balance, now);
        match self.audit.record(&By::command_line(), creation(&created)).await {
            Ok(()) => {}
            Err(AdminError::Forbidden) => return Ok(None),
            Err(AdminError::Store(cause)) => return Err(cause),
        }
        if !self.projects.create_first(new, self.records(&created, now)).await? {
            return Ok(None);
        }
        self.open_wallet(&created, now).await?;
        Ok(Some(created))
    }

    /// Puts a fresh key in the place of the present one, which ends before this returns.
    pub async fn regenerate_key(
        &self,
        by: &By,
        project: ProjectId,
        mode: KeyMode,
    ) -> Result<ApiKey, RegenerateKeyError> {
        let keys = self.projects.keys(project).await?;
        let present = keys.iter().find(|key| key.mode == mode);
        let present = present.ok_or(RegenerateKeyError::NoSuchProject)?;
        let key = ApiKey::generate(mode, self.tools.entropy.as_ref());
        let record = self.record(&key, self.tools.now());
        let change = Change::new(Action::KeyRegenerated, format!("{mode} key")).within(project);
        let change = change.before(of_key(present)).after(of_key(&record));
        self.audit.record(by, change).await?;
        let replaced = self.projects.replace_key(project, record).await?;
        if replaced { Ok(key) } else { Err(RegenerateKeyError::NoSuchProject) }
    }

    /// Changes settings, for the very next request; `None` if there is no such project.
    pub async fn change(
        &self,
        by: &By,
        project: ProjectId,
        change: ProjectChange,
    ) -> Result<Option<Project>, AdminError> {
        let Some(before) = self.projects.find(project).await? else { return Ok(None) };
        self.audit.record(by, alteration(&before, &change)).await?;
        Ok(self.projects.change(project, change).await?)
    }

    /// Every project, oldest first.
    pub async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.projects.list().await
    }

    /// One project with its keys, or `None`.
    pub async fn show(
        &self,
        project: ProjectId,
    ) -> Result<Option<(Project, Vec<KeyRecord>)>, StoreError> {
        match self.projects.find(project).await? {
            Some(found) => Ok(Some((found, self.projects.keys(project).await?))),
            None => Ok(None),
        }
    }

    fn compose(&self, name: &str, balance: Paise, now: Timestamp) -> (NewProject, CreatedProject) {
        let entropy = self.tools.entropy.as_ref();
        let id = ProjectId::new(now, entropy);
        let new = NewProject { id, name: name.to_owned(), created_at: now };
        let key = |mode| ApiKey::generate(mode, entropy);
        let (live_key, test_key) = (key(KeyMode::Live), key(KeyMode::Test));
        (new, CreatedProject { id, name: name.to_owned(), live_key, test_key, balance })
    }

    fn records(&self, created: &CreatedProject, now: Timestamp) -> [KeyRecord; 2] {
        [&created.live_key, &created.test_key].map(|key| self.record(key, now))
    }

    fn record(&self, key: &ApiKey, now: Timestamp) -> KeyRecord {
        let id = ApiKeyId::new(now, self.tools.entropy.as_ref());
        key.record(id, self.tools.vault.as_ref(), now)
    }

    async fn open_wallet(
        &self,
        created: &CreatedProject,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if created.balance > Paise::ZERO {
            let id = EntryId::new(now, self.tools.entropy.as_ref());
            let reference = "opening balance".to_owned();
            let credit = Credit { id, amount: created.balance, reference };
            self.wallets.credit(created.id, credit, now).await?;
        }
        Ok(())
    }
}

fn creation(created: &CreatedProject) -> Change {
    let facts = Facts::new().text("name", &created.name).number("balance_paise", created.balance.0);
    Change::new(Action::ProjectCreated, created.id).within(created.id).after(facts)
}

/// A price takes a right of its own, whatever else changes with it.
fn alteration(before: &Project, change: &ProjectChange) -> Change {
    let reprices = change.whatsapp_price.is_some() || change.sms_price.is_some();
    let action = if reprices { Action::ProjectRepriced } else { Action::ProjectChanged };
    let mut after = before.clone();
    after.apply(change.clone());
    let (was, is_to_be) = Facts::difference(&of_project(before), &of_project(&after));
    Change::new(action, before.id).within(before.id).before(was).after(is_to_be)
}

/// A key, by what may be shown of it.
fn of_key(key: &KeyRecord) -> Facts {
    Facts::new().word("key_id", key.id).word("ending", &key.ending)
}

fn of_project(project: &Project) -> Facts {
    let (messages, routing) = (&project.messages, &project.routing);
    Facts::new()
        .text("name", &project.name)
        .flag("identity_lookup", project.identity_lookup)
        .flag("identity_delete", project.identity_delete)
        .maybe_number("whatsapp_price_paise", project.prices.whatsapp.map(|paise| paise.0))
        .maybe_number("sms_price_paise", project.prices.sms.map(|paise| paise.0))
        .maybe("brand", messages.brand.as_deref())
        .maybe("language", messages.language.as_deref())
        .maybe("sms_text", messages.text.as_deref())
        .maybe("sms_template_id", messages.template_id.as_deref())
        .maybe("webotp_domain", messages.domain.as_deref())
        .maybe("app_hash", messages.app_hash.as_deref())
        .list("whatsapp_providers", routing.whatsapp.as_deref())
        .list("sms_providers", routing.sms.as_deref())
        .maybe_number("fallback_seconds", routing.fallback_seconds)
        .maybe_number("low_balance_paise", project.low_balance.map(|paise| paise.0))
}
