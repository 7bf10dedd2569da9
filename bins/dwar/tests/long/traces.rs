//! Traces: what a collector gets, what it does not get, and that no request waits for it.

use crate::common::{
    Collector, Database, Endpoint, Manner, Play, Program, Service, Vendor, World, answer,
    attribute, delivered,
};
use dwar_testkit::reserved_port;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

on_both_databases! {
    a_request_is_a_trace_from_its_head_to_the_database;
    a_caller_with_a_key_says_which_trace_it_is_part_of;
    nobody_else_says_so_and_no_provider_hears_of_it;
    what_fails_says_why;
    an_event_begins_a_trace_of_its_own;
    a_collector_that_hangs_or_is_away_delays_nothing;
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn world(database: Database, collector: &str, ratio: &str) -> World {
    World::new(database)
        .with("DWAR__TRACES__ENDPOINT", collector)
        .with("DWAR__TRACES__HEADER", "Api-Key: of-the-collector")
        .with("DWAR__TRACES__RATIO", ratio)
        .with("DWAR__EVENTS__ALLOW_PRIVATE", "true")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Stops the service as a supervisor does; returns how long that took.
fn stop(service: &mut Service) -> Duration {
    let began = Instant::now();
    service.terminate();
    assert!(service.wait(Duration::from_secs(20)).unwrap().success());
    began.elapsed()
}

/// The span of the last request with this name.
fn request<'spans>(spans: &'spans [Span], name: &str) -> &'spans Span {
    let found = spans.iter().rev().find(|span| span.name == name && is_request(span));
    found.unwrap_or_else(|| panic!("{name}: {:?}", names(spans)))
}

fn is_request(span: &Span) -> bool {
    span.kind == SpanKind::Server as i32
}

fn names(spans: &[Span]) -> BTreeSet<&str> {
    spans.iter().map(|span| span.name.as_str()).collect()
}

/// The spans of one trace except the first, by name.
fn within<'spans>(spans: &'spans [Span], first: &Span) -> Vec<&'spans Span> {
    let is_within = |span: &&Span| span.trace_id == first.trace_id && span.span_id != first.span_id;
    spans.iter().filter(is_within).collect()
}

fn lines_of(service: &Service, message: &str) -> Vec<Value> {
    let lines = service.stderr().into_iter();
    let lines = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    lines.filter(|line| line["message"] == message).collect()
}

