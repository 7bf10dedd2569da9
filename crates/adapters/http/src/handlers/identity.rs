use crate::call::{Answer, ApiCall, ok};
use crate::json::response;
use std::sync::Arc;

/// `GET /v1/identity/{id}`.
pub(crate) async fn by_id(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let id = call.id_in_path()?;
    let found = call.use_cases()?.find_identity.by_id(&caller, &id).await?;
    ok(response::identity(&found))
}

/// `GET /v1/identity?phone=…`.
pub(crate) async fn by_phone(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let phone = call.phone_in_query()?;
    let found = call.use_cases()?.find_identity.by_phone(&caller, &phone).await?;
    ok(response::identity(&found))
}

/// `DELETE /v1/identity/{id}`.
pub(crate) async fn delete(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let id = call.id_in_path()?.into_owned();
    let identities = Arc::clone(&call.use_cases()?.delete_identity);
    let erased = async move { identities.delete(&caller, &id).await };
    let (id, erased) = call.api.tasks.finish(erased).await?;
    ok(response::deleted(id, erased))
}
