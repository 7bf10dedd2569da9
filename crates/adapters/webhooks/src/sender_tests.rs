use super::*;
use dwar_event::{EventKind, Subject};
use dwar_kernel::{Entropy, KeyMode, ProjectMode, Timestamp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

struct Counting;

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        for (byte, value) in buffer.iter_mut().zip(0..) {
            *byte = value;
        }
    }
}

fn sender(allow_private: bool) -> HttpWebhookSender {
    sender_with(Duration::from_millis(500), allow_private)
}

fn sender_with(timeout: Duration, allow_private: bool) -> HttpWebhookSender {
    HttpWebhookSender::within(timeout, WebhookSettings { allow_private }).unwrap()
}

fn request(url: String) -> WebhookRequest {
    WebhookRequest {
        url,
        id: "otp_sent_1".to_owned(),
        timestamp: 1_700_000_000,
        signature: "v1,abc v1,def".to_owned(),
        body: b"{\"a\":1}".to_vec(),
    }
}

/// Answers one request with `answer` and returns the request.
async fn endpoint(answer: &'static str) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook?x=1", listener.local_addr().unwrap());
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        while !asked.ends_with(b"}") {
            stream.read_buf(&mut asked).await.unwrap();
        }
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(asked).unwrap()
    });
    (url, serving)
}

/// Computed with Python's `hmac`, `hashlib` and `base64`.
#[test]
fn signs_as_standard_webhooks_says() {
    let secret = WebhookSecret::generate(&Counting);
    let signature = sender(true).sign(&secret, "msg_1", 1_674_087_231, b"{\"test\": 2432232314}");
    assert_eq!(signature, SIGNATURE);
}

const SIGNATURE: &str = "v1,hiSfYKchzkhTeg8BCiooMdjDn0ct8IPJUznfEFWq7Ao=";

#[tokio::test]
async fn posts_body_and_headers_and_takes_any_success() {
    let (url, serving) = endpoint("HTTP/1.1 204 No Content\r\n\r\n").await;
    assert_eq!(sender(true).post(request(url)).await, Ok(204));
    let asked = serving.await.unwrap().to_ascii_lowercase();
    assert!(asked.starts_with("post /hook?x=1 http/1.1\r\n"), "{asked}");
    for header in [
        "content-type: application/json\r\n",
        "webhook-id: otp_sent_1\r\n",
        "webhook-timestamp: 1700000000\r\n",
        "webhook-signature: v1,abc v1,def\r\n",
    ] {
        assert!(asked.contains(header), "{asked}");
    }
    assert!(asked.ends_with("\r\n\r\n{\"a\":1}"));
}

#[tokio::test]
async fn anything_but_a_success_is_a_failure_redirects_included() {
    for (answer, status) in [
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", 500),
        ("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n", 302),
        ("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", 410),
    ] {
        let (url, _) = endpoint(answer).await;
        let failure = SendFailure::Status(status).into();
        assert_eq!(sender(true).post(request(url)).await, Err(failure));
    }
}

#[tokio::test]
async fn how_long_it_asks_to_be_left_alone_is_heard_where_that_means_something() {
    for (status, headers, seconds) in [
        ("429 Slow", "Retry-After: 120\r\n", Some(120)),
        ("503 Down", "Retry-After: 0\r\n", Some(0)),
        ("503 Down", "Retry-After: 999999999\r\n", Some(999_999_999)),
        ("500 Oops", "Retry-After: 120\r\n", None),
        ("404 None", "Retry-After: 120\r\n", None),
        ("302 Else", "Retry-After: 120\r\nLocation: /\r\n", None),
        ("429 Slow", "Retry-After: soon\r\n", None),
        ("429 Slow", "", None),
        // By the endpoint's own clock, whatever ours says.
        (
            "503 Down",
            "Date: Sun, 06 Nov 1994 08:49:07 GMT\r\n\
             Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
            Some(30),
        ),
        // Without a `Date` by our clock: the request was made at 2023-11-14 22:13:20.
        ("429 Slow", "Retry-After: Tue, 14 Nov 2023 22:14:20 GMT\r\n", Some(60)),
        ("429 Slow", "Retry-After: Tue, 14 Nov 2023 22:00:00 GMT\r\n", Some(0)),
    ] {
        let answer = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\n\r\n");
        let (url, _) = endpoint(answer.clone().leak()).await;
        let not_taken = sender(true).post(request(url)).await.unwrap_err();
        assert_eq!(not_taken.retry_after, seconds.map(Duration::from_secs), "{answer}");
    }
}

