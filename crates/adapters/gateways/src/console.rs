use async_trait::async_trait;
use dwar_otp::{Gateway, Message, Outcome, Reason};
use serde::Serialize;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

const PROVIDER: &str = "console";

/// Prints each message, code and phone number in plain text, as one JSON object per line, which
/// scripts may read: `gateway`, `channel`, `to`, `text`, `otp_id`.
///
/// It replaces a provider during development with a live key, so it shows the code on purpose.
/// Anyone who can read the output can log in as anyone; it MUST NOT be used in production. It has
/// no `Debug`, because the output buffers codes and numbers.
pub struct ConsoleGateway {
    output: Arc<Mutex<Box<dyn Write + Send>>>,
}

/// One line of output; the names are public.
#[derive(Serialize)]
struct Line<'message> {
    gateway: &'static str,
    channel: &'static str,
    to: String,
    text: &'message str,
    otp_id: String,
}

impl ConsoleGateway {
    /// Makes a gateway that writes to standard output.
    pub fn stdout() -> Self {
        Self::new(Box::new(io::stdout()))
    }

    /// Makes a gateway that writes to `output`, one whole line at a time.
    pub fn new(output: Box<dyn Write + Send>) -> Self {
        Self { output: Arc::new(Mutex::new(output)) }
    }
}

/// Accepts every message that it can write, and never reports on it later. Refuses others as
/// [`Reason::ProviderUnavailable`].
#[async_trait]
impl Gateway for ConsoleGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let output = Arc::clone(&self.output);
        // Writing to a pipe that nobody reads blocks, but the caller's time limit must still work.
        let written = tokio::task::spawn_blocking(move || {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            write_line(output.as_mut(), &message)
        });
        match written.await {
            Ok(Ok(())) => Outcome::Accepted { provider_ref: None, awaits_receipt: false },
            Ok(Err(error)) => {
                tracing::warn!(%error, "the console gateway could not write a message");
                Outcome::Refused(Reason::ProviderUnavailable)
            }
            Err(error) => {
                tracing::error!(%error, "the console gateway lost a message");
                Outcome::Refused(Reason::Unknown)
            }
        }
    }
}

fn write_line(output: &mut dyn Write, message: &Message) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Line {
        gateway: PROVIDER,
        channel: message.channel.as_str(),
        to: message.phone.e164(),
        text: &message.text,
        otp_id: message.otp.to_string(),
    })?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.flush()
}

#[cfg(test)]
#[path = "console_tests.rs"]
mod tests;
