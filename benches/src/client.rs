//! An HTTP/1.1 client as cheap as can be: it shares a core with PostgreSQL.

use crate::Outcome;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One keep-alive connection.
pub struct Client {
    stream: TcpStream,
    address: String,
    unread: Vec<u8>,
}

/// A message that was read: its first line and headers, and its body.
pub struct Message {
    /// Status or request line and headers, as text.
    pub head: String,
    pub body: Vec<u8>,
}

impl Client {
    /// Connects to `HOST:PORT`.
    pub async fn connect(address: &str) -> Outcome<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, address: address.to_owned(), unread: Vec::new() })
    }

    /// Asks, and fails on any answer but a 2xx. `headers` end in a line break each.
    pub async fn ask(&mut self, line: &str, headers: &str, body: &str) -> Outcome<Message> {
        let request = format!(
            "{line} HTTP/1.1\r\nhost: {}\r\n{headers}content-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        let answer = read(&mut self.stream, &mut self.unread).await?.ok_or("no answer")?;
        if answer.head.as_bytes().get(9) != Some(&b'2') {
            let body = String::from_utf8_lossy(&answer.body);
            return Err(format!("{line} {body:.300}: {:.200}", answer.head).into());
        }
        Ok(answer)
    }
}

impl Message {
    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// A text field of a JSON body.
    pub fn text(&self, field: &str) -> Outcome<String> {
        let body: Value = serde_json::from_slice(&self.body)?;
        let text = body.get(field).and_then(Value::as_str);
        Ok(text.ok_or_else(|| format!("no {field} in {body}"))?.to_owned())
    }
}

/// The next message; `None` when the connection is over.
pub async fn read(stream: &mut TcpStream, unread: &mut Vec<u8>) -> Outcome<Option<Message>> {
    let Some(head) = through(b"\r\n\r\n", stream, unread).await? else { return Ok(None) };
    let mut message = Message { head: String::from_utf8(head)?, body: Vec::new() };
    if message.header("transfer-encoding").is_none() {
        let length = message.header("content-length").map_or(Ok(0), str::parse)?;
        message.body = take(length, stream, unread).await?;
        return Ok(Some(message));
    }
    loop {
        let size = through(b"\r\n", stream, unread).await?.ok_or("half a message")?;
        let size = usize::from_str_radix(std::str::from_utf8(&size)?.trim(), 16)?;
        let mut chunk = take(size + 2, stream, unread).await?;
        if size == 0 {
            return Ok(Some(message));
        }
        chunk.truncate(size);
        message.body.append(&mut chunk);
    }
}

/// Everything through `end`; `None` when the connection is over.
async fn through(
    end: &[u8],
    stream: &mut TcpStream,
    unread: &mut Vec<u8>,
) -> Outcome<Option<Vec<u8>>> {
    loop {
        if let Some(at) = unread.windows(end.len()).position(|window| window == end) {
            return Ok(Some(unread.drain(..at + end.len()).collect()));
        }
        if stream.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
}

/// The next `count` bytes.
async fn take(count: usize, stream: &mut TcpStream, unread: &mut Vec<u8>) -> Outcome<Vec<u8>> {
    while unread.len() < count {
        if stream.read_buf(unread).await? == 0 {
            return Err("half a message".into());
        }
    }
    Ok(unread.drain(..count).collect())
}
