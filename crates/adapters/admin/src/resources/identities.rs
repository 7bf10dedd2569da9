use crate::endpoint::{AdminResult, Json, Operation, Parsed, ProjectRequest, delete, get, post};
use crate::views::{id, instant};
use dwar_app::FoundIdentity;
use dwar_kernel::{KeyMode, Phone};
use dwar_operator::Command;
use dwar_wire::openapi::given_phone;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/identities/{mode}/{identity}", Command::ShowIdentity, show)
            .summary("Get an identity, with a masked number"),
        post("/projects/{project}/identities/{mode}/find", Command::FindIdentity, find)
            .summary("Find the identity of a phone number"),
        delete("/projects/{project}/identities/{mode}/{identity}", Command::EraseIdentity, erase)
            .summary("Erase all data of an identity and end its sessions"),
    ]
}

/// A phone number. It is in the body because URLs end up in logs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PhoneToFind {
    /// An Indian mobile number.
    #[schema(schema_with = given_phone, required = true)]
    phone: Parsed<Phone>,
}

/// A person who has verified a phone number.
#[derive(Serialize, ToSchema)]
struct Identity {
    #[schema(format = "uuid")]
    identity_id: String,
    /// `live` or `test`.
    mode: String,
    /// Full if the request gave the number, otherwise masked.
    phone: String,
    #[schema(format = "date-time")]
    created_at: String,
    #[schema(format = "date-time")]
    last_verified_at: String,
}

/// An identity that was erased.
#[derive(Serialize, ToSchema)]
struct ErasedIdentity {
    #[schema(format = "uuid")]
    identity_id: String,
    erased: bool,
    sessions_revoked: u64,
}

async fn show(at: ProjectRequest) -> AdminResult<Identity> {
    let (mode, identity) = (at.part("mode")?, at.part("identity")?);
    let found = at.api.manage.identities.show(&at.by, at.project.in_mode(mode), identity).await?;
    let phone = found.phone.to_string();
    Ok(view(&found, mode, phone))
}

async fn find(at: ProjectRequest, Json(body): Json<PhoneToFind>) -> AdminResult<Identity> {
    let (mode, Parsed(phone)) = (at.part("mode")?, body.phone);
    let found = at.api.manage.identities.find(&at.by, at.project.in_mode(mode), &phone).await?;
    Ok(view(&found, mode, found.phone.e164()))
}

async fn erase(at: ProjectRequest) -> AdminResult<ErasedIdentity> {
    let (mode, identity) = (at.part("mode")?, at.part("identity")?);
    let erased = at.api.manage.identities.erase(&at.by, at.project.in_mode(mode), identity).await?;
    Ok(ErasedIdentity {
        identity_id: id(identity),
        erased: true,
        sessions_revoked: erased.sessions_revoked,
    })
}

fn view(found: &FoundIdentity, mode: KeyMode, phone: String) -> Identity {
    Identity {
        identity_id: id(found.id),
        mode: id(mode),
        phone,
        created_at: instant(found.created_at),
        last_verified_at: instant(found.last_verified_at),
    }
}
