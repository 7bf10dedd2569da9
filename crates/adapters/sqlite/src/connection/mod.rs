//! Connections to SQLite: the single writer and its queue, the readers, and remembered look-ups.

pub(crate) mod cautions;
pub(crate) mod command;
pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod job;
pub(crate) mod migrations;
pub(crate) mod pace;
pub(crate) mod place;
pub(crate) mod pool;
pub(crate) mod read_only;
pub(crate) mod remembered;
pub(crate) mod room;
pub(crate) mod settings;
pub(crate) mod statement;
pub(crate) mod writer;
pub(crate) mod writes;