async fn a_request_is_a_trace_from_its_head_to_the_database(database: Database) {
    let collector = Collector::start().await;
    let system = if database.url().starts_with("sqlite") { "sqlite" } else { "postgresql" };
    let mut service = Service::start_in(world(database, &collector.url, "1"));
    let project = service.world.project("100");
    let phone = service.world.phone();
    let sent = service.send(&project.live, &phone).await.ok();
    let code = service.code(&project.live, &phone).await;
    let session = service.verify(&project.live, &phone, &code).await.ok();
    service.validate(&project.live, &session["access_token"]).await.ok();
    service.refresh(&project.live, &session["refresh_token"]).await.ok();
    let identity = session["identity_id"].as_str().unwrap();
    service
        .get(&project.live, &format!("/v1/identity/{identity}"))
        .await
        .refused(403, "IDENTITY_LOOKUP_DISABLED");
    let lines = lines_of(&service, "answered");
    let provider_lines = lines_of(&service, "provider answered");
    // A service that stops sends the spans that still wait.
    stop(&mut service);

    let spans = collector.spans();
    let send = request(&spans, "POST /v1/otp/send");
    for (key, value) in [
        ("http.request.method", "POST"),
        ("http.route", "/v1/otp/send"),
        ("http.response.status_code", "200"),
        ("error.type", ""),
        ("dwar.project", &project.id),
        ("dwar.mode", "live"),
        ("dwar.code", ""),
    ] {
        assert_eq!(attribute(send, key), value, "{key}");
    }
    let parts = within(&spans, send);
    let part = |name: &str| {
        let found = parts.iter().find(|span| span.name == name);
        *found.unwrap_or_else(|| panic!("{name}: {:?}", names(&spans)))
    };
    let (authenticate, send_otp) = (part("authenticate"), part("send_otp"));
    assert_eq!(
        (&authenticate.parent_span_id, &send_otp.parent_span_id),
        (&send.span_id, &send.span_id)
    );
    let provider = part("console whatsapp");
    assert_eq!(provider.parent_span_id, send_otp.span_id);
    assert_eq!(attribute(provider, "dwar.provider"), "console");
    assert_eq!(attribute(provider, "dwar.outcome"), "accepted");
    let prepare = parts.iter().find(|span| span.name.to_lowercase().contains("prepare")).unwrap();
    assert_eq!(attribute(prepare, "db.system.name"), system);
    assert_eq!(attribute(prepare, "db.operation.name"), prepare.name);
    assert_eq!(
        (prepare.kind, prepare.parent_span_id.clone()),
        (SpanKind::Client as i32, send_otp.span_id.clone())
    );
    for part in &parts {
        let parent = spans.iter().find(|span| span.span_id == part.parent_span_id).unwrap();
        assert!(parent.start_time_unix_nano <= part.start_time_unix_nano, "{}", part.name);
        assert!(part.start_time_unix_nano <= part.end_time_unix_nano, "{}", part.name);
    }
    for name in ["POST /v1/otp/verify", "POST /v1/session/validate", "POST /v1/session/refresh"] {
        let parts = within(&spans, request(&spans, name));
        assert!(
            parts.iter().any(|part| attribute(part, "db.system.name") == system)
                || system == "sqlite",
            "{name}"
        );
        assert!(parts.iter().any(|part| part.name == "authenticate"), "{name}");
    }
    let refused = request(&spans, "GET /v1/identity/{id}");
    assert_eq!(attribute(refused, "dwar.code"), "IDENTITY_LOOKUP_DISABLED");

    // Log lines contain the id of their trace.
    let line = lines.iter().find(|line| line["route"] == "/v1/otp/send").unwrap();
    assert_eq!(line["trace_id"], hex(&send.trace_id));
    assert_eq!(provider_lines[0]["trace_id"], hex(&send.trace_id));
    assert_eq!(provider_lines[0]["span"]["name"], "request");
    assert_eq!(provider_lines[0]["span"]["request_id"], line["request_id"]);

    // Each call names the service and its instance. It contains no phone, code, key, token or identity.
    for call in collector.calls() {
        assert!(call.head.starts_with("post /v1/traces http/1.1\r\n"), "{}", call.head);
        assert!(call.head.contains("\r\napi-key: of-the-collector\r\n"), "{}", call.head);
        assert!(
            call.head.contains("\r\ncontent-type: application/x-protobuf\r\n"),
            "{}",
            call.head
        );
        let resource = format!("{:?}", call.request().resource_spans[0].resource);
        assert!(resource.contains("service.name") && resource.contains("service.instance.id"));
        let text = String::from_utf8_lossy(&call.body).into_owned();
        let text_of = |value: &Value| value.as_str().unwrap().to_owned();
        let secrets = [
            phone.clone(),
            code.clone(),
            project.live.clone(),
            project.test.clone(),
            text_of(&session["access_token"]),
            text_of(&session["refresh_token"]),
            identity.to_owned(),
            text_of(&sent["otp_id"]),
        ];
        for secret in secrets {
            assert!(!text.contains(&secret), "{secret}");
        }
    }
}

