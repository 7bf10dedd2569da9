//! Rows of projects and of their API keys.

use crate::schema::{api_keys, projects};
use crate::{At, Id, Row, stored_claims, stored_count};
use diesel::prelude::*;
use dwar_kernel::{Paise, ProjectId, StoreError};
use dwar_project::{
    Caller, EventsFeed, KeyRecord, KeyUsage, Messages, Prices, Project, Relay, Routing,
};

/// Row of `projects`; lists of providers are separated by commas.
#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = projects, treat_none_as_null = true)]
pub struct ProjectRow {
    pub id: Id,
    pub name: String,
    pub identity_lookup: bool,
    pub identity_delete: bool,
    pub whatsapp_price: Option<i64>,
    pub sms_price: Option<i64>,
    pub created_at: At,
    pub brand: Option<String>,
    pub language: Option<String>,
    pub sms_text: Option<String>,
    pub sms_template_id: Option<String>,
    pub sms_domain: Option<String>,
    pub sms_app_hash: Option<String>,
    pub whatsapp_providers: Option<String>,
    pub sms_providers: Option<String>,
    pub fallback_seconds: Option<i32>,
    pub low_balance: Option<i64>,
    pub daily_spend: Option<i64>,
    pub archived_at: Option<At>,
    pub relay_live: bool,
    pub relay_test: bool,
    pub own_issuer: bool,
    pub token_claims: Option<String>,
    pub token_type: String,
    pub sms_last_lines: Option<String>,
    pub events_feed: bool,
    pub events_feed_run: i32,
    pub guard: String,
}

/// A project, joined with the API key by which it was found.
#[derive(Queryable, Selectable)]
#[diesel(table_name = projects)]
pub struct CallerRow {
    #[diesel(embed)]
    pub project: ProjectRow,
    #[diesel(select_expression = api_keys::id)]
    pub key: Id,
    #[diesel(select_expression = api_keys::mode)]
    pub mode: String,
}

impl TryFrom<CallerRow> for Caller {
    type Error = StoreError;

    fn try_from(row: CallerRow) -> Result<Self, StoreError> {
        let read = Row::new("api_keys", row.key);
        Ok(Self {
            mode: read.parse("mode", &row.mode)?,
            key: read.id("id", row.key)?,
            project: row.project.try_into()?,
        })
    }
}

/// Row of `api_keys`: the digest of a key and its use.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = api_keys, treat_none_as_null = true, treat_none_as_default_value = false)]
pub struct KeyRow {
    pub id: Id,
    pub project_id: Id,
    pub mode: String,
    pub digest: Vec<u8>,
    pub ending: String,
    pub created_at: At,
    pub used_at: Option<At>,
    pub used_from: Option<String>,
}

impl From<Project> for ProjectRow {
    fn from(project: Project) -> Self {
        Self {
            id: project.id.into(),
            name: project.name,
            identity_lookup: project.identity_lookup,
            identity_delete: project.identity_delete,
            whatsapp_price: project.prices.whatsapp.map(|price| price.0),
            sms_price: project.prices.sms.map(|price| price.0),
            created_at: project.created_at.into(),
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
            daily_spend: project.daily_spend.map(|paise| paise.0),
            archived_at: project.archived_at.map(Into::into),
            relay_live: project.relay.live,
            relay_test: project.relay.test,
            own_issuer: project.own_issuer,
            sms_last_lines: Some(project.messages.last_lines).filter(|it| !it.is_empty()).map(join),
            events_feed: project.events_feed.on,
            events_feed_run: stored_count(project.events_feed.run),
            guard: project.guard.as_str().to_owned(),
            token_claims: stored_claims(&project.token_profile.claims),
            token_type: project.token_profile.token_type.as_str().to_owned(),
        }
    }
}

impl TryFrom<ProjectRow> for Project {
    type Error = StoreError;

    fn try_from(row: ProjectRow) -> Result<Self, StoreError> {
        let read = Row::new("projects", row.id);
        let seconds = row.fallback_seconds.map(|stored| read.count("fallback_seconds", stored));
        Ok(Self {
            id: read.id("id", row.id)?,
            name: row.name,
            identity_lookup: row.identity_lookup,
            identity_delete: row.identity_delete,
            events_feed: EventsFeed {
                on: row.events_feed,
                run: read.count("events_feed_run", row.events_feed_run)?,
            },
            guard: read.parse("guard", &row.guard)?,
            relay: Relay { live: row.relay_live, test: row.relay_test },
            own_issuer: row.own_issuer,
            token_profile: read.token_profile(row.token_claims.as_deref(), &row.token_type)?,
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
                last_lines: row.sms_last_lines.as_deref().map(split).unwrap_or_default(),
            },
            routing: Routing {
                whatsapp: row.whatsapp_providers.as_deref().map(split),
                sms: row.sms_providers.as_deref().map(split),
                fallback_seconds: seconds.transpose()?,
            },
            low_balance: row.low_balance.map(Paise),
            daily_spend: row.daily_spend.map(Paise),
            created_at: read.at("created_at", row.created_at)?,
            archived_at: read.maybe_at("archived_at", row.archived_at)?,
        })
    }
}

/// Joins provider names with commas, which no name contains. An empty text means no provider.
fn join(providers: Vec<String>) -> String {
    providers.join(",")
}

fn split(providers: &str) -> Vec<String> {
    providers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl KeyRow {
    /// Makes the row of a key of this project.
    pub fn new(project: ProjectId, key: KeyRecord) -> Self {
        Self {
            id: key.id.into(),
            project_id: project.into(),
            mode: key.mode.as_str().to_owned(),
            digest: key.digest.0.to_vec(),
            ending: key.ending,
            created_at: key.created_at.into(),
            used_at: key.used.map(|used| used.at.into()),
            used_from: key.used.and_then(|used| used.from).map(|from| from.to_string()),
        }
    }
}

impl TryFrom<KeyRow> for KeyRecord {
    type Error = StoreError;

    fn try_from(row: KeyRow) -> Result<Self, StoreError> {
        let read = Row::new("api_keys", row.id);
        let used = read.maybe_at("used_at", row.used_at)?;
        let from = read.maybe_parse("used_from", row.used_from.as_deref())?;
        Ok(Self {
            id: read.id("id", row.id)?,
            mode: read.parse("mode", &row.mode)?,
            digest: read.digest("digest", row.digest)?,
            ending: row.ending,
            created_at: read.at("created_at", row.created_at)?,
            used: used.map(|at| KeyUsage { at, from }),
        })
    }
}
