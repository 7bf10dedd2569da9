use diesel::ConnectionError;
use diesel::r2d2::PoolError;
use diesel::result::{DatabaseErrorKind, Error as QueryError};
use dwar_kernel::{StoreError, with_causes};
pub(crate) use dwar_sql::{unavailable, unreachable};
use std::path::PathBuf;

/// A database file could not be opened. The message is for the operator, not for clients.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("cannot create or touch the database file {}: {cause}", path.display())]
    File {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    /// The path is not valid UTF-8, which SQLite requires.
    #[error("the path of the database file is not UTF-8: {}", .0.display())]
    PathEncoding(PathBuf),
    /// The file exists, but SQLite cannot open it.
    #[error("cannot open the database file: {0}")]
    Connection(#[from] ConnectionError),
    /// SQLite opened the file but cannot use it: it is locked, or not a database.
    #[error("cannot set up the database: {0}")]
    Setup(#[from] QueryError),
    /// The file was replaced while it was being opened.
    #[error("the database was replaced by another while it was opened; try again")]
    Replaced,
    #[error("cannot open the readers' connections: {0}")]
    Readers(#[from] PoolError),
    #[error("cannot start the writer's thread: {0}")]
    Thread(#[source] std::io::Error),
}

/// Errors of one piece of work on a connection.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) enum Failure {
    Query(#[from] QueryError),
    /// An error of the store itself, such as a row that cannot be decoded.
    Store(#[from] StoreError),
}

/// Logs the detail and keeps it out of the error's text.
impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            // The message is meant for the caller and has no further detail.
            Failure::Store(cause @ StoreError::Foreign(_)) => cause,
            Failure::Store(cause) => {
                tracing::error!(cause = %with_causes(&cause), "a database task failed");
                cause
            }
            // The writer logs this, once.
            Failure::Query(cause) if is_full(&cause) => Self::NoRoom,
            Failure::Query(cause) if is_transient(&cause) => {
                tracing::warn!(%cause, "SQLite is out of reach");
                unreachable("SQLite is locked, or its disk is failing", cause)
            }
            Failure::Query(cause) => {
                tracing::error!(%cause, "a query failed");
                Self::Failed(Box::new(cause))
            }
        }
    }
}

/// SQLite found no space (`SQLITE_FULL`): the disk is full, or the file has its maximum size.
pub(crate) fn is_full(cause: &QueryError) -> bool {
    match cause {
        QueryError::RollbackErrorOnCommit { commit_error, .. } => is_full(commit_error),
        QueryError::DatabaseError(_, detail) => {
            detail.message().starts_with("database or disk is full")
        }
        _ => false,
    }
}

/// diesel does not pass result codes on, so the texts of `sqlite3_errstr` decide.
pub(crate) fn is_transient(cause: &QueryError) -> bool {
    const TRANSIENT: [&str; 5] = [
        "database is locked",
        "database table is locked",
        "disk I/O error",
        "unable to open database file",
        "attempt to write a readonly database",
    ];
    let QueryError::DatabaseError(DatabaseErrorKind::Unknown, detail) = cause else {
        return false;
    };
    TRANSIENT.iter().any(|text| detail.message().starts_with(text))
}
