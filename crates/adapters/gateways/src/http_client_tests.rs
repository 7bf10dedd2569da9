use super::*;
use crate::tests::captured_logs::CapturedLogs;
use crate::tests::fake_vendor::{FakeVendor, Play};
use dwar_testkit::reserved_port;
use serde_json::json;
use std::net::TcpListener;

const SHORT: Duration = Duration::from_millis(150);
const LONG: Duration = Duration::from_secs(8);

fn client() -> HttpClient {
    HttpClient::new(LONG, LONG, None).unwrap()
}

fn impatient() -> HttpClient {
    HttpClient::new(LONG, SHORT, None).unwrap()
}

async fn send(play: Play, client: &HttpClient) -> Result<Answer, Reason> {
    let vendor = FakeVendor::start(play).await;
    client.send("fake", client.post(&vendor.base_url())).await
}

#[tokio::test]
async fn an_answer_that_is_lost_has_its_reason() {
    let (patient, impatient) = (client(), impatient());
    for (row, play, client, expected) in [
        ("hang", Play::Hang, &impatient, Reason::Timeout),
        ("slow body", Play::SlowBody, &impatient, Reason::Timeout),
        ("reset", Play::Reset, &patient, Reason::Unknown),
        ("cut body", Play::CutBody, &patient, Reason::Unknown),
        ("huge body", Play::huge(), &patient, Reason::Unknown),
    ] {
        assert_eq!(send(play, client).await.err(), Some(expected), "{row}");
    }
}

#[tokio::test]
async fn nobody_there_is_unavailable() {
    let free = format!("127.0.0.1:{}", reserved_port());
    let client = client();
    for url in [format!("http://{free}/"), format!("https://{free}/")] {
        let lost = client.send("fake", client.post(&url)).await;
        assert_eq!(lost.err(), Some(Reason::ProviderUnavailable), "{url}");
    }
}

#[tokio::test]
async fn a_connection_that_takes_too_long_is_unavailable() {
    let vendor = FakeVendor::start(Play::Hang).await;
    let url = format!("https://{}/", vendor.host());
    // The server there answers a TLS hello with silence, which the connect timeout ends.
    let client = HttpClient::new(SHORT, LONG, None).unwrap();
    let lost = client.send("fake", client.post(&url)).await;
    assert_eq!(lost.err(), Some(Reason::ProviderUnavailable));
}

#[tokio::test]
async fn a_name_that_nobody_has_and_tls_that_fails_are_unavailable() {
    let client = client();
    let lost = client.send("fake", client.post("http://provider.invalid/")).await;
    assert_eq!(lost.err(), Some(Reason::ProviderUnavailable), "name");
    // The listener there closes the connection at a TLS hello.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || drop(listener.accept()));
    let lost = client.send("fake", client.post(&url)).await;
    assert_eq!(lost.err(), Some(Reason::ProviderUnavailable), "TLS");
    server.join().unwrap();
}

#[tokio::test]
async fn a_url_that_is_none_is_not_sent() {
    let client = client();
    let lost = client.send("fake", client.post("no url")).await;
    assert_eq!(lost.err(), Some(Reason::ProviderUnavailable));
}

#[tokio::test]
async fn every_status_has_its_reason() {
    let client = client();
    for (status, expected) in [
        (200, Reason::Unknown),
        (302, Reason::ProviderUnavailable),
        (307, Reason::ProviderUnavailable),
        (400, Reason::ProviderRefused),
        (401, Reason::ProviderAuth),
        (403, Reason::ProviderAuth),
        (404, Reason::ProviderRefused),
        (407, Reason::ProviderAuth),
        (408, Reason::ProviderUnavailable),
        (422, Reason::ProviderRefused),
        (429, Reason::ProviderThrottled),
        (500, Reason::ProviderUnavailable),
        (501, Reason::ProviderUnavailable),
        (502, Reason::Unknown),
        (503, Reason::ProviderUnavailable),
        (504, Reason::Unknown),
        (520, Reason::Unknown),
        (524, Reason::Unknown),
        (525, Reason::ProviderUnavailable),
    ] {
        let play = Play::json(status, &json!({})).with_header("Retry-After", "7");
        let answer = send(play, &client).await.unwrap_or_else(|_| panic!("{status}"));
        assert_eq!((answer.status.as_u16(), answer.reason()), (status, expected));
        let open = [Reason::Unknown, Reason::Timeout];
        assert!(!open.contains(&answer.refusal()), "{status}: a refusal is one");
        assert_eq!(answer.retry_after, Some(7));
    }
}

