//! Where ports run their statements, by names that SQLite has, too. Each is told the name of its span
//! (docs/tracing.md): which part of the store, and what it does.

use crate::PostgresStore;
use crate::connection::pool::Work;
use diesel::PgConnection;
use diesel::connection::SimpleConnection;
use dwar_kernel::{ProjectId, StoreError};
use std::sync::Arc;

/// Work MUST be harmless if it runs twice, but for [`PostgresStore::write`] and
/// [`PostgresStore::steps_ahead_of_disk`].
impl PostgresStore {
    /// The same store, for work of this project: it waits in turn with that of others.
    pub(crate) fn of(&self, project: ProjectId) -> Self {
        Self { pool: self.pool.of(project), shared: Arc::clone(&self.shared) }
    }

    /// The same store, for writes that change no session and nobody's key; here look-ups are not remembered.
    pub(crate) fn changing_no_look_up(&self) -> Self {
        self.clone()
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.pool.run(name, work).await
    }

    pub(crate) async fn scan<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.pool.run(name, work).await
    }

    /// Queries that read whole tables as they are at one instant, for which no request waits.
    pub(crate) async fn scan_all<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.pool.long_snapshot(name, work).await
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.pool.transaction(name, work).await
    }

    pub(crate) async fn write_one<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.pool.run(name, work).await
    }

    /// One statement that may be lost with the power.
    pub(crate) async fn write_ahead_of_disk<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.pool.run(name, work).await
    }

    /// One atomic step of any statements that may be lost with the power.
    pub(crate) async fn steps_ahead_of_disk<T: Send + 'static>(
        &self,
        name: &'static str,
        mut work: impl Work<T>,
    ) -> Result<T, StoreError> {
        let step = move |conn: &mut PgConnection| {
            conn.batch_execute("SET LOCAL synchronous_commit = off")?;
            work(conn)
        };
        self.pool.transaction(name, step).await
    }
}
