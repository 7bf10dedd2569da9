use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::error::REPLAYED;
use crate::json::response::{CodeStatus, SentCode, Tokens};
use crate::json::{SendBody, VerifyBody, schema};
use crate::operation::{Operation, get, post};
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use dwar_ratelimit::RequestScope;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn operations() -> Vec<Operation> {
    use ErrorCode::{
        IdempotencyConflict, IdempotencyKeyReused, InsufficientBalance, InvalidOtp, InvalidOtpCode,
        InvalidPhone, OtpNotFound, OtpRateLimited, OtpRequestNotFound, SmsFailed,
        VerifyRateLimited,
    };
    let send = post("/v1/otp/send", "sendOtp", send)
        .says(
            "Send a code",
            "Sends a fresh code by WhatsApp, and by SMS where that fails or is not reported as delivered in \
             time. It supersedes the phone's code of before. With an `Idempotency-Key`, the same request \
             gets the first answer again for 24 hours and sends nothing.",
        )
        .reads("header", "Idempotency-Key", "Names this send.", schema::visible(255))
        .takes::<SendBody>()
        .gives::<SentCode>("The code is on its way.")
        .refuses([InvalidPhone, IdempotencyKeyReused, IdempotencyConflict, OtpRateLimited])
        .refuses([InsufficientBalance, SmsFailed])
        .tells("Idempotent-Replayed", [StatusCode::OK, StatusCode::PAYMENT_REQUIRED])
        .tells("Idempotent-Replayed", [StatusCode::INTERNAL_SERVER_ERROR])
        .leads_to("status", "getOtpStatus", json!({ "parameters": { "otp_id": "$response.body#/otp_id" } }))
        .leads_to(
            "message",
            "listSandboxMessages",
            json!({ "parameters": { "phone": "$request.body#/phone" } }),
        );
    let verify = post("/v1/otp/verify", "verifyOtp", verify)
        .says(
            "Verify a code",
            "The right code works once, and opens a session. A wrong one is counted; after the fifth the \
             code is locked.",
        )
        .takes::<VerifyBody>()
        .gives::<Tokens<'_>>("The code was right.")
        .refuses([InvalidPhone, InvalidOtpCode, OtpNotFound, InvalidOtp, VerifyRateLimited]);
    let status = get("/v1/otp/status/{otp_id}", "getOtpStatus", status)
        .says("Get the status of a send", "Each attempt, over which channel, and why it failed.")
        .reads("path", "otp_id", "As the send was answered.", schema::id())
        .gives::<CodeStatus<'_>>("The request.")
        .refuses([OtpRequestNotFound]);
    vec![send, verify.opens_session(), status]
}

/// `POST /v1/otp/send`.
pub(crate) async fn send(call: ApiCall) -> Answer {
    let caller = call.capped_caller(RequestScope::Send).await?;
    let key = call.idempotency_key()?;
    let body: SendBody = call.body().await?;
    let phone = body.phone.or(ErrorCode::InvalidPhone)?;
    call.concerns(&phone);
    let otps = Arc::clone(&call.use_cases()?.send_otp);
    let sent = async move { otps.send(&caller, &phone, key.as_ref()).await };
    let sent = call.api.tasks.finish(sent).await?;
    let mut answer = ok(SentCode::from(&sent))?;
    match sent.admission {
        Some(admission) => call.limited_by(admission),
        None => {
            answer.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        }
    }
    Ok(answer)
}

/// `GET /v1/otp/status/{otp_id}`.
pub(crate) async fn status(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let id = call.id_in_path()?;
    let otp = call.use_cases()?.otp_status.find(&caller, &id).await?;
    ok(CodeStatus::from(&otp))
}

/// `POST /v1/otp/verify`.
pub(crate) async fn verify(call: ApiCall) -> Answer {
    let caller = call.capped_caller(RequestScope::Verify).await?;
    let body: VerifyBody = call.body().await?;
    let phone = body.phone.or(ErrorCode::InvalidPhone)?;
    call.concerns(&phone);
    let code = body.code.or(ErrorCode::InvalidOtpCode)?;
    // An id that cannot be read belongs to no request.
    let request = body.otp_id.map(|id| id.or(ErrorCode::OtpNotFound)).transpose()?;
    let otps = Arc::clone(&call.use_cases()?.verify_otp);
    let verified = async move { otps.verify(&caller, &phone, code, request).await };
    let verified = call.api.tasks.finish(verified).await?;
    call.limited_by(verified.allowance);
    ok(Tokens::from(&verified.tokens))
}
