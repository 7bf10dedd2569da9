use crate::{LastRefusal, LastRefusals, ProxyUrl};
use dwar_kernel::{http_date, retry_after, with_causes};
use dwar_otp::{Probe, Reason};
use reqwest::{Client, Method, Proxy, RequestBuilder, Response, StatusCode, header, redirect};
use serde_json::Value;
use std::time::{Duration, Instant};

const MAX_ANSWER: usize = 64 * 1024;
/// Shorter than providers keep an idle connection, so that no call uses one that is being closed.
const MAX_IDLE: Duration = Duration::from_secs(30);
const REQUEST_ID: &str = "x-request-id";
const LONGEST_RETRY_AFTER: u64 = 86_400;
/// Longest pause that a provider can ask for, so that it cannot stop sends.
const LONGEST_REST: Duration = Duration::from_secs(60);
/// Largest error code; no provider has codes of more than six digits.
const LARGEST_CODE: i64 = 999_999;
const REFUSED: &str = "the provider refused a message";
const USER_AGENT: &str = concat!("dwar/", env!("CARGO_PKG_VERSION"));

/// No client can be made, because the platform offers no TLS.
#[derive(Debug, thiserror::Error)]
#[error("no HTTP client can be made, check the platform's TLS: {}", with_causes(.0))]
pub struct UnusableHttpClient(#[from] reqwest::Error);

/// The pooled HTTP client that all gateways share; clones share its connections.
///
/// It follows no redirect, repeats no call, and reads at most 64 KiB of an answer. It has no
/// `Debug`, because the proxy's URL may contain a password.
#[derive(Clone)]
pub struct HttpClient {
    client: Client,
    refusals: LastRefusals,
}

impl HttpClient {
    /// Makes a client. A connection, TLS included, may take `connect_timeout`; a whole call, to the
    /// last byte of the answer, may take `timeout`.
    ///
    /// Every call uses `proxy`, and without it no proxy. A proxy of the environment is ignored,
    /// because it would see calls that are not meant for it.
    ///
    /// # Errors
    /// [`UnusableHttpClient`].
    pub fn new(
        connect_timeout: Duration,
        timeout: Duration,
        proxy: Option<&ProxyUrl>,
    ) -> Result<Self, UnusableHttpClient> {
        let mut client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .user_agent(USER_AGENT)
            .connect_timeout(connect_timeout)
            .timeout(timeout)
            .pool_idle_timeout(MAX_IDLE);
        if let Some(proxy) = proxy {
            client = client.proxy(Proxy::all(proxy.expose())?);
        }
        Ok(Self { client: client.build()?, refusals: LastRefusals::default() })
    }

    /// The last refusals of providers that were called through this client.
    pub fn refusals(&self) -> LastRefusals {
        self.refusals.clone()
    }

    /// Begins a `POST` to `url`.
    pub(crate) fn post(&self, url: &str) -> RequestBuilder {
        self.request(Method::POST, url)
    }

    /// Begins a call of `url`.
    pub(crate) fn request(&self, method: Method, url: &str) -> RequestBuilder {
        self.client.request(method, url)
    }

    /// Makes a call and returns the provider's answer of any status.
    ///
    /// # Errors
    /// [`Reason::ProviderUnavailable`] if nothing was sent: there was no connection (name, refusal,
    /// TLS, its own time limit) or the request could not be built. Otherwise the provider may have
    /// accepted the message: [`Reason::Timeout`] if the time was over, [`Reason::Unknown`] if the
    /// connection broke, or if a successful answer could not be read.
    pub(crate) async fn send(
        &self,
        provider: &str,
        request: RequestBuilder,
    ) -> Result<Answer, Reason> {
        let lost = |error| {
            let reason = lost(provider, error);
            self.refusals.note(provider, LastRefusal { reason, status: None, code: None });
            reason
        };
        let mut response = request.send().await.map_err(lost)?;
        let status = response.status();
        let text = |name| response.headers().get(name)?.to_str().ok();
        let sent = text(header::DATE).and_then(http_date);
        let retry_after = text(header::RETRY_AFTER).and_then(|value| retry_after(value, sent));
        let retry_after = retry_after.map(|wait| wait.as_secs());
        // The value goes to the log. A number that is not a time could be anything, even a phone
        // number.
        let retry_after = retry_after.filter(|seconds| *seconds <= LONGEST_RETRY_AFTER);
        let refusals = &self.refusals;
        let answer = |body: &[u8]| {
            let (body, refusals) = (document(body), refusals.clone());
            Answer { status, retry_after, body, refusals }
        };
        match read(&mut response).await {
            Ok(Some(body)) => Ok(answer(&body)),
            // Only the status shows the result.
            _ if !status.is_success() => Ok(answer(&[])),
            Ok(None) => {
                let status = status.as_u16();
                tracing::warn!(provider, status, "the answer is too long");
                let told =
                    LastRefusal { reason: Reason::Unknown, status: Some(status), code: None };
                self.refusals.note(provider, told);
                Err(Reason::Unknown)
            }
            Err(error) => match lost(error) {
                Reason::Timeout => Err(Reason::Timeout),
                _ => Err(Reason::Unknown),
            },
        }
    }

    /// Requests the first page of an address's host without credentials, to see whether it answers
    /// at all. `None` if the address names no host.
    pub(crate) async fn reach(&self, provider: &str, address: &str) -> Option<Probe> {
        let url = reqwest::Url::parse(address).ok()?.join("/").ok()?;
        let began = Instant::now();
        let answer = self.request(Method::GET, url.as_str()).send().await;
        let status = match answer {
            Ok(answer) => Some(answer.status().as_u16()),
            Err(error) => {
                lost(provider, error);
                None
            }
        };
        Some(Probe { status, took: began.elapsed() })
    }

    /// Calls an address of this service as a provider would, with an empty `POST` or with a `GET`.
    /// Follows no redirect.
    ///
    /// # Errors
    /// A sentence: why there was no answer.
    pub async fn probe(&self, method: Method, url: &str, id: &str) -> Result<ProbeAnswer, String> {
        let request = self.request(method, url).header(REQUEST_ID, id);
        let mut response =
            request.send().await.map_err(|error| with_causes(&error.without_url()))?;
        let request_id = response.headers().get(REQUEST_ID);
        let request_id = request_id.and_then(|value| Some(value.to_str().ok()?.to_owned()));
        let status = response.status().as_u16();
        let body = read(&mut response).await.ok().flatten().unwrap_or_default();
        Ok(ProbeAnswer { status, request_id, body })
    }
}

/// The answer to a probe of one of our addresses.
#[derive(Debug)]
pub struct ProbeAnswer {
    pub status: u16,
    /// The header `X-Request-Id`.
    pub request_id: Option<String>,
    /// The body, at most 64 KiB.
    pub body: Vec<u8>,
}

/// A provider's answer. It has no `Debug`, because bodies may contain phone numbers and codes.
pub struct Answer {
    pub(crate) status: StatusCode,
    retry_after: Option<u64>,
    /// The body. One that is not JSON counts as a JSON string with its whole text, an unreadable
    /// one as the empty string.
    pub(crate) body: Value,
    refusals: LastRefusals,
}

impl Answer {
    /// How long the provider, which refused for this reason, asks not to be called. Only at 429 and
    /// 503, and only if the reason is about the provider: a reason about a number, a text or the
    /// account says nothing about other messages.
    pub(crate) fn rest(&self, reason: Reason) -> Option<Duration> {
        let is_asked_for = matches!(self.status.as_u16(), 429 | 503);
        let is_busy = matches!(reason, Reason::ProviderThrottled | Reason::ProviderUnavailable);
        let seconds = self.retry_after.filter(|seconds| is_asked_for && is_busy && *seconds > 0)?;
        Some(Duration::from_secs(seconds).min(LONGEST_REST))
    }

    /// The reason of a refusal from the HTTP status, for answers whose body gives no better one.
    ///
    /// A successful status here means that the body was not understood: the provider may or may not
    /// have accepted the message ([`Reason::Unknown`]). A refusal sends the same code over the next
    /// channel, at worst a second time. Accepting the message would leave the recipient waiting for
    /// a message, or us for a receipt, that may never come.
    ///
    /// Any other status is the provider's own refusal (RFC 9110 section 15), except those of a
    /// proxy that passed the message on and lost the answer: 502, 504, and Cloudflare's 520 to 524
    /// (`developers.cloudflare.com/support/troubleshooting/http-status-codes`).
    pub(crate) fn reason(&self) -> Reason {
        match self.status.as_u16() {
            401 | 403 | 407 => Reason::ProviderAuth,
            429 => Reason::ProviderThrottled,
            502 | 504 | 520..=524 => Reason::Unknown,
            // The call did not arrive completely (RFC 9110 section 15.5.9).
            408 => Reason::ProviderUnavailable,
            400..=499 => Reason::ProviderRefused,
            // Redirects are not followed: the server that answered is not the provider's API.
            300..=599 => Reason::ProviderUnavailable,
            _ => Reason::Unknown,
        }
    }

    /// The reason of a refusal that the body states: [`Answer::reason`], but never one that leaves
    /// open whether the message was accepted.
    pub(crate) fn refusal(&self) -> Reason {
        match self.reason() {
            Reason::Unknown => Reason::ProviderRefused,
            reason => reason,
        }
    }

    /// The reason of a refusal: the meaning of the provider's own code or text if it was
    /// `understood`, or else [`Answer::reason`].
    ///
    /// Logs the refusal with the provider's code if there is one. The level is warning, unless the
    /// reason is about only the recipient, which is routine.
    pub(crate) fn refused(
        &self,
        provider: &str,
        code: Option<i64>,
        understood: Option<Reason>,
    ) -> Reason {
        let reason = understood.unwrap_or_else(|| self.reason());
        let code = code.filter(|code| (0..=LARGEST_CODE).contains(code));
        let told = LastRefusal { reason, status: Some(self.status.as_u16()), code };
        self.refusals.note(provider, told);
        let (status, retry_after, word) = (self.status.as_u16(), self.retry_after, reason.as_str());
        match reason {
            Reason::NotOnChannel | Reason::RejectedNumber | Reason::Blocked => {
                tracing::info!(provider, status, code, reason = word, "{REFUSED}");
            }
            _ => tracing::warn!(provider, status, code, retry_after, reason = word, "{REFUSED}"),
        }
        reason
    }
}

/// The body; `None` if it is too long.
async fn read(response: &mut Response) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

fn document(body: &[u8]) -> Value {
    let text = || Value::String(String::from_utf8_lossy(body).into_owned());
    serde_json::from_slice(body).unwrap_or_else(|_| text())
}

fn lost(provider: &str, error: reqwest::Error) -> Reason {
    // In this order: a slow connection is also a time-out, but nothing was sent.
    let reason = if error.is_connect() || error.is_builder() {
        Reason::ProviderUnavailable
    } else if error.is_timeout() {
        Reason::Timeout
    } else {
        Reason::Unknown
    };
    // Without its URL, because the URLs of some providers contain numbers and keys.
    let error = with_causes(&error.without_url());
    tracing::warn!(provider, reason = reason.as_str(), error, "a call to the provider was lost");
    reason
}

#[cfg(test)]
#[path = "http_client_tests.rs"]
mod tests;
