//! Values that the two databases store differently: ids and instants.
//!
//! Only this file and the migrations define how they are stored.

use diesel::deserialize::FromSqlRow;
use diesel::expression::AsExpression;
use diesel::query_builder::QueryId;
use diesel::sql_types::{SqlOrd, SqlType};
use dwar_kernel::{
    AdminTokenId, ApiKeyId, AttemptId, AuditId, CallId, EndpointId, EntryId, HookId, IdentityId,
    InstanceId, KeeperId, OperatorId, OtpId, ProjectId, ReceiptId, RecorderId, SearcherId,
    SessionId, Timestamp, TokenId,
};
use std::fmt;
use uuid::Uuid;

/// An id, both as the type of a column and as its value: `uuid` in PostgreSQL, a blob of 16 bytes
/// in SQLite, which has the same order.
///
/// An invalid id is read as `None`, so that the caller can name the row in the error:
/// [`Row::id`](crate::Row::id).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, SqlType, QueryId, AsExpression, FromSqlRow)]
#[diesel(sql_type = Id, postgres_type(oid = 2950, array_oid = 2951), sqlite_type(name = "Binary"))]
pub struct Id(pub(crate) Option<Uuid>);

/// An instant, both as the type of a column and as its value: `timestamptz` in PostgreSQL,
/// milliseconds since 1970 UTC in SQLite.
///
/// A number beyond the calendar is read as `None`; see [`Row::at`](crate::Row::at).
#[derive(Clone, Copy, Debug, PartialEq, Eq, SqlType, QueryId, AsExpression, FromSqlRow)]
#[diesel(sql_type = At, postgres_type(oid = 1184, array_oid = 1185), sqlite_type(name = "Long"))]
pub struct At(pub(crate) Option<Timestamp>);

impl Id {
    /// Sorts before every id, as the start of a scan.
    pub const LEAST: Self = Self(Some(Uuid::nil()));

    /// Sorts before every id made in the millisecond of `at` or later, and after all earlier ones.
    /// So rows that are ordered by id can be read and deleted by age without a second index.
    pub fn first_at(at: Timestamp) -> Self {
        OtpId::first_at(at).into()
    }
}

impl SqlOrd for Id {}
impl SqlOrd for At {}

impl From<Uuid> for Id {
    fn from(uuid: Uuid) -> Self {
        Self(Some(uuid))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(uuid) => uuid.fmt(out),
            None => out.write_str("that has no id"),
        }
    }
}

impl From<Timestamp> for At {
    fn from(at: Timestamp) -> Self {
        Self(Some(at))
    }
}

macro_rules! ids {
    ($($id:ident)+) => {$(
        impl From<$id> for Id {
            fn from(id: $id) -> Self {
                id.uuid().into()
            }
        }
    )+};
}

ids! {
    ProjectId ApiKeyId OtpId AttemptId SessionId TokenId IdentityId EntryId ReceiptId EndpointId
    HookId OperatorId AdminTokenId AuditId CallId InstanceId KeeperId RecorderId SearcherId
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::{At, Id};
    use diesel::deserialize::{self, FromSql};
    use diesel::pg::{Pg, PgValue};
    use diesel::serialize::{self, Output, ToSql};
    use diesel::sql_types::{Timestamptz, Uuid as SqlUuid};
    use dwar_kernel::Timestamp;
    use uuid::Uuid;

    impl FromSql<Id, Pg> for Id {
        fn from_sql(stored: PgValue<'_>) -> deserialize::Result<Self> {
            <Uuid as FromSql<SqlUuid, Pg>>::from_sql(stored).map(Self::from)
        }
    }

    impl ToSql<Id, Pg> for Id {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            let uuid = self.0.ok_or("not an id")?;
            ToSql::<SqlUuid, Pg>::to_sql(&uuid, &mut out.reborrow())
        }
    }

    impl FromSql<At, Pg> for At {
        fn from_sql(stored: PgValue<'_>) -> deserialize::Result<Self> {
            // `infinity` is a valid instant of PostgreSQL but not of the domain.
            Ok(Self(<Timestamp as FromSql<Timestamptz, Pg>>::from_sql(stored).ok()))
        }
    }

    impl ToSql<At, Pg> for At {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
            let at = self.0.ok_or("not an instant")?;
            ToSql::<Timestamptz, Pg>::to_sql(&at, &mut out.reborrow())
        }
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::{At, Id};
    use diesel::deserialize::{self, FromSql};
    use diesel::serialize::{self, IsNull, Output, ToSql};
    use diesel::sqlite::{Sqlite, SqliteType, SqliteValue};
    use dwar_kernel::Timestamp;
    use uuid::Uuid;

    impl FromSql<Id, Sqlite> for Id {
        fn from_sql(mut stored: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            // A text of 16 characters would have the same length.
            let is_blob = stored.value_type() == Some(SqliteType::Binary);
            Ok(Self(is_blob.then(|| Uuid::from_slice(stored.read_blob()).ok()).flatten()))
        }
    }

    impl ToSql<Id, Sqlite> for Id {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.0.as_ref().ok_or("not an id")?.as_bytes().as_slice());
            Ok(IsNull::No)
        }
    }

    impl FromSql<At, Sqlite> for At {
        fn from_sql(mut stored: SqliteValue<'_, '_, '_>) -> deserialize::Result<Self> {
            Ok(Self(Timestamp::from_timestamp_millis(stored.read_long())))
        }
    }

    impl ToSql<At, Sqlite> for At {
        fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
            out.set_value(self.0.ok_or("not an instant")?.timestamp_millis());
            Ok(IsNull::No)
        }
    }
}
