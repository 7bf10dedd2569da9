use serde_json::Value;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[derive(Clone, Debug)]
pub struct Told {
    pub head: String,
    pub id: String,
    pub timestamp: String,
    pub signature: String,
    pub text: String,
    pub body: Value,
}

#[derive(Clone)]
pub struct Endpoint {
    pub url: String,
    pub told: Arc<Mutex<Vec<Told>>>,
    pub status: Arc<Mutex<u16>>,
    /// The `Retry-After` of its refusals, if it sends one.
    pub retry_after: Arc<Mutex<Option<u32>>>,
}

impl Endpoint {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/events", listener.local_addr().unwrap());
        let status = Arc::new(Mutex::new(200));
        let endpoint = Self { url, told: Arc::default(), status, retry_after: Arc::default() };
        let serving = endpoint.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut bytes = Vec::new();
                let told = loop {
                    if let Some(told) = parse(&bytes) {
                        break told;
                    }
                    if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
                        break None;
                    }
                };
                let Some(told) = told else { continue };
                serving.told.lock().unwrap().push(told);
                let status = *serving.status.lock().unwrap();
                let asked = *serving.retry_after.lock().unwrap();
                let asked = asked.map(|seconds| format!("Retry-After: {seconds}\r\n"));
                let answer = format!(
                    "HTTP/1.1 {status} X\r\nContent-Length: 0\r\n{}Connection: close\r\n\r\n",
                    asked.unwrap_or_default()
                );
                let _gone = stream.write_all(answer.as_bytes()).await;
            }
        });
        endpoint
    }

    pub fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    /// Waits until an event of this type was delivered, and returns it.
    pub async fn hears(&self, kind: &str) -> Told {
        self.hears_of(kind, |_| true).await
    }

    /// The event of this kind whose data has this number in a field.
    pub async fn hears_about(&self, kind: &str, field: &str, number: i64) -> Told {
        self.hears_of(kind, |told| told.body["data"][field] == number).await
    }

    async fn hears_of(&self, kind: &str, is_meant: impl Fn(&Told) -> bool) -> Told {
        let until = Instant::now() + Duration::from_secs(20);
        let is_it = |told: &Told| told.body["type"] == kind && is_meant(told);
        loop {
            if let Some(told) = self.told().into_iter().find(is_it) {
                return told;
            }
            assert!(Instant::now() < until, "{kind} was never told: {:?}", self.told());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A whole request, or `None` while it is incomplete.
#[allow(clippy::option_option, reason = "not yet, or not readable")]
fn parse(bytes: &[u8]) -> Option<Option<Told>> {
    let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let above = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let header = |name: &str| {
        above.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    let length: usize = header("content-length")?.parse().ok()?;
    let body = bytes.get(head..head + length)?;
    let text = String::from_utf8(body.to_vec()).ok()?;
    Some(Some(Told {
        id: header("webhook-id").unwrap_or_default(),
        timestamp: header("webhook-timestamp").unwrap_or_default(),
        signature: header("webhook-signature").unwrap_or_default(),
        body: serde_json::from_str(&text).ok()?,
        text,
        head: above.to_lowercase(),
    }))
}
