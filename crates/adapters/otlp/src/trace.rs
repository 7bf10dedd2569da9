//! One trace in progress.

use crate::traceparent::parse;
use dwar_kernel::PARENT_AWAITED;
use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_sdk::trace::{IdGenerator, SpanData, SpanEvents, SpanLinks};
use std::borrow::Cow;
use std::fmt::Debug;
use std::mem;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};
use tracing::field::{Field, Visit};
use tracing::span::Attributes;

/// Most spans of a trace that are recorded. No request has as many, except exports, which read a
/// table in many calls.
const MOST: usize = 500;

pub(crate) struct Trace {
    /// When it began, by the wall clock and by a monotonic one: the spans of a trace agree even if
    /// the wall clock is set.
    at: SystemTime,
    began: Instant,
    /// Its id, unless another one is adopted.
    own: TraceId,
    named: OnceLock<Named>,
    over: Mutex<Vec<SpanData>>,
}

#[derive(Clone, Copy)]
struct Named {
    id: TraceId,
    /// The caller's span, if the trace belongs to the caller.
    parent: Option<SpanId>,
}

impl Trace {
    pub(crate) fn begin(at: SystemTime, own: TraceId) -> Arc<Self> {
        let (named, over) = (OnceLock::new(), Mutex::default());
        Arc::new(Self { at, began: Instant::now(), own, named, over })
    }

    pub(crate) fn id(&self) -> Option<TraceId> {
        self.named.get().map(|named| named.id)
    }

    fn now(&self) -> SystemTime {
        self.at + self.began.elapsed()
    }

    /// Sets the trace's id from the caller's `traceparent`, unless it has one: the first id stays.
    fn name(&self, traceparent: &str) -> Named {
        let own = || Named { id: self.own, parent: None };
        let given = |(id, parent)| Named { id, parent: Some(parent) };
        *self.named.get_or_init(|| parse(traceparent).map_or_else(own, given))
    }
}

/// A span of a trace, until it ends.
pub(crate) struct OpenSpan {
    trace: Arc<Trace>,
    span: SpanData,
    ended: bool,
    awaited: bool,
}

impl OpenSpan {
    pub(crate) fn first(trace: Arc<Trace>, ids: &dyn IdGenerator, given: &Attributes<'_>) -> Self {
        let part = Self::within(trace, SpanId::INVALID, ids, given);
        if !part.awaited {
            part.trace.name("");
        }
        part
    }

    pub(crate) fn within(
        trace: Arc<Trace>,
        around: SpanId,
        ids: &dyn IdGenerator,
        given: &Attributes<'_>,
    ) -> Self {
        let now = trace.now();
        let span = SpanData {
            span_context: context(TraceId::INVALID, ids.new_span_id()),
            parent_span_id: around,
            parent_span_is_remote: false,
            span_kind: SpanKind::Internal,
            name: Cow::Borrowed(given.metadata().name()),
            start_time: now,
            end_time: now,
            attributes: Vec::new(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: InstrumentationScope::default(),
        };
        let mut part = Self { trace, span, ended: false, awaited: false };
        given.record(&mut part);
        part
    }

    /// The trace of this span, and the span's id.
    pub(crate) fn place(&self) -> (Arc<Trace>, SpanId) {
        (Arc::clone(&self.trace), self.span.span_context.span_id())
    }

    /// Ends the span; returns all spans of the trace if this span began it.
    pub(crate) fn end(self) -> Vec<SpanData> {
        let Self { trace, mut span, ended, .. } = self;
        if !ended {
            span.end_time = trace.now();
        }
        let is_first = span.parent_span_id == SpanId::INVALID;
        let mut over = trace.over.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_first {
            if over.len() < MOST {
                over.push(span);
            }
            return Vec::new();
        }
        let Named { id, parent } = trace.name("");
        if let Some(parent) = parent {
            (span.parent_span_id, span.parent_span_is_remote) = (parent, true);
        }
        let mut spans = mem::take(&mut *over);
        spans.push(span);
        for span in &mut spans {
            span.span_context = context(id, span.span_context.span_id());
        }
        spans
    }

    fn learn(&mut self, name: &'static str, value: impl Into<Value>) {
        let known = self.span.attributes.iter_mut().find(|known| known.key.as_str() == name);
        match known {
            Some(known) => known.value = value.into(),
            None => self.span.attributes.push(KeyValue::new(name, value)),
        }
        if name == "error.type" {
            self.span.status = Status::error("");
        }
    }
}

/// The context of one of our spans. It is always sampled, because others do not get this far.
fn context(trace: TraceId, span: SpanId) -> SpanContext {
    SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::default())
}

fn kind(word: &str) -> SpanKind {
    match word {
        "server" => SpanKind::Server,
        "client" => SpanKind::Client,
        _ => SpanKind::Internal,
    }
}

impl Visit for OpenSpan {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "otel.name" => self.span.name = Cow::Owned(value.to_owned()),
            "otel.kind" => self.span.span_kind = kind(value),
            "parent" if value == PARENT_AWAITED => self.awaited = true,
            "parent" => drop(self.trace.name(value)),
            name if name.contains('.') => self.learn(name, value.to_owned()),
            _ => {}
        }
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        match field.name() {
            "end" => (self.span.end_time, self.ended) = (self.trace.now(), value),
            name if name.contains('.') => self.learn(name, value),
            _ => {}
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        if field.name().contains('.') {
            self.learn(field.name(), value);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_i64(field, i64::try_from(value).unwrap_or(i64::MAX));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name().contains('.') {
            self.learn(field.name(), value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
