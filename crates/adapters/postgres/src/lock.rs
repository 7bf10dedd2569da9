//! Locks for what has no row yet to be locked. Each ends with its transaction.

use crate::statement::Statement;
use diesel::prelude::*;
use diesel::sql_types::Integer;
use dwar_kernel::BlindIndex;

/// What is locked. Two phones may share a lock by chance; that costs a wait and nothing else.
#[derive(Clone, Copy)]
pub(crate) enum Lock<'phone> {
    /// The making of the first project.
    FirstProject,
    /// The set of signing keys.
    SigningKeys,
    /// Which code of a phone is in force.
    CodeInForce(&'phone BlindIndex),
    /// The places that a phone's sends have taken.
    SendSlots(&'phone BlindIndex),
}

impl Lock<'_> {
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
    const fn key(self) -> (i32, i32) {
        match self {
            Self::FirstProject => (1, 0),
            Self::SigningKeys => (2, 0),
            Self::CodeInForce(phone) => (3, first_word(phone)),
            Self::SendSlots(phone) => (4, first_word(phone)),
        }
    }
}

/// The index is a keyed digest that project and mode went into: any part of it is as good.
const fn first_word(phone: &BlindIndex) -> i32 {
    let [a, b, c, d, ..] = phone.0;
    i32::from_be_bytes([a, b, c, d])
}
