//! Connections to SQLite: the single writer and its queue, the readers, and the cache of look-ups.

pub(crate) mod cautions;
pub(crate) mod command;
pub(crate) mod disk_space;
pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod job;
pub(crate) mod look_up_cache;
pub(crate) mod migrations;
pub(crate) mod open_files;
pub(crate) mod pool;
pub(crate) mod read_only;
pub(crate) mod settings;
pub(crate) mod statement;
pub(crate) mod sweep_pace;
pub(crate) mod writer;
pub(crate) mod writes;
