use super::wallet::amount;
use crate::endpoint::{
    AdminRequest, AdminResult, ApiRefusal, Json, Operation, Paging, Parsed, ProjectRequest, Query,
    get, patch, post, post_created,
};
use crate::views::setting::{self, ParsedChange};
use crate::views::{CreatedProject, Page, ProjectSettings, ProjectSummary, UnlockedPhone};
use dwar_kernel::Phone;
use dwar_operator::Command;
use dwar_project::{ProjectName, SettingGroup};
use dwar_wire::openapi::given_phone;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects", Command::ListProjects, list)
            .summary("List the projects that the token may see, oldest first"),
        post_created("/projects", Command::CreateProject, create)
            .summary("Create a project; only this answer holds its keys"),
        get("/projects/{project}", Command::ShowProject, show)
            .summary("Get a project with its settings"),
        patch("/projects/{project}", Command::ChangeProject, change)
            .summary("Change the given settings"),
        patch("/projects/{project}/prices", Command::ChangePrices, reprice).summary(
            "Change the prices of codes, the low-balance threshold and the limit of a day's spend",
        ),
        post("/projects/{project}/archive", Command::ArchiveProject, archive)
            .summary("Archive a project: its API keys are refused immediately"),
        post("/projects/{project}/restore", Command::RestoreProject, restore)
            .summary("Restore a project: its API keys are accepted again"),
        post("/projects/{project}/unlock", Command::UnlockPhone, unlock).summary(
            "Clear the wrong codes of a phone in live mode, so that it can get a code \
             at once",
        ),
    ]
}

/// A project to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewProject {
    /// 1 to 60 visible characters on one line.
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    /// Opening balance. Default: 0.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    balance_paise: i64,
}

struct Settings(ParsedChange);

struct PriceChange(ParsedChange);

macro_rules! change_of_settings {
    ($body:ident of $group:ident as $name:literal, $about:literal) => {
        impl<'de> Deserialize<'de> for $body {
            fn deserialize<D: Deserializer<'de>>(body: D) -> Result<Self, D::Error> {
                setting::read(SettingGroup::$group, body).map(Self)
            }
        }

        impl ToSchema for $body {
            fn name() -> Cow<'static, str> {
                $name.into()
            }
        }

        impl PartialSchema for $body {
            fn schema() -> RefOr<Schema> {
                setting::describe_change(SettingGroup::$group, $about)
            }
        }
    };
}

change_of_settings!(Settings of Work as "ProjectChange", "Settings to change. Absent members stay unchanged; null resets to the default of the installation.");
change_of_settings!(PriceChange of Money as "PriceChange", "Prices to change. Absent members stay unchanged; null resets to the default of the installation.");

/// A phone number. It is in the body because URLs end up in logs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PhoneToUnlock {
    /// An Indian mobile number.
    #[schema(schema_with = given_phone, required = true)]
    phone: Parsed<Phone>,
}

async fn list(
    call: AdminRequest,
    Query(paging): Query<Paging>,
) -> AdminResult<Page<ProjectSummary>> {
    let known = call.api.manage.projects.list(&call.by).await?;
    Page::of(&known, &paging, |project| project.id, |project| project.into())
}

async fn create(call: AdminRequest, Json(body): Json<NewProject>) -> AdminResult<CreatedProject> {
    let name: ProjectName = body.name.parse().map_err(|cause| ApiRefusal::field("name", cause))?;
    let balance = amount("balance_paise", body.balance_paise)?;
    let made = call.api.manage.projects.create(&call.by, &name, balance).await?;
    Ok((&made).into())
}

async fn show(at: ProjectRequest) -> AdminResult<ProjectSettings> {
    Ok((&at.api.manage.projects.show(&at.by, at.project).await?).into())
}

async fn change(at: ProjectRequest, Json(body): Json<Settings>) -> AdminResult<ProjectSettings> {
    apply(&at, body.0).await
}

async fn reprice(
    at: ProjectRequest,
    Json(body): Json<PriceChange>,
) -> AdminResult<ProjectSettings> {
    apply(&at, body.0).await
}

async fn apply(at: &ProjectRequest, given: ParsedChange) -> AdminResult<ProjectSettings> {
    let change = given.map_err(|(setting, cause)| ApiRefusal::field(setting.as_str(), cause))?;
    Ok((&at.api.manage.projects.change(&at.by, at.project, change).await?).into())
}

async fn archive(at: ProjectRequest) -> AdminResult<ProjectSettings> {
    Ok((&at.api.manage.projects.archive(&at.by, at.project).await?).into())
}

async fn restore(at: ProjectRequest) -> AdminResult<ProjectSettings> {
    Ok((&at.api.manage.projects.restore(&at.by, at.project).await?).into())
}

async fn unlock(at: ProjectRequest, Json(body): Json<PhoneToUnlock>) -> AdminResult<UnlockedPhone> {
    let Parsed(phone) = body.phone;
    let unlocked = at.api.manage.phones.unlock(&at.by, at.project, &phone).await?;
    Ok(UnlockedPhone::new(at.project, &phone, &unlocked))
}
