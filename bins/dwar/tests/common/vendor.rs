use super::World;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";
/// The receipts section of a provider described by a file, with this token.
pub const RECEIPTS: &str = r#"[receipts]
secret = "webhook_token"
secret_in = { query = "token" }
payload = "json"
reference = "/reference"
status = "/status"
delivered = ["delivered"]
"#;

/// A provider on loopback that treats each message as the test says.
#[derive(Clone)]
pub struct Vendor {
    port: u16,
    taken: Arc<Mutex<Vec<Taken>>>,
}

#[derive(Clone, Debug)]
pub struct Taken {
    /// The head of the call, in lower case.
    pub head: String,
    pub provider: String,
    pub to: String,
    pub text: String,
    pub otp: String,
    pub attempt: String,
    pub play: Play,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// Accepts the message and never reports on it.
    Accept,
    Deliver,
    /// Reports the arrival first, and accepts the message more than a second later.
    DeliverFirst,
    /// Accepts the message and reports later that it failed.
    FailLater,
    NotOnChannel,
    Unauthorized,
    Unavailable,
    /// Asks not to be called for a minute.
    Throttle,
    /// As above, with a reason that is about only this number.
    ThrottleNumber,
    /// Does not answer until the caller gives up.
    Hang,
    /// Accepts the message, but breaks the connection instead of answering.
    TakeAndReset,
    /// Accepts the message, but with an unreadable answer.
    TakeAndMumble,
}

impl Play {
    /// Tells whether the message is sent, independent of the answer to the caller.
    pub fn carries(self) -> bool {
        use Play::{Hang, NotOnChannel, Throttle, ThrottleNumber, Unauthorized, Unavailable};
        !matches!(
            self,
            NotOnChannel | Unauthorized | Unavailable | Throttle | ThrottleNumber | Hang
        )
    }
}

impl Vendor {
    /// Starts the vendor; it reports to the service that listens on `service`.
    pub async fn start(
        service: u16,
        plays: impl Fn(&str, &str) -> Play + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let vendor = Self { port, taken: Arc::default() };
        let (plays, taken) = (Arc::new(plays), Arc::clone(&vendor.taken));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (plays, taken) = (Arc::clone(&plays), Arc::clone(&taken));
                tokio::spawn(async move { serve(stream, service, plays.as_ref(), &taken).await });
            }
        });
        vendor
    }

    pub fn taken(&self) -> Vec<Taken> {
        self.taken.lock().unwrap().clone()
    }

    /// Makes the vendor the world's provider `wa` over WhatsApp and `text` over SMS.
    pub fn carry(&self, world: World) -> World {
        let folder = world.database.folder().to_path_buf();
        for name in ["wa", "text"] {
            let file = folder.join(format!("{name}.toml"));
            std::fs::write(file, self.description(name)).unwrap();
        }
        world
            .with("DWAR__GATEWAYS__GENERIC_FILES", "wa.toml,text.toml")
            .with("DWAR__GATEWAYS__WHATSAPP", "wa")
            .with("DWAR__GATEWAYS__SMS", "text")
    }

    fn description(&self, name: &str) -> String {
        format!(
            r#"
name = "{name}"
[secrets]
webhook_token = "{TOKEN}"
[request]
url = "http://127.0.0.1:{port}/{name}"
json = '''{{"to":"{{phone_e164}}","text":"{{text}}","otp":"{{otp_id}}","attempt":"{{attempt_id}}"}}'''
[answer]
reference = "/id"
[[answer.reasons]]
status = 409
reason = "not_on_channel"
[[answer.reasons]]
pointer = "/code"
values = ["too_many_to_this_number"]
reason = "rejected_number"
{RECEIPTS}[[receipts.failed]]
values = ["failed"]
reason = "blocked"
"#,
            port = self.port
        )
    }
}

