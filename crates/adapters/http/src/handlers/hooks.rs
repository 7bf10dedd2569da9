use crate::body::{Allowed, Body};
use crate::body_places::BodyOwner;
use crate::call::{Answer, ApiCall, JSON};
use crate::error::{ApiError, ErrorCode};
use actix_web::HttpResponse;
use dwar_app::{AdmittedHook, HookRequest, ReceiveHookError};
use dwar_kernel::HookId;
use dwar_otp::{HookFormat, HookRefusal, WebhookCall, WebhookHead};
use dwar_wire::{client_address, declares_json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout_at};

/// In bytes. The payload includes the other system's record of its user, with Supabase twice.
const LONGEST: usize = 256 * 1_024;
/// For the body. A slower caller could not be answered in time.
const READ_WITHIN: Duration = Duration::from_secs(2);
/// Supabase waits five seconds, repetitions included; the rest is for the network.
const ANSWERED_WITHIN: Duration = Duration::from_millis(3_500);
/// Pause after which a repetition checks again whether the first call has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// `POST /hooks/{hook}`.
///
/// No answer has `Retry-After`, because Supabase would call again at once.
pub(crate) async fn receive(call: ApiCall) -> Answer {
    let deadline = Instant::now() + ANSWERED_WITHIN;
    let (format, request) = proven(&call).await.map_err(ApiError::for_good)?;
    let outcome = match request {
        Ok(request) => deliver(&call, &Arc::new(request), deadline).await,
        Err(refusal) => Err(refusal),
    };
    call.context.refused.set(outcome.err().map(ErrorCode::of_hook));
    match (format.answer(outcome), outcome) {
        (Some(body), _) => Ok(HttpResponse::Ok().content_type(JSON).body(body)),
        (None, Ok(())) => Ok(HttpResponse::Ok().finish()),
        (None, Err(refusal)) => Err(ApiError::from(refusal).for_good()),
    }
}

/// The possible answers, by status and code. A format refuses in its own words with a 200, or as
/// the API does.
pub(crate) fn answers() -> impl Iterator<Item = (u16, &'static str)> {
    let refused = HookRefusal::ALL.into_iter().flat_map(|refusal| {
        let code = ErrorCode::of_hook(refusal).as_str();
        [(200, code), (ApiError::from(refusal).code.status(), code)]
    });
    let unproven = ErrorCode::WebhookUnauthenticated;
    [(200, ""), (unproven.status(), unproven.as_str())].into_iter().chain(refused)
}

/// Verifies a call and reads its request; returns the format of the answer too. An unknown hook and
/// a wrong proof get the same answer.
async fn proven(
    call: &ApiCall,
) -> Result<(&'static dyn HookFormat, Result<HookRequest, HookRefusal>), ApiError> {
    let head = call.webhook_head()?;
    if !declares_json(call.request.headers()) {
        return Err(ErrorCode::UnsupportedMediaType.into());
    }
    let (hook, admitted) = admitted(call, &head).await.map_err(|why| refused(call, why))?;
    let format = admitted.format;
    let (within, whose) = (READ_WITHIN, &BodyOwner::Hook(hook));
    let allowed = Allowed { longest: LONGEST, within, whose: Some(whose) };
    let Body { bytes, room: _room } = match call.raw_body(allowed).await {
        Err(why) if why.code == ErrorCode::PayloadTooLarge => {
            return Ok((format, Err(HookRefusal::TooLarge)));
        }
        read => read?,
    };
    let whole = WebhookCall { head, body: bytes };
    let opened = call.use_cases()?.receive_hook.open(admitted, &whole).await;
    let request = opened.map_err(|why| refused(call, why.into()))?;
    call.context.caller.set(Some(request.caller.project_mode()));
    call.context.trace.believe();
    request.phone().into_iter().for_each(|phone| call.concerns(phone));
    Ok((format, Ok(request)))
}

/// Finds the called hook from the head of the request. Limits concurrent look-ups, and refuses
/// impossible calls without one.
async fn admitted(call: &ApiCall, head: &WebhookHead) -> Result<(HookId, AdmittedHook), ApiError> {
    let receive = &call.use_cases()?.receive_hook;
    let hook = call.id_in_path()?.parse::<HookId>();
    let hook = hook.map_err(|_| ReceiveHookError::Unauthenticated)?;
    receive.fits(hook, head)?;
    let _seat = call.api.throttle.seat().await.ok_or(ErrorCode::ServiceUnavailable)?;
    Ok((hook, receive.admit(hook, head).await?))
}

/// Counts a call with a wrong proof. An address with too many of them gets the rate limit as its
/// answer.
fn refused(call: &ApiCall, why: ApiError) -> ApiError {
    if why.code != ErrorCode::WebhookUnauthenticated {
        return why;
    }
    let from = client_address(&call.request, call.api.behind_proxy);
    let now = call.api.use_cases.tools.now();
    let too_many = call.api.throttle.failed(from, now).is_some();
    if too_many { ErrorCode::RateLimited.into() } else { why }
}

/// Delivers the code and answers in time. If providers are slower, answers once the request is
/// recorded; the delivery then continues.
async fn deliver(
    call: &ApiCall,
    request: &Arc<HookRequest>,
    deadline: Instant,
) -> Result<(), HookRefusal> {
    let mut first_at_work = false;
    loop {
        let recorded = Arc::new(AtomicBool::new(false));
        let work = {
            let Ok(use_cases) = call.use_cases() else { break };
            let (receive, request, recorded) =
                (use_cases.receive_hook.clone(), request.clone(), recorded.clone());
            call.api.tasks.finish(async move {
                receive.deliver(&request, &move || recorded.store(true, Ordering::Release)).await
            })
        };
        match timeout_at(deadline, work).await {
            Ok(Ok(Some(outcome))) => return outcome,
            // The first call with this body is still running. At the deadline this call counts as
            // accepted too.
            Ok(Ok(None)) => {
                first_at_work = true;
                sleep_until(deadline.min(Instant::now() + LOOK_AGAIN)).await;
            }
            Ok(Err(failed)) => {
                failed.log_cause();
                break;
            }
            Err(_) if first_at_work || recorded.load(Ordering::Acquire) => return Ok(()),
            Err(_) => break,
        }
    }
    Err(HookRefusal::Unavailable)
}
