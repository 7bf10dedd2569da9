use super::setting::{SettingJson, describe_all};
use super::text::{id, instant};
use dwar_app::sms_preview;
use dwar_console::Unlocked;
use dwar_kernel::{Phone, ProjectId};
use dwar_otp::SendPace;
use dwar_project::{Project, Setting};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, SchemaType, Type};
use utoipa::{PartialSchema, ToSchema};

/// A project, without its settings.
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

/// A project with its settings.
pub struct ProjectSettings(Project);

/// A new project with its keys.
#[derive(Serialize, ToSchema)]
pub struct CreatedProject {
    #[schema(format = "uuid")]
    project_id: String,
    name: String,
    /// Shown only once.
    live_key: String,
    /// Shown only once.
    test_key: String,
    balance_paise: i64,
}

/// The limits that were cleared for a phone.
#[derive(Serialize, ToSchema)]
pub struct UnlockedPhone {
    #[schema(format = "uuid")]
    project_id: String,
    /// Masked.
    phone: String,
    /// How fast codes could be sent before: `usual`, `slowed` or `stopped`.
    was: String,
    /// If `slowed`, seconds between two sends; if `stopped`, seconds until the next.
    seconds: Option<u64>,
    wrong_in_a_row: u32,
    wrong_in_period: u32,
    /// Time of the first wrong code of the period.
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
        Self(project.clone())
    }
}

impl Serialize for ProjectSettings {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let Self(project) = self;
        let mut out = out.serialize_map(None)?;
        out.serialize_entry("project_id", &id(project.id))?;
        for setting in Setting::ALL {
            out.serialize_entry(setting.as_str(), &SettingJson(project.get(setting)))?;
            if setting == Setting::SmsText {
                let parts = sms_preview(project).ok().map(|sms| sms.segments.parts);
                out.serialize_entry("sms_parts", &parts)?;
            }
        }
        out.serialize_entry("created_at", &instant(project.created_at))?;
        out.serialize_entry("archived_at", &project.archived_at.map(instant))?;
        out.end()
    }
}

impl ToSchema for ProjectSettings {}

impl PartialSchema for ProjectSettings {
    fn schema() -> RefOr<Schema> {
        let of = |kind: Type| ObjectBuilder::new().schema_type(kind);
        let or_null =
            |kind| ObjectBuilder::new().schema_type(SchemaType::from_iter([kind, Type::Null]));
        let date_time = Some(SchemaFormat::KnownFormat(KnownFormat::DateTime));
        let uuid = of(Type::String).format(Some(SchemaFormat::Custom("uuid".to_owned())));
        let parts = or_null(Type::Integer).minimum(Some(0));
        let parts =
            parts.description(Some("Number of SMS parts of the text; null if it cannot be sent."));
        let archived = or_null(Type::String).format(date_time.clone());
        let archived = archived.description(Some(
            "Since when its API keys are refused; null while they are accepted.",
        ));
        let about = "A project. Null means the default of the installation.";
        let project = ObjectBuilder::new().description(Some(about));
        describe_all(project.property("project_id", uuid).required("project_id"))
            .property("sms_parts", parts)
            .property("created_at", of(Type::String).format(date_time))
            .required("created_at")
            .property("archived_at", archived)
            .into()
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
    /// Makes the view of the limits that a phone was freed from.
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
