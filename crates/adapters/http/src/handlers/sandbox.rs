use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::json::response::SandboxMessages;
use crate::json::schema;
use crate::operation::get;
use dwar_wire::openapi::Operation;
use serde_json::json;

pub(crate) fn operations() -> Vec<Operation> {
    let verify = json!({
        "requestBody": {
            "phone": "$response.body#/messages/0/phone",
            "code": "$response.body#/messages/0/code",
            "otp_id": "$response.body#/messages/0/otp_id",
        },
    });
    vec![
        get("/v1/sandbox/messages", "listSandboxMessages", messages)
            .summary("List the messages of a test key")
            .description(
                "A test key sends nothing: its messages are stored here. A live key gets 404.",
            )
            .parameter("query", "phone", "The whole number.", schema::given_phone())
            .response::<SandboxMessages<'_>>("The messages, newest first.")
            .refuses([ErrorCode::NotFound, ErrorCode::InvalidPhone])
            .link("verify", "verifyOtp", verify.clone())
            .link("check", "checkOtp", verify),
    ]
}

pub(crate) async fn messages(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    dwar_app::SandboxMessages::allow(&caller)?;
    let phone = call.phone_in_query()?;
    let messages = call.use_cases()?.sandbox_messages.list(&caller, &phone).await?;
    ok(SandboxMessages::new(&messages, &phone))
}
