//! What carries statements to PostgreSQL: connections, who waits for one, what joins steps, and what
//! becomes of an answer.

#[macro_use]
pub(crate) mod statement;
pub(crate) mod answers;
pub(crate) mod cautions;
pub(crate) mod error;
pub(crate) mod link;
pub(crate) mod lock;
pub(crate) mod look_up;
pub(crate) mod migrations;
pub(crate) mod pool;
pub(crate) mod project_queue;
pub(crate) mod room;
pub(crate) mod settings;
pub(crate) mod sweep;
pub(crate) mod url;

pub(crate) use diesel::PgConnection as Conn;
pub(crate) use diesel::pg::Pg as Backend;
pub(crate) use sweep::SWEEP_BATCH;

use crate::PostgresStore;
use diesel::connection::SimpleConnection;
use diesel::sql_types::Bool;
use dwar_kernel::{ProjectId, StoreError};
use error::Failure;
use std::any::type_name;

/// How a query of a port that is said once takes locks, in the order of docs/architecture.md.
macro_rules! for_update {
    ($query:expr) => {
        $query.for_update()
    };
}
macro_rules! for_no_key_update {
    ($query:expr) => {
        $query.for_no_key_update()
    };
}
macro_rules! for_key_share {
    ($query:expr) => {
        $query.for_key_share()
    };
}

/// What a query is filtered by that says who somebody is; see [`look_up::PRIMARY_ALONE`].
pub(crate) fn primary_alone() -> diesel::expression::SqlLiteral<Bool> {
    diesel::dsl::sql(look_up::PRIMARY_ALONE)
}

/// Where the ports that are said once run their statements, by the names that SQLite has for it.
/// Work MUST be harmless if it runs twice, but for [`PostgresStore::write`].
impl PostgresStore {
    /// The same store, for work of this project: it waits in turn with that of others.
    pub(crate) fn of(&self, project: ProjectId) -> Self {
        Self { pool: self.pool.of(project), ..self.clone() }
    }

    /// A look-up by index.
    pub(crate) async fn read<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut Conn) -> Result<T, Failure> + Send + 'static,
    {
        self.pool.run(work).await
    }

    /// A query of any length.
    pub(crate) async fn scan<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut Conn) -> Result<T, Failure> + Send + 'static,
    {
        self.pool.run(work).await
    }

    /// One atomic step of any statements.
    pub(crate) async fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut Conn) -> Result<T, Failure> + Send + 'static,
    {
        self.pool.transaction(work).await
    }

    /// One statement that writes.
    pub(crate) async fn write_one<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut Conn) -> Result<T, Failure> + Send + 'static,
    {
        self.pool.run(work).await
    }

    /// One statement that may be lost with the power.
    pub(crate) async fn write_ahead_of_disk<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut Conn) -> Result<T, Failure> + Send + 'static,
    {
        self.pool.run(work).await
    }

    /// One atomic step of any statements that may be lost with the power.
    pub(crate) async fn steps_ahead_of_disk<T, W>(&self, mut work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnMut(&mut Conn) -> Result<T, Failure> + Send + 'static,
    {
        let step = move |conn: &mut Conn| {
            conn.batch_execute("SET LOCAL synchronous_commit = off")?;
            work(conn)
        };
        self.pool.transaction_of(type_name::<W>(), step).await
    }
}
