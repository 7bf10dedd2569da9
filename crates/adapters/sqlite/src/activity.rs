//! Queries about sent and refused requests that are specific to SQLite.

use crate::connection::pool::SqliteStore;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use dwar_kernel::{OtpId, ProjectMode, RecorderId, StoreError};
use dwar_otp::RefusedSends;
use dwar_sql::schema::{otps, refused_sends};
use dwar_sql::{Id, OtpRow, RefusedRow, statement};

/// The newest requests of one mode that are older than `before`, all of them or only the failed
/// ones.
pub(crate) fn newest_rows(
    connection: &mut SqliteConnection,
    project_mode: ProjectMode,
    failed: bool,
    before: Option<OtpId>,
    limit: u32,
) -> QueryResult<Vec<OtpRow>> {
    let mut wanted = otps::table
        .filter(otps::project_id.eq(Id::from(project_mode.project)))
        .filter(otps::mode.eq(project_mode.mode.as_str()))
        .order(otps::id.desc())
        .limit(limit.into())
        .select(OtpRow::as_select())
        .into_boxed();
    if failed {
        // A literal, because a query that passes the condition as a parameter cannot use a partial
        // index.
        wanted = wanted.filter(sql::<Bool>("status = 'failed'"));
    }
    if let Some(before) = before {
        wanted = wanted.filter(otps::id.lt(Id::from(before)));
    }
    wanted.load(connection)
}

impl SqliteStore {
    /// Counts refused sends. Reporting the same send twice counts it once.
    pub(crate) async fn count_refused(
        &self,
        usage_recorder: RecorderId,
        counts: Vec<RefusedSends>,
    ) -> Result<(), StoreError> {
        let rows = RefusedRow::all(usage_recorder, counts);
        // If a loss of power undoes this, the send is counted again while its minute lasts.
        self.write_ahead_of_disk("otp.count", move |connection| {
            for row in rows {
                let count = sql::<Integer>("max(excluded.count, refused_sends.count)");
                let insert = diesel::insert_into(refused_sends::table).values(row);
                let key = "project_id, mode, phone_index, minute, reason, tally";
                statement::upsert(insert, key, refused_sends::count.eq(count))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }
}
