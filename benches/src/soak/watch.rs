//! The watchers: a browser with the dashboard open, and a program that reads the feed of events.

use crate::Outcome;
use crate::contestant::Contestant;
use crate::http::{self, request};
use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Pause between two loads of the overview with its figures.
const OPENS: Duration = Duration::from_secs(5);
/// Pause between two reads of the feed.
const READS: Duration = Duration::from_millis(500);
/// Of the operator.
const PASSWORD: &str = "correct horse battery staple";

/// A signed-in browser.
pub struct Browser {
    address: String,
    project: String,
    cookie: String,
}

impl Browser {
    /// Adds an operator, who accepts the invitation.
    pub fn sign_in(side: &Contestant, address: &str, project: &str) -> Outcome<Self> {
        let add = ["operator", "add", "--owner", "--name", "soak", "--json"];
        let made: Value = serde_json::from_str(&side.run(&add)?)?;
        let link = made["link"].as_str().ok_or("no link")?;
        let (_, secret) = link.split_once('#').ok_or("no secret in the link")?;
        let word = PASSWORD.replace(' ', "+");
        let body = format!("secret={secret}&password={word}&again={word}");
        let length = body.len();
        let form = format!(
            "POST /invite HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\ncontent-type: \
             application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(form.as_bytes())?;
        let cookie = http::receive(&mut stream, &mut Vec::new(), |answer| {
            let cookie = answer.header("set-cookie").ok_or_else(|| answer.complaint())?;
            Ok(cookie.split(';').next().unwrap_or_default().to_owned())
        })?;
        let (address, project) = (address.to_owned(), project.to_owned());
        Ok(Self { address, project, cookie: cookie.ok_or("no answer")? })
    }

    fn request(&self, page: &str) -> Vec<u8> {
        let Self { address, project, cookie } = self;
        let line =
            format!("GET /p/{project}/{page} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}");
        format!("{line}\r\n\r\n").into_bytes()
    }

    /// Loads the overview repeatedly; returns the duration of each load in microseconds.
    pub fn open_overview(&self, over: &AtomicBool) -> Outcome<Vec<u32>> {
        let mut micros = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            let mut stream = TcpStream::connect(&self.address)?;
            stream.write_all(&self.request("overview?period=hour"))?;
            http::receive(&mut stream, &mut Vec::new(), |page| match page.status() {
                "200" => Ok(()),
                _ => Err(page.complaint().into()),
            })?;
            micros.push(u32::try_from(begun.elapsed().as_micros())?);
            wait(OPENS, over);
        }
        Ok(micros)
    }

    /// Keeps the live list of requests open as browsers do, reconnecting when it ends. Returns the
    /// number of bytes and of reconnects.
    pub fn watch(&self, over: &AtomicBool) -> Outcome<(usize, usize)> {
        let (mut bytes, mut ends) = (0, 0);
        loop {
            bytes += self.watch_once(over)?;
            if over.load(Ordering::Relaxed) {
                return Ok((bytes, ends));
            }
            ends += 1;
            wait(Duration::from_secs(1), over);
        }
    }

    fn watch_once(&self, over: &AtomicBool) -> Outcome<usize> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(&self.request("activity/live"))?;
        let (mut bytes, mut more) = (0, [0; 16_384]);
        while !over.load(Ordering::Relaxed) {
            match stream.read(&mut more) {
                Ok(0) => break,
                Ok(_) if bytes == 0 && !more.starts_with(b"HTTP/1.1 200") => {
                    return Err(String::from_utf8_lossy(&more[..200]).into());
                }
                Ok(count) => bytes += count,
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => {}
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(bytes)
    }
}

/// Sleeps, but not beyond the end.
pub fn wait(time: Duration, over: &AtomicBool) {
    let end = Instant::now() + time;
    while Instant::now() < end && !over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(50).min(time));
    }
}

/// Reads the feed of events, if this binary has one; returns the number of events.
pub fn read_feed(address: &str, key: &str, over: &AtomicBool) -> Outcome<usize> {
    let (mut events, mut cursor) = (0, String::new());
    while !over.load(Ordering::Relaxed) {
        let after = if cursor.is_empty() { String::new() } else { format!("after={cursor}&") };
        let line = format!("GET /v1/events?{after}limit=500");
        let mut stream = TcpStream::connect(address)?;
        stream.write_all(&request(&line, key, ""))?;
        let page = http::receive(&mut stream, &mut Vec::new(), |answer| match answer.status() {
            "200" => Ok(serde_json::from_slice::<Value>(&answer.body)?),
            _ => Err(answer.complaint().into()),
        })?;
        let page = page.ok_or("no answer")?;
        let came = page["events"].as_array().map_or(0, Vec::len);
        events += came;
        page["cursor"].as_str().unwrap_or_default().clone_into(&mut cursor);
        if came < 500 {
            wait(READS, over);
        }
    }
    Ok(events)
}
