//! The metrics of a running service, and how far an attacker can enlarge them.

use crate::common::{Database, Play, Service, Vendor, Wire, World};
use dwar_testkit::reserved_port;
use reqwest::{Client, StatusCode};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

on_both_databases! {
    codes_are_counted_on_their_way;
    what_only_the_database_knows_is_read_beside_the_requests;
}

/// More series than are possible; each is some 150 bytes of a scrape.
const BOUND: usize = 4_000;
const PATIENCE: Duration = Duration::from_secs(30);

fn world(database: Database) -> World {
    World::new(database).with("DWAR__METRICS__ADDRESS", "127.0.0.1:0")
}

struct Scraped(BTreeMap<String, f64>);

impl Scraped {
    async fn of(service: &Service) -> Self {
        let answer = Client::new().get(service.metrics()).send().await.unwrap();
        let text = answer.error_for_status().unwrap().text().await.unwrap();
        assert!(text.ends_with("# EOF\n"));
        let series = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap();
            (series.to_owned(), value.parse().unwrap())
        });
        Self(series.collect())
    }

    async fn until(service: &Service, wanted: impl Fn(&Self) -> bool) -> Self {
        let until = Instant::now() + PATIENCE;
        loop {
            let scraped = Self::of(service).await;
            if wanted(&scraped) {
                return scraped;
            }
            assert!(Instant::now() < until, "{:#?}", scraped.0);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn get(&self, series: &str) -> f64 {
        let near = || {
            let name = series.split('{').next().unwrap();
            self.0.iter().filter(|(it, _)| it.starts_with(name)).collect::<Vec<_>>()
        };
        *self.0.get(series).unwrap_or_else(|| panic!("no {series} in {:#?}", near()))
    }

    fn sum(&self, family: &str) -> f64 {
        let of = |series: &str| series.split('{').next() == Some(family);
        self.0.iter().filter(|(series, _)| of(series)).map(|(_, value)| value).sum()
    }
}

fn requests(route: &str, method: &str, status: &str, code: &str) -> String {
    let name = "dwar_http_requests_total";
    format!(r#"{name}{{route="{route}",method="{method}",status="{status}",code="{code}"}}"#)
}

fn attempts(channel: &str, provider: &str, outcome: &str, reason: &str) -> String {
    let of = format!(r#"channel="{channel}",provider="{provider}""#);
    format!(r#"dwar_send_attempts_total{{{of},outcome="{outcome}",reason="{reason}"}}"#)
}

#[tokio::test]
async fn requests_are_counted_by_how_they_ended() {
    let service = Service::start_in(world(Database::sqlite()));
    let project = service.world.project("10");
    let before = Scraped::of(&service).await;
    let send = "/v1/otp/send";
    let refused = requests(send, "POST", "422", "INVALID_PHONE");
    assert_eq!(before.get(&refused), 0.0, "what is to be expected is there before it happens");
    for phone in ["1", "12", "9876543210"] {
        service.post(&project.test, send, json!({ "phone": phone })).await;
    }
    service.get(&project.test, "/no/such/path").await;
    service.get(&project.test, send).await;
    let after = Scraped::of(&service).await;
    assert_eq!(after.get(&refused), 2.0);
    assert_eq!(after.get(&requests(send, "POST", "200", "")), 1.0);
    assert_eq!(after.get(&requests(send, "GET", "405", "METHOD_NOT_ALLOWED")), 1.0);
    assert_eq!(after.get(&requests("none", "GET", "404", "NOT_FOUND")), 1.0);
    let took = |what: &str| {
        after.get(&format!(r#"dwar_http_request_duration_seconds_{what}route="{send}"}}"#))
    };
    // Prometheus computes no quantile without the last bucket.
    assert_eq!((took("count{"), took("bucket{le=\"+Inf\",")), (4.0, 4.0));
    assert!(took("sum{") > 0.0);
    let limited = |scope: &str, outcome: &str| {
        after.get(&format!(r#"dwar_limiter_requests_total{{scope="{scope}",outcome="{outcome}"}}"#))
    };
    assert_eq!((limited("send", "admitted"), limited("send", "refused")), (3.0, 0.0));
}

/// The first message is not for the channel and falls back to SMS; the others arrive.
async fn codes_are_counted_on_their_way(database: Database) {
    let plays = |provider: &str, to: &str| match (provider, to) {
        ("wa", "+919876543210") => Play::NotOnChannel,
        _ => Play::Deliver,
    };
    let port = reserved_port();
    let vendor = Vendor::start(port, plays).await;
    let world = world(database).with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"));
    let service = Service::start_in(vendor.carry(world));
    let project = service.world.project("10");
    let code = |to: &str| {
        let taken = vendor.taken();
        taken.iter().rev().find(|it| it.to == to).unwrap().text[..6].to_owned()
    };
    for phone in ["9876543210", "9876543211"] {
        service.send(&project.live, phone).await.ok();
        let code = code(&format!("+91{phone}"));
        let wrong = if code == "000000" { "000001" } else { "000000" };
        service.verify(&project.live, phone, wrong).await;
        service.verify(&project.live, phone, &code).await.ok();
    }
    // Test keys send through the sandbox.
    service.send(&project.test, "9876543212").await.ok();
    service.world.cli(&["project", "set", "--project", &project.id, "--relay-test", "on"]);
    let relay = json!({ "phone": "9876543214", "code": "2468", "expires_in": 300 });
    service.post(&project.test, "/v1/otp/relay", relay).await.ok();
    let poor = service.world.project("0");
    service.send(&poor.live, "9876543213").await;

    // The vendor repeats each report.
    let reported = |it: &Scraped| it.sum("dwar_receipts_total") == 4.0;
    let arrived = |it: &Scraped| it.sum("dwar_delivery_duration_seconds_count") == 2.0;
    let after = Scraped::until(&service, |it| reported(it) && arrived(it)).await;
    let sends = |mode: &str, outcome: &str| {
        after.get(&format!(r#"dwar_sends_total{{mode="{mode}",kind="otp",outcome="{outcome}"}}"#))
    };
    assert_eq!(after.get(r#"dwar_sends_total{mode="test",kind="relay",outcome="sent"}"#), 1.0);
    assert_eq!((sends("live", "sent"), sends("test", "sent")), (2.0, 1.0));
    assert_eq!((sends("live", "insufficient_balance"), sends("live", "limited")), (1.0, 0.0));
    assert_eq!(after.get(&attempts("whatsapp", "wa", "refused", "not_on_channel")), 1.0);
    assert_eq!(after.get(&attempts("whatsapp", "wa", "accepted", "")), 1.0);
    assert_eq!(after.get(&attempts("sms", "text", "accepted", "")), 1.0);
    assert_eq!(after.get(&attempts("sms", "text", "refused", "timeout")), 0.0);
    assert_eq!(after.get(&attempts("whatsapp", "sandbox", "accepted", "")), 2.0);
    assert_eq!(after.sum("dwar_send_attempts_total"), 5.0);
    assert_eq!(after.sum("dwar_provider_call_duration_seconds_count"), 5.0);
    assert_eq!(after.get("dwar_send_fallbacks_total"), 1.0);
    let receipts = |provider: &str, outcome: &str| {
        after.get(&format!(r#"dwar_receipts_total{{provider="{provider}",outcome="{outcome}"}}"#))
    };
    assert_eq!((receipts("wa", "delivered"), receipts("text", "delivered")), (2.0, 2.0));
    let guesses = |outcome: &str| {
        after.get(&format!(r#"dwar_verifications_total{{mode="live",outcome="{outcome}"}}"#))
    };
    assert_eq!((guesses("accepted"), guesses("wrong"), guesses("locked")), (2.0, 2.0, 0.0));
    assert_eq!(after.get("dwar_verification_duration_seconds_count"), 2.0);
    let seconds = after.get("dwar_verification_duration_seconds_sum");
    assert!((0.0..20.0).contains(&seconds), "{seconds}");
    assert_eq!(after.get(r#"dwar_breaker_open{provider="wa"}"#), 0.0);
}

async fn what_only_the_database_knows_is_read_beside_the_requests(database: Database) {
    let service = Service::start_in(world(database));
    let read = |it: &Scraped| it.0.contains_key("dwar_signing_key_age_seconds");
    let scraped = Scraped::until(&service, read).await;
    for backlog in ["receipts", "events", "overdue_sends", "open_holds", "feed"] {
        assert_eq!(scraped.get(&format!(r#"dwar_backlog_items{{backlog="{backlog}"}}"#)), 0.0);
    }
    assert_eq!(scraped.get("dwar_database_has_room"), 1.0);
    assert_eq!(scraped.get("dwar_database_read_failures_total"), 0.0);
    assert!(scraped.get("dwar_database_read_age_seconds") < 60.0);
    assert_eq!(scraped.sum("dwar_loop_running"), 15.0);
    assert_eq!(scraped.sum("dwar_loop_restarts_total"), 0.0);
    assert_eq!(scraped.get("dwar_log_lines_lost_total"), 0.0);
    // The start has used the store, and nothing waits any more.
    assert!(scraped.sum("dwar_store_queue_work_seconds_count") > 0.0);
    assert!(scraped.sum("dwar_store_queue_wait_seconds_count") > 0.0);
    assert_eq!(scraped.sum("dwar_store_queue_left_total"), 0.0);
    assert!(scraped.sum("dwar_store_connections_max") >= 16.0);
    assert!(scraped.get("process_resident_memory_bytes") > 1e6);
    assert!(scraped.get("process_cpu_seconds_total") > 0.0);
    assert!(scraped.get("process_open_fds") > 3.0);
    assert!(scraped.get("process_start_time_seconds") > 1.7e9);
}

#[tokio::test]
async fn whoever_reaches_the_address_from_elsewhere_shows_a_token() {
    let open = World::new(Database::sqlite()).with("DWAR__METRICS__ADDRESS", "0.0.0.0:0");
    for command in ["serve", "doctor"] {
        let output = open.run(&[command]);
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told).into_owned();
        assert!(!output.status.success() && told.contains("metrics.token"), "{command}: {told}");
    }
    let token = "6c1f0e7ab29d4835";
    let service = Service::start_in(open.with("DWAR__METRICS__TOKEN", token));
    let address = service.metrics().replace("0.0.0.0", "127.0.0.1");
    let ask = |token: &str| Client::new().get(&address).bearer_auth(token).send();
    assert_eq!(ask("6c1f0e7ab29d4836").await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert_eq!(ask(token).await.unwrap().status(), StatusCode::OK);
    assert!(!service.stderr().iter().any(|line| line.contains(token)), "it was logged");
}

/// An unusual request, never the same.
fn odd(number: u32, key: &str) -> String {
    let one_of = |words: &[&str]| words[number as usize % words.len()].to_owned();
    let method = match number % 4 {
        0 => format!("ODD{number}"),
        1 => "GET".to_owned(),
        2 => "POST".to_owned(),
        _ => one_of(&["HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]),
    };
    let path = match number % 5 {
        0 => format!("/odd/{number}"),
        1 => format!("/v1/otp/status/{number}"),
        2 => format!("/webhooks/provider{number}"),
        3 => format!("/v1/otp/send?number={number}"),
        _ => format!("/v1/{number}/x%20{number}"),
    };
    let key = one_of(&["", key, "svc_live_x"]);
    format!(
        "{method} {path} HTTP/1.1\r\nHost: odd{number}\r\nX-Api-Key: {key}\r\n\
         X-Request-Id: id{number}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

#[tokio::test]
async fn nothing_that_clients_write_adds_series_without_bound() {
    let service = Service::start_in(world(Database::sqlite()));
    let project = service.world.project("10");
    let before = Scraped::of(&service).await;
    let exchange = |text: &str| {
        let mut wire = Wire::to(&service.base);
        wire.write(text);
        wire.read_to_end();
    };
    (0..3_000).for_each(|number| exchange(&odd(number, &project.test)));
    for broken in ["GET /\u{1} HTTP/1.1\r\n\r\n", "\r\n\r\nx y\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"] {
        exchange(broken);
    }
    let after = Scraped::of(&service).await;
    let counted = after.sum("dwar_http_requests_total");
    assert!(counted >= 3_000.0, "only {counted} were counted");
    let (before, now) = (before.0.len(), after.0.len());
    assert!(now < BOUND, "{now} series, {before} of them at the start");
    let foreign = ["odd", "provider0", "ODD", "status/1", "TRACE", "id1"];
    let written = |series: &&String| foreign.iter().any(|word| series.contains(word));
    assert_eq!(after.0.keys().find(written), None, "a client's own words");
}

#[tokio::test]
async fn whoever_asks_for_the_text_format_alone_gets_it() {
    let service = Service::start_in(world(Database::sqlite()));
    let scrape = async |accept: &str| {
        let answer = Client::new().get(service.metrics()).header("Accept", accept).send().await;
        let answer = answer.unwrap().error_for_status().unwrap();
        let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
        (kind, answer.text().await.unwrap())
    };
    let (kind, text) = scrape("text/plain").await;
    assert_eq!(kind, "text/plain; version=0.0.4; charset=utf-8");
    assert!(text.contains("\n# TYPE dwar_sends_total counter\n") && !text.contains("# EOF"));
    let newer =
        "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let (kind, open) = scrape(newer).await;
    assert_eq!(kind, "application/openmetrics-text; version=1.0.0; charset=utf-8");
    assert!(open.contains("\n# TYPE dwar_sends counter\n") && open.ends_with("# EOF\n"));
    let names = |text: &str| -> Vec<String> {
        let series = text.lines().filter(|line| !line.starts_with('#'));
        series.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
    };
    assert_eq!(names(&text), names(&open));
    // Every series belongs to the family before it, as a parser of the text format requires.
    let mut family = String::new();
    for line in text.lines() {
        match line.strip_prefix("# TYPE ") {
            Some(rest) => family = rest.split(' ').next().unwrap().to_owned(),
            None if line.starts_with('#') => {}
            None => assert!(line.starts_with(&family), "{line} in {family}"),
        }
    }
}
