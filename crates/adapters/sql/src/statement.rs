//! Writes that each connection prepares only once.

use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AsChangeset, AstPass, IntoUpdateTarget, QueryFragment, QueryId};
use diesel::query_source::QuerySource;

/// An `UPDATE` like `diesel::update(target).set(values)`. diesel prepares its own anew at each use,
/// because values may omit columns. This one is cached by its text, which reflects omitted columns
/// too.
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

/// An `INSERT`, or an update of these values if a row with the same `key` exists; cached as
/// [`update`] is.
pub fn upsert<I, V: AsChangeset>(
    insert: I,
    key: &str,
    values: V,
) -> WriteStatement<I, V::Changeset, ()> {
    let set = format!(" ON CONFLICT ({key}) DO UPDATE SET ");
    WriteStatement { begin: "", from: insert, set, values: values.as_changeset(), end: () }
}

/// The statement that [`update`] and [`upsert`] return; diesel caches it by its text.
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
