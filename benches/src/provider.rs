//! The provider on loopback that both services hand their codes to.

use crate::Outcome;
use crate::client;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// Takes every message at once and remembers its code.
#[derive(Clone)]
pub struct Provider {
    port: u16,
    codes: Codes,
}

type Codes = Arc<Mutex<HashMap<String, String>>>;

impl Provider {
    /// Listens on a free port.
    pub async fn start() -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let provider = Self { port: listener.local_addr()?.port(), codes: Codes::default() };
        let codes = Arc::clone(&provider.codes);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let codes = Arc::clone(&codes);
                tokio::spawn(async move {
                    let _the_service_hung_up = serve(stream, &codes).await;
                });
            }
        });
        Ok(provider)
    }

    /// Where messages are posted to.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/messages", self.port)
    }

    /// Takes the code that was sent to a phone.
    pub fn code(&self, phone: &str) -> Outcome<String> {
        let code = self.codes.lock().unwrap_or_else(PoisonError::into_inner).remove(phone);
        Ok(code.ok_or_else(|| format!("no code was sent to {phone}"))?)
    }
}

async fn serve(mut stream: TcpStream, codes: &Codes) -> Outcome<()> {
    stream.set_nodelay(true)?;
    let mut unread = Vec::new();
    while let Some(message) = client::read(&mut stream, &mut unread).await? {
        let body: Value = serde_json::from_slice(&message.body)?;
        let text = |field: &str| body.get(field).and_then(Value::as_str).unwrap_or_default();
        let code = text("text").chars().take(6).collect();
        codes.lock().unwrap_or_else(PoisonError::into_inner).insert(text("to").to_owned(), code);
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
                      content-length: 10\r\n\r\n{\"id\":\"x\"}";
        stream.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}
