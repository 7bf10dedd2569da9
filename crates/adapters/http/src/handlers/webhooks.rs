use crate::call::{Answer, Call};
use crate::error::{ApiError, ErrorCode};
use actix_web::HttpResponse;
use actix_web::http::header;
use dwar_otp::WebhookCall;

/// Providers batch what they report; more than this no provider sends.
const MAX_BODY: usize = 1024 * 1024;

/// `POST /webhooks/{provider}`: on record before it is answered, applied afterwards.
pub(crate) async fn receive(call: Call) -> Answer {
    let body = call.raw_body(MAX_BODY).await?;
    let (provider, received) = (call.id_in_path()?.into_owned(), call.as_webhook(body)?);
    let receive = call.use_cases().receive_webhook.clone();
    let keep = async move { receive.receive(&provider, &received).await };
    let kept = call.api.tasks.finish(keep).await?;
    tracing::debug!(receipts = kept, "webhook received");
    Ok(HttpResponse::Ok().finish())
}

/// `GET /webhooks/{provider}`: a provider makes sure that the address is ours.
pub(crate) async fn handshake(call: Call) -> Answer {
    let (provider, asked) = (call.id_in_path()?.into_owned(), call.as_webhook(Vec::new())?);
    let challenge = call.use_cases().receive_webhook.handshake(&provider, &asked);
    let challenge = challenge.map_err(ApiError::from)?;
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, "text/plain")).body(challenge))
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