async fn serve(
    mut stream: TcpStream,
    service: u16,
    plays: &(dyn Fn(&str, &str) -> Play + Send + Sync),
    taken: &Mutex<Vec<Taken>>,
) {
    while let Some((head, body)) = read(&mut stream).await {
        let text = |field: &str| body[field].as_str().unwrap().to_owned();
        let path = head.split_whitespace().nth(1).unwrap();
        let (provider, to) = (path.trim_start_matches('/').to_owned(), text("to"));
        let play = plays(&provider, &to);
        let attempt = text("attempt");
        taken.lock().unwrap().push(Taken {
            head,
            provider: provider.clone(),
            to,
            text: text("text"),
            otp: text("otp"),
            attempt: attempt.clone(),
            play,
        });
        let reference = format!("ref-{attempt}");
        let said = json!({ "id": reference }).to_string();
        let (status, answer) = match play {
            Play::Accept | Play::Deliver | Play::DeliverFirst | Play::FailLater => {
                ("200 OK", said.as_str())
            }
            Play::NotOnChannel => ("409 Conflict", "{}"),
            Play::Unauthorized => ("401 Unauthorized", "{}"),
            Play::Unavailable => ("503 Service Unavailable", "{}"),
            Play::Throttle => ("429 Too Many Requests\r\nRetry-After: 60", "{}"),
            Play::ThrottleNumber => (
                "429 Too Many Requests\r\nRetry-After: 60",
                r#"{"code":"too_many_to_this_number"}"#,
            ),
            Play::TakeAndMumble => ("200 OK", "\u{fffd}<html>"),
            Play::TakeAndReset => return,
            Play::Hang => {
                tokio::time::sleep(Duration::from_secs(30)).await;
                return;
            }
        };
        match play {
            Play::Deliver => drop(tokio::spawn(report(service, provider, reference.clone(), true))),
            Play::DeliverFirst => {
                drop(tokio::spawn(report(service, provider, reference.clone(), true)));
                tokio::time::sleep(Duration::from_millis(1_500)).await;
            }
            Play::FailLater => {
                drop(tokio::spawn(report(service, provider, reference.clone(), false)));
            }
            _ => {}
        }
        let length = answer.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n");
        let whole = format!("{head}Content-Type: application/json\r\n\r\n{answer}");
        if stream.write_all(whole.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// A report on a message that is not ours.
pub fn stray(client: &reqwest::Client, base: &str, number: u32) -> reqwest::RequestBuilder {
    let body = json!({ "reference": format!("of-another-number-{number}"), "status": "delivered" });
    client.post(format!("{base}/webhooks/wa?token={TOKEN}")).json(&body)
}

/// A report that this message arrived, for one on which the vendor does not report itself.
pub fn delivered(client: &reqwest::Client, base: &str, taken: &Taken) -> reqwest::RequestBuilder {
    let reference = format!("ref-{}", taken.attempt);
    let url = format!("{base}/webhooks/{}?token={TOKEN}", taken.provider);
    client.post(url).json(&json!({ "reference": reference, "status": "delivered" }))
}

/// The next request's head in lower case, and its JSON body; `None` when the connection is closed.
async fn read(stream: &mut TcpStream) -> Option<(String, Value)> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?.to_ascii_lowercase();
    let length = text.split("content-length: ").nth(1)?.lines().next()?.parse::<usize>().ok()?;
    while bytes.len() < head + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    Some((text, serde_json::from_slice(&bytes[head..head + length]).ok()?))
}

/// Reports as vendors do: repeatedly until the report is accepted, and once more.
async fn report(service: u16, provider: String, reference: String, delivered: bool) {
    let client = reqwest::Client::new();
    let status = if delivered { "delivered" } else { "failed" };
    let url = format!("http://127.0.0.1:{service}/webhooks/{provider}?token={TOKEN}");
    let body = json!({ "reference": reference, "status": status });
    let mut accepted = 0;
    for _ in 0..400 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let posted = client.post(&url).json(&body).timeout(Duration::from_secs(3)).send().await;
        accepted += usize::from(posted.is_ok_and(|answer| answer.status().is_success()));
        if accepted == 2 {
            return;
        }
    }
}
