use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(10);

/// A raw connection, for requests that no HTTP client would send.
pub struct Wire(TcpStream);

impl Wire {
    /// Connects to `http://host:port`.
    pub fn to(base: &str) -> Self {
        Self::try_to(base).unwrap()
    }

    pub fn try_to(base: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(base.trim_start_matches("http://"))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self(stream))
    }

    /// The text of a call with a JSON body.
    pub fn call(key: &str, path: &str, body: &serde_json::Value) -> String {
        let body = body.to_string();
        format!(
            "POST {path} HTTP/1.1\r\nHost: dwar\r\nX-Api-Key: {key}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }

    pub fn write(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).unwrap();
    }

    /// Tells whether the peer still accepts data.
    pub fn takes(&mut self, text: &str) -> bool {
        self.0.write_all(text.as_bytes()).is_ok()
    }

    /// Everything until the peer closes the connection.
    pub fn read_to_end(&mut self) -> String {
        let mut bytes = Vec::new();
        let mut part = [0; 4_096];
        loop {
            match self.0.read(&mut part) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&part[..count]),
                Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
                // A reset also ends it, but silence does not.
                Err(cause) => {
                    assert_eq!(cause.kind(), std::io::ErrorKind::ConnectionReset, "{cause}");
                    break;
                }
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    pub fn close(self) {
        self.0.shutdown(Shutdown::Both).unwrap();
    }
}
