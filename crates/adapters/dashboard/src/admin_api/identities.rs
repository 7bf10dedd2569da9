use super::answer::{Answered, id, instant};
use super::body::{Nothing, Parsed};
use super::call::Within;
use super::operation::{Operation, delete, get, post};
use super::refusal::{AdminCode, ApiRefusal};
use crate::visit::caller;
use dwar_app::{FindIdentityError, FoundIdentity};
use dwar_kernel::{KeyMode, Phone};
use dwar_operator::{Area, Permission};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const SEE: Permission = Permission::See(Area::Identities);
const CHANGE: Permission = Permission::Change(Area::Identities);

pub(super) fn operations() -> Vec<Operation> {
    vec![
        get(
            "/projects/{project}/identities/{mode}/{identity}",
            "show_identity",
            "An identity, its number masked",
        )
        .within(SEE)
        .to(show),
        post(
            "/projects/{project}/identities/{mode}/find",
            "find_identity",
            "The identity behind a phone number",
        )
        .within(SEE)
        .to(find),
        delete(
            "/projects/{project}/identities/{mode}/{identity}",
            "erase_identity",
            "Erases every trace of an identity, and ends its sessions",
        )
        .within(CHANGE)
        .to(erase),
    ]
}

/// A phone number, in a body because addresses end up in logs.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PhoneToFind {
    /// An Indian mobile number.
    #[schema(value_type = String)]
    phone: Parsed<Phone>,
}

/// Whoever proved to have a phone number.
#[derive(Serialize, ToSchema)]
struct Identity {
    #[schema(format = "uuid")]
    identity_id: String,
    /// `live` or `test`.
    mode: String,
    /// Whole for whoever asked by it, else masked.
    phone: String,
    #[schema(format = "date-time")]
    created_at: String,
    #[schema(format = "date-time")]
    last_verified_at: String,
}

/// What is no more.
#[derive(Serialize, ToSchema)]
struct ErasedIdentity {
    #[schema(format = "uuid")]
    identity_id: String,
    erased: bool,
    sessions_revoked: u64,
}

async fn show(at: Within, _: Nothing, _: Nothing) -> Answered<Identity> {
    let mode = at.part("mode")?;
    let caller = caller(&at.console, &at.project, mode).await?;
    let wanted: String = at.part("identity")?;
    let found = at.console.identities.by_id(&caller, &wanted).await?;
    let phone = found.phone.to_string();
    Ok(view(&found, mode, phone))
}

async fn find(at: Within, _: Nothing, body: PhoneToFind) -> Answered<Identity> {
    let (mode, Parsed(phone)) = (at.part("mode")?, body.phone);
    let caller = caller(&at.console, &at.project, mode).await?;
    let found = at.console.identities.by_phone(&caller, &phone).await?;
    Ok(view(&found, mode, found.phone.e164()))
}

async fn erase(at: Within, _: Nothing, _: Nothing) -> Answered<ErasedIdentity> {
    let (mode, identity) = (at.part("mode")?, at.part("identity")?);
    let erased = at.console.erase.erase(&at.by, at.project.id, mode, identity).await?;
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

impl From<FindIdentityError> for ApiRefusal {
    fn from(cause: FindIdentityError) -> Self {
        match cause {
            FindIdentityError::Disabled | FindIdentityError::NotFound => AdminCode::NotFound.into(),
            FindIdentityError::Store(cause) => cause.into(),
        }
    }
}
