//! Connections to PostgreSQL: pools, queues, joined steps and answers.

#[macro_use]
pub(crate) mod statement;
pub(crate) mod answers;
pub(crate) mod cautions;
pub(crate) mod clock;
pub(crate) mod disk_space;
pub(crate) mod doors;
pub(crate) mod engine;
pub(crate) mod error;
pub(crate) mod link;
pub(crate) mod lock;
pub(crate) mod look_up;
pub(crate) mod migrations;
pub(crate) mod pool;
pub(crate) mod project_queue;
pub(crate) mod settings;
pub(crate) mod sweep;
pub(crate) mod url;
