use crate::call::{Answer, ApiCall, ok};
use crate::json::response;
use dwar_app::SandboxMessages;

/// `GET /v1/sandbox/messages?phone=…`.
pub(crate) async fn messages(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    SandboxMessages::allow(&caller)?;
    let phone = call.phone_in_query()?;
    let messages = call.use_cases()?.sandbox_messages.list(&caller, &phone).await?;
    ok(response::messages(&messages, &phone))
}
