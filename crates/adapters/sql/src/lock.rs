use dwar_kernel::SearcherId;

/// What is locked where there is no row yet to be locked.
#[derive(Clone, Copy)]
pub enum Lock {
    /// The making of the first project.
    FirstProject,
    /// The set of signing keys.
    SigningKeys,
    /// The making of the first operator.
    FirstOperator,
    /// What somebody searched for.
    Searcher(SearcherId),
}
