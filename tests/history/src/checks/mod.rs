//! The properties of every history. Each check is a function of only the history.
//!
//! A call takes effect at some instant between its start and its end. A call with an unknown
//! outcome may have taken effect, may do so later, or never: every check accepts each of these.

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
mod spend;

use crate::history::History;

/// A violated property.
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

/// The description of a violation, and the operations concerned.
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
    ("spend", spend::check),
    ("once", once::check),
    ("answers", answers::check),
    ("lost", lost::check),
];

/// Every violation in a history.
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
