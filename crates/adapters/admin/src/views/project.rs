use super::text::{id, instant};
use dwar_app::{Unlocked, sms_preview};
use dwar_kernel::{Phone, ProjectId};
use dwar_otp::SendPace;
use dwar_project::Project;
use dwar_wallet::Paise;
use dwar_wire::openapi::claims;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What every token that may know of a project may know.
#[derive(Serialize, ToSchema)]
pub struct ProjectSummary {
    #[schema(format = "uuid")]
    project_id: String,
    name: String,
    #[schema(format = "date-time")]
    created_at: String,
    /// Since when its API keys are refused; null while they are accepted.
    #[schema(format = "date-time")]
    archived_at: Option<String>,
}

/// A project; null stands for the installation's own setting.
#[derive(Serialize, ToSchema)]
pub struct ProjectSettings {
    #[schema(format = "uuid")]
    project_id: String,
    name: String,
    /// Whether `GET /v1/identity` answers.
    identity_lookup: bool,
    /// Whether `DELETE /v1/identity` deletes.
    identity_delete: bool,
    /// Whether `POST /v1/otp/relay` sends with the live key.
    relay_live: bool,
    /// Whether it does with the test key.
    relay_test: bool,
    /// Whether live tokens name an issuer of the project's own.
    own_issuer: bool,
    /// What these say beside the claims of every token.
    #[schema(schema_with = claims)]
    token_claims: BTreeMap<String, String>,
    whatsapp_price_paise: Option<i64>,
    sms_price_paise: Option<i64>,
    brand: Option<String>,
    language: Option<String>,
    sms_text: Option<String>,
    /// How many SMS the text takes; null where it cannot be sent.
    sms_parts: Option<usize>,
    sms_template_id: Option<String>,
    webotp_domain: Option<String>,
    app_hash: Option<String>,
    /// Other domains and app hashes that a send may name.
    #[schema(max_items = 16)]
    last_lines: Vec<String>,
    /// An empty list skips the channel.
    whatsapp_providers: Option<Vec<String>>,
    /// An empty list skips the channel.
    sms_providers: Option<Vec<String>>,
    /// Without a receipt, before the next channel is tried; 0 waits for none.
    fallback_seconds: Option<u32>,
    /// A balance below this is told as an event; null tells nothing.
    low_balance_paise: Option<i64>,
    #[schema(format = "date-time")]
    created_at: String,
    /// Since when its API keys are refused; null while they are accepted.
    #[schema(format = "date-time")]
    archived_at: Option<String>,
}

/// A project that was just made.
#[derive(Serialize, ToSchema)]
pub struct CreatedProject {
    #[schema(format = "uuid")]
    project_id: String,
    name: String,
    /// Shown this once.
    live_key: String,
    /// Shown this once.
    test_key: String,
    balance_paise: i64,
}

/// What was forgotten.
#[derive(Serialize, ToSchema)]
pub struct UnlockedPhone {
    #[schema(format = "uuid")]
    project_id: String,
    /// Masked.
    phone: String,
    /// How fast codes could be sent: `usual`, `slowed` or `stopped`.
    was: String,
    /// One send in so many, or none for so many more.
    seconds: Option<u64>,
    wrong_in_a_row: u32,
    wrong_in_period: u32,
    /// With the first of those.
    #[schema(format = "date-time")]
    period_began_at: Option<String>,
}

impl From<&Project> for ProjectSummary {
    fn from(project: &Project) -> Self {
        Self {
            project_id: id(project.id),
            name: project.name.clone(),
            created_at: instant(project.created_at),
            archived_at: project.archived_at.map(instant),
        }
    }
}

impl From<&Project> for ProjectSettings {
    fn from(project: &Project) -> Self {
        let (messages, routing) = (&project.messages, &project.routing);
        let paise = |own: Option<Paise>| own.map(|paise| paise.0);
        Self {
            project_id: id(project.id),
            name: project.name.clone(),
            identity_lookup: project.identity_lookup,
            identity_delete: project.identity_delete,
            relay_live: project.relay.live,
            relay_test: project.relay.test,
            own_issuer: project.own_issuer,
            token_claims: project
                .token_claims
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            whatsapp_price_paise: paise(project.prices.whatsapp),
            sms_price_paise: paise(project.prices.sms),
            brand: messages.brand.clone(),
            language: messages.language.clone(),
            sms_text: messages.text.clone(),
            sms_parts: sms_preview(project).ok().map(|sms| sms.segments.parts),
            sms_template_id: messages.template_id.clone(),
            webotp_domain: messages.domain.clone(),
            app_hash: messages.app_hash.clone(),
            last_lines: messages.last_lines.clone(),
            whatsapp_providers: routing.whatsapp.clone(),
            sms_providers: routing.sms.clone(),
            fallback_seconds: routing.fallback_seconds,
            low_balance_paise: paise(project.low_balance),
            created_at: instant(project.created_at),
            archived_at: project.archived_at.map(instant),
        }
    }
}

impl From<&dwar_app::CreatedProject> for CreatedProject {
    fn from(made: &dwar_app::CreatedProject) -> Self {
        Self {
            project_id: id(made.id),
            name: made.name.clone(),
            live_key: made.live_key.expose().to_owned(),
            test_key: made.test_key.expose().to_owned(),
            balance_paise: made.balance.paise().0,
        }
    }
}

impl UnlockedPhone {
    /// What was in the way of a phone.
    pub fn new(project: ProjectId, phone: &Phone, unlocked: &Unlocked) -> Self {
        let (was, seconds) = match unlocked.pace {
            SendPace::Usual => ("usual", None),
            SendPace::OnePer(window) => ("slowed", Some(window.as_secs())),
            SendPace::Stopped(rest) => ("stopped", Some(rest.as_secs())),
        };
        let period = unlocked.guesses.period;
        Self {
            project_id: id(project),
            phone: id(phone),
            was: was.to_owned(),
            seconds,
            wrong_in_a_row: unlocked.guesses.wrong,
            wrong_in_period: period.map_or(0, |period| period.wrong),
            period_began_at: period.map(|period| instant(period.began_at)),
        }
    }
}
