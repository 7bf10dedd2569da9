//! Advisory locks for records that have no row yet. Each lock ends with its transaction.

use crate::connection::statement::Statement;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Integer};
use dwar_sql::Lock;

/// Locks sends to the phone with this blind index until the transaction ends; waits for the holder
/// if there is one. The schema's function `prepare_sends` takes the same lock.
pub(crate) fn hold_sends(conn: &mut PgConnection, phone: &[u8]) -> QueryResult<()> {
    Statement::new("SELECT pg_advisory_xact_lock(4, hashtext(phone::text)) FROM given")
        .given::<Binary, _>("phone", phone)
        .execute(conn)?;
    Ok(())
}

/// Takes a lock until the transaction ends; waits for its holder if there is one.
pub(crate) fn take(conn: &mut PgConnection, lock: Lock) -> QueryResult<()> {
    let (class, key) = key(lock);
    Statement::new("SELECT pg_advisory_xact_lock(class, key) FROM given")
        .given::<Integer, _>("class", class)
        .given::<Integer, _>("key", key)
        .execute(conn)?;
    Ok(())
}

/// Class and key of a lock. Locks of different classes never collide; [`hold_sends`] has class 4.
fn key(lock: Lock) -> (i32, i32) {
    match lock {
        Lock::FirstProject => (1, 0),
        Lock::SigningKeys => (2, 0),
        Lock::FirstOperator => (3, 0),
        Lock::Alerts => (5, 0),
        Lock::GuardLevels => (6, 0),
        // The last bytes of the id are random. Two ids with the same key wait for each other, which
        // is harmless.
        Lock::Searcher(id) => {
            let [.., a, b, c, d] = *id.uuid().as_bytes();
            (7, i32::from_be_bytes([a, b, c, d]))
        }
    }
}
