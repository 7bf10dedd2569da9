//! Sends traces to an OpenTelemetry collector, over OTLP/HTTP in protobuf.

mod collector;
mod layer;
mod trace;
mod traceparent;

pub use collector::UnusableClient;
pub use layer::{TraceLayer, is_traced, trace_id};
pub use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use collector::Collector;
use dwar_kernel::Clock;
use opentelemetry::KeyValue;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, SpanProcessor};
use std::sync::Arc;
use std::time::Duration;

/// Most spans that wait, about 1 KiB each; further ones are lost.
const WAITING: usize = 4096;
const AT_ONCE: usize = 512;
const EVERY: Duration = Duration::from_secs(2);

/// The collector, and the share of traces that it gets.
pub struct Settings {
    /// The collector's address, such as `https://otel.example.com:4318`.
    pub address: String,
    pub headers: HeaderMap,
    /// The share of all traces that is recorded, 0 to 1.
    pub ratio: f64,
    /// The version of this program: `service.version`.
    pub version: &'static str,
    /// The id of this instance: `service.instance.id`.
    pub instance: String,
}

/// The thread that sends spans. [`Sending::finish`] ends it and sends the waiting ones.
pub struct Sending(Arc<BatchSpanProcessor>);

/// Starts the thread that sends, and returns the layer that produces its spans.
///
/// # Errors
/// [`UnusableClient`].
pub fn start(
    settings: Settings,
    clock: Arc<dyn Clock>,
) -> Result<(TraceLayer, Sending), UnusableClient> {
    let Settings { address, headers, ratio, version, instance } = settings;
    let about = Resource::builder_empty()
        .with_service_name("dwar")
        .with_attributes([
            KeyValue::new("service.version", version),
            KeyValue::new("service.instance.id", instance),
        ])
        .build();
    let collector = Collector::at(&address, headers, &about)?;
    let batches = BatchConfigBuilder::default()
        .with_max_queue_size(WAITING)
        .with_max_export_batch_size(AT_ONCE)
        .with_scheduled_delay(EVERY)
        .build();
    let processor = BatchSpanProcessor::builder(collector).with_batch_config(batches).build();
    let processor = Arc::new(processor);
    let taker = {
        let processor = Arc::clone(&processor);
        move |span| processor.on_end(span)
    };
    Ok((TraceLayer::new(ratio, clock, Box::new(taker)), Sending(processor)))
}

impl Sending {
    /// Sends waiting spans, for at most `patience`. Later spans are lost.
    pub fn finish(self, patience: Duration) {
        // The result does not matter: a refusal by the collector was logged already.
        let _done = self.0.shutdown_with_timeout(patience);
    }
}
