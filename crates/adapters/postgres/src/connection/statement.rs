//! Hand-written SQL statements, prepared once per connection.

use diesel::expression::{AsExpression, TypedExpressionType};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{Bool, SqlType, Untyped};

/// Gives a statement the columns of a row as parameters, each under its column's name.
macro_rules! given {
    ($statement:expr, $table:ident of $row:expr, $($column:ident)+) => {{
        let row = $row;
        $statement$(.column($table::$column, row.$column))+
    }};
}

/// A statement with named parameters that takes one round trip. For work that a request waits for.
///
/// `diesel::sql_query` is parsed and planned anew each time. This one is cached by its text, so the
/// server plans it once per connection. Parameters are the columns of a first row, `given`, so each
/// has a name and may be used more than once. The text continues after it:
///
/// ```sql
/// WITH given AS (SELECT $1 AS "project", $2 AS "amount")
/// , debited AS (UPDATE … FROM given WHERE …) SELECT …
/// ```
///
/// Rows are read by name, as with `sql_query`.
pub(crate) struct Statement<G> {
    given: G,
    sql: Vec<&'static str>,
}

pub(crate) struct NoBinds;

pub(crate) struct Bind<G, V> {
    before: G,
    name: &'static str,
    value: V,
}

/// The result of a step: done or not.
#[derive(QueryableByName)]
pub(crate) struct Done {
    #[diesel(sql_type = Bool)]
    pub(crate) done: bool,
}

/// Collects one column of many rows, for an array parameter.
pub(crate) fn each<'all, R, T>(rows: &'all [R], column: impl Fn(&'all R) -> T) -> Vec<T> {
    rows.iter().map(column).collect()
}

impl Statement<NoBinds> {
    /// The text after `given`: further `, name AS (…)`, then the main query.
    pub(crate) fn new(sql: &'static str) -> Self {
        Self { given: NoBinds, sql: vec![sql] }
    }
}

impl<G> Statement<G> {
    /// Appends parts. Omit a part that the step does not need, because the server sets up the whole
    /// plan at each execution.
    pub(crate) fn then(mut self, parts: impl IntoIterator<Item = &'static str>) -> Self {
        self.sql.extend(parts);
        self
    }

    pub(crate) fn given<ST, V>(
        self,
        name: &'static str,
        value: V,
    ) -> Statement<Bind<G, V::Expression>>
    where
        V: AsExpression<ST>,
        ST: SqlType + TypedExpressionType,
    {
        let given = Bind { before: self.given, name, value: value.as_expression() };
        Statement { given, sql: self.sql }
    }

    /// Adds a parameter with the name and type of a column; see [`given!`].
    pub(crate) fn column<C, V>(self, _: C, value: V) -> Statement<Bind<G, V::Expression>>
    where
        C: Column,
        C::SqlType: SqlType,
        V: AsExpression<C::SqlType>,
    {
        self.given(C::NAME, value)
    }
}

impl QueryFragment<Pg> for NoBinds {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("WITH given AS (SELECT");
        Ok(())
    }
}

impl<G: QueryFragment<Pg>, V: QueryFragment<Pg>> QueryFragment<Pg> for Bind<G, V> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.before.walk_ast(out.reborrow())?;
        let is_first = size_of::<G>() == size_of::<NoBinds>();
        out.push_sql(if is_first { " " } else { ", " });
        self.value.walk_ast(out.reborrow())?;
        out.push_sql(" AS ");
        out.push_identifier(self.name)
    }
}

impl<G: QueryFragment<Pg>> QueryFragment<Pg> for Statement<G> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.given.walk_ast(out.reborrow())?;
        out.push_sql(")");
        self.sql.iter().for_each(|sql| out.push_sql(sql));
        Ok(())
    }
}

impl<G> QueryId for Statement<G> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<G> Query for Statement<G> {
    type SqlType = Untyped;
}

impl<G> RunQueryDsl<PgConnection> for Statement<G> {}
