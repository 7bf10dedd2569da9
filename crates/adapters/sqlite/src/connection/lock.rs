use crate::connection::Conn;
use diesel::QueryResult;

/// What PostgreSQL locks where there is no row yet to be locked.
#[derive(Clone, Copy)]
pub(crate) enum Lock {
    SigningKeys,
    FirstOperator,
}

impl Lock {
    /// One thread writes: whoever does has it.
    pub(crate) const fn take(self, _conn: &mut Conn) -> QueryResult<()> {
        Ok(())
    }
}
