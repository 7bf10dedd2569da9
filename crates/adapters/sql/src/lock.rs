use dwar_kernel::SearcherId;

/// A lock on a record that has no row yet.
#[derive(Clone, Copy)]
pub enum Lock {
    FirstProject,
    SigningKeys,
    FirstOperator,
    Alerts,
    GuardLevels,
    Searcher(SearcherId),
}
