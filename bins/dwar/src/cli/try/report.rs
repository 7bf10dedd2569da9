//! Prints the steps: one by one for a person, as one object for a program.

use super::client::Trouble;
use crate::colours::{Colour, Colours};
use dwar_gateways::BaseUrl;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::time::Duration;

/// Width of the mark, `ok` or `failed`: a step's name and the curl command below it begin in this column.
const INDENT: usize = 8;
/// Width of a step's name.
const NAME: usize = 14;
/// Column of a step's note. Before it are the status (3 wide) and the time (8 wide), with two blanks on each side.
const NOTE: usize = INDENT + NAME + 17;

pub struct Step<'a> {
    pub name: &'static str,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    pub took: Duration,
    pub curl: String,
    /// A remark on the step, or the reason of its failure.
    pub outcome: Result<&'a str, &'a Trouble>,
}

/// The steps so far, printed to standard output.
pub struct Report {
    json: bool,
    colours: Colours,
    url: String,
    steps: Vec<Value>,
    took: Duration,
}

impl Report {
    /// Begins the report with the address that is tried; a person reads `heading` first.
    pub fn open(json: bool, url: &BaseUrl, heading: &str) -> io::Result<Self> {
        if !json {
            writeln!(io::stdout(), "{heading}\n")?;
        }
        let colours = Colours::of(&io::stdout());
        let url = url.to_string();
        Ok(Self { json, colours, url, steps: Vec::new(), took: Duration::ZERO })
    }

    pub fn step(&mut self, step: &Step<'_>) -> io::Result<()> {
        self.took += step.took;
        if self.json {
            self.steps.push(view(step));
            return Ok(());
        }
        let Step { name, status, took, curl, outcome } = step;
        let (mark, colour) =
            if outcome.is_ok() { ("ok", Colour::Green) } else { ("failed", Colour::Red) };
        let mark = self.colours.paint(colour, &format!("{mark:<INDENT$}"));
        let status = status.map_or_else(|| "-".to_owned(), |status| status.to_string());
        let note = match outcome {
            Ok(note) => note,
            Err(trouble) => trouble.code.as_deref().unwrap_or_default(),
        };
        // The lines of a message are indented, so that none looks like a step.
        let note = note.replace('\n', &format!("\n{:NOTE$}", ""));
        let line = format!("{name:<NAME$}  {status:>3}  {:>8}  {note}", milliseconds(*took));
        let curl = self.colours.paint(Colour::Dim, curl);
        writeln!(io::stdout(), "{mark}{}\n{:INDENT$}{curl}", line.trim_end(), "")
    }

    pub fn close(self, good: bool) -> io::Result<()> {
        if self.json {
            let Self { url, steps, .. } = self;
            return writeln!(io::stdout(), "{}", json!({ "ok": good, "url": url, "steps": steps }));
        }
        if good {
            let took = milliseconds(self.took);
            writeln!(io::stdout(), "\nAll steps went well, in {took}.")?;
        }
        Ok(())
    }
}

fn milliseconds(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1_000.0)
}

fn view(step: &Step<'_>) -> Value {
    let Step { name, status, took, curl, outcome } = step;
    let (note, trouble) = (outcome.ok(), outcome.err());
    json!({
        "name": name,
        "ok": outcome.is_ok(),
        "status": status,
        "ms": (took.as_secs_f64() * 10_000.0).round() / 10.0,
        "curl": curl,
        "note": note.filter(|note| !note.is_empty()),
        "error": trouble.map(|trouble| &trouble.sentence),
        "code": trouble.and_then(|trouble| trouble.code.as_ref()),
        "request_id": trouble.and_then(|trouble| trouble.request_id.as_ref()),
    })
}
