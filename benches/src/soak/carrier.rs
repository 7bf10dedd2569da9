//! A test double of Meta's WhatsApp Cloud API. It accepts messages, refuses some, and reports on
//! the others in signed calls, half of them before its answer.

use crate::Outcome;
use crate::http;
use crate::provider::Provider;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Signs reports.
pub const APP_SECRET: &str = "soak app secret";
/// The sender.
pub const NUMBER: &str = "106540352242922";
/// Delay between its answer and the report, for half of the messages.
const LATER: Duration = Duration::from_millis(300);
/// Number of concurrent reports.
const REPORTERS: usize = 8;
/// One message in this many is refused at once, and one is reported as failed: both fall back to
/// SMS.
const FALLS_BACK: u64 = 20;
/// «Message undeliverable»: Meta's error code for a phone without WhatsApp.
const UNDELIVERABLE: u64 = 131_026;

/// A message, and when to report that it arrived or failed.
struct Due(Instant, String, bool);

/// Listens until the program ends.
#[derive(Clone)]
pub struct Carrier {
    port: u16,
    state: Arc<State>,
}

struct State {
    /// Records codes that reached their phone.
    provider: Provider,
    /// The addresses for reports, used in turn.
    addresses: Mutex<Vec<String>>,
    messages: AtomicU64,
    reported: AtomicU64,
    refused: AtomicU64,
    later: Sender<Due>,
}

impl Carrier {
    /// Listens on a free port; it needs addresses for reports before it gets a message.
    pub fn start(provider: &Provider) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let (later, due) = channel();
        let (addresses, due) = (Mutex::default(), Arc::new(Mutex::new(due)));
        let zero = AtomicU64::default;
        let (messages, reported, refused) = (zero(), zero(), zero());
        let provider = provider.clone();
        let state = State { provider, addresses, messages, reported, refused, later };
        let carrier = Self { port, state: Arc::new(state) };
        for _ in 0..REPORTERS {
            let (state, due) = (Arc::clone(&carrier.state), Arc::clone(&due));
            thread::spawn(move || report_later(&state, &due));
        }
        let state = Arc::clone(&carrier.state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                thread::spawn(move || serve(stream, &state).ok());
            }
        });
        Ok(carrier)
    }

    /// The settings of a service that uses it.
    pub fn settings(&self) -> Vec<(String, String)> {
        let section = [
            ("BASE_URL", format!("http://127.0.0.1:{}/v23.0", self.port)),
            ("PHONE_NUMBER_ID", NUMBER.to_owned()),
            ("ACCESS_TOKEN", "soak".to_owned()),
            ("APP_SECRET", APP_SECRET.to_owned()),
        ];
        let name = |name: &str| format!("DWAR__GATEWAYS__WHATSAPP_CLOUD__{name}");
        let mut settings: Vec<_> = section.map(|(key, value)| (name(key), value)).into();
        settings.push(("DWAR__GATEWAYS__WHATSAPP".to_owned(), "whatsapp_cloud".to_owned()));
        settings
    }

    /// Reports to these addresses from now on.
    pub fn report_to(&self, addresses: &[String]) {
        *self.state.addresses.lock().unwrap_or_else(PoisonError::into_inner) = addresses.to_vec();
    }

    /// How many reports were accepted, and how many were not.
    pub fn reported(&self) -> (u64, u64) {
        let State { reported, refused, .. } = self.state.as_ref();
        (reported.load(Ordering::Relaxed), refused.load(Ordering::Relaxed))
    }
}

fn serve(mut stream: TcpStream, state: &State) -> Outcome<()> {
    stream.set_nodelay(true)?;
    let (mut unread, mut reporter) = (Vec::new(), Reporter::default());
    while let Some((phone, code)) = http::receive(&mut stream, &mut unread, |message| {
        let body: Value = serde_json::from_slice(&message.body)?;
        let text = |place: &str| body.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let code = text("/template/components/0/parameters/0/text");
        Ok((text("/to").to_owned(), code.to_owned()))
    })? {
        let number: u64 = phone.get(5..).unwrap_or_default().parse()?;
        let fate = number % FALLS_BACK;
        if fate == 0 {
            let body = json!({ "error": { "code": UNDELIVERABLE } }).to_string();
            answer(&mut stream, "400 Bad Request", &body)?;
            continue;
        }
        let id = format!("wamid.{}", state.messages.fetch_add(1, Ordering::Relaxed));
        let arrives = fate != 1;
        if arrives {
            state.provider.note(phone, code);
        }
        let early = number.is_multiple_of(2);
        if early {
            reporter.report(state, &id, arrives);
        }
        answer(&mut stream, "200 OK", &json!({ "messages": [{ "id": id }] }).to_string())?;
        if !early {
            state.later.send(Due(Instant::now() + LATER, id, arrives))?;
        }
    }
    Ok(())
}

fn answer(stream: &mut TcpStream, status: &str, body: &str) -> Outcome<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\n");
    Ok(stream.write_all(format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes())?)
}

fn report_later(state: &State, due: &Mutex<Receiver<Due>>) {
    let mut reporter = Reporter::default();
    let next = || due.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok(Due(at, id, arrives)) = next() {
        thread::sleep(at.saturating_duration_since(Instant::now()));
        reporter.report(state, &id, arrives);
    }
}

/// A sender of reports on a persistent connection.
#[derive(Default)]
struct Reporter {
    stream: Option<TcpStream>,
    turn: usize,
}

impl Reporter {
    fn report(&mut self, state: &State, id: &str, arrives: bool) {
        let taken = self.post(state, id, arrives).is_ok_and(|status| status == "200");
        if !taken {
            self.stream = None;
        }
        let count = if taken { &state.reported } else { &state.refused };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn post(&mut self, state: &State, id: &str, arrives: bool) -> Outcome<String> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.open(state)?,
        };
        let request = request(id, arrives)?;
        // An idle connection may be closed.
        let status = if let Ok(status) = exchange(&mut stream, &request) {
            status
        } else {
            stream = self.open(state)?;
            exchange(&mut stream, &request)?
        };
        self.stream = Some(stream);
        Ok(status)
    }

    fn open(&mut self, state: &State) -> Outcome<TcpStream> {
        let addresses = state.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        self.turn += usize::try_from(state.messages.load(Ordering::Relaxed))?;
        let address = addresses.get(self.turn % addresses.len().max(1)).ok_or("nowhere")?;
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(stream)
    }
}

fn exchange(stream: &mut TcpStream, request: &[u8]) -> Outcome<String> {
    stream.write_all(request)?;
    let status = http::receive(stream, &mut Vec::new(), |it| Ok(it.status().to_owned()))?;
    Ok(status.ok_or("no answer")?)
}

fn request(id: &str, arrives: bool) -> Outcome<Vec<u8>> {
    let status = if arrives {
        json!({ "id": id, "status": "delivered" })
    } else {
        json!({ "id": id, "status": "failed", "errors": [{ "code": UNDELIVERABLE }] })
    };
    let value = json!({ "metadata": { "phone_number_id": NUMBER }, "statuses": [status] });
    let body = json!({ "entry": [{ "changes": [{ "field": "messages", "value": value }] }] });
    let body = body.to_string();
    let mut mac = Hmac::<Sha256>::new_from_slice(APP_SECRET.as_bytes())?;
    mac.update(body.as_bytes());
    let signature = base16ct::lower::encode_string(&mac.finalize().into_bytes());
    let header = format!("x-hub-signature-256: sha256={signature}\r\n");
    Ok(http::request("POST /webhooks/whatsapp_cloud", &header, &body))
}
