use diesel::result::{DatabaseErrorKind, Error as QueryError};
use dwar_kernel::{StoreError, with_causes};
pub(crate) use dwar_sql::{unavailable, unreachable};

/// The settings cannot work. For whoever starts the program; never quotes the URL.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the database URL {0}")]
pub struct InvalidUrl(pub(crate) &'static str);

/// What can go wrong inside one piece of work on a connection.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum Failure {
    /// PostgreSQL refused, or did not answer.
    Query(#[from] QueryError),
    /// The connection was lost during `COMMIT`: what became of the work is open, so nobody may do
    /// it again and the caller has to know.
    InDoubt(QueryError),
    /// Anything that is a store's error already, such as a row that cannot be read.
    Store(#[from] StoreError),
}

impl Failure {
    /// Whether the same work may succeed at once on the same or another connection, and nothing
    /// of it can have been kept.
    pub(crate) fn may_be_repeated(&self) -> bool {
        match self {
            Self::Query(cause) => is_lost(cause) || is_conflict(cause) || is_read_only(cause),
            Self::InDoubt(_) | Self::Store(_) => false,
        }
    }

    /// Whether the connection is of no use any more.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Query(cause) | Self::InDoubt(cause) => is_lost(cause),
            Self::Store(_) => false,
        }
    }

    /// Whether the server takes no writes, so that another one may have to be asked.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::Query(cause) | Self::InDoubt(cause) => is_read_only(cause),
            Self::Store(_) => false,
        }
    }

    /// Whether it is about room, as far as the driver lets us see.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Query(cause) | Self::InDoubt(cause) if is_full(cause) => Kind::NoRoom,
            Self::Query(cause) if is_nameless(cause) => Kind::Nameless,
            _ => Kind::Known,
        }
    }

    /// The same failure, if it came from `COMMIT`.
    pub(crate) fn while_committing(self) -> Self {
        match self {
            Self::Query(cause) if is_lost(&cause) => Self::InDoubt(cause),
            other => other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// There is none.
    NoRoom,
    /// Nothing, since diesel has no word for it and the server's text is none we know.
    Nameless,
    Known,
}

/// Logs the detail and keeps it from whoever reads the error's text.
impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Store(cause) => {
                if !cause.is_transient() {
                    tracing::error!(cause = %with_causes(&cause), "a row cannot be read or written");
                }
                cause
            }
            Failure::InDoubt(cause) => {
                tracing::warn!(%cause, "connection to PostgreSQL lost while committing");
                unreachable("the connection to PostgreSQL was lost while committing", cause)
            }
            Failure::Query(cause) if is_lost(&cause) => {
                tracing::warn!(%cause, "connection to PostgreSQL lost");
                unreachable("the connection to PostgreSQL was lost", cause)
            }
            Failure::Query(cause) if is_read_only(&cause) => {
                tracing::warn!(%cause, "PostgreSQL is read-only");
                unreachable("PostgreSQL is read-only", cause)
            }
            Failure::Query(cause) if is_conflict(&cause) || is_timeout(&cause) => {
                tracing::warn!(%cause, "PostgreSQL is too busy");
                unreachable("PostgreSQL is too busy", cause)
            }
            Failure::Query(cause) => {
                tracing::error!(%cause, "a query failed");
                Self::Failed(Box::new(cause))
            }
        }
    }
}

/// Tells the log and whoever asked that nobody waits for the answer any more.
pub(crate) fn no_answer_in_time() -> StoreError {
    tracing::warn!("PostgreSQL did not answer in time");
    too_late()
}

pub(crate) fn too_late() -> StoreError {
    unavailable("PostgreSQL did not answer in time")
}

/// The connection is of no use any more; its transaction, if not committing, is undone.
fn is_lost(cause: &QueryError) -> bool {
    use DatabaseErrorKind::{ClosedConnection, UnableToSendCommand};
    matches!(cause, QueryError::BrokenTransactionManager)
        || kind(cause)
            .is_some_and(|(kind, _)| matches!(kind, ClosedConnection | UnableToSendCommand))
}

/// PostgreSQL undid the transaction because of another one (SQLSTATE 40001, 40P01).
fn is_conflict(cause: &QueryError) -> bool {
    kind(cause).is_some_and(|(kind, message)| {
        matches!(kind, DatabaseErrorKind::SerializationFailure)
            || message.starts_with("deadlock detected")
    })
}

/// The server is a standby, or was told to take no writes (SQLSTATE 25006). Nothing was written.
fn is_read_only(cause: &QueryError) -> bool {
    kind(cause).is_some_and(|(kind, _)| matches!(kind, DatabaseErrorKind::ReadOnlyTransaction))
}

/// A time-out of ours ended the statement, or the server is short of something.
///
/// diesel passes SQLSTATE on for a few errors alone, so the server's English text has to tell.
fn is_timeout(cause: &QueryError) -> bool {
    kind(cause).is_some_and(|(_, message)| {
        message.starts_with("canceling statement due to")
            || SHORT.iter().any(|text| message.starts_with(text))
    })
}

/// Short of memory, connections or room for temporary files (SQLSTATE 53200, 53300, 53400).
const SHORT: [&str; 6] = [
    "out of memory",
    "out of shared memory",
    "sorry, too many clients already",
    "remaining connection slots are reserved",
    "too many connections for",
    "temporary file size exceeds",
];

/// A disk is full (SQLSTATE 53100), said in English; see [`crate::connection::room::Room`] for the others.
fn is_full(cause: &QueryError) -> bool {
    kind(cause).is_some_and(|(_, message)| {
        message.starts_with("could not extend file")
            || message.ends_with(": No space left on device")
    })
}

fn is_nameless(cause: &QueryError) -> bool {
    kind(cause).is_some_and(|(kind, _)| matches!(kind, DatabaseErrorKind::Unknown))
        && !is_lost(cause)
        && !is_conflict(cause)
        && !is_timeout(cause)
}

fn kind(cause: &QueryError) -> Option<(&DatabaseErrorKind, &str)> {
    match cause {
        QueryError::DatabaseError(kind, detail) => Some((kind, detail.message())),
        _ => None,
    }
}
