//! Runs the statements of ports, under the same method names as the SQLite store. Each method takes
//! the name of its span (docs/tracing.md): the part of the store and the operation.

use crate::PostgresStore;
use crate::connection::pool::Work;
use diesel::PgConnection;
use diesel::connection::SimpleConnection;
use dwar_kernel::{ProjectId, StoreError};
use std::sync::Arc;

/// Work MUST be harmless if it runs twice, but for [`PostgresStore::write`] and
/// [`PostgresStore::steps_ahead_of_disk`].
impl PostgresStore {
    /// Returns this store for work of one project, which takes turns with the work of other
    /// projects.
    pub(crate) fn of(&self, project: ProjectId) -> Self {
        Self { pool: self.pool.of(project), shared: Arc::clone(&self.shared) }
    }

    /// Returns this store for writes that change no session and no key. PostgreSQL remembers no
    /// look-ups, so nothing differs here.
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

    /// Runs queries that read whole tables from one snapshot. No request may wait for them.
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

    /// Runs one statement that a loss of power may undo.
    pub(crate) async fn write_ahead_of_disk<T: Send + 'static>(
        &self,
        name: &'static str,
        work: impl Work<T>,
    ) -> Result<T, StoreError> {
        self.pool.run(name, work).await
    }

    /// Runs several statements as one atomic step that a loss of power may undo.
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