#[tokio::test]
async fn each_way_not_to_be_reached_has_its_name() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let there = format!("http://{}/", silent.local_addr().unwrap());
    let silence = sender(true).post(request(there.clone())).await;
    assert_eq!(silence, Err(SendFailure::TimedOut.into()));
    drop(silent);
    // On a busy machine a handshake may take long.
    let patient = sender_with(Duration::from_secs(20), true);
    let post = async |url: &str| patient.post(request(url.to_owned())).await;
    assert_eq!(post(&there).await, Err(SendFailure::ConnectionRefused.into()));
    assert_eq!(post("http://nobody.invalid/").await, Err(SendFailure::Unresolved.into()));
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let without_tls = format!("https://{}/", plain.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = plain.accept().await.unwrap();
        stream.read_buf(&mut Vec::new()).await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    assert_eq!(post(&without_tls).await, Err(SendFailure::Tls.into()));
    let (hangs_up, _) = endpoint("").await;
    assert_eq!(post(&hangs_up).await, Err(SendFailure::Unreachable.into()));
    // Where private addresses are not allowed, an unknown name is told from one with a private
    // address.
    let nowhere = request("https://nobody.invalid/".to_owned());
    assert_eq!(sender(false).post(nowhere).await, Err(SendFailure::Unresolved.into()));
}

#[tokio::test]
async fn a_name_that_leads_inside_is_refused_when_it_is_used() {
    // Resolves to loopback on any resolver, but looks public until then.
    let inside = request("https://localhost.localdomain.example.invalid/".to_owned());
    assert!(sender(false).post(inside).await.is_err());
    let resolved = PublicResolver.resolve_for_test("localhost").await;
    assert!(resolved.is_err());
    let literal = request("https://127.0.0.1/".to_owned());
    assert_eq!(sender(false).post(literal).await, Err(SendFailure::AddressNotAllowed.into()));
}

impl PublicResolver {
    async fn resolve_for_test(&self, name: &str) -> Result<(), String> {
        use reqwest::dns::Resolve;
        let found = self.resolve(name.parse().unwrap()).await;
        found.map(drop).map_err(|cause| cause.to_string())
    }
}

#[test]
fn the_body_names_what_happened_and_nothing_secret() {
    let event = Event {
        project_mode: ProjectMode {
            project: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
            mode: KeyMode::Live,
        },
        kind: EventKind::OtpDelivered,
        subject: Subject::Otp {
            otp: "00000000-0000-7000-8000-000000000002".parse().unwrap(),
            channel: Some(dwar_kernel::Channel::Sms),
            phone: None,
        },
        at: Timestamp::from_timestamp(1_800_000_000, 0).unwrap(),
    };
    let body = sender(true).body(&event, Some("+9198••••3210".to_owned()));
    assert_eq!(
        String::from_utf8(body).unwrap(),
        "{\"type\":\"otp.delivered\",\"timestamp\":\"2027-01-15T08:00:00Z\",\"data\":{\
         \"project_id\":\"00000000-0000-7000-8000-000000000001\",\"mode\":\"live\",\
         \"otp_id\":\"00000000-0000-7000-8000-000000000002\",\"channel\":\"sms\",\
         \"phone\":\"+9198••••3210\"}}"
    );
}
