//! Endpoints that receive events: how many, and how long after they happened.

use crate::Outcome;
use crate::http;
use crate::outcome::now_millis;
use chrono::DateTime;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/// How an endpoint reacts to a call.
#[derive(Clone, Copy)]
pub enum Manner {
    /// Accepts it after this time.
    Takes(Duration),
    /// Never answers.
    Hangs,
    /// Accepts no connection.
    IsDead,
}

/// Listens until the program ends.
#[derive(Clone)]
pub struct Endpoint {
    pub url: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// From the event to the call, in milliseconds.
    millis: Mutex<Vec<u32>>,
}

impl Endpoint {
    pub fn start(manner: Manner) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/events", listener.local_addr()?);
        let endpoint = Self { url, state: Arc::default() };
        if matches!(manner, Manner::IsDead) {
            return Ok(endpoint);
        }
        let state = Arc::clone(&endpoint.state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&state);
                thread::spawn(move || serve(stream, manner, &state).ok());
            }
        });
        Ok(endpoint)
    }

    /// Delays of the calls after their events, in milliseconds, since the last read.
    pub fn called(&self) -> Vec<u32> {
        std::mem::take(&mut self.state.millis.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Number of calls since [`Endpoint::called`].
    pub fn count(&self) -> usize {
        self.state.millis.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

fn serve(mut stream: TcpStream, manner: Manner, state: &State) -> Outcome<()> {
    stream.set_nodelay(true)?;
    let mut unread = Vec::new();
    while let Some(happened) = http::receive(&mut stream, &mut unread, |message| {
        let happened = message.text("timestamp")?;
        Ok(u64::try_from(DateTime::parse_from_rfc3339(&happened)?.timestamp_millis())?)
    })? {
        let after = u32::try_from(now_millis()?.saturating_sub(happened)).unwrap_or(u32::MAX);
        state.millis.lock().unwrap_or_else(PoisonError::into_inner).push(after);
        match manner {
            Manner::Takes(after) => thread::sleep(after),
            // Until the caller closes the connection.
            Manner::Hangs | Manner::IsDead => continue,
        }
        stream.write_all(TAKEN)?;
    }
    Ok(())
}
