use crate::PostgresStore;
use crate::caller::CallerOf;
use crate::connection::error::Failure;
use crate::connection::lock::Lock;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, ProjectId, StoreError, Timestamp};
use dwar_project::{
    Caller, Changed, KeyRecord, NewProject, Project, ProjectChange, ProjectRules, ProjectStore,
};
use dwar_sql::schema::{api_keys, projects};
use dwar_sql::{Id, KeyRow, ProjectRow, read_all, read_each, read_one};

fn insert(
    conn: &mut PgConnection,
    project: &NewProject,
    keys: &[KeyRecord; 2],
) -> Result<(), Failure> {
    let row = ProjectRow::from(project.clone().into_project());
    diesel::insert_into(projects::table).values(row).execute(conn)?;
    let keys = keys.clone().map(|key| KeyRow::new(project.id, key));
    diesel::insert_into(api_keys::table).values(Vec::from(keys)).execute(conn)?;
    Ok(())
}

/// The project, to be changed by this transaction alone.
fn lock(conn: &mut PgConnection, project: ProjectId) -> Result<Option<Project>, Failure> {
    let row: Option<ProjectRow> = projects::table
        .find(Id::from(project))
        .select(ProjectRow::as_select())
        // The key is left alone: whoever refers to the project does not wait.
        .for_no_key_update()
        .first(conn)
        .optional()?;
    Ok(row.map(Project::try_from).transpose()?)
}

fn save(conn: &mut PgConnection, project: &Project) -> Result<(), Failure> {
    let row = ProjectRow::from(project.clone());
    diesel::update(projects::table.find(Id::from(project.id))).set(row).execute(conn)?;
    Ok(())
}

#[async_trait]
impl ProjectStore for PostgresStore {
    async fn create(&self, project: NewProject, keys: [KeyRecord; 2]) -> Result<(), StoreError> {
        self.pool.transaction(move |conn| insert(conn, &project, &keys)).await
    }

    async fn create_first(
        &self,
        project: NewProject,
        keys: [KeyRecord; 2],
    ) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                Lock::FirstProject.take(conn)?;
                let any = diesel::select(diesel::dsl::exists(projects::table.select(projects::id)))
                    .get_result(conn)?;
                if any {
                    return Ok(false);
                }
                insert(conn, &project, &keys)?;
                Ok(true)
            })
            .await
    }

    async fn caller(&self, key: Digest) -> Result<Option<Caller>, StoreError> {
        self.callers.ask(CallerOf(key)).await
    }

    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| {
                let known: Option<Id> = projects::table
                    .find(Id::from(project))
                    .select(projects::id)
                    .for_key_share()
                    .first(conn)
                    .optional()?;
                if known.is_none() {
                    return Ok(false);
                }
                let row = KeyRow::new(project, key.clone());
                diesel::insert_into(api_keys::table)
                    .values(&row)
                    .on_conflict((api_keys::project_id, api_keys::mode))
                    .do_update()
                    .set((api_keys::id.eq(row.id), &row))
                    .execute(conn)?;
                Ok(true)
            })
            .await
    }

    async fn change(
        &self,
        project: ProjectId,
        change: ProjectChange,
        rules: ProjectRules,
    ) -> Result<Changed, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| {
                let Some(found) = lock(conn, project)? else { return Ok(Changed::NoSuchProject) };
                let changed = match found.changed(change.clone(), &rules) {
                    Ok(changed) => changed,
                    Err(cause) => return Ok(Changed::Refused(cause)),
                };
                save(conn, &changed)?;
                Ok(Changed::Done(Box::new(changed)))
            })
            .await
    }

    async fn set_archived(
        &self,
        project: ProjectId,
        at: Option<Timestamp>,
    ) -> Result<Option<Project>, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| {
                let changed = lock(conn, project)?.map(|found| found.archived(at));
                if let Some(changed) = &changed {
                    save(conn, changed)?;
                }
                Ok(changed)
            })
            .await
    }

    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                let query = projects::table.find(Id::from(project));
                Ok(read_one!(ProjectRow of query, conn))
            })
            .await
    }

    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                let query = api_keys::table
                    .filter(api_keys::project_id.eq(Id::from(project)))
                    .order(api_keys::mode);
                Ok(read_all!(KeyRow of query, conn))
            })
            .await
    }

    async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.pool
            .run(move |conn| {
                let query = projects::table.order((projects::created_at, projects::id));
                Ok(read_each!(ProjectRow of query, conn))
            })
            .await
    }
}