async fn a_caller_with_a_key_says_which_trace_it_is_part_of(database: Database) {
    let collector = Collector::start().await;
    let mut service = Service::start_in(world(database, &collector.url, "1"));
    let project = service.world.project("0");
    let part_of = |key: &str, flags: &str| {
        let call = service.call(key, "/v1/session/validate", &json!({ "access_token": "x" }));
        call.header("traceparent", format!("00-{TRACE}-{SPAN}-{flags}"))
            .header("tracestate", "vendor=of-the-caller")
            .header("baggage", "user=of-the-caller")
    };
    answer(part_of(&project.test, "00")).await.refused(401, "INVALID_ACCESS_TOKEN");
    let stranger = project.test.replace(|letter: char| letter.is_ascii_digit(), "7");
    answer(part_of(&stranger, "01")).await.refused(401, "INVALID_API_KEY");
    let twice = part_of(&project.test, "01").header("traceparent", format!("00-{TRACE}-{SPAN}-01"));
    answer(twice).await.refused(401, "INVALID_ACCESS_TOKEN");
    let lines = lines_of(&service, "answered");
    stop(&mut service);

    let spans = collector.spans();
    let requests: Vec<&Span> = spans.iter().filter(|span| is_request(span)).collect();
    assert_eq!(requests.len(), 3);
    let theirs: Vec<&Span> = spans.iter().filter(|span| hex(&span.trace_id) == TRACE).collect();
    let [mine] =
        requests.iter().filter(|span| hex(&span.trace_id) == TRACE).collect::<Vec<_>>()[..]
    else {
        panic!("{requests:?}")
    };
    assert_eq!(attribute(mine, "dwar.code"), "INVALID_ACCESS_TOKEN");
    assert_eq!(hex(&mine.parent_span_id), SPAN);
    // Work before the authentication is part of the trace as well.
    assert!(theirs.iter().any(|span| span.name == "authenticate"));
    for (line, request) in lines.iter().zip(&requests) {
        assert_eq!(line["trace_id"], hex(&request.trace_id), "{line}");
    }
    assert!(requests.iter().filter(|span| span.parent_span_id.is_empty()).count() == 2);
    for span in &spans {
        assert_eq!(span.trace_state, "");
        assert!(!format!("{span:?}").contains("of-the-caller"));
    }
}

/// Adds every header by which a caller may claim to be part of a trace.
fn claiming(call: RequestBuilder) -> RequestBuilder {
    call.header("traceparent", format!("00-{TRACE}-{SPAN}-01"))
        .header("tracestate", "vendor=of-the-caller")
        .header("baggage", "user=of-the-caller")
}

async fn nobody_else_says_so_and_no_provider_hears_of_it(database: Database) {
    let (collector, port) = (Collector::start().await, reserved_port());
    let vendor = Vendor::start(port, |_, _| Play::Accept).await;
    let world = vendor
        .carry(world(database, &collector.url, "1"))
        .with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"))
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0");
    let mut service = Service::start_in(world);
    let project = service.world.project("100");
    let body = json!({ "phone": service.world.phone() });
    answer(claiming(service.call(&project.live, "/v1/otp/send", &body))).await.ok();
    let taken = vendor.taken().remove(0);
    for word in [TRACE, SPAN, "traceparent", "tracestate", "baggage", "of-the-caller"] {
        assert!(!taken.head.contains(word), "{}", taken.head);
    }
    // Providers and admin programs send no API key, so Dwar ignores the trace that they name.
    let report = delivered(&service.client, &service.base, &taken);
    assert!(claiming(report).send().await.unwrap().status().is_success());
    let owner = Program::owner(&service);
    answer(claiming(owner.request(Method::GET, "/projects"))).await.ok();
    let applied = collector.hears(|span| span.name == "apply_receipt").await;
    stop(&mut service);

    let spans = collector.spans();
    let send = request(&spans, "POST /v1/otp/send");
    assert_eq!((hex(&send.trace_id).as_str(), hex(&send.parent_span_id).as_str()), (TRACE, SPAN));
    let called = within(&spans, send);
    assert!(called.iter().any(|span| attribute(span, "dwar.provider") == "wa"), "{called:?}");
    let reported = request(&spans, "POST /webhooks/{provider}");
    let asked = request(&spans, "GET /admin/v1/projects");
    for first in [reported, asked, &applied] {
        assert_ne!(hex(&first.trace_id), TRACE, "{}", first.name);
        assert!(first.parent_span_id.is_empty(), "{}", first.name);
    }
    assert_ne!(applied.trace_id, reported.trace_id);
    for (first, use_case) in [(reported, "receive_webhook"), (asked, "projects.list")] {
        let part = within(&spans, first).into_iter().find(|span| span.name == use_case);
        assert_eq!(part.unwrap().parent_span_id, first.span_id);
    }
    assert_not_stored(&service.world.database, TRACE).await;
}

