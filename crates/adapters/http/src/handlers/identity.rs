use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::json::response::{DeletedIdentity, Identity};
use crate::json::schema;
use crate::operation::{delete, get};
use dwar_wire::openapi::Operation;
use std::sync::Arc;

pub(crate) fn operations() -> Vec<Operation> {
    use ErrorCode::{
        IdentityDeleteDisabled, IdentityLookupDisabled, IdentityNotFound, InvalidPhone,
    };
    let by_phone = get("/v1/identity", "findIdentity", by_phone)
        .summary("Find an identity by phone")
        .description("Off until the project switches look-up on.")
        .parameter("query", "phone", "The whole number.", schema::given_phone())
        .response::<Identity>("The identity.")
        .refuses([InvalidPhone, IdentityLookupDisabled, IdentityNotFound]);
    let by_id = get("/v1/identity/{id}", "getIdentity", by_id)
        .summary("Get an identity")
        .description("Off until the project switches look-up on.")
        .parameter("path", "id", "The `identity_id` of a session.", schema::id())
        .response::<Identity>("The identity.")
        .refuses([IdentityLookupDisabled, IdentityNotFound]);
    let erase = delete("/v1/identity/{id}", "deleteIdentity", erase)
        .summary("Delete an identity")
        .description(
            "Ends its sessions and erases the phone for good. Off until the project switches \
             deletion on.",
        )
        .parameter("path", "id", "The `identity_id` of a session.", schema::id())
        .response::<DeletedIdentity>("The identity was deleted.")
        .refuses([IdentityDeleteDisabled, IdentityNotFound]);
    vec![by_phone, by_id, erase]
}

pub(crate) async fn by_id(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let id = call.id_in_path()?;
    let found = call.use_cases()?.find_identity.by_id(&caller, &id).await?;
    ok(Identity::from(&found))
}

pub(crate) async fn by_phone(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let phone = call.phone_in_query()?;
    let found = call.use_cases()?.find_identity.by_phone(&caller, &phone).await?;
    ok(Identity::from(&found))
}

pub(crate) async fn erase(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let id = call.id_in_path()?.into_owned();
    let identities = Arc::clone(&call.use_cases()?.delete_identity);
    let erased = async move { identities.delete(&caller, &id).await };
    let (id, erased) = call.api.tasks.finish(erased).await?;
    ok(DeletedIdentity::new(id, erased))
}
