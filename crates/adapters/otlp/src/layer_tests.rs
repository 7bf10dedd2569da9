use super::*;
use dwar_kernel::{PARENT_AWAITED, Timestamp, read_instant};
use dwar_testkit::FixedClock;
use opentelemetry::Value;
use opentelemetry::trace::{SpanKind, Status};
use std::sync::Mutex;
use tracing::Span;
use tracing::field::Empty;
use tracing_subscriber::layer::SubscriberExt;

const CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

fn at() -> Timestamp {
    read_instant("2027-01-15T08:00:00Z").unwrap()
}

/// The spans that `work` produces if this share of traces is recorded.
fn spans(ratio: f64, work: impl FnOnce()) -> Vec<SpanData> {
    let taken = Arc::<Mutex<Vec<SpanData>>>::default();
    let taker = {
        let taken = Arc::clone(&taken);
        move |span| taken.lock().unwrap().push(span)
    };
    let clock = Arc::new(FixedClock::at(at()));
    let layer = TraceLayer::new(ratio, clock, Box::new(taker));
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::with_default(subscriber, work);
    std::mem::take(&mut *taken.lock().unwrap())
}

fn begin() -> Span {
    tracing::error_span!(target: TRACE_BEGINS, "first", parent = Empty, end = Empty)
}

fn awaiting() -> Span {
    tracing::error_span!(target: TRACE_BEGINS, "first", parent = PARENT_AWAITED, end = Empty)
}

fn part(name: &'static str) -> Span {
    tracing::error_span!(target: TRACE, "part", otel.name = name)
}

fn named<'spans>(spans: &'spans [SpanData], name: &str) -> &'spans SpanData {
    spans.iter().find(|span| span.name == name).unwrap()
}

#[test]
fn a_trace_is_its_spans_whatever_lies_between() {
    let spans = spans(1.0, || {
        let first = begin();
        let line = first.in_scope(|| tracing::error_span!("line", phone = "+91"));
        line.in_scope(|| part("a").in_scope(|| drop(part("b"))));
        tracing::error_span!("alone").in_scope(|| tracing::error!("told"));
    });
    assert_eq!(spans.len(), 3);
    let id = |span: &SpanData| span.span_context.span_id();
    let (first, a, b) = (named(&spans, "first"), named(&spans, "a"), named(&spans, "b"));
    assert_eq!((a.parent_span_id, b.parent_span_id), (id(first), id(a)));
    assert_eq!(first.parent_span_id, opentelemetry::SpanId::INVALID);
    let traces: Vec<_> = spans.iter().map(|span| span.span_context.trace_id()).collect();
    assert!(traces.iter().all(|id| *id == traces[0] && *id != opentelemetry::TraceId::INVALID));
    assert!(spans.iter().all(|span| span.span_context.is_sampled()));
    assert!(first.start_time <= a.start_time && a.end_time <= first.end_time);
}

#[test]
fn a_span_without_a_trace_around_it_is_not_made() {
    let spans = spans(1.0, || {
        assert!(part("a").is_disabled());
        tracing::error_span!("line").in_scope(|| assert!(part("b").is_disabled()));
    });
    assert!(spans.is_empty());
}

#[test]
fn as_many_traces_are_kept_as_is_asked_for_each_as_a_whole() {
    const TRIES: usize = 10_000;
    let tried = |ratio| {
        let all = spans(ratio, || (0..TRIES).for_each(|_| begin().in_scope(|| drop(part("a")))));
        assert!(all.len().is_multiple_of(2));
        all.len() / 2
    };
    assert_eq!((tried(0.0), tried(1.0)), (0, TRIES));
    // Six standard deviations of a binomial distribution are 0.6 % of the tries at 1 %.
    assert!((40..=160).contains(&tried(0.01)), "{}", tried(0.01));
    assert!((4_700..=5_300).contains(&tried(0.5)), "{}", tried(0.5));
}

