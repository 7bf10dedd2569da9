use super::failure::Failure;
use dwar_admin::views::instant;
use dwar_kernel::{KeptSecret, Timestamp};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};
use std::process::ExitCode;

/// The answer of a command, for a program and for a person.
pub struct Answer {
    json: Value,
    text: String,
    /// Whether all is well; otherwise the exit status is 1.
    good: bool,
}

impl Answer {
    /// A good answer: the view for a program, the text for a person.
    pub fn of(view: &impl Serialize, text: String) -> Self {
        Self { json: serde_json::to_value(view).unwrap_or_default(), text, good: true }
    }

    pub fn judged(view: &impl Serialize, text: String, good: bool) -> Self {
        Self { good, ..Self::of(view, text) }
    }

    pub fn print(self, json: bool) -> Result<ExitCode, Failure> {
        let text = if json { self.json.to_string() } else { self.text };
        writeln!(io::stdout(), "{}", text.trim_end())?;
        Ok(if self.good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

pub fn shown_once(secret: &str) -> String {
    format!("Secret  {secret}\n\nCopy it now. You will not see it again.")
}

/// The end of a line about something whose previous secret is still accepted: its effect, and until
/// when.
pub fn old_secret_until(secret: &KeptSecret, now: Timestamp, does: &str) -> String {
    let until = secret.previous_until(now);
    until
        .map(|until| format!(", the old secret {does} until {}", instant(until)))
        .unwrap_or_default()
}

/// One line for each of `all`; `none` if there are none.
pub fn lines<T>(all: &[T], line: impl Fn(&T) -> String, none: &str) -> String {
    let lines: Vec<String> = all.iter().map(line).collect();
    if lines.is_empty() { none.to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
impl Answer {
    pub fn told(self) -> Value {
        self.json
    }
}
