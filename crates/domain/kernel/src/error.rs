use std::error::Error;

/// Broken technology behind a port. A refusal is never one of these: it is an `Ok` outcome.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached or is too busy; the same call may succeed in a moment.
    #[error("the store is out of reach: {0}")]
    Unavailable(String),
    /// The store has no room to write; reads go on. It logs when that begins and when it is over,
    /// so callers need not.
    #[error("the store has no room to write")]
    NoRoom,
    /// What is stored cannot be what we wrote: names the table, the column and the row.
    #[error("inconsistent data in {table}.{column} of row {row}")]
    Inconsistent {
        /// Where it was found.
        table: &'static str,
        /// In which column of it.
        column: &'static str,
        /// Primary key of the row.
        row: String,
    },
    /// What is stored was not made by a version that this one follows. Says what to do.
    #[error("{0}")]
    Foreign(String),
    /// The store answered with a failure that is ours to fix.
    #[error("the store failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Whether trying again in a moment can help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::NoRoom)
    }
}