#[test]
fn a_caller_that_is_believed_gives_trace_and_parent_to_what_came_before_as_well() {
    let spans = spans(1.0, || {
        let first = awaiting();
        first.in_scope(|| drop(part("before")));
        first.record("parent", CALLER);
        first.in_scope(|| drop(part("after")));
        first.record("parent", CALLER.replace("4b", "5b"));
    });
    assert_eq!(spans.len(), 3);
    for span in &spans {
        assert_eq!(span.span_context.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
    }
    let first = named(&spans, "first");
    assert_eq!(first.parent_span_id.to_string(), "00f067aa0ba902b7");
    assert!(first.parent_span_is_remote);
    assert_eq!(named(&spans, "before").parent_span_id, first.span_context.span_id());
}

#[test]
fn who_is_not_believed_or_says_nonsense_gives_nothing() {
    let others = spans(1.0, || {
        drop(awaiting());
        awaiting().record("parent", "");
        awaiting().record("parent", "00-xyz");
        begin().record("parent", CALLER);
    });
    assert_eq!(others.len(), 4);
    for span in &others {
        assert_eq!(span.parent_span_id, opentelemetry::SpanId::INVALID);
        assert_ne!(span.span_context.trace_id().to_string(), "4bf92f3577b34da6a3ce929d0e0e4736");
    }
}

#[test]
fn what_has_a_dot_is_an_attribute_and_nothing_else_is() {
    let spans = spans(1.0, || {
        let span = tracing::error_span!(
            target: TRACE_BEGINS, "first", otel.kind = "server", phone = "+919000000002", end = Empty,
            db.system.name = "sqlite", dwar.count = 3_u64, dwar.yes = true, dwar.half = 0.5,
            dwar.less = -1, dwar.shown = %"shown", dwar.none = None::<&str>, error.r#type = Empty,
        );
        span.record("dwar.count", 4_u64).record("error.type", "unavailable");
    });
    let [span] = spans.as_slice() else { panic!("{spans:?}") };
    let told: Vec<(&str, Value)> =
        span.attributes.iter().map(|it| (it.key.as_str(), it.value.clone())).collect();
    let wanted: [(&str, Value); 7] = [
        ("db.system.name", "sqlite".into()),
        ("dwar.count", 4_i64.into()),
        ("dwar.yes", true.into()),
        ("dwar.half", 0.5.into()),
        ("dwar.less", (-1_i64).into()),
        ("dwar.shown", "shown".into()),
        ("error.type", "unavailable".into()),
    ];
    assert_eq!(told, wanted);
    assert_eq!((&span.span_kind, &span.status), (&SpanKind::Server, &Status::error("")));
}

#[test]
fn a_span_ends_when_that_is_said_whatever_goes_on_within() {
    let spans = spans(1.0, || {
        let first = begin();
        let work = first.in_scope(|| part("work"));
        first.record("end", true);
        std::thread::sleep(std::time::Duration::from_millis(20));
        drop(first);
        drop(work);
    });
    let took = |span: &SpanData| span.end_time.duration_since(span.start_time).unwrap();
    assert!(took(named(&spans, "first")) < took(named(&spans, "work")));
}

#[test]
fn a_trace_has_an_end_even_if_its_work_has_none() {
    let spans = spans(1.0, || begin().in_scope(|| (0..2_000).for_each(|_| drop(part("a")))));
    assert_eq!(spans.len(), 501);
    assert!(spans.iter().any(|span| span.name == "first"));
}

#[test]
fn a_trace_goes_along_to_other_threads() {
    let spans = spans(1.0, || {
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        let current = begin().in_scope(|| tracing::error_span!("line"));
        let work = move || current.in_scope(|| drop(part("there")));
        let there = move || tracing::dispatcher::with_default(&dispatch, work);
        std::thread::spawn(there).join().unwrap();
    });
    assert_eq!(
        named(&spans, "there").parent_span_id,
        named(&spans, "first").span_context.span_id()
    );
}

#[test]
fn the_log_learns_the_id_once_it_is_known() {
    let kept = Arc::<Mutex<Vec<Option<String>>>>::default();
    struct Ids(Arc<Mutex<Vec<Option<String>>>>);
    impl<S: Subscriber + for<'span> LookupSpan<'span>> Layer<S> for Ids {
        fn on_event(&self, _: &tracing::Event<'_>, context: Context<'_, S>) {
            self.0.lock().unwrap().push(context.lookup_current().as_ref().and_then(trace_id));
        }
    }
    let clock = Arc::new(FixedClock::at(at()));
    let layer = TraceLayer::new(1.0, clock, Box::new(drop));
    let subscriber = tracing_subscriber::registry().with(Ids(Arc::clone(&kept))).with(layer);
    tracing::subscriber::with_default(subscriber, || {
        tracing::error!("outside");
        let first = awaiting();
        let line = first.in_scope(|| tracing::error_span!("line"));
        line.in_scope(|| tracing::error!("before"));
        first.record("parent", CALLER);
        line.in_scope(|| tracing::error!("after"));
    });
    let id = Some("4bf92f3577b34da6a3ce929d0e0e4736".to_owned());
    assert_eq!(*kept.lock().unwrap(), [None, None, id]);
}
