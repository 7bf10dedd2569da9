use crate::trace::{OpenSpan, Trace};
use dwar_kernel::{Clock, TRACE, TRACE_BEGINS};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator, SpanData};
use std::sync::Arc;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

/// Receives the spans of a trace once it is over.
pub(crate) type TraceReceiver = Box<dyn Fn(SpanData) + Send + Sync>;

/// Builds traces from the spans whose target is [`TRACE`] or [`TRACE_BEGINS`], and decides which of
/// these spans are recorded. Ignores all other spans, and every event.
///
/// A field whose name has a dot is an attribute. `otel.name` and `otel.kind` set the name and kind
/// of the span in OpenTelemetry. Recording `end` ends a span before it is dropped. `parent` is for
/// the span that begins a trace: [`PARENT_AWAITED`](dwar_kernel::PARENT_AWAITED) at first, and
/// later a W3C `traceparent`, or any other text if there is none. Until then the trace has no id.
pub struct TraceLayer {
    /// Out of 2⁶⁴ traces.
    kept: u64,
    ids: RandomIdGenerator,
    clock: Arc<dyn Clock>,
    taker: TraceReceiver,
}

impl TraceLayer {
    /// Makes a layer that records this share of all traces, 0 to 1.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast stops at both ends"
    )]
    pub(crate) fn new(ratio: f64, clock: Arc<dyn Clock>, taker: TraceReceiver) -> Self {
        let kept = (ratio * u64::MAX as f64) as u64;
        Self { kept, ids: RandomIdGenerator::default(), clock, taker }
    }

    /// Decides whether the trace that begins now is recorded.
    fn draw(&self) -> bool {
        self.kept > 0 && u64::from_be_bytes(self.ids.new_span_id().to_bytes()) <= self.kept
    }
}

/// The id of the trace of a span, as 32 hexadecimal digits; `None` outside of a trace, and while
/// its id is not known yet.
pub fn trace_id<'span, S: LookupSpan<'span>>(span: &SpanRef<'span, S>) -> Option<String> {
    within(span).and_then(|(trace, _)| trace.id()).map(|id| id.to_string())
}

/// Tells whether a span belongs to traces and not to the log.
pub fn is_traced(about: &Metadata<'_>) -> bool {
    [TRACE, TRACE_BEGINS].contains(&about.target())
}

/// The trace of a span, and the innermost of the trace's spans around it.
fn within<'span, S: LookupSpan<'span>>(
    span: &SpanRef<'span, S>,
) -> Option<(Arc<Trace>, opentelemetry::SpanId)> {
    span.scope().find_map(|span| span.extensions().get::<OpenSpan>().map(OpenSpan::place))
}

fn traced<'span, S: Subscriber + for<'any> LookupSpan<'any>>(
    id: &Id,
    context: &'span Context<'_, S>,
) -> Option<SpanRef<'span, S>> {
    context.span(id).filter(|span| is_traced(span.metadata()))
}

impl<S: Subscriber + for<'span> LookupSpan<'span>> Layer<S> for TraceLayer {
    fn register_callsite(&self, about: &'static Metadata<'static>) -> Interest {
        if is_traced(about) { Interest::sometimes() } else { Interest::always() }
    }

    fn enabled(&self, about: &Metadata<'_>, context: Context<'_, S>) -> bool {
        if !is_traced(about) {
            return true;
        }
        let surrounded = context.lookup_current().is_some_and(|span| within(&span).is_some());
        surrounded || about.target() == TRACE_BEGINS && self.draw()
    }

    fn on_new_span(&self, given: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = traced(id, &context) else { return };
        let part = match span.parent().and_then(|parent| within(&parent)) {
            Some((trace, around)) => OpenSpan::within(trace, around, &self.ids, given),
            None => {
                let trace = Trace::begin(self.clock.now().into(), self.ids.new_trace_id());
                OpenSpan::first(trace, &self.ids, given)
            }
        };
        span.extensions_mut().insert(part);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = traced(id, &context) else { return };
        if let Some(part) = span.extensions_mut().get_mut::<OpenSpan>() {
            values.record(part);
        }
    }

    /// A span is closed after all spans within it, so the first span of a trace closes last.
    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let part =
            traced(&id, &context).and_then(|span| span.extensions_mut().remove::<OpenSpan>());
        part.into_iter().flat_map(OpenSpan::end).for_each(&self.taker);
    }
}

#[cfg(test)]
#[path = "layer_tests.rs"]
mod tests;
