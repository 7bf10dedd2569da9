//! Queries about figures that are specific to PostgreSQL.

use crate::dialect::Conn;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel::upsert::excluded;
use dwar_activity::Figure;
use dwar_sql::FigureRow;
use dwar_sql::schema::figures;

pub(crate) const SENT: &str =
    dwar_sql::sent_requests!("$1", "$2", "$3", "ledger_entries e", "o.id::text");
pub(crate) const DROP: &str = dwar_sql::sweep_figures!("$1", "$2", "$3");
/// Most figures in one statement. The protocol counts parameters in 16 bits.
const AT_ONCE: usize = 1_000;

/// Updates the server's statistics of the ledger when the ledger has doubled since the last update.
///
/// The server updates them at most once a minute. Until then it assumes that a project has few
/// entries or none, and may scan all of them for each request.
pub(crate) fn before_reading(conn: &mut Conn) -> QueryResult<()> {
    let has_grown = sql::<Bool>(
        "SELECT pg_relation_size(oid) > (2 * relpages + 2) * current_setting('block_size')::bigint \
         FROM pg_class WHERE oid = 'ledger_entries'::regclass",
    );
    if has_grown.get_result(conn)?
        && let Err(cause) = conn.batch_execute("ANALYZE ledger_entries")
    {
        // A failure affects only the plan.
        tracing::debug!(%cause, "no statistics of the ledger");
    }
    Ok(())
}

pub(crate) fn save(conn: &mut Conn, all: Vec<Figure>) -> QueryResult<()> {
    let rows: Vec<_> = all.into_iter().map(FigureRow::from).collect();
    for rows in rows.chunks(AT_ONCE) {
        diesel::insert_into(figures::table)
            .values(rows)
            .on_conflict((
                figures::project_id,
                figures::mode,
                figures::grain,
                figures::began_at,
                figures::channel,
                figures::provider,
            ))
            .do_update()
            .set((
                figures::attempts.eq(excluded(figures::attempts)),
                figures::accepted.eq(excluded(figures::accepted)),
                figures::arrived.eq(excluded(figures::arrived)),
                figures::failed.eq(excluded(figures::failed)),
                figures::requests.eq(excluded(figures::requests)),
                figures::delivered.eq(excluded(figures::delivered)),
                figures::verified.eq(excluded(figures::verified)),
                figures::spent.eq(excluded(figures::spent)),
                figures::times.eq(excluded(figures::times)),
                figures::delivery_times.eq(excluded(figures::delivery_times)),
                figures::causes.eq(excluded(figures::causes)),
                figures::relay_attempts.eq(excluded(figures::relay_attempts)),
                figures::relays.eq(excluded(figures::relays)),
                figures::guarded.eq(excluded(figures::guarded)),
                figures::trusted.eq(excluded(figures::trusted)),
                figures::trusted_verified.eq(excluded(figures::trusted_verified)),
                figures::over_address.eq(excluded(figures::over_address)),
                figures::over_series.eq(excluded(figures::over_series)),
                figures::over_project.eq(excluded(figures::over_project)),
                figures::over_day.eq(excluded(figures::over_day)),
                figures::refusable_verified.eq(excluded(figures::refusable_verified)),
            ))
            .execute(conn)?;
    }
    Ok(())
}
