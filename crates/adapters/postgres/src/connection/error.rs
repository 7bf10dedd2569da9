use diesel::result::{DatabaseErrorKind, Error as QueryError};
use dwar_kernel::{StoreError, with_causes};
pub(crate) use dwar_sql::{unavailable, unreachable};
use std::error::Error;
use std::fmt::Display;

/// The settings cannot work. The message is for the operator and never quotes the URL.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the database URL {0}")]
pub struct InvalidUrl(pub(crate) &'static str);

/// Errors of one piece of work on a connection.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum Failure {
    Query(#[from] QueryError),
    /// The connection was lost during `COMMIT`. The transaction may or may not have been kept, so
    /// it must not be repeated and the caller has to know.
    InDoubt(QueryError),
    /// An error of the store itself, such as a row that cannot be decoded.
    Store(#[from] StoreError),
}

impl Failure {
    /// Tells whether the same work may succeed at once on this or another connection, and cannot
    /// have been kept.
    pub(crate) fn may_be_repeated(&self) -> bool {
        match self {
            Self::Query(cause) => is_lost(cause) || is_conflict(cause) || is_read_only(cause),
            Self::InDoubt(_) | Self::Store(_) => false,
        }
    }

    /// Tells whether the connection is unusable.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Query(cause) | Self::InDoubt(cause) => is_lost(cause),
            Self::Store(_) => false,
        }
    }

    /// Tells whether the server accepts no writes, so that another server may have to be tried.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::Query(cause) | Self::InDoubt(cause) => is_read_only(cause),
            Self::Store(_) => false,
        }
    }

    /// Classifies an error for the check of disk space, as far as the driver reports it.
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Query(cause) | Self::InDoubt(cause) if is_full(cause) => Kind::NoRoom,
            Self::Query(cause) if is_nameless(cause) => Kind::Nameless,
            _ => Kind::Known,
        }
    }

    /// Converts the failure to one that came from `COMMIT`.
    pub(crate) fn while_committing(self) -> Self {
        match self {
            Self::Query(cause) if is_lost(&cause) => Self::InDoubt(cause),
            other => other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The server reported that its disk is full.
    NoRoom,
    /// The driver has no kind for this error, and the server's message is unknown.
    Nameless,
    Known,
}

/// Logs the detail and keeps it out of the error's text.
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

/// Logs that the answer took too long, and returns the error for the caller.
pub(crate) fn no_answer_in_time() -> StoreError {
    tracing::warn!("PostgreSQL did not answer in time");
    too_late()
}

pub(crate) fn too_late() -> StoreError {
    unavailable("PostgreSQL did not answer in time")
}

/// Tells whether the connection is unusable. Its transaction is undone, unless it was committing.
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

/// The server is a standby, or is set to read-only (SQLSTATE 25006). Nothing was written.
fn is_read_only(cause: &QueryError) -> bool {
    kind(cause).is_some_and(|(kind, _)| matches!(kind, DatabaseErrorKind::ReadOnlyTransaction))
}

/// A time-out of this store ended the statement, or the server lacks a resource.
///
/// diesel passes SQLSTATE on for only a few errors, so the server's English message decides.
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

/// A disk is full (SQLSTATE 53100), reported in English; see [`crate::connection::disk_space::DiskSpace`] for
/// other languages.
fn is_full(cause: &QueryError) -> bool {
    kind(cause).is_some_and(|(_, message)| {
        message.starts_with("could not extend file")
            || message.ends_with(": No space left on device")
    })
}

/// The error of a call that got no connection.
pub(crate) fn no_connection(cause: impl Error + Send + Sync + 'static) -> StoreError {
    match is_refused_by_full_disk(&cause) {
        true => StoreError::NoRoom,
        false => unreachable("PostgreSQL cannot be reached", cause),
    }
}

/// Tells whether a server with a full disk refused the connection: it may have to write a cache file before it
/// accepts one (`RelationCacheInitializePhase3` in its `relcache.c`). The server does not translate this message.
fn is_refused_by_full_disk(cause: &impl Display) -> bool {
    cause.to_string().contains("could not write init file")
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
