//! All output of a run that others can read.

use crate::canary::house::{House, METRICS_TOKEN};
use crate::common::{Ear, Run, Wire};

/// Commands whose answer is a secret that is shown only once.
const SHOWN_ONCE: [&str; 10] = [
    "project create",
    "key regenerate",
    "webhook add",
    "webhook rotate-secret",
    "hook add",
    "hook rotate-secret",
    "operator add",
    "operator renew",
    "operator reset",
    "admin-token add",
];
/// The start of messages that a project has printed instead of sent.
const CONSOLE: &str = "{\"gateway\":\"console\"";

pub type Source = (String, Vec<u8>);

pub fn all(house: &House, ear: &Ear) -> Vec<Source> {
    let mut stdout = house.service().stdout();
    stdout.retain(|line| !line.starts_with(CONSOLE));
    let mut sources = vec![
        ("the log".to_owned(), house.service().stderr().join("\n").into_bytes()),
        ("standard output".to_owned(), stdout.join("\n").into_bytes()),
        spans(house),
    ];
    for run in ear.runs() {
        let place = |stream: &str| format!("{stream} of `dwar {}`", run.arguments);
        sources.push((place("standard error"), run.stderr.clone().into_bytes()));
        if !shows_secrets(&run) {
            sources.push((place("standard output"), run.stdout.clone().into_bytes()));
        }
    }
    sources
}

fn spans(house: &House) -> Source {
    let calls: Vec<Vec<u8>> = house.collector.calls().into_iter().map(|call| call.body).collect();
    assert!(!calls.is_empty(), "nothing is traced");
    ("a span".to_owned(), calls.join(&b'\n'))
}

/// The metrics; only while the service runs.
pub fn metrics(house: &House) -> Source {
    let address = house.service().metrics();
    let (base, path) = address.split_at(address.rfind('/').unwrap());
    let mut wire = Wire::to(base);
    wire.write(&format!(
        "GET {path} HTTP/1.1\r\nHost: dwar\r\nAuthorization: Bearer {METRICS_TOKEN}\r\nConnection: close\r\n\r\n"
    ));
    let scraped = wire.read_to_end();
    assert!(scraped.contains("dwar_sends_total{"), "{scraped}");
    ("a metric".to_owned(), scraped.into_bytes())
}

/// Tells whether the command is meant to show secrets.
fn shows_secrets(run: &Run) -> bool {
    let words = run.arguments.trim_start_matches("--json ");
    is_trial(run) || SHOWN_ONCE.iter().any(|command| words.starts_with(command))
}

pub fn is_trial(run: &Run) -> bool {
    run.arguments.starts_with("try")
}
