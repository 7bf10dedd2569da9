//! A provider that answers each request with the request itself, as an error, a success or
//! nonsense.

use crate::common::{RECEIPTS, TOKEN};
use std::path::Path;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// More than the service reads of an answer.
const TOO_LONG: usize = 70_000;

pub struct Echo {
    pub url: String,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Echo {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let echo = Self { url, heard: Arc::default() };
        let heard = Arc::clone(&echo.heard);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let heard = Arc::clone(&heard);
                tokio::spawn(async move {
                    let request = read(&mut stream).await;
                    let number = {
                        let mut heard = heard.lock().unwrap();
                        heard.push(request.clone());
                        heard.len()
                    };
                    let _gone = stream.write_all(&answer(number, &request)).await;
                });
            }
        });
        echo
    }

    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// Describes it as the provider `echo`, which gets number and code in the address too.
    pub fn describe(&self, folder: &Path) {
        let url = &self.url;
        let description = format!(
            r#"
name = "echo"
[secrets]
webhook_token = "{token}"
api_key = "{API_KEY}"
[request]
url = "{url}/{{phone_national}}"
headers = [["Authorization", "Bearer {{secret.api_key}}"]]
json = '''{{"to":"{{phone_national}}","code":"{{code}}","text":"{{text}}"}}'''
[answer]
reference = "/id"
{RECEIPTS}"#,
            token = TOKEN
        );
        std::fs::write(folder.join("echo.toml"), description).unwrap();
    }
}

/// The secret that the service sends to `echo`.
pub const API_KEY: &str = "echo-api-key-Zc4WnS9g";

/// Reads a request; no client here sends a body without its length.
async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|it| it.lines().next());
            body.len() >= length.map_or(0, |length| length.parse().unwrap())
        });
        if whole || stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return text;
        }
    }
}

fn answer(number: usize, request: &str) -> Vec<u8> {
    let quoted = serde_json::Value::from(request).to_string();
    let line: String = request.chars().filter(|it| (' '..='~').contains(it)).take(3_000).collect();
    let (status, headers, body) = match number % 9 {
        0 => (
            "200 OK",
            format!("X-Echo: {line}\r\n"),
            format!(r#"{{"id":{quoted},"sid":{quoted}}}"#),
        ),
        1 => ("400 Bad", String::new(), format!(r#"{{"message":{quoted},"code":21211}}"#)),
        2 => ("401 No", format!("WWW-Authenticate: {line}\r\n"), request.to_owned()),
        3 => ("429 Slow", format!("Retry-After: {line}\r\n"), format!(r#"{{"error":{quoted}}}"#)),
        4 => ("503 Down", String::new(), quoted),
        5 => ("302 There", format!("Location: /{}\r\n", line.replace(' ', "%20")), String::new()),
        6 => ("200 OK", format!("X {line}\r\n"), quoted),
        7 => ("200 OK", String::new(), line.repeat(1 + TOO_LONG / line.len().max(1))),
        _ => ("200 OK", format!("Content-Encoding: {line}\r\n"), "{".to_owned()),
    };
    // The last one is cut off.
    let length = body.len() + usize::from(number % 9 == 8);
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n");
    format!("{head}{headers}\r\n{body}").into_bytes()
}
