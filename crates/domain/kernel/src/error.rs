use std::error::Error;
use std::iter::successors;

/// A technical failure behind a port. A refusal is never a `StoreError`: it is an `Ok` outcome.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached or is too busy; the same call may succeed in a moment.
    #[error("the store is out of reach: {0}")]
    Unavailable(String),
    /// Like [`StoreError::Unavailable`], with a cause for operators.
    #[error("the store is out of reach: {told}")]
    Unreachable {
        told: &'static str,
        /// May name the server, the user, the database or its file; holds no secret.
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// The store has no room to write; reads still work. The store logs when this begins and ends, so callers
    /// need not.
    #[error("the store has no room to write")]
    NoRoom,
    /// Stored data that Dwar cannot have written; names the table, the column and the row.
    #[error("inconsistent data in {table}.{column} of row {row}")]
    Inconsistent { table: &'static str, column: &'static str, row: String },
    /// The data was written by a version that this one cannot follow, or under other keys. The text
    /// says what to do.
    #[error("{0}")]
    Foreign(String),
    /// The store failed because of a defect in Dwar.
    #[error("the store failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Whether a retry in a moment can help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Unreachable { .. } | Self::NoRoom)
    }
}

/// An error with all its causes on one line, for logs and operators. A cause that the text so far contains
/// already is not repeated.
pub fn with_causes(error: &dyn Error) -> String {
    let mut told = String::new();
    for cause in successors(Some(error), |&error| error.source()) {
        let text = cause.to_string();
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
        let text = lines.join("; ");
        if told.is_empty() {
            told = text;
        } else if !told.contains(&text) {
            told = format!("{told}: {text}");
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_told_once_and_in_one_line() {
        #[derive(Debug, thiserror::Error)]
        #[error("a step failed: {0}")]
        struct Step(#[source] StoreError);

        let server = "connection to server failed: refused\n\tIs the server running?\n";
        let cause = StoreError::Unreachable { told: "no connection", cause: server.into() };
        assert_eq!(
            with_causes(&Step(cause)),
            "a step failed: the store is out of reach: no connection: connection to server failed: \
             refused; Is the server running?"
        );
        assert_eq!(with_causes(&StoreError::Failed("odd".into())), "the store failed: odd");
    }
}
