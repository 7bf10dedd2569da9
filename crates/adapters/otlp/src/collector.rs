use dwar_kernel::{http_date, retry_after, with_causes};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::transform::common::tonic::ResourceAttributesWithSchema;
use opentelemetry_proto::transform::trace::tonic::group_spans_by_resource_and_scope;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use prost::Message;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderName, RETRY_AFTER};
use reqwest::{Client, Response, redirect};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The path at which a collector accepts traces (OTLP 1, "OTLP/HTTP Request").
const PATH: &str = "/v1/traces";
const CONNECT: Duration = Duration::from_secs(2);
/// For a whole call. Only its own thread waits for it, and a stop for a moment.
const CALL: Duration = Duration::from_secs(5);
/// Longest pause that a collector can ask for.
const LONGEST_REST: Duration = Duration::from_secs(300);

/// No client can be made: the platform has no TLS, or no runtime can be started.
#[derive(Debug, thiserror::Error)]
#[error("no HTTP client for traces can be made, check the platform's TLS: {0}")]
pub struct UnusableClient(String);

/// Posts spans to one collector. Spans that it refuses are lost, and so are spans that arrive while
/// it asks not to be called. This is logged once, not per call.
pub(crate) struct Collector {
    client: Client,
    url: String,
    about: ResourceAttributesWithSchema,
    /// A runtime of its own, which still works after the service's has ended.
    runtime: Runtime,
    away: AtomicBool,
    /// Until when the collector asked for no calls; in the past if it did not, or the pause has
    /// ended.
    rests_until: Mutex<Option<Instant>>,
}

impl Collector {
    /// Makes a client of the collector at this address. Sends `headers` with each call.
    pub(crate) fn at(
        address: &str,
        headers: HeaderMap,
        about: &Resource,
    ) -> Result<Self, UnusableClient> {
        let client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .user_agent(concat!("dwar/", env!("CARGO_PKG_VERSION")))
            .default_headers(headers)
            .connect_timeout(CONNECT)
            .timeout(CALL)
            // Nothing maintains an idle connection between two calls.
            .pool_max_idle_per_host(0)
            .build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Self {
            client: client.map_err(|cause| UnusableClient(with_causes(&cause)))?,
            url: format!("{}{PATH}", address.trim_end_matches('/')),
            about: about.into(),
            runtime: runtime.map_err(|cause| UnusableClient(cause.to_string()))?,
            away: AtomicBool::new(false),
            rests_until: Mutex::default(),
        })
    }

    /// Posts spans. The error says why they were refused, without any text of the answer.
    async fn post(&self, spans: Vec<u8>) -> Result<(), String> {
        let call = self.client.post(&self.url).header(CONTENT_TYPE, "application/x-protobuf");
        match call.body(spans).send().await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => {
                self.rest_as(&answer);
                Err(format!("it answered {}", answer.status().as_u16()))
            }
            Err(cause) if cause.is_timeout() => Err("no answer in time".to_owned()),
            Err(cause) if cause.is_connect() => Err("no connection".to_owned()),
            Err(_) => Err("the connection broke".to_owned()),
        }
    }

    /// Pauses for as long as a refusal asks for, which has this meaning only at 429 and 503 (OTLP
    /// 1, "OTLP/HTTP Throttling").
    fn rest_as(&self, answer: &Response) {
        let text = |name: HeaderName| answer.headers().get(name)?.to_str().ok();
        let is_asked_for = matches!(answer.status().as_u16(), 429 | 503);
        let wait = text(RETRY_AFTER)
            .filter(|_| is_asked_for)
            .and_then(|value| retry_after(value, text(DATE).and_then(http_date)));
        let until = wait.map(|wait| Instant::now() + wait.min(LONGEST_REST));
        *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner) = until;
    }

    fn rests(&self) -> bool {
        let until = *self.rests_until.lock().unwrap_or_else(PoisonError::into_inner);
        until.is_some_and(|until| Instant::now() < until)
    }

    fn tell(&self, taken: Result<(), String>) {
        let was_away = self.away.swap(taken.is_err(), Ordering::Relaxed);
        match taken {
            Err(cause) if !was_away => {
                tracing::warn!(
                    cause,
                    "the collector accepts no traces; they are lost until it \
                     does"
                );
            }
            Ok(()) if was_away => tracing::info!("the collector accepts traces again"),
            _ => {}
        }
    }
}

/// The header may be a secret.
impl fmt::Debug for Collector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Collector").finish_non_exhaustive()
    }
}

impl SpanExporter for Collector {
    /// Blocks its thread, which does nothing else.
    async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
        // The refusal that asked for the pause was logged.
        if self.rests() {
            return Ok(());
        }
        let resource_spans = group_spans_by_resource_and_scope(spans, &self.about);
        let request = ExportTraceServiceRequest { resource_spans };
        self.tell(self.runtime.block_on(self.post(request.encode_to_vec())));
        Ok(())
    }
}
