use crate::PostgresStore;
use crate::convert::{Row, stored_count};
use crate::error::Failure;
use crate::lock::Lock;
use crate::schema::{api_keys, projects};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, Paise, ProjectId, StoreError, Timestamp};
use dwar_project::{
    Caller, KeyRecord, Messages, NewProject, Prices, Project, ProjectChange, ProjectStore, Routing,
};
use uuid::Uuid;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = projects, treat_none_as_null = true)]
struct ProjectRow {
    id: Uuid,
    name: String,
    identity_lookup: bool,
    identity_delete: bool,
    whatsapp_price: Option<i64>,
    sms_price: Option<i64>,
    created_at: Timestamp,
    brand: Option<String>,
    language: Option<String>,
    sms_text: Option<String>,
    sms_template_id: Option<String>,
    sms_domain: Option<String>,
    sms_app_hash: Option<String>,
    whatsapp_providers: Option<String>,
    sms_providers: Option<String>,
    fallback_seconds: Option<i32>,
    low_balance: Option<i64>,
}

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = api_keys)]
struct KeyRow {
    id: Uuid,
    project_id: Uuid,
    mode: String,
    digest: Vec<u8>,
    last_four: String,
    created_at: Timestamp,
}

impl From<Project> for ProjectRow {
    fn from(project: Project) -> Self {
        Self {
            id: project.id.uuid(),
            name: project.name,
            identity_lookup: project.identity_lookup,
            identity_delete: project.identity_delete,
            whatsapp_price: project.prices.whatsapp.map(|price| price.0),
            sms_price: project.prices.sms.map(|price| price.0),
            created_at: project.created_at,
            brand: project.messages.brand,
            language: project.messages.language,
            sms_text: project.messages.text,
            sms_template_id: project.messages.template_id,
            sms_domain: project.messages.domain,
            sms_app_hash: project.messages.app_hash,
            whatsapp_providers: project.routing.whatsapp.map(join),
            sms_providers: project.routing.sms.map(join),
            fallback_seconds: project.routing.fallback_seconds.map(stored_count),
            low_balance: project.low_balance.map(|paise| paise.0),
        }
    }
}

impl TryFrom<ProjectRow> for Project {
    type Error = StoreError;

    fn try_from(row: ProjectRow) -> Result<Self, StoreError> {
        let read = Row::new("projects", row.id);
        let seconds = row.fallback_seconds.map(|stored| read.count("fallback_seconds", stored));
        Ok(Self {
            id: row.id.into(),
            name: row.name,
            identity_lookup: row.identity_lookup,
            identity_delete: row.identity_delete,
            prices: Prices {
                whatsapp: row.whatsapp_price.map(Paise),
                sms: row.sms_price.map(Paise),
            },
            messages: Messages {
                brand: row.brand,
                language: row.language,
                text: row.sms_text,
                template_id: row.sms_template_id,
                domain: row.sms_domain,
                app_hash: row.sms_app_hash,
            },
            routing: Routing {
                whatsapp: row.whatsapp_providers.as_deref().map(split),
                sms: row.sms_providers.as_deref().map(split),
                fallback_seconds: seconds.transpose()?,
            },
            low_balance: row.low_balance.map(Paise),
            created_at: row.created_at,
        })
    }
}

/// Names of providers hold no comma; no text stands for no provider.
fn join(providers: Vec<String>) -> String {
    providers.join(",")
}

fn split(providers: &str) -> Vec<String> {
    providers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl KeyRow {
    fn new(project: ProjectId, key: KeyRecord) -> Self {
        Self {
            id: key.id.uuid(),
            project_id: project.uuid(),
            mode: key.mode.as_str().to_owned(),
            digest: key.digest.0.to_vec(),
            last_four: key.last_four,
            created_at: key.created_at,
        }
    }
}

impl TryFrom<KeyRow> for KeyRecord {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        let read = Row::new("api_keys", row.id);
        Ok(Self {
            id: row.id.into(),
            mode: read.parse("mode", &row.mode)?,
            digest: read.digest("digest", row.digest)?,
            last_four: row.last_four,
            created_at: row.created_at,
        })
    }
}

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
        let found: Option<(ProjectRow, Uuid, String)> = self
            .pool
            .run(move |conn| {
                let found = projects::table
                    .inner_join(api_keys::table)
                    .filter(api_keys::digest.eq(key.0.as_slice()))
                    .select((ProjectRow::as_select(), api_keys::id, api_keys::mode))
                    .get_result(conn)
                    .optional()?;
                Ok(found)
            })
            .await?;
        let Some((project, key, mode)) = found else { return Ok(None) };
        let mode = Row::new("api_keys", key).parse("mode", &mode)?;
        Ok(Some(Caller { project: project.try_into()?, mode, key: key.into() }))
    }

    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                let known: Option<Uuid> = projects::table
                    .find(project.uuid())
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
    ) -> Result<Option<Project>, StoreError> {
        self.pool
            .transaction(move |conn| {
                let row: Option<ProjectRow> = projects::table
                    .find(project.uuid())
                    .select(ProjectRow::as_select())
                    // The key is left alone: whoever refers to the project does not wait.
                    .for_no_key_update()
                    .first(conn)
                    .optional()?;
                let Some(row) = row else { return Ok(None) };
                let mut changed = Project::try_from(row)?;
                changed.apply(change.clone());
                diesel::update(projects::table.find(project.uuid()))
                    .set(ProjectRow::from(changed.clone()))
                    .execute(conn)?;
                Ok(Some(changed))
            })
            .await
    }

    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError> {
        self.pool
            .run(move |conn| {
                let row: Option<ProjectRow> = projects::table
                    .find(project.uuid())
                    .select(ProjectRow::as_select())
                    .first(conn)
                    .optional()?;
                Ok(row.map(Project::try_from).transpose()?)
            })
            .await
    }

    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError> {
        self.pool
            .run(move |conn| {
                let rows: Vec<KeyRow> = api_keys::table
                    .filter(api_keys::project_id.eq(project.uuid()))
                    .order(api_keys::mode)
                    .select(KeyRow::as_select())
                    .load(conn)?;
                let keys = rows.into_iter().map(KeyRecord::try_from).collect::<Result<_, _>>()?;
                Ok(keys)
            })
            .await
    }

    async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.pool
            .run(move |conn| {
                let rows: Vec<ProjectRow> = projects::table
                    .order((projects::created_at, projects::id))
                    .select(ProjectRow::as_select())
                    .load(conn)?;
                Ok(rows.into_iter().map(Project::try_from).collect::<Result<_, _>>()?)
            })
            .await
    }
}
