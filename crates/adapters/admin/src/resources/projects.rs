use super::wallet::amount;
use crate::endpoint::{
    AdminRequest, Answered, ApiRefusal, Json, Operation, Paging, Parsed, ProjectRequest, Query,
    get, given, patch, post, post_created,
};
use crate::views::{CreatedProject, Page, ProjectSettings, ProjectSummary, UnlockedPhone};
use dwar_kernel::{FixedClaims, Phone};
use dwar_operator::Command;
use dwar_project::{ProjectChange, ProjectName};
use dwar_wallet::Paise;
use dwar_wire::openapi::{given_claims, given_phone};
use serde::Deserialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects", Command::ListProjects, list)
            .summary("The projects that the token may know of, oldest first"),
        post_created("/projects", Command::CreateProject, create)
            .summary("A new project; its keys are in this one answer"),
        get("/projects/{project}", Command::ShowProject, show)
            .summary("A project with its settings"),
        patch("/projects/{project}", Command::ChangeProject, change)
            .summary("Changes the settings that are given"),
        patch("/projects/{project}/prices", Command::ChangePrices, reprice)
            .summary("Changes what codes cost, and which balance is low"),
        post("/projects/{project}/archive", Command::ArchiveProject, archive)
            .summary("Archives a project: its API keys are refused immediately"),
        post("/projects/{project}/restore", Command::RestoreProject, restore)
            .summary("Restores a project: its API keys are accepted again"),
        post("/projects/{project}/unlock", Command::UnlockPhone, unlock)
            .summary("Forgets the wrong codes of a phone, for the very next send in live mode"),
    ]
}

/// A project to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewProject {
    /// 1 to 60 visible characters on one line.
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    /// What it has to begin with.
    #[serde(default)]
    #[schema(minimum = 0, maximum = 1_000_000_000_000_i64)]
    balance_paise: i64,
}

/// What is to change; what is absent stays, and null goes back to the installation's own setting.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ProjectChange)]
struct Settings {
    #[schema(min_length = 1, max_length = 60)]
    name: Option<String>,
    identity_lookup: Option<bool>,
    identity_delete: Option<bool>,
    relay_live: Option<bool>,
    relay_test: Option<bool>,
    own_issuer: Option<bool>,
    /// In place of those before; names and values have 512 bytes together at most. Names that have a meaning of their
    /// own are refused in any case of their letters, and so is a name that differs from another by case alone.
    #[schema(schema_with = given_claims)]
    token_claims: Option<BTreeMap<String, String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    brand: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    language: Option<Option<String>>,
    /// With `{code}`, `{brand}` and `{minutes}`.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    sms_text: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    sms_template_id: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    webotp_domain: Option<Option<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<String>)]
    app_hash: Option<Option<String>>,
    /// In place of those before.
    #[schema(max_items = 16)]
    last_lines: Option<Vec<String>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    whatsapp_providers: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Vec<String>>)]
    sms_providers: Option<Option<Vec<String>>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>)]
    fallback_seconds: Option<Option<u32>>,
}

/// What is to change; what is absent stays, and null goes back to the installation's own price.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PriceChange {
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 1_000_000_000_000_i64)]
    whatsapp_price_paise: Option<Option<i64>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 1_000_000_000_000_i64)]
    sms_price_paise: Option<Option<i64>>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<i64>, minimum = 0, maximum = 1_000_000_000_000_i64)]
    low_balance_paise: Option<Option<i64>>,
}

/// A phone number, in a body because addresses end up in logs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PhoneToUnlock {
    /// An Indian mobile number.
    #[schema(schema_with = given_phone, required = true)]
    phone: Parsed<Phone>,
}

async fn list(call: AdminRequest, Query(paging): Query<Paging>) -> Answered<Page<ProjectSummary>> {
    let known = call.api.manage.projects.list(&call.by).await?;
    Page::of(&known, &paging, |project| project.id, |project| project.into())
}

async fn create(call: AdminRequest, Json(body): Json<NewProject>) -> Answered<CreatedProject> {
    let name: ProjectName = body.name.parse().map_err(|cause| ApiRefusal::field("name", cause))?;
    let balance = amount("balance_paise", body.balance_paise)?;
    let made = call.api.manage.projects.create(&call.by, &name, balance).await?;
    Ok((&made).into())
}

async fn show(at: ProjectRequest) -> Answered<ProjectSettings> {
    Ok((&at.api.manage.projects.show(&at.by, at.project).await?).into())
}

async fn change(at: ProjectRequest, Json(body): Json<Settings>) -> Answered<ProjectSettings> {
    apply(&at, body.try_into()?).await
}

async fn reprice(at: ProjectRequest, Json(body): Json<PriceChange>) -> Answered<ProjectSettings> {
    let paise = |own: Option<i64>| own.map(Paise);
    let change = ProjectChange {
        whatsapp_price: body.whatsapp_price_paise.map(paise),
        sms_price: body.sms_price_paise.map(paise),
        low_balance: body.low_balance_paise.map(paise),
        ..ProjectChange::default()
    };
    apply(&at, change).await
}

async fn apply(at: &ProjectRequest, change: ProjectChange) -> Answered<ProjectSettings> {
    Ok((&at.api.manage.projects.change(&at.by, at.project, change).await?).into())
}

async fn archive(at: ProjectRequest) -> Answered<ProjectSettings> {
    Ok((&at.api.manage.projects.archive(&at.by, at.project).await?).into())
}

async fn restore(at: ProjectRequest) -> Answered<ProjectSettings> {
    Ok((&at.api.manage.projects.restore(&at.by, at.project).await?).into())
}

async fn unlock(at: ProjectRequest, Json(body): Json<PhoneToUnlock>) -> Answered<UnlockedPhone> {
    let Parsed(phone) = body.phone;
    let unlocked = at.api.manage.phones.unlock(&at.by, at.project, &phone).await?;
    Ok(UnlockedPhone::new(at.project, &phone, &unlocked))
}

impl TryFrom<Settings> for ProjectChange {
    type Error = ApiRefusal;

    fn try_from(body: Settings) -> Result<Self, ApiRefusal> {
        let claims = body.token_claims.map(|claims| FixedClaims::new(claims.into_iter().collect()));
        let claims =
            claims.transpose().map_err(|cause| ApiRefusal::field("token_claims", cause))?;
        Ok(Self {
            name: body.name,
            identity_lookup: body.identity_lookup,
            identity_delete: body.identity_delete,
            relay_live: body.relay_live,
            relay_test: body.relay_test,
            own_issuer: body.own_issuer,
            token_claims: claims,
            brand: body.brand,
            language: body.language,
            sms_text: body.sms_text,
            sms_template_id: body.sms_template_id,
            webotp_domain: body.webotp_domain,
            app_hash: body.app_hash,
            last_lines: body.last_lines,
            whatsapp_providers: body.whatsapp_providers,
            sms_providers: body.sms_providers,
            fallback_seconds: body.fallback_seconds,
            ..Self::default()
        })
    }
}
