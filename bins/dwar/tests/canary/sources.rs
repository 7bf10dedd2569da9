//! Everything that a run wrote down for others to read.

use crate::common::{Ear, Run};
use crate::house::House;

/// Commands whose answer is a secret, which nobody sees again.
const SHOWN_ONCE: [&str; 8] = [
    "project create",
    "key regenerate",
    "webhook add",
    "webhook rotate-secret",
    "operator invite",
    "operator renew",
    "operator reset",
    "admin-token add",
];
/// How the messages begin that a project has printed rather than sent.
const CONSOLE: &str = "{\"gateway\":\"console\"";

/// What was written, with where.
pub type Source = (String, Vec<u8>);

pub fn all(house: &House, ear: &Ear) -> Vec<Source> {
    let mut stdout = house.service().stdout();
    stdout.retain(|line| !line.starts_with(CONSOLE));
    let mut sources = vec![
        ("the log".to_owned(), house.service().stderr().join("\n").into_bytes()),
        ("standard output".to_owned(), stdout.join("\n").into_bytes()),
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

/// Whether it is what the command is there for.
fn shows_secrets(run: &Run) -> bool {
    let words = run.arguments.trim_start_matches("--json ");
    is_trial(run) || SHOWN_ONCE.iter().any(|command| words.starts_with(command))
}

/// Whether it shows a login, code included.
pub fn is_trial(run: &Run) -> bool {
    run.arguments.starts_with("try")
}
