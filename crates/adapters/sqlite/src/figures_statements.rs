//! Queries about figures that are specific to SQLite.

use crate::dialect::Conn;
use diesel::prelude::*;
use dwar_activity::Figure;
use dwar_sql::FigureRow;
use dwar_sql::schema::figures;
use dwar_sql::statement;

/// Selects the requests sent in a period. Ledger entries refer to a request by its public id.
pub(crate) const SENT: &str = dwar_sql::sent_requests!(
    "?1",
    "?2",
    "?3",
    "ledger_entries e INDEXED BY ledger_entries_by_reference",
    "lower(hex(substr(o.id, 1, 4)) || '-' || hex(substr(o.id, 5, 2)) || '-' || \
     hex(substr(o.id, 7, 2)) || '-' || hex(substr(o.id, 9, 2)) || '-' || hex(substr(o.id, 11, 6)))"
);
pub(crate) const DROP: &str = dwar_sql::sweep_figures!("?1", "?2", "?3");
const KEY: &str = "project_id, mode, grain, began_at, channel, provider";

/// Does nothing: [`SENT`] names its index, so its plan depends on no statistics.
pub(crate) const fn before_reading(_conn: &mut Conn) -> QueryResult<()> {
    Ok(())
}

pub(crate) fn save(conn: &mut Conn, all: Vec<Figure>) -> QueryResult<()> {
    for figure in all {
        let row = FigureRow::from(figure);
        let insert = diesel::insert_into(figures::table).values(row.clone());
        statement::upsert(insert, KEY, row).execute(conn)?;
    }
    Ok(())
}
