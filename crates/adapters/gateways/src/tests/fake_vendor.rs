//! A provider on loopback for the contract tests. It records every request as received, and gives
//! the same answer, valid or broken, to all of them.

use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Clone, Debug)]
pub enum Play {
    Answer {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
    },
    /// Reads the request and never answers.
    Hang,
    Reset,
    /// Answers 200 with a body that never ends, one blank every 10 ms.
    SlowBody,
    /// Answers 200 with a body that breaks off.
    CutBody,
}

impl Play {
    pub fn json(status: u16, body: &Value) -> Self {
        Self::text(status, "application/json", &body.to_string())
    }

    pub fn text(status: u16, content_type: &str, body: &str) -> Self {
        let headers = vec![("Content-Type".to_owned(), content_type.to_owned())];
        Self::Answer { status, headers, body: body.into() }
    }

    /// A success with a body that is too long to be read.
    pub fn huge() -> Self {
        Self::text(200, "application/json", &" ".repeat(1024 * 1024))
    }

    pub fn with_header(self, name: &str, value: &str) -> Self {
        let Self::Answer { status, mut headers, body } = self else {
            panic!("only an answer has headers");
        };
        headers.push((name.to_owned(), value.to_owned()));
        Self::Answer { status, headers, body }
    }
}

#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The only header with this lower-case name.
    pub fn header(&self, name: &str) -> &str {
        let found: Vec<_> = self.headers.iter().filter(|(known, _)| known == name).collect();
        assert_eq!(found.len(), 1, "exactly one {name} in {:?}", self.headers);
        &found[0].1
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn form(&self) -> Vec<(String, String)> {
        form_urlencoded::parse(&self.body).into_owned().collect()
    }
}

/// The fake provider; it stops when dropped.
pub struct FakeVendor {
    address: String,
    requests: Arc<Mutex<Vec<Request>>>,
    server: JoinHandle<()>,
}

impl FakeVendor {
    /// Starts a fake that plays `play` to every request, over any number of connections.
    pub async fn start(play: Play) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&requests);
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, play.clone(), Arc::clone(&record)));
            }
        });
        Self { address, requests, server }
    }

    /// Its base URL, without a slash at the end: `http://127.0.0.1:40123`.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The expected `Host` header: `127.0.0.1:40123`.
    pub fn host(&self) -> &str {
        &self.address
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// The only request that it received; panics on none and on several.
    pub fn only_request(&self) -> Request {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.remove(0)
    }
}

impl Drop for FakeVendor {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(mut stream: TcpStream, play: Play, record: Arc<Mutex<Vec<Request>>>) {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await {
        record.lock().unwrap().push(request);
        match &play {
            Play::Answer { status, headers, body } => {
                let mut head = format!("HTTP/1.1 {status} Played\r\n");
                for (name, value) in headers {
                    head.push_str(&format!("{name}: {value}\r\n"));
                }
                head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
                if stream.write_all(&[head.as_bytes(), body].concat()).await.is_err() {
                    return;
                }
            }
            Play::Hang => std::future::pending().await,
            Play::Reset => {
                // Zero linger makes closing a reset instead of an orderly end.
                stream.set_zero_linger().unwrap();
                return;
            }
            Play::SlowBody => {
                let head = "HTTP/1.1 200 Played\r\nContent-Length: 60000\r\n\r\n";
                let mut sent = stream.write_all(head.as_bytes()).await;
                while sent.is_ok() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    sent = stream.write_all(b" ").await;
                }
                return;
            }
            Play::CutBody => {
                let head = "HTTP/1.1 200 Played\r\nContent-Length: 60000\r\n\r\n{";
                let _ = stream.write_all(head.as_bytes()).await;
                return;
            }
        }
    }
}

/// The next request of a connection; `None` at its end.
async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Request> {
    let head = loop {
        if let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break buffer.drain(..end + 4).collect::<Vec<_>>();
        }
        fill(stream, buffer).await?;
    };
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.trim_end().split("\r\n");
    let mut start = lines.next()?.split(' ');
    let (method, target) = (start.next()?.to_owned(), start.next()?.to_owned());
    assert_eq!(start.next(), Some("HTTP/1.1"));
    let headers: Vec<_> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().unwrap());
    while buffer.len() < length {
        fill(stream, buffer).await?;
    }
    Some(Request { method, target, headers, body: buffer.drain(..length).collect() })
}

async fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    match stream.read_buf(buffer).await {
        Ok(read) if read > 0 => Some(()),
        _ => None,
    }
}
