use crate::body::{Allowed, Body};
use crate::body_places::BodyOwner;
use crate::call::{Answer, ApiCall};
use crate::error::{ApiError, ErrorCode};
use actix_web::HttpResponse;
use actix_web::http::header;
use dwar_otp::{WebhookCall, WebhookHead};
use std::time::Duration;

/// `POST /webhooks/{provider}`: recorded before the answer, applied afterwards.
///
/// Finds the provider and judges the head before it reads a byte of the body.
pub(crate) async fn receive(call: ApiCall) -> Answer {
    let (provider, head) = (call.id_in_path()?, call.webhook_head()?);
    let admitted = call.use_cases()?.receive_webhook.admit(&provider, &head)?;
    let name = provider.to_string();
    let whose =
        if admitted.proven { BodyOwner::Provider(name) } else { BodyOwner::StrangersAt(name) };
    let longest = admitted.longest_body;
    let allowed = Allowed { longest, within: Duration::MAX, whose: Some(&whose) };
    let body = call.raw_body(allowed).await?;
    keep(&call, &provider, head, body).await
}

/// `GET /webhooks/{provider}`: a provider verifies that the address is ours, or sends a report in
/// the query.
pub(crate) async fn handshake(call: ApiCall) -> Answer {
    let (provider, head) = (call.id_in_path()?, call.webhook_head()?);
    let receive = &call.use_cases()?.receive_webhook;
    if let Ok(challenge) = receive.handshake(&provider, &head) {
        let text = (header::CONTENT_TYPE, "text/plain; charset=utf-8");
        return Ok(HttpResponse::Ok().insert_header(text).body(challenge));
    }
    receive.admit(&provider, &head)?;
    keep(&call, &provider, head, Body::default()).await
}

async fn keep(call: &ApiCall, provider: &str, head: WebhookHead, body: Body) -> Answer {
    let (provider, receive) = (provider.to_owned(), call.use_cases()?.receive_webhook.clone());
    let tasks = &call.api.tasks;
    let kept = match body {
        Body { bytes, room: None } => {
            let received = WebhookCall { head, body: bytes };
            tasks.finish(async move { receive.receive(&provider, &received).await }).await?
        }
        Body { bytes, room } => {
            let reader = receive.clone();
            let read = move || {
                // The place becomes free when the body is dropped, not earlier.
                let _held = room;
                reader.read(&provider, &WebhookCall { head, body: bytes })
            };
            let receipts = tasks.compute(read).await?;
            tasks.finish(async move { receive.keep(receipts).await }).await?
        }
    };
    tracing::debug!(receipts = kept, "webhook received");
    Ok(HttpResponse::Ok().finish())
}

impl ApiCall {
    pub(super) fn webhook_head(&self) -> Result<WebhookHead, ApiError> {
        let uri = self.request.uri();
        let path_and_query = uri.path_and_query().ok_or(ErrorCode::InvalidRequest)?;
        let headers = self.request.headers().iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        Ok(WebhookHead {
            path_and_query: path_and_query.as_str().to_owned(),
            query: self.query_pairs()?,
            headers: headers.collect(),
        })
    }
}
