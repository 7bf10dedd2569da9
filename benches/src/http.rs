//! The parts of HTTP/1.1 that this program needs, at the least cost, because it shares a core with
//! PostgreSQL.

use crate::Outcome;
use memchr::memmem;
use serde_json::Value;
use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::TcpStream;

/// A request or an answer that has arrived completely.
pub struct Message<'a> {
    /// First line and headers.
    pub head: &'a [u8],
    /// Without the chunk marks, if it was chunked.
    pub body: Cow<'a, [u8]>,
}

impl<'a> Message<'a> {
    /// The first message in `bytes` and its length; `None` while it is incomplete.
    pub fn first(bytes: &'a [u8]) -> Outcome<Option<(Self, usize)>> {
        let Some(end) = memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
        let (head, rest) = (&bytes[..end], &bytes[end + 4..]);
        let message = Self { head, body: Cow::Borrowed(&[]) };
        if message.header("transfer-encoding").is_some() {
            let body = chunks(rest)?;
            return Ok(
                body.map(|(body, length)| (Self { head, body: body.into() }, end + 4 + length))
            );
        }
        let length = message.header("content-length").map_or(Ok(0), str::parse)?;
        let body = rest.get(..length).map(Cow::Borrowed);
        Ok(body.map(|body| (Self { head, body }, end + 4 + length)))
    }

    pub fn status(&self) -> &str {
        self.head.get(9..12).and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> Option<&'a str> {
        let lines = self.head.split(|byte| *byte == b'\n').skip(1);
        let mut fields = lines.filter_map(|line| {
            let colon = memchr::memchr(b':', line)?;
            Some((&line[..colon], &line[colon + 1..]))
        });
        let (_, value) = fields.find(|(found, _)| found.eq_ignore_ascii_case(name.as_bytes()))?;
        std::str::from_utf8(value).ok().map(str::trim)
    }

    /// Every header, as sent.
    pub fn headers(&self) -> Vec<(String, String)> {
        let head = String::from_utf8_lossy(self.head);
        let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
        fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect()
    }

    /// A text field of a JSON body.
    pub fn text(&self, field: &str) -> Outcome<String> {
        let body: Value = serde_json::from_slice(&self.body)?;
        let text = body.get(field).and_then(Value::as_str);
        Ok(text.ok_or_else(|| format!("no {field} in {body}"))?.to_owned())
    }

    /// The error message for an unexpected answer.
    pub fn complaint(&self) -> String {
        let (head, body) =
            (String::from_utf8_lossy(self.head), String::from_utf8_lossy(&self.body));
        format!("{head:.200}\n{body:.300}")
    }
}

/// The chunked body at the start of `bytes`, and its length; `None` while it is incomplete.
fn chunks(mut bytes: &[u8]) -> Outcome<Option<(Vec<u8>, usize)>> {
    let (mut body, whole) = (Vec::new(), bytes.len());
    loop {
        let Some(line) = memmem::find(bytes, b"\r\n") else { return Ok(None) };
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[..line])?.trim(), 16)?;
        let Some(chunk) = bytes.get(line + 2..line + 2 + size) else { return Ok(None) };
        let Some(rest) = bytes.get(line + 4 + size..) else { return Ok(None) };
        body.extend_from_slice(chunk);
        bytes = rest;
        if size == 0 {
            return Ok(Some((body, whole - rest.len())));
        }
    }
}

/// A complete request. Each of `headers` ends in a line break.
pub fn request(line: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{line} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}content-type: application/json\r\n\
         content-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// Waits for a whole message and passes it to `read`; `None` when the connection is closed.
pub fn receive<T>(
    stream: &mut TcpStream,
    unread: &mut Vec<u8>,
    read: impl FnOnce(&Message<'_>) -> Outcome<T>,
) -> Outcome<Option<T>> {
    loop {
        if let Some((message, length)) = Message::first(unread)? {
            let read = read(&message)?;
            unread.drain(..length);
            return Ok(Some(read));
        }
        let mut more = [0; 4_096];
        match stream.read(&mut more)? {
            0 => return Ok(None),
            count => unread.extend_from_slice(&more[..count]),
        }
    }
}

/// Sends one request on a new connection, and returns the status.
pub fn ask(address: &str, request: &[u8]) -> Outcome<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request)?;
    let status = receive(&mut stream, &mut Vec::new(), |answer| Ok(answer.status().to_owned()))?;
    Ok(status.ok_or("no answer")?)
}
