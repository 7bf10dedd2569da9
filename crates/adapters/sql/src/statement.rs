//! Writes that are prepared once per connection.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AsChangeset, AstPass, IntoUpdateTarget, QueryFragment, QueryId};
use diesel::query_source::QuerySource;

/// `UPDATE`, as `diesel::update(target).set(values)`, which is prepared anew at each use: its
/// values may leave columns out. This one is remembered by its text, where these are missing too.
pub fn update<T, V>(
    target: T,
    values: V,
) -> WriteStatement<<T::Table as QuerySource>::FromClause, V::Changeset, T::WhereClause>
where
    T: IntoUpdateTarget,
    T::Table: QuerySource,
    V: AsChangeset<Target = T::Table>,
{
    let target = target.into_update_target();
    let from = target.table.from_clause();
    let values = values.as_changeset();
    WriteStatement { begin: "UPDATE ", from, set: " SET ".into(), values, end: target.where_clause }
}

/// `INSERT`, or an update of these values if there is a row with the same `key`; remembered as
/// [`update`] is.
pub fn upsert<I, V: AsChangeset>(
    insert: I,
    key: &str,
    values: V,
) -> WriteStatement<I, V::Changeset, ()> {
    let set = format!(" ON CONFLICT ({key}) DO UPDATE SET ");
    WriteStatement { begin: "", from: insert, set, values: values.as_changeset(), end: () }
}

/// What [`update`] and [`upsert`] make.
pub struct WriteStatement<F, V, W> {
    begin: &'static str,
    from: F,
    set: String,
    values: V,
    end: W,
}

impl<DB, F, V, W> QueryFragment<DB> for WriteStatement<F, V, W>
where
    DB: Backend,
    F: QueryFragment<DB>,
    V: QueryFragment<DB>,
    W: QueryFragment<DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        out.push_sql(self.begin);
        self.from.walk_ast(out.reborrow())?;
        out.push_sql(&self.set);
        self.values.walk_ast(out.reborrow())?;
        self.end.walk_ast(out)
    }
}

impl<F, V, W> QueryId for WriteStatement<F, V, W> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<C, F, V, W> RunQueryDsl<C> for WriteStatement<F, V, W> {}
