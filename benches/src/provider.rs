//! The provider on loopback to which all services send their codes.

use crate::Outcome;
use crate::http;
use serde_json::Value;
use std::collections::HashMap;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

const TAKEN: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                       content-length: 10\r\n\r\n{\"id\":\"x\"}";

/// Accepts every message at once and remembers its code.
#[derive(Clone)]
pub struct Provider {
    port: u16,
    codes: Codes,
}

type Codes = Arc<Mutex<HashMap<String, String>>>;

impl Provider {
    /// Listens on a free port.
    pub fn start() -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let provider = Self { port: listener.local_addr()?.port(), codes: Codes::default() };
        let codes = Arc::clone(&provider.codes);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let codes = Arc::clone(&codes);
                thread::spawn(move || serve(stream, &codes).ok());
            }
        });
        Ok(provider)
    }

    /// The URL to which messages are posted.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/messages", self.port)
    }

    /// Records a code that another provider delivered.
    pub fn note(&self, phone: String, code: String) {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).insert(phone, code);
    }

    /// Tells whether a code was sent to a phone.
    pub fn has_code(&self, phone: &str) -> bool {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).contains_key(phone)
    }

    /// Takes the code that was sent to a phone.
    pub fn code(&self, phone: &str) -> Outcome<String> {
        let code = self.codes.lock().unwrap_or_else(PoisonError::into_inner).remove(phone);
        Ok(code.ok_or_else(|| format!("no code was sent to {phone}"))?)
    }
}

fn serve(mut stream: TcpStream, codes: &Codes) -> Outcome<()> {
    stream.set_nodelay(true)?;
    let mut unread = Vec::new();
    while let Some((phone, code)) = http::receive(&mut stream, &mut unread, |message| {
        let body: Value = serde_json::from_slice(&message.body)?;
        let text = |field: &str| body.get(field).and_then(Value::as_str).unwrap_or_default();
        Ok((text("to").to_owned(), text("text").chars().take(6).collect::<String>()))
    })? {
        codes.lock().unwrap_or_else(PoisonError::into_inner).insert(phone, code);
        stream.write_all(TAKEN)?;
    }
    Ok(())
}
