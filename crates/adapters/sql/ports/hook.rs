use crate::dialect::Store;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{HookId, NewSecret, ProjectId, StoreError};
use dwar_project::{Hook, HookCaller, HookChange, HookStore};
use dwar_sql::schema::{api_keys, hooks, projects};
use dwar_sql::{At, CallerRow, ChangedHook, HookRow, Id, read_all};

#[async_trait]
impl HookStore for Store {
    async fn add_hook(&self, hook: Hook) -> Result<bool, StoreError> {
        self.of(hook.project_mode.project)
            .write("project.add_hook", move |conn| {
                // A concurrent insert waits here and then counts this hook too.
                let owner =
                    projects::table.find(Id::from(hook.project_mode.project)).select(projects::id);
                let _held: Option<Id> = for_no_key_update!(owner).first(conn).optional()?;
                let own =
                    hooks::table.filter(hooks::project_id.eq(Id::from(hook.project_mode.project)));
                let there: i64 = own.count().get_result(conn)?;
                if there >= Hook::MOST as i64 {
                    return Ok(false);
                }
                diesel::insert_into(hooks::table).values(HookRow::from(&hook)).execute(conn)?;
                Ok(true)
            })
            .await
    }

    async fn hooks(&self, project: ProjectId) -> Result<Vec<Hook>, StoreError> {
        self.of(project)
            .read("project.hooks", move |conn| {
                let query = hooks::table
                    .filter(hooks::project_id.eq(Id::from(project)))
                    .order((hooks::created_at, hooks::id));
                Ok(read_all!(HookRow of query, conn))
            })
            .await
    }

    async fn hook_caller(&self, hook: HookId) -> Result<Option<HookCaller>, StoreError> {
        self.read("project.hook_caller", move |conn| {
            let its_key = api_keys::project_id.eq(projects::id).and(api_keys::mode.eq(hooks::mode));
            let found: Option<(HookRow, CallerRow)> = hooks::table
                .inner_join(projects::table.on(projects::id.eq(hooks::project_id)))
                .inner_join(api_keys::table.on(its_key))
                .filter(hooks::id.eq(Id::from(hook)))
                .filter(projects::archived_at.is_null())
                .select((HookRow::as_select(), CallerRow::as_select()))
                .first(conn)
                .optional()?;
            let Some((hook, caller)) = found else { return Ok(None) };
            Ok(Some(HookCaller { hook: hook.try_into()?, caller: caller.try_into()? }))
        })
        .await
    }

    async fn change_hook(
        &self,
        project: ProjectId,
        hook: HookId,
        change: HookChange,
    ) -> Result<bool, StoreError> {
        self.of(project)
            .write("project.change_hook", move |conn| {
                let row = hooks::table.filter(hooks::project_id.eq(Id::from(project)));
                let row = row.filter(hooks::id.eq(Id::from(hook)));
                let Some(changed) = ChangedHook::of(change) else {
                    return Ok(row.count().get_result::<i64>(conn)? == 1);
                };
                Ok(diesel::update(row).set(changed).execute(conn)? == 1)
            })
            .await
    }

    async fn replace_hook_secret(
        &self,
        project: ProjectId,
        hook: HookId,
        secret: NewSecret,
    ) -> Result<bool, StoreError> {
        self.of(project)
            .write("project.replace_hook_secret", move |conn| {
                let row = hooks::table.filter(hooks::project_id.eq(Id::from(project)));
                // The update moves the row's own secret to the previous one, so two concurrent
                // updates lose neither.
                let replaced = diesel::update(row.filter(hooks::id.eq(Id::from(hook))))
                    .set((
                        hooks::previous_secret.eq(hooks::secret.nullable()),
                        hooks::previous_until.eq(At::from(secret.previous_until)),
                        hooks::secret.eq(&secret.secret.0),
                    ))
                    .execute(conn)?;
                Ok(replaced == 1)
            })
            .await
    }

    async fn remove_hook(&self, project: ProjectId, hook: HookId) -> Result<bool, StoreError> {
        self.of(project)
            .write("project.remove_hook", move |conn| {
                let row = hooks::table.filter(hooks::project_id.eq(Id::from(project)));
                let row = row.filter(hooks::id.eq(Id::from(hook)));
                Ok(diesel::delete(row).execute(conn)? == 1)
            })
            .await
    }
}
