use crate::PostgresStore;
use diesel::dsl::sql;
use diesel::expression::SqlLiteral;
use diesel::prelude::*;
use diesel::sql_types::Timestamptz;
use dwar_kernel::{StoreError, Timestamp};

/// The clock of the database server at the time of evaluation, not at the start of the transaction.
pub(crate) fn server_clock() -> SqlLiteral<Timestamptz> {
    sql("clock_timestamp()")
}

impl PostgresStore {
    /// Reads the clock of the database server.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if the database does not answer.
    pub async fn clock(&self) -> Result<Timestamp, StoreError> {
        self.read("clock.clock", |conn| Ok(diesel::select(server_clock()).get_result(conn)?)).await
    }
}
