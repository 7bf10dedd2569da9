//! Looks up the caller of an API key, and the session that the caller asks for.

use crate::connection::error::Failure;
use crate::connection::look_up::{Answer, PRIMARY_ALONE, Question};
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Array, BigInt, Binary, Nullable};
use dwar_kernel::{Digest, SessionId, StoreError};
use dwar_project::Caller;
use dwar_session::KeyAndSession;
use dwar_sql::{CallerRow, Id, KeyAndSessionRow};

/// Looks up the key with this digest and its project.
pub(crate) struct KeyLookUp(pub(crate) Digest);

/// Looks up the key with this digest, and the session of this id if the key may see it.
pub(crate) struct KeyAndSessionLookUp {
    pub(crate) key: Digest,
    pub(crate) session: Option<SessionId>,
}

impl Question for KeyLookUp {
    const NAME: &'static str = "caller";
    type Found = Caller;

    fn answers(asked: &[&Self], conn: &mut PgConnection) -> Result<Vec<Answer<Caller>>, Failure> {
        let keys = asked.iter().map(|asked| asked.0.0.as_slice()).collect();
        let rows = Callers { keys, columns: CallerRow::as_select() }.load(conn)?;
        Ok(in_order(asked.len(), rows))
    }
}

impl Question for KeyAndSessionLookUp {
    const NAME: &'static str = "caller";
    type Found = KeyAndSession;

    fn answers(
        asked: &[&Self],
        conn: &mut PgConnection,
    ) -> Result<Vec<Answer<KeyAndSession>>, Failure> {
        let keys = asked.iter().map(|asked| asked.key.0.as_slice()).collect();
        let sessions = asked.iter().map(|asked| asked.session.map(Id::from)).collect();
        let rows =
            Sessions { keys, sessions, columns: KeyAndSessionRow::as_select() }.load(conn)?;
        Ok(in_order(asked.len(), rows))
    }
}

/// Sorts rows into the places they answer. `nr` counts from one.
fn in_order<R, T>(places: usize, rows: Vec<(i64, R)>) -> Vec<Answer<T>>
where
    T: TryFrom<R, Error = StoreError>,
{
    let mut answers: Vec<Answer<T>> = (0..places).map(|_| Ok(None)).collect();
    for (place, row) in rows {
        let place = usize::try_from(place - 1).ok().and_then(|place| answers.get_mut(place));
        if let Some(answer) = place {
            *answer = row.try_into().map(Some);
        }
    }
    answers
}

/// Each key with its project, if that project is in use. `LIMIT 1` keeps the server from scanning a
/// whole table, whatever size it assumes: each row is found by its unique key.
const KEYS: &str = " CROSS JOIN LATERAL \
    (SELECT * FROM api_keys k WHERE k.digest = wanted.key LIMIT 1) AS api_keys CROSS JOIN LATERAL \
    (SELECT * FROM projects p WHERE p.id = api_keys.project_id AND p.archived_at IS NULL LIMIT 1) \
    AS projects";

struct Callers<'asked> {
    keys: Vec<&'asked [u8]>,
    columns: AsSelect<CallerRow, Pg>,
}

impl QueryFragment<Pg> for Callers<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT wanted.place, ");
        self.columns.walk_ast(out.reborrow())?;
        out.push_sql(" FROM unnest(");
        out.push_bind_param::<Array<Binary>, _>(&self.keys)?;
        out.push_sql(") WITH ORDINALITY AS wanted (key, place)");
        out.push_sql(KEYS);
        out.push_sql(" WHERE ");
        out.push_sql(PRIMARY_ALONE);
        Ok(())
    }
}

struct Sessions<'asked> {
    keys: Vec<&'asked [u8]>,
    sessions: Vec<Option<Id>>,
    columns: AsSelect<KeyAndSessionRow, Pg>,
}

impl QueryFragment<Pg> for Sessions<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("SELECT wanted.place, ");
        self.columns.walk_ast(out.reborrow())?;
        out.push_sql(" FROM unnest(");
        out.push_bind_param::<Array<Binary>, _>(&self.keys)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Id>>, _>(&self.sessions)?;
        out.push_sql(") WITH ORDINALITY AS wanted (key, session, place)");
        out.push_sql(KEYS);
        out.push_sql(
            " LEFT JOIN LATERAL \
             (SELECT * FROM sessions s WHERE s.id = wanted.session \
              AND s.project_id = api_keys.project_id AND s.mode = api_keys.mode LIMIT 1) \
             AS sessions ON true WHERE ",
        );
        out.push_sql(PRIMARY_ALONE);
        Ok(())
    }
}

/// The statement text never changes, so each connection prepares it once.
macro_rules! prepared_once {
    ($query:ident of $row:ident) => {
        impl QueryId for $query<'_> {
            type QueryId = $query<'static>;

            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl Query for $query<'_> {
            type SqlType = (BigInt, <AsSelect<$row, Pg> as Expression>::SqlType);
        }

        impl RunQueryDsl<PgConnection> for $query<'_> {}
    };
}

prepared_once!(Callers of CallerRow);
prepared_once!(Sessions of KeyAndSessionRow);
