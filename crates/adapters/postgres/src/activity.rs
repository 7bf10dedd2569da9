//! Queries about sent and refused requests that are specific to PostgreSQL.

use crate::PostgresStore;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use dwar_kernel::{OtpId, ProjectMode, RecorderId, StoreError};
use dwar_otp::RefusedSends;
use dwar_sql::schema::otps;
use dwar_sql::schema::refused_sends::{self, count};
use dwar_sql::{Id, OtpRow, RefusedRow};

diesel::define_sql_function! {
    fn greatest(one: diesel::sql_types::Integer, other: diesel::sql_types::Integer)
        -> diesel::sql_types::Integer;
}

/// Rows per statement. More rows would need more parameters than the protocol allows.
const ROWS: usize = 1_000;

/// The ids of the newest live codes of all projects since the first of these ids, found by one
/// look-up per project.
///
/// The mode is a range that begins with the id, so that only the index on project, mode and id
/// fits. With an equality the planner may walk the primary key through all test codes.
pub(crate) const NEWEST_LIVE: &str = "SELECT newest.id FROM projects p CROSS JOIN LATERAL ( \
     SELECT o.id FROM otps o \
     WHERE o.project_id = p.id AND o.mode <= 'live' AND (o.mode, o.id) >= ('live', $1) \
     ORDER BY o.mode DESC, o.id DESC LIMIT $2 \
 ) newest ORDER BY newest.id DESC LIMIT $2";

/// The newest requests of one mode that are older than `before`, all of them or only the failed
/// ones.
pub(crate) fn newest_rows(
    conn: &mut PgConnection,
    project_mode: ProjectMode,
    failed: bool,
    before: Option<OtpId>,
    limit: u32,
) -> QueryResult<Vec<OtpRow>> {
    let mode = project_mode.mode.as_str();
    // The mode is a range and comes first in the order. With an equality the planner may walk the
    // primary key backwards through everything that other projects have sent since. The project is
    // not a range, because the walk would then go through all requests of the other mode.
    let mut wanted = otps::table
        .filter(otps::project_id.eq(Id::from(project_mode.project)))
        .filter(otps::mode.ge(mode))
        .filter(otps::mode.le(mode))
        .order((otps::mode.desc(), otps::id.desc()))
        .limit(limit.into())
        .select(OtpRow::as_select())
        .into_boxed();
    if let Some(before) = before {
        wanted = wanted.filter(otps::id.lt(Id::from(before)));
    }
    if failed {
        // A literal, because a plan made for any parameter cannot use a partial index.
        wanted = wanted.filter(sql::<Bool>("status = 'failed'"));
    }
    wanted.load(conn)
}

impl PostgresStore {
    /// Counts refused sends. Reporting the same send twice counts it once.
    pub(crate) async fn count_refused(
        &self,
        recorder: RecorderId,
        counts: Vec<RefusedSends>,
    ) -> Result<(), StoreError> {
        for counts in counts.chunks(ROWS) {
            let counts = counts.to_vec();
            self.write_one("otp.count", move |conn| {
                diesel::insert_into(refused_sends::table)
                    .values(RefusedRow::all(recorder, counts.clone()))
                    .on_conflict(refused_sends::table.primary_key())
                    .do_update()
                    .set(count.eq(greatest(count, diesel::upsert::excluded(count))))
                    .execute(conn)?;
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}
