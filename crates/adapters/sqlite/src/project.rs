use crate::convert::{Row, stored_count};
use crate::error::Failure;
use crate::pool::SqliteStore;
use crate::schema::{api_keys, projects};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, Paise, ProjectId, StoreError};
use dwar_project::{
    Caller, KeyRecord, Messages, NewProject, Prices, Project, ProjectChange, ProjectStore, Routing,
};

#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = projects, treat_none_as_null = true)]
struct ProjectRow {
    id: String,
    name: String,
    identity_lookup: bool,
    identity_delete: bool,
    whatsapp_price: Option<i64>,
    sms_price: Option<i64>,
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
    created_at: i64,
}

impl From<Project> for ProjectRow {
    fn from(project: Project) -> Self {
        let Project { messages, routing, .. } = project;
        Self {
            id: project.id.to_string(),
            name: project.name,
            identity_lookup: project.identity_lookup,
            identity_delete: project.identity_delete,
            whatsapp_price: project.prices.whatsapp.map(|price| price.0),
            sms_price: project.prices.sms.map(|price| price.0),
            brand: messages.brand,
            language: messages.language,
            sms_text: messages.text,
            sms_template_id: messages.template_id,
            sms_domain: messages.domain,
            sms_app_hash: messages.app_hash,
            whatsapp_providers: routing.whatsapp.map(stored_list),
            sms_providers: routing.sms.map(stored_list),
            fallback_seconds: routing.fallback_seconds.map(stored_count),
            low_balance: project.low_balance.map(|paise| paise.0),
            created_at: project.created_at.timestamp_millis(),
        }
    }
}

impl TryFrom<ProjectRow> for Project {
    type Error = StoreError;

    fn try_from(stored: ProjectRow) -> Result<Self, StoreError> {
        let row = Row::new("projects", &stored.id);
        let fallback = stored.fallback_seconds;
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            identity_lookup: stored.identity_lookup,
            identity_delete: stored.identity_delete,
            prices: Prices {
                whatsapp: stored.whatsapp_price.map(Paise),
                sms: stored.sms_price.map(Paise),
            },
            routing: Routing {
                whatsapp: stored.whatsapp_providers.as_deref().map(list),
                sms: stored.sms_providers.as_deref().map(list),
                fallback_seconds: fallback
                    .map(|seconds| row.count("fallback_seconds", seconds))
                    .transpose()?,
            },
            low_balance: stored.low_balance.map(Paise),
            created_at: row.instant("created_at", stored.created_at)?,
            name: stored.name,
            messages: Messages {
                brand: stored.brand,
                language: stored.language,
                text: stored.sms_text,
                template_id: stored.sms_template_id,
                domain: stored.sms_domain,
                app_hash: stored.sms_app_hash,
            },
        })
    }
}

fn stored_list(providers: Vec<String>) -> String {
    providers.join(",")
}

fn list(stored: &str) -> Vec<String> {
    stored.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = api_keys)]
struct KeyRow {
    id: String,
    project_id: String,
    mode: String,
    digest: Vec<u8>,
    last_four: String,
    created_at: i64,
}

impl KeyRow {
    fn new(project: ProjectId, key: KeyRecord) -> Self {
        Self {
            id: key.id.to_string(),
            project_id: project.to_string(),
            mode: key.mode.to_string(),
            digest: key.digest.0.to_vec(),
            last_four: key.last_four,
            created_at: key.created_at.timestamp_millis(),
        }
    }
}

impl TryFrom<KeyRow> for KeyRecord {
    type Error = StoreError;

    fn try_from(stored: KeyRow) -> Result<Self, StoreError> {
        let row = Row::new("api_keys", &stored.id);
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            mode: row.parse("mode", &stored.mode)?,
            digest: row.digest("digest", &stored.digest)?,
            created_at: row.instant("created_at", stored.created_at)?,
            last_four: stored.last_four,
        })
    }
}

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
            let found = api_keys::table
                .inner_join(projects::table)
                .filter(api_keys::digest.eq(key.0.as_slice()))
                .select((api_keys::id, api_keys::mode, ProjectRow::as_select()))
                .get_result::<(String, String, ProjectRow)>(connection)
                .optional()?;
            let Some((key, mode, project)) = found else { return Ok(None) };
            let row = Row::new("api_keys", &key);
            let (mode, key) = (row.parse("mode", &mode)?, row.parse("id", &key)?);
            Ok(Some(Caller { project: project.try_into()?, mode, key }))
        })
        .await
    }

    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError> {
        self.write(move |connection| {
            if load(connection, project)?.is_none() {
                return Ok(false);
            }
            let present = api_keys::table
                .filter(api_keys::project_id.eq(project.to_string()))
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
    ) -> Result<Option<Project>, StoreError> {
        self.write(move |connection| {
            let Some(mut project) = load(connection, project)? else { return Ok(None) };
            project.apply(change);
            let row = ProjectRow::from(project.clone());
            diesel::update(&row).set(&row).execute(connection)?;
            Ok(Some(project))
        })
        .await
    }

    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError> {
        self.read(move |connection| load(connection, project)).await
    }

    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError> {
        self.read(move |connection| {
            let rows = api_keys::table
                .filter(api_keys::project_id.eq(project.to_string()))
                .order(api_keys::mode)
                .select(KeyRow::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(KeyRecord::try_from).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.scan(|connection| {
            let rows = projects::table
                .order((projects::created_at, projects::id))
                .select(ProjectRow::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(Project::try_from).collect::<Result<_, _>>()?)
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
    let row = projects::table
        .find(project.to_string())
        .select(ProjectRow::as_select())
        .get_result(connection)
        .optional()?;
    Ok(row.map(Project::try_from).transpose()?)
}
