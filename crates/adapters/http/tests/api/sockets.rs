//! Behaviour that only a real connection shows.

use crate::ports::Ports;
use crate::support::settings;
use dwar_http::{Listener, Server, Settings, StopHandle};
use dwar_login::Redeemed;
use dwar_otp::Allowance;
use dwar_session::{AccessToken, JwkSet};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

/// More than a second, because actix reads its clock every half second.
const PATIENCE: Duration = Duration::from_millis(1_200);

struct Running {
    runtime: Runtime,
    port: u16,
    key: String,
    stop: StopHandle,
    served: JoinHandle<std::io::Result<()>>,
}

fn start(set_up: impl FnOnce(&mut Ports)) -> Running {
    // Mocks block the thread that calls them; on one core there would be no other.
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut ports = Ports::new();
    set_up(&mut ports);
    ports.know_the_keys();
    let key = ports.live.expose().to_owned();
    let settings = Settings {
        address: "127.0.0.1:0".to_owned(),
        workers: 1,
        client_timeout_seconds: 1,
        ..settings()
    };
    let ready = ports.ready.clone();
    let bind = async {
        let listener = Listener::take(&settings.address)?;
        Server::new(listener, settings, ports.use_cases(), ready)
    };
    let server = runtime.block_on(bind).unwrap();
    let (port, stop) = (server.addresses()[0].port(), server.stop_handle());
    let served = runtime.spawn(server.run());
    Running { runtime, port, key, stop, served }
}

impl Running {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream
    }

    /// A request with the key; `rest` begins with further headers.
    fn request(&self, line: &str, rest: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: dwar\r\nX-Api-Key: {}\r\n{rest}", self.key)
    }

    fn exchange(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        read_all(&mut stream)
    }
}

fn read_all(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("left open: {error}"),
        _ => String::from_utf8(bytes).unwrap(),
    }
}

/// Sends a byte every 50 ms until the server closes the connection; returns how long that took.
fn drip(stream: &mut TcpStream, byte: u8) -> Duration {
    let began = Instant::now();
    stream.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    while began.elapsed() < Duration::from_secs(8) {
        let _ = stream.write_all(&[byte]);
        match stream.read(&mut [0; 4_096]) {
            Ok(0) => break,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            _ => {}
        }
    }
    began.elapsed()
}

const BOUND: Duration = Duration::from_secs(5);
const OPEN: &str = "GET /healthz HTTP/1.1\r\nHost: dwar\r\n";

#[test]
fn head_answers_like_get_without_the_body() {
    let server = start(|ports| {
        let keys = JwkSet {
            json: r#"{"keys":[]}"#.to_owned(),
            etag: "v1".to_owned(),
            algorithms: Vec::new(),
        };
        ports.signer.expect_public_keys().returning(move |_| Ok(keys.clone()));
    });
    let reply = server.exchange(
        "HEAD /.well-known/jwks.json HTTP/1.1\r\nHost: dwar\r\nConnection: close\r\n\r\n",
    );
    assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(reply.contains("content-length: 11\r\n") && reply.ends_with("\r\n\r\n"), "{reply}");
}

