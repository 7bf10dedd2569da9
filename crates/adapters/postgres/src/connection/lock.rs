//! Locks for what has no row yet to be locked. Each ends with its transaction.

use crate::connection::statement::Statement;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Integer};
use dwar_kernel::SearcherId;

/// Waits until nobody else begins a send to the phone of this look-up form, and keeps others from it until
/// the transaction ends. The schema's function `prepare_sends` takes the same lock.
pub(crate) fn hold_sends(conn: &mut PgConnection, phone: &[u8]) -> QueryResult<()> {
    Statement::new("SELECT pg_advisory_xact_lock(4, hashtext(phone::text)) FROM given")
        .given::<Binary, _>("phone", phone)
        .execute(conn)?;
    Ok(())
}

/// What is locked.
#[derive(Clone, Copy)]
pub(crate) enum Lock {
    /// The making of the first project.
    FirstProject,
    /// The set of signing keys.
    SigningKeys,
    /// The making of the first operator.
    FirstOperator,
    /// What somebody searched for.
    Searcher(SearcherId),
}

impl Lock {
    /// Waits for the lock and takes it until the transaction ends.
    pub(crate) fn take(self, conn: &mut PgConnection) -> QueryResult<()> {
        let (class, key) = self.key();
        Statement::new("SELECT pg_advisory_xact_lock(class, key) FROM given")
            .given::<Integer, _>("class", class)
            .given::<Integer, _>("key", key)
            .execute(conn)?;
        Ok(())
    }

    /// Class and key: locks of different classes never meet.
    fn key(self) -> (i32, i32) {
        match self {
            Self::FirstProject => (1, 0),
            Self::SigningKeys => (2, 0),
            Self::FirstOperator => (3, 0),
            // Its last bytes are random. Two that are the same wait for each other, which does no harm.
            Self::Searcher(id) => {
                let [.., a, b, c, d] = *id.uuid().as_bytes();
                (4, i32::from_be_bytes([a, b, c, d]))
            }
        }
    }
}