/// Searches every file beside the service, and on PostgreSQL every row.
async fn assert_not_stored(database: &Database, trace: &str) {
    let mut places = Vec::new();
    for file in std::fs::read_dir(database.folder()).unwrap() {
        let path = file.unwrap().path();
        places.push((path.display().to_string(), std::fs::read(&path).unwrap()));
    }
    let rows = database.rows().await.into_iter();
    places.extend(rows.map(|(table, rows)| (table, rows.into_bytes())));
    let bytes: Vec<u8> =
        (0..32).step_by(2).map(|at| u8::from_str_radix(&trace[at..at + 2], 16).unwrap()).collect();
    for (place, text) in places {
        for form in [trace.as_bytes(), &bytes] {
            assert!(!text.windows(form.len()).any(|it| it == form), "{place}");
        }
    }
}

async fn what_fails_says_why(database: Database) {
    let collector = Collector::start().await;
    let mut service = Service::start_in(world(database, &collector.url, "1"));
    let (project, phone) = (service.world.project("100"), service.world.phone());
    service.send(&project.live, &phone).await.ok();
    service.world.database.lose("guess_budgets").await;
    service.verify(&project.live, &phone, "000000").await.refused(500, "INTERNAL_ERROR");
    stop(&mut service);
    let spans = collector.spans();
    let verify = request(&spans, "POST /v1/otp/verify");
    assert_eq!(attribute(verify, "error.type"), "INTERNAL_ERROR");
    let failed = within(&spans, verify).into_iter();
    let failed = failed.filter(|span| attribute(span, "error.type") == "failed");
    for span in failed.clone().chain([verify]) {
        assert_eq!(span.status.as_ref().unwrap().code, StatusCode::Error as i32, "{}", span.name);
    }
    assert_eq!(failed.count(), 1);
}

async fn an_event_begins_a_trace_of_its_own(database: Database) {
    let collector = Collector::start().await;
    let service = Service::start_in(world(database, &collector.url, "1"));
    let project = service.world.project("100");
    let endpoint = Endpoint::start().await;
    service.world.cli(&["webhook", "add", "--project", &project.id, "--url", &endpoint.url]);
    let body = json!({ "phone": service.world.phone() });
    let call = service.call(&project.live, "/v1/otp/send", &body);
    answer(call.header("traceparent", format!("00-{TRACE}-{SPAN}-01"))).await.ok();
    let told = endpoint.hears("otp.sent").await;
    assert!(!told.head.contains(TRACE) && !told.head.contains("traceparent"), "{}", told.head);
    let event = collector.hears(|span| span.name == "otp.sent").await;
    assert_ne!(hex(&event.trace_id), TRACE);
    assert!(event.parent_span_id.is_empty());
    assert_eq!(attribute(&event, "http.response.status_code"), "200");
    assert_eq!(attribute(&event, "dwar.project"), project.id);

    // A failing call has its reason in the span, and its log line has the trace id.
    *endpoint.status.lock().unwrap() = 500;
    service.send(&project.live, &service.world.phone()).await.ok();
    let failed = collector.hears(|span| attribute(span, "error.type") == "status").await;
    assert_eq!(attribute(&failed, "http.response.status_code"), "500");
    let lines = lines_of(&service, "an endpoint did not accept an event");
    assert!(lines.iter().any(|line| line["trace_id"] == hex(&failed.trace_id)), "{lines:?}");
}