#[tokio::test]
async fn a_provider_is_left_alone_as_it_asks_and_for_a_minute_at_most() {
    let client = client();
    let date = |at: &str| format!("Sun, 06 Nov 1994 08:49:{at} GMT");
    for (status, reason, asked, seconds) in [
        (429, Reason::ProviderThrottled, "7", Some(7)),
        (429, Reason::ProviderUnavailable, "7", Some(7)),
        (503, Reason::ProviderUnavailable, "60", Some(60)),
        (503, Reason::ProviderUnavailable, "61", Some(60)),
        (503, Reason::ProviderUnavailable, "86400", Some(60)),
        // Far too long to be meant.
        (503, Reason::ProviderUnavailable, "86401", None),
        (429, Reason::ProviderThrottled, "0", None),
        (429, Reason::ProviderThrottled, &date("37"), Some(30)),
        (429, Reason::ProviderThrottled, &date("01"), None),
        (429, Reason::ProviderThrottled, "soon", None),
        // With another status the header has another meaning.
        (500, Reason::ProviderUnavailable, "7", None),
        (502, Reason::Unknown, "7", None),
        (403, Reason::ProviderAuth, "7", None),
        (301, Reason::ProviderUnavailable, "7", None),
        // A reason that is about one number, one text or the account.
        (429, Reason::RejectedNumber, "7", None),
        (429, Reason::Blocked, "7", None),
        (429, Reason::NotOnChannel, "7", None),
        (429, Reason::TemplateRejected, "7", None),
        (429, Reason::ProviderAuth, "7", None),
        (503, Reason::ProviderRefused, "7", None),
    ] {
        let play = Play::json(status, &json!({})).with_header("Retry-After", asked);
        let answer = send(play.with_header("Date", &date("07")), &client).await.ok().unwrap();
        let rest = seconds.map(Duration::from_secs);
        assert_eq!(answer.rest(reason), rest, "{status} {reason:?} {asked}");
    }
}

#[tokio::test]
async fn a_number_that_is_no_time_and_no_code_stays_out_of_the_log() {
    let (logs, _guard) = CapturedLogs::start();
    let play = Play::json(429, &json!({})).with_header("Retry-After", "9876543210");
    let answer = send(play, &client()).await.ok().unwrap();
    assert_eq!(answer.retry_after, None);
    answer.refused("fake", Some(9_876_543_210), None);
    answer.refused("fake", Some(131_026), None);
    assert!(!logs.text().contains("9876543210") && logs.text().contains("131026"));
}

#[tokio::test]
async fn a_refusal_with_an_unreadable_body_keeps_its_status() {
    let huge = "x".repeat(MAX_ANSWER + 1);
    let answer = send(Play::text(503, "text/html", &huge), &client()).await.ok().unwrap();
    assert_eq!((answer.reason(), answer.body), (Reason::ProviderUnavailable, json!("")));
}

#[tokio::test]
async fn a_body_of_the_largest_size_is_read_whole() {
    let largest = format!("\"{}\"", "x".repeat(MAX_ANSWER - 2));
    let answer = send(Play::text(200, "application/json", &largest), &client()).await.ok().unwrap();
    assert_eq!(answer.body.as_str().map(str::len), Some(MAX_ANSWER - 2));
}

#[tokio::test]
async fn redirects_are_not_followed_and_connections_are_kept() {
    let elsewhere = FakeVendor::start(Play::json(200, &json!({}))).await;
    let play = Play::json(307, &json!({})).with_header("Location", &elsewhere.base_url());
    let vendor = FakeVendor::start(play).await;
    let client = client();
    for _ in 0..2 {
        let answer = client.send("fake", client.post(&vendor.base_url())).await.ok().unwrap();
        assert_eq!(answer.status, 307);
    }
    assert!(elsewhere.requests().is_empty());
    for request in vendor.requests() {
        assert_eq!(request.header("user-agent"), USER_AGENT);
    }
}

#[tokio::test]
async fn a_configured_proxy_takes_every_call() {
    let proxy = FakeVendor::start(Play::json(407, &json!({}))).await;
    let address = proxy.base_url().replace("//", "//user:password@").parse().unwrap();
    let client = HttpClient::new(LONG, LONG, Some(&address)).unwrap();
    let answer = client.send("fake", client.post("http://provider.invalid/send")).await;
    assert_eq!(answer.ok().map(|answer| answer.reason()), Some(Reason::ProviderAuth));
    assert_eq!(proxy.only_request().target, "http://provider.invalid/send");
    assert!(!format!("{address:?}").contains("password"));
}
