//! Locks for what has no row yet to be locked. Each ends with its transaction.

use crate::connection::statement::Statement;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Integer};
use dwar_sql::Lock;

/// Waits until nobody else begins a send to the phone of this look-up form, and keeps others from it until
/// the transaction ends. The schema's function `prepare_sends` takes the same lock.
pub(crate) fn hold_sends(conn: &mut PgConnection, phone: &[u8]) -> QueryResult<()> {
    Statement::new("SELECT pg_advisory_xact_lock(4, hashtext(phone::text)) FROM given")
        .given::<Binary, _>("phone", phone)
        .execute(conn)?;
    Ok(())
}

/// Waits for the lock and takes it until the transaction ends.
pub(crate) fn take(conn: &mut PgConnection, lock: Lock) -> QueryResult<()> {
    let (class, key) = key(lock);
    Statement::new("SELECT pg_advisory_xact_lock(class, key) FROM given")
        .given::<Integer, _>("class", class)
        .given::<Integer, _>("key", key)
        .execute(conn)?;
    Ok(())
}

/// Class and key: locks of different classes never meet.
fn key(lock: Lock) -> (i32, i32) {
    match lock {
        Lock::FirstProject => (1, 0),
        Lock::SigningKeys => (2, 0),
        Lock::FirstOperator => (3, 0),
        Lock::Alerts => (5, 0),
        // Its last bytes are random. Two that are the same wait for each other, which does no harm.
        Lock::Searcher(id) => {
            let [.., a, b, c, d] = *id.uuid().as_bytes();
            (4, i32::from_be_bytes([a, b, c, d]))
        }
    }
}
