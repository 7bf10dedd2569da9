//! What must hold of every history; each check is a function of the history alone.
//!
//! A call takes effect at some instant between its beginning and its end. One whose outcome is unknown
//! may have taken effect, or may still do so later, or never: every check takes both for right.

mod answers;
mod codes;
mod ended;
mod ledger;
mod limits;
mod lines;
mod lost;
mod once;
mod owner;
mod refresh;
mod requests;
#[cfg(test)]
mod sample;

use crate::history::History;

/// Something that must not have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which check found it.
    pub check: &'static str,
    pub what: String,
    /// The operations concerned, as places in the history.
    pub ops: Vec<usize>,
}

/// A check and its name.
type Check = (&'static str, fn(&History) -> Vec<Finding>);

/// What a check found, and the operations concerned.
type Finding = (String, Vec<usize>);

/// Every check by its name.
pub const CHECKS: &[Check] = &[
    ("codes", codes::check),
    ("refresh", refresh::check),
    ("ended", ended::check),
    ("owner", owner::check),
    ("limits", limits::check),
    ("requests", requests::check),
    ("ledger", ledger::check),
    ("once", once::check),
    ("answers", answers::check),
    ("lost", lost::check),
];

/// Everything that is wrong with a history.
pub fn all(history: &History) -> Vec<Violation> {
    let found = |(check, run): &Check| {
        let violation = |(what, mut ops): Finding| {
            ops.sort_unstable();
            ops.dedup();
            Violation { check, what, ops }
        };
        run(history).into_iter().map(violation).collect::<Vec<_>>()
    };
    CHECKS.iter().flat_map(found).collect()
}
