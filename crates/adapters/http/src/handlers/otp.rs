use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::error::REPLAYED;
use crate::json::{SendBody, VerifyBody, response};
use actix_web::http::header::HeaderValue;
use dwar_ratelimit::RequestScope;
use std::sync::Arc;

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
    let mut answer = ok(response::sent(&sent))?;
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
    ok(response::status(&otp))
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
    ok(response::pair(&verified.tokens))
}
