use crate::connection::error::Failure;
use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, ProjectId, StoreError, Timestamp};
use dwar_project::{
    Caller, Changed, KeyRecord, NewProject, Project, ProjectChange, ProjectRules, ProjectStore,
};
use dwar_sql::schema::{api_keys, projects};
use dwar_sql::{CallerRow, Id, KeyRow, ProjectRow, read_all, read_each, read_one};

#[async_trait]
impl ProjectStore for SqliteStore {
    async fn create(&self, project: NewProject, keys: [KeyRecord; 2]) -> Result<(), StoreError> {
        self.write(move |connection| insert(connection, project, keys)).await
    }

    async fn create_first(
        &self,
        project: NewProject,
        keys: [KeyRecord; 2],
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            if projects::table.count().get_result::<i64>(connection)? > 0 {
                return Ok(false);
            }
            insert(connection, project, keys).map(|()| true)
        })
        .await
    }

    async fn caller(&self, key: Digest) -> Result<Option<Caller>, StoreError> {
        self.read(move |connection| {
            let query = projects::table
                .inner_join(api_keys::table)
                .filter(api_keys::digest.eq(key.0.as_slice()))
                .filter(projects::archived_at.is_null());
            Ok(read_one!(CallerRow of query, connection))
        })
        .await
    }

    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError> {
        self.of(project)
            .write(move |connection| {
                if load(connection, project)?.is_none() {
                    return Ok(false);
                }
                let present = api_keys::table
                    .filter(api_keys::project_id.eq(Id::from(project)))
                    .filter(api_keys::mode.eq(key.mode.as_str()));
                diesel::delete(present).execute(connection)?;
                let row = KeyRow::new(project, key);
                diesel::insert_into(api_keys::table).values(row).execute(connection)?;
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
        self.of(project)
            .write(move |connection| {
                let Some(found) = load(connection, project)? else {
                    return Ok(Changed::NoSuchProject);
                };
                let changed = match found.changed(change, &rules) {
                    Ok(changed) => changed,
                    Err(cause) => return Ok(Changed::Refused(cause)),
                };
                save(connection, &changed)?;
                Ok(Changed::Done(Box::new(changed)))
            })
            .await
    }

    async fn set_archived(
        &self,
        project: ProjectId,
        at: Option<Timestamp>,
    ) -> Result<Option<Project>, StoreError> {
        self.of(project)
            .write(move |connection| {
                let changed = load(connection, project)?.map(|found| found.archived(at));
                if let Some(changed) = &changed {
                    save(connection, changed)?;
                }
                Ok(changed)
            })
            .await
    }

    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError> {
        self.of(project).read(move |connection| load(connection, project)).await
    }

    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError> {
        self.of(project)
            .read(move |connection| {
                let query = api_keys::table
                    .filter(api_keys::project_id.eq(Id::from(project)))
                    .order(api_keys::mode);
                Ok(read_all!(KeyRow of query, connection))
            })
            .await
    }

    async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.scan(|connection| {
            let query = projects::table.order((projects::created_at, projects::id));
            Ok(read_each!(ProjectRow of query, connection))
        })
        .await
    }
}

fn insert(
    connection: &mut SqliteConnection,
    project: NewProject,
    keys: [KeyRecord; 2],
) -> Result<(), Failure> {
    let keys = keys.map(|key| KeyRow::new(project.id, key));
    diesel::insert_into(projects::table)
        .values(ProjectRow::from(project.into_project()))
        .execute(connection)?;
    for key in keys {
        diesel::insert_into(api_keys::table).values(key).execute(connection)?;
    }
    Ok(())
}

fn load(connection: &mut SqliteConnection, project: ProjectId) -> Result<Option<Project>, Failure> {
    let query = projects::table.find(Id::from(project));
    Ok(read_one!(ProjectRow of query, connection))
}

fn save(connection: &mut SqliteConnection, project: &Project) -> Result<(), Failure> {
    let row = ProjectRow::from(project.clone());
    diesel::update(&row).set(&row).execute(connection)?;
    Ok(())
}
