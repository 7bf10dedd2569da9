use dwar_kernel::SearcherId;

/// What is locked where there is no row yet to be locked.
#[derive(Clone, Copy)]
pub enum Lock {
    FirstProject,
    SigningKeys,
    FirstOperator,
    Alerts,
    Searcher(SearcherId),
}