async fn a_collector_that_hangs_or_is_away_delays_nothing(database: Database) {
    const LOST: &str = "the collector accepts no traces; they are lost until it does";
    let collector = Collector::start().await;
    *collector.manner.lock().unwrap() = Manner::Hangs;
    let mut service = Service::start_in(world(database, &collector.url, "1"));
    let mut slowest = Duration::ZERO;
    // More requests than the queue has room for spans.
    for _ in 0..6_000 {
        let began = Instant::now();
        service.get("", "/healthz").await;
        slowest = slowest.max(began.elapsed());
    }
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    assert!(!collector.calls().is_empty(), "it has something to hang with");
    let took = stop(&mut service);
    assert!(took < Duration::from_secs(4), "{took:?}");

    // The collector refuses, accepts again, and at last is down.
    *collector.manner.lock().unwrap() = Manner::Refuses;
    let world = service.kill();
    let mut service = Service::start_in(world);
    for _ in 0..3 {
        service.get("", "/healthz").await;
        tokio::time::sleep(Duration::from_millis(2_100)).await;
    }
    assert_eq!(lines_of(&service, LOST).len(), 1);
    *collector.manner.lock().unwrap() = Manner::Takes;
    service.get("", "/healthz").await;
    let until = Instant::now() + Duration::from_secs(10);
    while lines_of(&service, "the collector accepts traces again").len() != 1 {
        assert!(Instant::now() < until, "{:?}", service.stderr());
    }
    stop(&mut service);

    let mut world = service.kill();
    let nobody = ("DWAR__TRACES__ENDPOINT".to_owned(), "http://127.0.0.1:9".to_owned());
    world.settings.push(nobody);
    let mut service = Service::start_in(world);
    service.get("", "/healthz").await;
    assert!(stop(&mut service) < Duration::from_secs(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_asks_for_a_pause_is_not_called_meanwhile() {
    let collector = Collector::start().await;
    *collector.manner.lock().unwrap() = Manner::Throttles;
    let service = Service::start_in(world(Database::sqlite(), &collector.url, "1"));
    let until = Instant::now() + Duration::from_secs(10);
    while collector.calls().is_empty() {
        assert!(Instant::now() < until, "{:?}", service.stderr());
        service.get("", "/healthz").await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // Longer than the pause between two calls.
    for _ in 0..25 {
        service.get("", "/healthz").await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(collector.calls().len(), 1);
    let said = "the collector accepts no traces; they are lost until it does";
    assert_eq!(lines_of(&service, said).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn none_is_kept_that_is_not_asked_for() {
    let collector = Collector::start().await;
    let mut service = Service::start_in(world(Database::sqlite(), &collector.url, "0"));
    let project = service.world.project("0");
    let call = service.call(&project.test, "/v1/session/validate", &json!({ "access_token": "x" }));
    answer(call.header("traceparent", format!("00-{TRACE}-{SPAN}-01"))).await;
    assert!(lines_of(&service, "answered")[0].get("trace_id").is_none());
    stop(&mut service);
    assert!(collector.calls().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_for_people_begins_with_its_trace_and_shows_no_span_of_it() {
    let collector = Collector::start().await;
    let world = world(Database::sqlite(), &collector.url, "1").with("DWAR__LOG__FORMAT", "pretty");
    let mut service = Service::start_in(world);
    let project = service.world.project("100");
    service.send(&project.live, &service.world.phone()).await.ok();
    let lines = service.stderr();
    stop(&mut service);
    let spans = collector.spans();
    let trace = hex(&request(&spans, "POST /v1/otp/send").trace_id);
    let line = lines.iter().find(|line| line.contains("provider answered")).unwrap();
    assert!(line.starts_with(&format!("trace_id={trace} 20")), "{line}");
    let told = "  INFO request{request_id=";
    assert!(line.contains(told) && line.contains("}: dwar_app::calls::deliver: "), "{line}");
}

#[test]
fn a_header_that_is_none_stops_the_start() {
    let world = world(Database::sqlite(), "http://127.0.0.1:9", "1");
    let refused = world.with("DWAR__TRACES__HEADER", "a-token-alone").run(&["serve"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("traces.header: is a name, a colon and a value"), "{said}");
    assert!(!said.contains("a-token-alone"));
}
