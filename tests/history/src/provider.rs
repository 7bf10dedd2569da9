//! The provider on loopback that gets the messages of live keys.

use crate::Outcome;
use crate::history::Message;
use crate::recorder::Recorder;
use serde_json::Value;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                       content-length: 10\r\n\r\n{\"id\":\"x\"}";

/// Starts it; returns its port. A message is recorded before it is answered.
pub async fn start(recorder: Arc<Recorder>) -> Outcome<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&recorder)));
        }
    });
    Ok(port)
}

/// The description of this provider for the service.
pub fn description(port: u16) -> String {
    format!(
        "name = \"stub\"\n[request]\nurl = \"http://127.0.0.1:{port}/messages\"\n\
         json = '''{{\"to\":\"{{phone_e164}}\",\"text\":\"{{text}}\",\"otp\":\"{{otp_id}}\"}}'''\n\
         [answer]\nreference = \"/id\"\n"
    )
}

async fn serve(mut stream: TcpStream, recorder: Arc<Recorder>) -> Option<()> {
    let mut unread = Vec::new();
    loop {
        let body = next(&mut stream, &mut unread).await?;
        let text = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
        let code = text("text").chars().take(6).collect();
        let (at, phone) = (recorder.now(), text("to").trim_start_matches("+91").to_owned());
        recorder.message(Message { at, phone, code, otp: text("otp") });
        stream.write_all(TAKEN).await.ok()?;
    }
}

/// The body of the next request; `None` when the connection is closed.
async fn next(stream: &mut TcpStream, unread: &mut Vec<u8>) -> Option<Value> {
    loop {
        if let Some(end) = unread.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&unread[..end]).to_ascii_lowercase();
            let length = head.split("content-length:").nth(1)?.lines().next()?.trim();
            let whole = end + 4 + length.parse::<usize>().ok()?;
            if unread.len() >= whole {
                let body = serde_json::from_slice(&unread[end + 4..whole]).ok()?;
                unread.drain(..whole);
                return Some(body);
            }
        }
        if stream.read_buf(unread).await.ok()? == 0 {
            return None;
        }
    }
}
