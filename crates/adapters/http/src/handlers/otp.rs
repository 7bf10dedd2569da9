use super::session::opens_session;
use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::error::{ApiError, REPLAYED};
use crate::json::response::{CheckedCode, CodeStatus, SentCode, Tokens};
use crate::json::{
    Field, GivenDevice, GivenVisitor, Reference, RelayBody, SendBody, VerifyBody, schema,
};
use crate::operation::{get, post};
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderValue;
use dwar_app::{GuessExtras, SendExtras, SentOtp};
use dwar_kernel::Phone;
use dwar_otp::idempotency::{IdempotencyKey, MalformedReference};
use dwar_otp::{Code, InvalidRelayedCode, RelayLifetime};
use dwar_project::{Caller, LastLine};
use dwar_ratelimit::RequestScope;
use dwar_wire::openapi::Operation;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn operations() -> Vec<Operation> {
    use ErrorCode::{InvalidField, OtpRequestNotFound, ProofRequired, RelayDisabled};
    let send = post("/v1/otp/send", "sendOtp", send)
        .summary("Send a code")
        .description(
            "Sends a new code by WhatsApp, and by SMS if WhatsApp fails or does not report \
             delivery in time. The new code replaces the previous code of the phone. With an \
             `Idempotency-Key`, a repeated request gets the first answer again for 24 hours \
             and sends nothing. Where the project enforces its guard, a flood of sends makes this \
             answer `PROOF_REQUIRED`: show the visitor a challenge, then send again with \
             `visitor.trusted`.",
        )
        .request_body::<SendBody>()
        .refuses([InvalidField, ProofRequired]);
    let relay = post("/v1/otp/relay", "relayOtp", relay)
        .summary("Deliver a code of your own")
        .description(
            "Delivers a code that you made and will verify yourself, within the same limits \
             and at the same price as a send. The login code of the phone stays valid, and a \
             relayed code cannot be verified here. A caller that cannot vary its headers sends \
             `reference`, which works as an `Idempotency-Key`. Off until the project switches \
             it on.",
        )
        .request_body::<RelayBody>()
        .refuses([InvalidField, RelayDisabled]);
    let verify = post("/v1/otp/verify", "verifyOtp", verify)
        .summary("Verify a code")
        .description(
            "The right code is accepted once and starts a session. Wrong codes are counted; \
             the fifth locks the code.",
        )
        .response::<Tokens<'_>>("The code was right.");
    let check = post("/v1/otp/check", "checkOtp", check)
        .summary("Verify a code without a login")
        .description(
            "Judges the code as verify does, with the same counts, and uses it up, but starts \
             no session: for a second factor, or if another system keeps the sessions.",
        )
        .response::<CheckedCode>("The code was right.");
    let status = get("/v1/otp/status/{otp_id}", "getOtpStatus", status)
        .summary("Get the status of a send")
        .description("Returns each attempt with its channel, and why it failed.")
        .parameter("path", "otp_id", "`otp_id` from the answer of the send.", schema::id())
        .response::<CodeStatus<'_>>("The request.")
        .refuses([OtpRequestNotFound]);
    vec![sends(send), sends(relay), opens_session(judges(verify)), judges(check), status]
}

/// The common refusals of operations that judge a code.
fn judges(operation: Operation) -> Operation {
    use ErrorCode::{
        InvalidField, InvalidOtp, InvalidOtpCode, InvalidPhone, OtpNotFound, VerifyRateLimited,
    };
    operation.request_body::<VerifyBody>().refuses([
        InvalidField,
        InvalidPhone,
        InvalidOtpCode,
        OtpNotFound,
        InvalidOtp,
        VerifyRateLimited,
    ])
}

fn sends(operation: Operation) -> Operation {
    use ErrorCode::{
        IdempotencyConflict, IdempotencyKeyReused, InsufficientBalance, InvalidPhone,
        OtpRateLimited, SmsFailed, SpendLimitReached,
    };
    operation
        .parameter(
            "header",
            "Idempotency-Key",
            "Idempotency key of this send.",
            schema::visible(255),
        )
        .response::<SentCode>("The code is on its way.")
        .refuses([InvalidPhone, IdempotencyKeyReused, IdempotencyConflict, OtpRateLimited])
        .refuses([InsufficientBalance, SpendLimitReached, SmsFailed])
        .header("Idempotent-Replayed", [StatusCode::OK, StatusCode::PAYMENT_REQUIRED])
        .header("Idempotent-Replayed", [StatusCode::INTERNAL_SERVER_ERROR])
        .link(
            "status",
            "getOtpStatus",
            json!({ "parameters": { "otp_id": "$response.body#/otp_id" } }),
        )
        .link(
            "message",
            "listSandboxMessages",
            json!({ "parameters": { "phone": "$request.body#/phone" } }),
        )
}

