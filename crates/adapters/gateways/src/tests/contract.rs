//! Rules that every gateway has to follow when its provider is broken.

use crate::HttpClient;
use crate::tests::captured_logs::CapturedLogs;
use crate::tests::fake_vendor::{FakeVendor, Play};
use crate::tests::fixtures::{CODE, message};
use dwar_kernel::KeyMode;
use dwar_otp::{Channel, Gateway, Message, Outcome, Reason};
use std::time::Duration;

/// Contained in every secret of a gateway under test.
pub const SECRET: &str = "s3cret";

/// The national number that all contract tests use.
pub const NATIONAL: &str = "9876543210";

pub fn to(channel: Channel) -> Message {
    message(KeyMode::Live, channel, NATIONAL)
}

/// A client that waits longer than any answer takes. Making one reads the system's certificates, so
/// share it in loops.
pub fn client() -> HttpClient {
    patient_for(Duration::from_secs(30))
}

fn patient_for(timeout: Duration) -> HttpClient {
    HttpClient::new(Duration::from_secs(2), timeout, None).unwrap()
}

/// Simulates every kind of breakdown to the gateway that `make` builds for a base URL, and checks
/// the logs.
pub async fn survives_a_broken_provider<G: Gateway>(
    channel: Channel,
    make: impl Fn(String, &HttpClient) -> G,
) {
    let (logs, _guard) = CapturedLogs::start();
    let (client, hasty) = (client(), patient_for(Duration::from_millis(300)));
    let text = |status, body: &str| Play::text(status, "text/html", body);
    let rest = Duration::from_secs(7);
    for (name, play, reason) in [
        ("401", text(401, ""), Reason::ProviderAuth),
        ("403", text(403, "<p>no</p>"), Reason::ProviderAuth),
        ("429", text(429, "").with_header("Retry-After", "7"), Reason::ProviderThrottled),
        ("500", text(500, "oops"), Reason::ProviderUnavailable),
        ("502", text(502, ""), Reason::Unknown),
        ("503", text(503, "").with_header("Retry-After", "x"), Reason::ProviderUnavailable),
        (
            "302",
            text(302, "").with_header("Location", "http://127.0.0.1:1/"),
            Reason::ProviderUnavailable,
        ),
        ("504", text(504, "<p>gateway time-out</p>"), Reason::Unknown),
        ("524", text(524, ""), Reason::Unknown),
        ("400", text(400, ""), Reason::ProviderRefused),
        ("404", text(404, ""), Reason::ProviderRefused),
        ("hang", Play::Hang, Reason::Timeout),
        ("reset", Play::Reset, Reason::Unknown),
        ("slow body", Play::SlowBody, Reason::Timeout),
        ("cut body", Play::CutBody, Reason::Unknown),
        ("empty", text(200, ""), Reason::Unknown),
        ("garbage", text(200, "<html>\u{0}{\"type\":"), Reason::Unknown),
        ("null", text(200, "null"), Reason::Unknown),
        ("other JSON", text(200, "{\"hello\":[1,{}]}"), Reason::Unknown),
        ("huge", Play::huge(), Reason::Unknown),
    ] {
        let vendor = FakeVendor::start(play).await;
        let client = if reason == Reason::Timeout { &hasty } else { &client };
        let gateway = make(vendor.base_url(), client);
        let outcome = gateway.deliver(to(channel)).await;
        let told = client.refusals().of(&gateway.provider()).map(|it| it.reason);
        assert_eq!(told, Some(reason), "{name}");
        let expected = match name {
            "429" => Outcome::Busy(reason, rest),
            _ => Outcome::Refused(reason),
        };
        assert_eq!(outcome, expected, "{name}");
        assert_eq!(vendor.requests().len(), 1, "{name}: a call is never repeated");
    }
    let nobody = "http://127.0.0.1:1".to_owned();
    let outcome = make(nobody, &client).deliver(to(channel)).await;
    assert_eq!(outcome, Outcome::Refused(Reason::ProviderUnavailable), "nobody listens");
    let logs = logs.text();
    assert!(logs.contains("the provider refused a message"), "{logs}");
    for private in [NATIONAL, CODE, SECRET] {
        assert!(!logs.contains(private), "{private} in {logs}");
    }
}
