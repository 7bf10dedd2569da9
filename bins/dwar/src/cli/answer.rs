use super::Failure;
use dwar_kernel::Timestamp;
use serde_json::Value;
use std::io::{self, Write};
use std::process::ExitCode;

/// What a command says, for a program and for a person.
pub struct Answer {
    pub json: Value,
    pub text: String,
    /// Whether all is well; otherwise the exit status is 1.
    pub good: bool,
}

impl Answer {
    /// Good news.
    pub const fn new(json: Value, text: String) -> Self {
        Self { json, text, good: true }
    }

    /// Prints it to standard output.
    pub fn print(self, json: bool) -> Result<ExitCode, Failure> {
        let text = if json { self.json.to_string() } else { self.text };
        writeln!(io::stdout(), "{}", text.trim_end())?;
        Ok(if self.good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// A line for each of `all`; `none` if there is none.
pub fn lines<T>(all: &[T], line: impl Fn(&T) -> String, none: &str) -> String {
    let lines: Vec<String> = all.iter().map(line).collect();
    if lines.is_empty() { none.to_owned() } else { lines.join("\n") }
}

/// An instant as the API writes it: RFC 3339, UTC, whole milliseconds at most.
pub fn instant(at: Timestamp) -> String {
    at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)
}