pub(crate) async fn send(call: ApiCall) -> Answer {
    let caller = call.capped_caller(RequestScope::Send).await?;
    let key = call.idempotency_key()?;
    let body: SendBody = call.body().await?;
    let phone = body.phone.or(ErrorCode::InvalidPhone)?;
    call.concerns(&phone);
    let otps = Arc::clone(&call.use_cases()?.send_otp);
    let line = body.last_line.map(|named| {
        let line = named.get().and_then(|named| caller.project.messages.last_line(named));
        line.ok_or_else(|| ApiError::field("last_line", LastLine::RULE))
    });
    let last_line = line.transpose()?;
    let visitor = body.visitor.map(|GivenVisitor(visitor)| visitor).transpose();
    let visitor = visitor.map_err(|(field, rule)| ApiError::field(field, rule))?;
    let device = GivenDevice::token(body.device)?;
    let extras = SendExtras { last_line, visitor: visitor.unwrap_or_default(), device };
    let sent = async move { otps.send(&caller, &phone, Some(extras), key.as_ref()).await };
    let sent = call.api.tasks.finish(sent).await?;
    on_its_way(&call, &sent)
}

pub(crate) async fn relay(call: ApiCall) -> Answer {
    let caller = call.capped_caller(RequestScope::Send).await?;
    let key = call.idempotency_key()?;
    let body: RelayBody = call.body().await?;
    let phone = body.phone.or(ErrorCode::InvalidPhone)?;
    call.concerns(&phone);
    let code = body.code.get().ok_or_else(|| ApiError::field("code", InvalidRelayedCode))?.0;
    let lifetime = body.expires_in.0.and_then(RelayLifetime::from_seconds);
    let lifetime = lifetime.ok_or_else(|| ApiError::field("expires_in", RelayLifetime::RULE))?;
    let key = one_key(key, body.reference)?;
    let relay = Arc::clone(&call.use_cases()?.relay_otp);
    let sent = async move { relay.relay(&caller, &phone, (code, lifetime), key.as_ref()).await };
    let sent = call.api.tasks.finish(sent).await?;
    on_its_way(&call, &sent)
}

/// The idempotency key of a relay, from its header or from `reference`; if both are given, they
/// must agree.
fn one_key(
    header: Option<IdempotencyKey>,
    reference: Option<Field<Reference>>,
) -> Result<Option<IdempotencyKey>, ApiError> {
    let named = reference.map(|given| {
        let given = given.get().ok_or_else(|| ApiError::field("reference", MalformedReference));
        given.map(|Reference(key)| key)
    });
    match (header, named.transpose()?) {
        (Some(header), Some(reference)) if header != reference => {
            Err(ApiError::field("reference", "the Idempotency-Key names another one"))
        }
        (header, reference) => Ok(header.or(reference)),
    }
}

fn on_its_way(call: &ApiCall, sent: &SentOtp) -> Answer {
    let mut answer = ok(SentCode::from(sent))?;
    match sent.admission {
        Some(admission) => call.limited_by(admission),
        None => {
            answer.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        }
    }
    Ok(answer)
}

pub(crate) async fn status(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let id = call.id_in_path()?;
    let otp = call.use_cases()?.otp_status.find(&caller, &id).await?;
    ok(CodeStatus::from(&otp))
}

pub(crate) async fn verify(call: ApiCall) -> Answer {
    let (caller, EnteredCode { phone, code, extras }) = entered(&call).await?;
    let otps = Arc::clone(&call.use_cases()?.verify_otp);
    let verified = async move { otps.verify(&caller, &phone, code, Some(extras)).await };
    let verified = call.api.tasks.finish(verified).await?;
    call.limited_by(verified.allowance);
    ok(Tokens::from(&verified))
}

pub(crate) async fn check(call: ApiCall) -> Answer {
    let (caller, EnteredCode { phone, code, extras }) = entered(&call).await?;
    let otps = Arc::clone(&call.use_cases()?.verify_otp);
    let checked = async move { otps.check(&caller, &phone, code, Some(extras)).await };
    let allowance = call.api.tasks.finish(checked).await?;
    call.limited_by(allowance);
    ok(CheckedCode::RIGHT)
}

struct EnteredCode {
    phone: Phone,
    code: Code,
    extras: GuessExtras,
}

async fn entered(call: &ApiCall) -> Result<(Caller, EnteredCode), ApiError> {
    let caller = call.capped_caller(RequestScope::Verify).await?;
    let body: VerifyBody = call.body().await?;
    let phone = body.phone.or(ErrorCode::InvalidPhone)?;
    call.concerns(&phone);
    let code = body.code.or(ErrorCode::InvalidOtpCode)?;
    // An invalid id belongs to no request.
    let request = body.otp_id.map(|id| id.or(ErrorCode::OtpNotFound)).transpose()?;
    let device = GivenDevice::token(body.device)?;
    Ok((caller, EnteredCode { phone, code, extras: GuessExtras { request, device } }))
}