#[test]
fn a_panic_is_answered_and_the_worker_lives_on() {
    let server = start(|ports| {
        ports.otps.expect_find().returning(|_, _| panic!("a bug"));
    });
    let path = "GET /v1/otp/status/01920000-0000-7000-8000-000000000000";
    let reply = server.exchange(&server.request(path, "X-Request-Id: r-1\r\n\r\n"));
    assert!(reply.starts_with("HTTP/1.1 500"), "{reply}");
    assert!(reply.contains("x-request-id: r-1\r\n"), "{reply}");
    assert!(reply.ends_with(r#""code":"INTERNAL_ERROR","request_id":"r-1"}"#), "{reply}");
    assert!(server.exchange(&format!("{OPEN}\r\n")).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_chunked_body_is_cut_off_at_the_limit() {
    let server = start(|_| ());
    let head = server.request("POST /v1/otp/verify", "Transfer-Encoding: chunked\r\n\r\n");
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(4_096));
    let reply = server.exchange(&format!("{head}{}", chunk.repeat(5)));
    assert!(reply.starts_with("HTTP/1.1 413"), "{reply}");
    assert!(reply.contains("PAYLOAD_TOO_LARGE"), "{reply}");
}

#[test]
fn the_connection_survives_a_small_body_and_a_refusal_after_it() {
    let server = start(|_| ());
    let request = server.request("POST /v1/otp/verify", "Content-Length: 2\r\n\r\n{}");
    let replies = server.exchange(&request.repeat(2));
    assert_eq!(replies.matches("INVALID_PHONE").count(), 2, "{replies}");
}

#[test]
fn ambiguous_framing_never_reaches_a_handler() {
    let server = start(|_| ());
    let both = "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    let reply = server.exchange(&server.request("POST /v1/otp/verify", both));
    assert!(reply.starts_with("HTTP/1.1 400"), "{reply}");
    assert_eq!(reply.matches("HTTP/1.1").count(), 1, "{reply}");
}

#[test]
fn odd_request_targets_are_refused_like_any_other() {
    let server = start(|_| ());
    for (line, status) in [
        ("OPTIONS *", 404),
        ("CONNECT dwar:80", 404),
        ("GET http://dwar/healthz", 200),
        ("GET /healthz?%zz", 200),
        ("GET /%zz", 400),
        ("GET /..%2f..%2fetc/passwd", 404),
        ("GET /v1/../healthz", 404),
    ] {
        let reply = server.exchange(&server.request(line, "Connection: close\r\n\r\n"));
        assert!(reply.starts_with(&format!("HTTP/1.1 {status}")), "{line}: {reply}");
        assert!(reply.contains("x-request-id: "), "{line}: {reply}");
    }
}

/// Proxies speak HTTP/1.0 to what is behind them unless they are told otherwise.
#[test]
fn http_1_0_is_answered_and_other_versions_are_refused() {
    let server = start(|_| ());
    for (version, answer, code) in [
        ("HTTP/1.0", "HTTP/1.0 422", "INVALID_PHONE"),
        ("HTTP/1.1", "HTTP/1.1 422", "INVALID_PHONE"),
        ("HTTP/0.9", "HTTP/1.1 400", "INVALID_REQUEST"),
        ("HTTP/1.2", "HTTP/1.1 400", "INVALID_REQUEST"),
        ("HTTP/2.0", "HTTP/1.1 400", "INVALID_REQUEST"),
    ] {
        let body = "Content-Length: 2\r\n\r\n{}";
        let request = server.request("POST /v1/otp/verify", body).replace("HTTP/1.1", version);
        let reply = server.exchange(&request);
        assert!(reply.starts_with(answer) && reply.contains(code), "{version}: {reply}");
    }
}

#[test]
fn a_body_that_does_not_come_is_an_invalid_request() {
    let server = start(|_| ());
    let mut stream = server.connect();
    let request = server.request("POST /v1/otp/verify", "Content-Length: 9\r\n\r\n{");
    stream.write_all(request.as_bytes()).unwrap();
    let reply = read_all(&mut stream);
    assert!(reply.starts_with("HTTP/1.1 400") && reply.contains("INVALID_REQUEST"), "{reply}");
    assert!(reply.contains("connection: close\r\n"), "{reply}");
}

#[test]
fn no_slow_client_keeps_its_connection() {
    let server = start(|_| ());
    let chunked = "Transfer-Encoding: chunked\r\n\r\n";
    let slow = [
        ("a slow first head", OPEN.to_owned(), b'a'),
        ("a slow body", server.request("POST /v1/otp/verify", "Content-Length: 999\r\n\r\n"), b' '),
        ("a slow chunk", server.request("POST /v1/otp/verify", &format!("{chunked}fff\r\n")), b' '),
        ("a slow chunk nobody reads", format!("{OPEN}{chunked}fff\r\n"), b' '),
        (
            "a slow chunk without a key",
            format!("POST /v1/otp/send HTTP/1.1\r\nHost: dwar\r\n{chunked}fff\r\n"),
            b' ',
        ),
    ];
    for (what, start, byte) in slow {
        let mut stream = server.connect();
        stream.write_all(start.as_bytes()).unwrap();
        let took = drip(&mut stream, byte);
        assert!(took < BOUND, "{what}: {took:?}");
    }
}

#[test]
fn stopping_finishes_what_is_in_flight_and_refuses_what_is_new() {
    let (entered, entering) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let released = std::sync::Mutex::new(released);
    let server = start(|ports| {
        ports.sign_anything();
        ports.logins.expect_redeem().returning(move |_, _| {
            entered.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
            Ok(Redeemed::NotFound)
        });
    });
    let body = r#"{"phone":"9876543210","code":"123456"}"#;
    let rest = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = server.connect();
    stream.write_all(server.request("POST /v1/otp/verify", &rest).as_bytes()).unwrap();
    entering.recv().unwrap();

    let stop = server.stop.clone();
    let stopping = server.runtime.spawn(async move { stop.stop().await });
    let refused = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        TcpStream::connect(("127.0.0.1", server.port)).is_err()
    });
    assert!(refused, "new connections are still taken");
    release.send(()).unwrap();
    let reply = read_all(&mut stream);
    assert!(reply.starts_with("HTTP/1.1 400") && reply.contains("OTP_NOT_FOUND"), "{reply}");
    server.runtime.block_on(stopping).unwrap();
    server.runtime.block_on(server.served).unwrap().unwrap();
}

#[test]
fn a_client_that_hangs_up_does_not_stop_what_it_began() {
    let (entered, entering) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    let (signed, signing) = mpsc::channel();
    let released = std::sync::Mutex::new(released);
    let server = start(|ports| {
        ports.signer.expect_ready().returning(|_| Ok(()));
        ports.logins.expect_redeem().returning(move |redemption, _| {
            entered.send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
            let allowance = Allowance { limit: 5, remaining: 5, reset: PATIENCE };
            Ok(Redeemed::LoggedIn(allowance, redemption.session().unwrap().identity, None))
        });
        ports.signer.expect_sign().returning(move |_, _| {
            signed.send(()).unwrap();
            Ok(AccessToken::new("access-token"))
        });
    });
    let body = r#"{"phone":"9876543210","code":"123456"}"#;
    let rest = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = server.connect();
    stream.write_all(server.request("POST /v1/otp/verify", &rest).as_bytes()).unwrap();
    entering.recv().unwrap();
    drop(stream);
    std::thread::sleep(PATIENCE);
    release.send(()).unwrap();
    signing.recv_timeout(Duration::from_secs(5)).unwrap();
}
