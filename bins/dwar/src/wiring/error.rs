use crate::config::ConfigError;
use dwar_kernel::{StoreError, with_causes};
use dwar_sqlite::OpenError;
use dwar_webhooks::UnusableClient;
use std::path::PathBuf;

/// Why the program cannot be built, as a sentence with advice.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    #[error("configuration: {0}")]
    Config(#[from] ConfigError),
    #[error("database: {0}")]
    Sqlite(#[from] OpenError),
    /// The database belongs to other keys, or the record of its keys cannot be read.
    #[error("{0}")]
    OtherKeys(String),
    #[error(
        "the master key file {} does not exist, and no key was made, since it is unknown \
         whether the database is new: {}", path.display(), with_causes(cause)
    )]
    KeyNotMade {
        path: PathBuf,
        #[source]
        cause: StoreError,
    },
    #[error(transparent)]
    Store(StoreError),
    #[error(
        "{} belongs to user {owner}; root has to work there as that user, which the system \
         does not allow: {cause}",
        folder.display()
    )]
    NotTheOwner { folder: PathBuf, owner: u32, cause: std::io::Error },
    #[error("the system does not allow this process to protect its memory: {0}")]
    Unsealed(std::io::Error),
    #[error("production refuses files that others can read:\n  {}", .0.join("\n  "))]
    OpenToOthers(Vec<String>),
    #[error(transparent)]
    Webhooks(#[from] UnusableClient),
    #[error("cannot listen on {address}: {cause}")]
    Listen {
        address: String,
        #[source]
        cause: std::io::Error,
    },
    #[error("cannot serve: {0}")]
    System(#[source] std::io::Error),
}
