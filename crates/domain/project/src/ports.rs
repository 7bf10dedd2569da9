use crate::{
    Caller, Hook, HookCaller, HookChange, KeyRecord, KeyUse, NewProject, Project, ProjectChange,
    ProjectChangeResult, ProjectRules,
};
use async_trait::async_trait;
use dwar_kernel::{Digest, HookId, NewSecret, PriceList, ProjectId, StoreError, Timestamp};

/// Keeps projects, and looks up callers by the digests of their API keys.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ProjectStore: Send + Sync {
    /// Creates a project with one key per mode.
    async fn create(&self, project: NewProject, keys: [KeyRecord; 2]) -> Result<(), StoreError>;

    /// Creates a project with one key per mode if the store has no project yet.
    ///
    /// `false` means that a project exists already. Exactly one of any number of concurrent calls on an
    /// empty store MUST return `true`.
    async fn create_first(
        &self,
        project: NewProject,
        keys: [KeyRecord; 2],
    ) -> Result<bool, StoreError>;

    /// The project and mode of the key with this digest; `None` if no such key is in force.
    ///
    /// MUST see every change that returned before this call began, from any process: a replaced key, and each
    /// key of an archived project, is unknown to the very next request (docs/contract.md, Callers).
    async fn caller(&self, key: Digest) -> Result<Option<Caller>, StoreError>;

    /// Replaces the project's current key of the same mode with `key`.
    ///
    /// `false` means that there is no such project. The old key MUST be unknown once this returns.
    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError>;

    /// Changes the settings named in `change` by [`Project::changed`], and returns the changed project.
    ///
    /// Concurrent calls that name different settings MUST NOT undo each other, and `rules` MUST judge exactly
    /// the project that is stored.
    async fn change(
        &self,
        project: ProjectId,
        change: ProjectChange,
        rules: ProjectRules,
    ) -> Result<ProjectChangeResult, StoreError>;

    /// Archives a project at this instant, or restores it if `at` is `None`, by [`Project::archived`], and
    /// returns the changed project; `None` means that there is no such project.
    ///
    /// Its keys MUST be unknown once an archival returns, and known again once a restoration returns.
    async fn set_archived(
        &self,
        project: ProjectId,
        at: Option<Timestamp>,
    ) -> Result<Option<Project>, StoreError>;

    /// The project with this id, or `None` if there is none.
    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError>;

    /// The current keys of a project, live first; empty for an unknown project.
    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError>;

    /// All projects, archived ones included, oldest first.
    async fn list(&self) -> Result<Vec<Project>, StoreError>;

    /// Projects in use, oldest first, whose wallet has had money and now has less available than the price of a channel,
    /// or a balance below the threshold; and those of `others` that are in use. `prices` apply where a project has
    /// no price of its own. Called every few seconds.
    async fn short_of_money(
        &self,
        prices: PriceList,
        others: Vec<ProjectId>,
    ) -> Result<Vec<Project>, StoreError>;
}

/// Keeps the time and address of the last use of each API key.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait KeyUseStore: Send + Sync {
    /// Records uses, at most one per key. A use within [`KeyUse::NOTED_EVERY`] of the recorded one, or before
    /// it, changes nothing, even if another process recorded that one. A use of a key that is no longer in
    /// force changes nothing either.
    async fn note(&self, uses: Vec<KeyUse>) -> Result<(), StoreError>;
}

/// Keeps the hooks at which other systems ask for codes to be delivered.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait HookStore: Send + Sync {
    /// Stores a new hook; `false` if its project has [`Hook::MOST`]. Two concurrent calls MUST NOT both take
    /// the last place.
    async fn add_hook(&self, hook: Hook) -> Result<bool, StoreError>;

    /// The hooks of a project, oldest first, equal times by id.
    async fn hooks(&self, project: ProjectId) -> Result<Vec<Hook>, StoreError>;

    /// The hook with this id, with its project, its mode and the current key of that mode. `None` if there is
    /// no such hook or its project is archived.
    ///
    /// MUST see every change that returned before this call began, from any process.
    async fn hook_caller(&self, hook: HookId) -> Result<Option<HookCaller>, StoreError>;

    /// Changes a hook by [`HookChange::apply`]; `false` if the project has no such hook. Concurrent changes
    /// MUST NOT undo each other.
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

    /// Removes a hook; `false` if the project has no such hook. The hook MUST be unknown once this returns.
    async fn remove_hook(&self, project: ProjectId, hook: HookId) -> Result<bool, StoreError>;
}
