use crate::dialect::{Conn, Failure, Store, take};
use async_trait::async_trait;
use diesel::dsl::{exists, select, sql};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use dwar_kernel::{Digest, PriceList, ProjectId, StoreError, Timestamp};
use dwar_project::{
    Caller, KeyRecord, NewProject, Project, ProjectChange, ProjectChangeResult, ProjectRules,
    ProjectStore,
};
use dwar_sql::schema::{api_keys, projects, wallets};
use dwar_sql::{Id, KeyRow, Lock, ProjectRow, read_all, read_each, read_one};

#[async_trait]
impl ProjectStore for Store {
    async fn create(&self, project: NewProject, keys: [KeyRecord; 2]) -> Result<(), StoreError> {
        self.write("project.create", move |conn| insert(conn, &project, &keys)).await
    }

    async fn create_first(
        &self,
        project: NewProject,
        keys: [KeyRecord; 2],
    ) -> Result<bool, StoreError> {
        self.write("project.create_first", move |conn| {
            take(conn, Lock::FirstProject)?;
            if select(exists(projects::table.select(projects::id))).get_result(conn)? {
                return Ok(false);
            }
            insert(conn, &project, &keys)?;
            Ok(true)
        })
        .await
    }

    async fn caller(&self, key: Digest) -> Result<Option<Caller>, StoreError> {
        self.look_up_caller(key).await
    }

    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError> {
        self.of(project)
            .write("project.replace_key", move |conn| {
                let known = projects::table.find(Id::from(project)).select(projects::id);
                let known: Option<Id> = for_key_share!(known).first(conn).optional()?;
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
    ) -> Result<ProjectChangeResult, StoreError> {
        self.of(project)
            .write("project.change", move |conn| {
                let Some(found) = lock(conn, project)? else {
                    return Ok(ProjectChangeResult::NoSuchProject);
                };
                let changed = match found.changed(change.clone(), &rules) {
                    Ok(changed) => changed,
                    Err(cause) => return Ok(ProjectChangeResult::Refused(cause)),
                };
                save(conn, &changed)?;
                Ok(ProjectChangeResult::Done(Box::new(changed)))
            })
            .await
    }

    async fn set_archived(
        &self,
        project: ProjectId,
        at: Option<Timestamp>,
    ) -> Result<Option<Project>, StoreError> {
        self.of(project)
            .write("project.set_archived", move |conn| {
                let changed = lock(conn, project)?.map(|found| found.archived(at));
                if let Some(changed) = &changed {
                    save(conn, changed)?;
                }
                Ok(changed)
            })
            .await
    }

    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError> {
        self.of(project)
            .read("project.find", move |conn| {
                let query = projects::table.find(Id::from(project));
                Ok(read_one!(ProjectRow of query, conn))
            })
            .await
    }

    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError> {
        self.of(project)
            .read("project.keys", move |conn| {
                let query = api_keys::table
                    .filter(api_keys::project_id.eq(Id::from(project)))
                    .order(api_keys::mode);
                Ok(read_all!(KeyRow of query, conn))
            })
            .await
    }

    async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.scan("project.list", |conn| {
            let query = projects::table.order((projects::created_at, projects::id));
            Ok(read_each!(ProjectRow of query, conn))
        })
        .await
    }

    async fn short_of_money(
        &self,
        prices: PriceList,
        others: Vec<ProjectId>,
    ) -> Result<Vec<Project>, StoreError> {
        self.scan("project.short_of_money", move |conn| {
            let others: Vec<Id> = others.iter().copied().map(Id::from).collect();
            let short = sql::<Bool>(
                "(wallets.entries > 0 AND (wallets.balance < projects.low_balance \
                 OR wallets.balance - wallets.held < coalesce(projects.whatsapp_price, ",
            )
            .bind::<BigInt, _>(prices.whatsapp.0)
            .sql(") OR wallets.balance - wallets.held < coalesce(projects.sms_price, ")
            .bind::<BigInt, _>(prices.sms.0)
            .sql(")))");
            let query = projects::table
                .left_join(wallets::table)
                .filter(projects::archived_at.is_null())
                .filter(short.or(projects::id.eq_any(others)))
                .order((projects::created_at, projects::id));
            Ok(read_each!(ProjectRow of query, conn))
        })
        .await
    }
}

fn insert(conn: &mut Conn, project: &NewProject, keys: &[KeyRecord; 2]) -> Result<(), Failure> {
    let row = ProjectRow::from(project.clone().into_project());
    diesel::insert_into(projects::table).values(row).execute(conn)?;
    let keys = keys.clone().map(|key| KeyRow::new(project.id, key));
    diesel::insert_into(api_keys::table).values(keys).execute(conn)?;
    Ok(())
}

/// Reads and locks the project against other changes. Inserts that refer to the project do not
/// wait, because its key stays unlocked.
fn lock(conn: &mut Conn, project: ProjectId) -> Result<Option<Project>, Failure> {
    let query = for_no_key_update!(projects::table.find(Id::from(project)));
    Ok(read_one!(ProjectRow of query, conn))
}

fn save(conn: &mut Conn, project: &Project) -> Result<(), Failure> {
    let row = ProjectRow::from(project.clone());
    diesel::update(projects::table.find(Id::from(project.id))).set(row).execute(conn)?;
    Ok(())
}
