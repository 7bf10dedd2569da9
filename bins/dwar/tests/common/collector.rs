use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Takes,
    /// Reads the call and never answers.
    Hangs,
    /// Answers 503.
    Refuses,
    /// Answers 429, and asks not to be called for a minute.
    Throttles,
}

#[derive(Clone)]
pub struct Collector {
    pub url: String,
    pub manner: Arc<Mutex<Manner>>,
    calls: Arc<Mutex<Vec<Exported>>>,
}

#[derive(Clone, Debug)]
pub struct Exported {
    pub head: String,
    pub body: Vec<u8>,
}

impl Collector {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let manner = Arc::new(Mutex::new(Manner::Takes));
        let collector = Self { url, manner, calls: Arc::default() };
        let serving = collector.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.serve(stream).await });
            }
        });
        collector
    }

    async fn serve(&self, mut stream: TcpStream) {
        let mut bytes = Vec::new();
        let call = loop {
            if let Some(call) = parse(&bytes) {
                break call;
            }
            if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                return;
            }
        };
        self.calls.lock().unwrap().push(call);
        let manner = *self.manner.lock().unwrap();
        let status = match manner {
            Manner::Takes => "200 OK",
            Manner::Refuses => "503 Service Unavailable",
            Manner::Throttles => "429 Too Many Requests\r\nRetry-After: 60",
            Manner::Hangs => return tokio::time::sleep(Duration::from_secs(60)).await,
        };
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        let _gone = stream.write_all(answer.as_bytes()).await;
    }

    pub fn calls(&self) -> Vec<Exported> {
        self.calls.lock().unwrap().clone()
    }

    pub fn spans(&self) -> Vec<Span> {
        let requests = self.calls().into_iter().map(|call| call.request());
        let scopes = requests.flat_map(|request| request.resource_spans);
        scopes.flat_map(|all| all.scope_spans).flat_map(|all| all.spans).collect()
    }

    /// Waits for a span that matches, and returns it.
    pub async fn hears(&self, wanted: impl Fn(&Span) -> bool) -> Span {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(span) = self.spans().into_iter().find(&wanted) {
                return span;
            }
            assert!(Instant::now() < until, "it never came: {:#?}", self.spans());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Exported {
    pub fn request(&self) -> ExportTraceServiceRequest {
        ExportTraceServiceRequest::decode(self.body.as_slice()).unwrap()
    }
}

/// An attribute of a span as text; empty without it.
pub fn attribute(span: &Span, key: &str) -> String {
    let found = span.attributes.iter().find(|attribute| attribute.key == key);
    let value = found.and_then(|attribute| attribute.value.clone()?.value);
    match value {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(other) => format!("{other:?}"),
        None => String::new(),
    }
}

/// A whole call, or `None` while it is incomplete.
fn parse(bytes: &[u8]) -> Option<Exported> {
    let at = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = String::from_utf8(bytes[..at].to_vec()).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let body = bytes.get(at..at + length.parse::<usize>().unwrap())?.to_vec();
    Some(Exported { head, body })
}
