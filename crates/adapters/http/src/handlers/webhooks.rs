use crate::call::{Answer, Call};
use crate::error::{ApiError, ErrorCode};
use actix_web::HttpResponse;
use actix_web::http::header;
use dwar_otp::WebhookCall;

/// Providers batch what they report: Meta up to 3 MB.
const MAX_BODY: usize = 3 * 1024 * 1024;

/// `POST /webhooks/{provider}`: on record before it is answered, applied afterwards.
pub(crate) async fn receive(call: Call) -> Answer {
    let body = call.raw_body(MAX_BODY).await?;
    let received = call.as_webhook(body)?;
    keep(&call, received).await
}

/// `GET /webhooks/{provider}`: a provider makes sure that the address is ours, or reports in the
/// query.
pub(crate) async fn handshake(call: Call) -> Answer {
    let (provider, asked) = (call.id_in_path()?, call.as_webhook(Vec::new())?);
    match call.use_cases().receive_webhook.handshake(&provider, &asked) {
        Ok(challenge) => {
            let text = (header::CONTENT_TYPE, "text/plain; charset=utf-8");
            Ok(HttpResponse::Ok().insert_header(text).body(challenge))
        }
        Err(_) => keep(&call, asked).await,
    }
}

async fn keep(call: &Call, received: WebhookCall) -> Answer {
    let provider = call.id_in_path()?.into_owned();
    let receive = call.use_cases().receive_webhook.clone();
    let keep = async move { receive.receive(&provider, &received).await };
    let kept = call.api.tasks.finish(keep).await?;
    tracing::debug!(receipts = kept, "webhook received");
    Ok(HttpResponse::Ok().finish())
}

impl Call {
    fn as_webhook(&self, body: Vec<u8>) -> Result<WebhookCall, ApiError> {
        let uri = self.request.uri();
        let path_and_query = uri.path_and_query().ok_or(ErrorCode::InvalidRequest)?;
        let headers = self.request.headers().iter().filter_map(|(name, value)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        });
        Ok(WebhookCall {
            path_and_query: path_and_query.as_str().to_owned(),
            query: self.query_pairs()?,
            headers: headers.collect(),
            body,
        })
    }
}
