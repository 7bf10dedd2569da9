use crate::call::encode;
use crate::error::{ApiError, ErrorCode};
use crate::json::SentBody;
use dwar_app::{Begun, Ticket, UseCases};
use dwar_idempotency::IdempotencyKey;
use dwar_kernel::{Phone, StoreError};
use dwar_project::Caller;
use dwar_ratelimit::Admission;

const ROUTE: &str = "otp/send";

/// The answer to a send.
pub(crate) struct Sent {
    /// The body of the 200.
    pub(crate) body: Vec<u8>,
    /// The phone's allowance; `None` if this is the first answer given again.
    pub(crate) admission: Option<Admission>,
}

/// Sends a code, or gives the first answer to this `Idempotency-Key` again.
///
/// Kept are answers that say what became of the code: the 200 as its bytes, a definite failure as
/// its code. After any other refusal nothing was done, and the next request may do it.
pub(crate) async fn send_once(
    use_cases: &UseCases,
    caller: &Caller,
    phone: &Phone,
    key: Option<&IdempotencyKey>,
) -> Result<Sent, ApiError> {
    let Some(key) = key else {
        return send(use_cases, caller, phone).await;
    };
    let ticket = match use_cases.idempotency.begin(caller, ROUTE, key, phone).await? {
        Begun::Fresh(ticket) => ticket,
        Begun::Replay(answer) => return replay(answer),
    };
    let outcome = send(use_cases, caller, phone).await;
    if let Err(cause) = keep(use_cases, ticket, &outcome).await {
        // The send itself is done and its answer holds; the key frees itself after its lease.
        tracing::error!(%cause, "the answer to an Idempotency-Key could not be kept");
    }
    outcome
}

async fn send(use_cases: &UseCases, caller: &Caller, phone: &Phone) -> Result<Sent, ApiError> {
    let sent = use_cases.send_otp.send(caller, phone).await?;
    Ok(Sent { body: encode(&SentBody::of(&sent))?, admission: Some(sent.admission) })
}

async fn keep(
    use_cases: &UseCases,
    ticket: Ticket,
    outcome: &Result<Sent, ApiError>,
) -> Result<(), StoreError> {
    let idempotency = &use_cases.idempotency;
    match outcome {
        Ok(sent) => idempotency.complete(ticket, &sent.body).await,
        Err(error) if is_definite(error.code) => {
            idempotency.complete(ticket, error.code.as_str().as_bytes()).await
        }
        Err(_) => idempotency.abandon(ticket).await,
    }
}

fn replay(answer: Vec<u8>) -> Result<Sent, ApiError> {
    let word = std::str::from_utf8(&answer).ok();
    match word.and_then(ErrorCode::from_word) {
        Some(code) => Err(ApiError::replayed(code)),
        None => Ok(Sent { body: answer, admission: None }),
    }
}

const fn is_definite(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::SmsFailed | ErrorCode::InsufficientBalance)
}
