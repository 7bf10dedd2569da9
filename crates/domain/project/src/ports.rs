use crate::{
    Caller, Changed, Hook, HookCaller, HookChange, KeyRecord, KeyUse, NewProject, Project,
    ProjectChange, ProjectRules,
};
use async_trait::async_trait;
use dwar_kernel::{Digest, HookId, NewSecret, ProjectId, StoreError, Timestamp};

/// Keeps projects and recognises their API keys.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ProjectStore: Send + Sync {
    /// Creates a project with one key per mode.
    async fn create(&self, project: NewProject, keys: [KeyRecord; 2]) -> Result<(), StoreError>;

    /// Creates a project with one key per mode if the store holds no project yet.
    ///
    /// `false` means there was one. Of any number of calls at once on an empty store exactly one
    /// MUST answer `true`.
    async fn create_first(
        &self,
        project: NewProject,
        keys: [KeyRecord; 2],
    ) -> Result<bool, StoreError>;

    /// Whom the key with this digest speaks for.
    ///
    /// MUST see every change that returned before this call began, from any process: a replaced
    /// key, and each key of an archived project, is unknown to the very next request
    /// (docs/contract.md, Callers).
    async fn caller(&self, key: Digest) -> Result<Option<Caller>, StoreError>;

    /// Replaces the project's present key of the same mode with `key`.
    ///
    /// `false` means there is no such project. The old key MUST be unknown once this returns.
    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError>;

    /// Changes the settings that `change` names, by [`Project::changed`], and gives the project after
    /// that.
    ///
    /// Calls at once that name different settings MUST NOT undo each other, and `rules` MUST be asked
    /// about the very project that is kept.
    async fn change(
        &self,
        project: ProjectId,
        change: ProjectChange,
        rules: ProjectRules,
    ) -> Result<Changed, StoreError>;

    /// Archives a project at this instant, or restores it without one, by [`Project::archived`], and
    /// gives the project after that; `None` means there is none.
    ///
    /// Its keys MUST be unknown once an archival returns, and known again once a restoration does.
    async fn set_archived(
        &self,
        project: ProjectId,
        at: Option<Timestamp>,
    ) -> Result<Option<Project>, StoreError>;

    /// One project, or `None`.
    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError>;

    /// The present keys of a project, live first; empty for an unknown project.
    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError>;

    /// Every project, oldest first.
    async fn list(&self) -> Result<Vec<Project>, StoreError>;
}

/// Keeps the last use of API keys.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait KeyUseStore: Send + Sync {
    /// Notes these uses, one per key at most. A use within [`KeyUse::NOTED_EVERY`] of the one on
    /// record, or before it, changes nothing, whichever process noted that; nor does one of a key
    /// that is no longer in force.
    async fn note(&self, uses: Vec<KeyUse>) -> Result<(), StoreError>;
}

/// Keeps the addresses at which other systems ask for codes to be delivered.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait HookStore: Send + Sync {
    /// Puts a new hook on record; `false` if its project has [`Hook::MOST`]. Two at once MUST NOT both take
    /// the last place.
    async fn add_hook(&self, hook: Hook) -> Result<bool, StoreError>;

    /// The hooks of a project, oldest first, equals by id.
    async fn hooks(&self, project: ProjectId) -> Result<Vec<Hook>, StoreError>;

    /// The hook of this id, and whom it speaks for: the project, in the hook's mode, by that mode's
    /// present key. `None` for one of an archived project.
    ///
    /// MUST see every change that returned before this call began, from any process.
    async fn hook_caller(&self, hook: HookId) -> Result<Option<HookCaller>, StoreError>;

    /// Changes a hook by [`HookChange::apply`]; `false` if the project has no such hook. Of two at once neither
    /// MUST undo what the other changes.
    async fn change_hook(
        &self,
        project: ProjectId,
        hook: HookId,
        change: HookChange,
    ) -> Result<bool, StoreError>;

    /// Replaces a hook's secret by [`KeptSecret::replace`](dwar_kernel::KeptSecret::replace); `false` if
    /// the project has no such hook.
    async fn replace_hook_secret(
        &self,
        project: ProjectId,
        hook: HookId,
        secret: NewSecret,
    ) -> Result<bool, StoreError>;

    /// Removes a hook; `false` if the project has no such hook. It MUST be unknown once this returns.
    async fn remove_hook(&self, project: ProjectId, hook: HookId) -> Result<bool, StoreError>;
}
