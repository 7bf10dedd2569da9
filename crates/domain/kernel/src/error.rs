use std::error::Error;
use std::iter::successors;

/// Broken technology behind a port. A refusal is never one of these: it is an `Ok` outcome.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached or is too busy; the same call may succeed in a moment.
    #[error("the store is out of reach: {0}")]
    Unavailable(String),
    /// As [`StoreError::Unavailable`], where there is more to say to those who run the service.
    #[error("the store is out of reach: {told}")]
    Unreachable {
        told: &'static str,
        /// Why. May name the server, the user, the database or its file, and holds no secret.
        #[source]
        cause: Box<dyn Error + Send + Sync>,
    },
    /// The store has no room to write; reads go on. It logs when that begins and when it is over,
    /// so callers need not.
    #[error("the store has no room to write")]
    NoRoom,
    /// What is stored cannot be what we wrote: names the table, the column and the row.
    #[error("inconsistent data in {table}.{column} of row {row}")]
    Inconsistent { table: &'static str, column: &'static str, row: String },
    /// What is stored was not made by a version that this one follows, or under other keys. Says what to
    /// do.
    #[error("{0}")]
    Foreign(String),
    /// The store answered with a failure that is ours to fix.
    #[error("the store failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// Whether trying again in a moment can help.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Unreachable { .. } | Self::NoRoom)
    }
}

/// An error with all its causes, in one line, for the log and for those who run the service. What an
/// error has said of its cause already is not said again.
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
