use crate::address::{NotPublic, PublicResolver, allows};
use crate::body;
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_event::{CallFailure, Event, SendFailure, WebhookRequest, WebhookSecret, WebhookSender};
use dwar_kernel::{Timestamp, http_date, retry_after, with_causes};
use hmac::{Hmac, KeyInit, Mac};
use reqwest::header::{DATE, HeaderName, RETRY_AFTER};
use reqwest::{Client, Response, redirect};
use serde::Deserialize;
use sha2::Sha256;
use std::error::Error;
use std::io;
use std::iter;
use std::sync::Arc;
use std::time::Duration;

/// For a whole call. Standard Webhooks recommends 15 to 30 s. A delivery that takes longer than its
/// lease of a minute would be done twice.
const TIMEOUT: Duration = Duration::from_secs(15);

/// Settings of the posting of events: the section `[events]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebhookSettings {
    /// Whether private addresses and plain HTTP are allowed. Only for installations that trust
    /// everybody who may add an endpoint.
    pub allow_private: bool,
}

/// No client can be made, because the platform offers no TLS.
#[derive(Debug, thiserror::Error)]
#[error("no HTTP client can be made, check the platform's TLS: {}", with_causes(.0))]
pub struct UnusableClient(#[from] reqwest::Error);

/// Posts events over HTTP. Follows no redirect. Reads only the status of an answer and, at 429 or
/// 503, how long to wait.
pub struct HttpWebhookSender {
    client: Client,
    settings: WebhookSettings,
}

impl HttpWebhookSender {
    /// Makes a sender with these settings.
    ///
    /// # Errors
    /// [`UnusableClient`].
    pub fn new(settings: WebhookSettings) -> Result<Self, UnusableClient> {
        Self::within(TIMEOUT, settings)
    }

    fn within(timeout: Duration, settings: WebhookSettings) -> Result<Self, UnusableClient> {
        let mut client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .user_agent(concat!("dwar/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeout)
            .timeout(timeout);
        if !settings.allow_private {
            client = client.dns_resolver(Arc::new(PublicResolver));
        }
        Ok(Self { client: client.build()?, settings })
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    fn body(&self, event: &Event, phone: Option<String>) -> Vec<u8> {
        body::render(event, phone)
    }

    fn sign(&self, secret: &WebhookSecret, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut block = [0; 64];
        // RFC 2104 pads a key shorter than the block with zeros; doing that here cannot fail.
        block[..32].copy_from_slice(secret.bytes());
        let mut mac = <Hmac<Sha256> as KeyInit>::new(&block.into());
        mac.update(format!("{id}.{timestamp}.").as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }

    async fn post(&self, request: WebhookRequest) -> Result<u16, CallFailure> {
        self.allows(&request.url)?;
        let began = Timestamp::from_timestamp(request.timestamp, 0);
        let call = self
            .client
            .post(&request.url)
            .header("content-type", "application/json")
            .header("webhook-id", request.id)
            .header("webhook-timestamp", request.timestamp)
            .header("webhook-signature", request.signature)
            .body(request.body);
        match call.send().await {
            Ok(answer) if answer.status().is_success() => Ok(answer.status().as_u16()),
            Ok(answer) => Err(CallFailure {
                cause: SendFailure::Status(answer.status().as_u16()),
                retry_after: asked_for(&answer, began),
            }),
            Err(cause) => Err(reason(&cause).into()),
        }
    }

    fn allows(&self, url: &str) -> Result<(), SendFailure> {
        let allowed = allows(url, self.settings.allow_private);
        if allowed { Ok(()) } else { Err(SendFailure::AddressNotAllowed) }
    }
}

/// How long the endpoint asks not to be called. A date is compared with the endpoint's own clock,
/// or with ours if the answer does not contain its time.
fn asked_for(answer: &Response, began: Option<Timestamp>) -> Option<Duration> {
    if !matches!(answer.status().as_u16(), 429 | 503) {
        return None;
    }
    let text = |name: HeaderName| answer.headers().get(name)?.to_str().ok();
    retry_after(text(RETRY_AFTER)?, text(DATE).and_then(http_date).or(began))
}

/// Why there is no answer. The client's causes can be told apart only by their text.
fn reason(cause: &reqwest::Error) -> SendFailure {
    let causes = || iter::successors(cause.source(), |&cause| cause.source());
    let inner = |cause: &&(dyn Error + 'static)| {
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause.is::<NotPublic>() || inner.is_some_and(|inner| inner.is::<NotPublic>())
    };
    let kind = |cause: &(dyn Error + 'static)| Some(cause.downcast_ref::<io::Error>()?.kind());
    let says = |words: &[&str]| {
        let text = |cause: &(dyn Error + 'static)| cause.to_string().to_lowercase();
        causes().map(text).any(|text| words.iter().any(|word| text.contains(word)))
    };
    if causes().any(|cause| inner(&cause)) {
        SendFailure::AddressNotAllowed
    } else if cause.is_timeout() {
        SendFailure::TimedOut
    } else if causes().any(|cause| kind(cause) == Some(io::ErrorKind::ConnectionRefused)) {
        SendFailure::ConnectionRefused
    } else if says(&["dns error"]) {
        SendFailure::Unresolved
    } else if says(&["certificate", "tls", "ssl", "handshake"]) {
        SendFailure::Tls
    } else {
        SendFailure::Unreachable
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
mod tests;
