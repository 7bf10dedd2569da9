//! Queries about sent and refused requests that are specific to SQLite.

use crate::connection::pool::SqliteStore;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use dwar_kernel::{OtpId, ProjectMode, RecorderId, StoreError};
use dwar_otp::RefusedSends;
use dwar_sql::schema::{otps, refused_sends};
use dwar_sql::{Id, OtpRow, RefusedRow, statement};

/// The ids of the newest live codes of all projects since the first of these ids, found by two
/// look-ups per project: one for its oldest code that may count, and one for those since.
///
/// `CROSS JOIN` keeps SQLite from beginning with the codes.
pub(crate) const NEWEST_LIVE: &str = "SELECT o.id FROM ( \
     SELECT p.id AS project_id, coalesce(( \
         SELECT n.id FROM otps n WHERE n.project_id = p.id AND n.mode = 'live' AND n.id >= $1 \
         ORDER BY n.id DESC LIMIT 1 OFFSET $2), $1) AS since FROM projects p \
 ) live CROSS JOIN otps o \
 ON o.project_id = live.project_id AND o.mode = 'live' AND o.id >= live.since \
 ORDER BY o.id DESC LIMIT $2";

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
        recorder: RecorderId,
        counts: Vec<RefusedSends>,
    ) -> Result<(), StoreError> {
        let rows = RefusedRow::all(recorder, counts);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::settings::Settings;
    use diesel::sql_types::{Integer, Text};
    use dwar_testkit::START;

    #[derive(QueryableByName)]
    struct Step {
        #[diesel(sql_type = Text)]
        detail: String,
    }

    /// Otherwise each look for alerts would pass over every test code of a day.
    #[tokio::test]
    async fn the_newest_live_codes_are_found_by_project_and_mode() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(Settings::new(folder.path().join("t.db"))).unwrap();
        store.migrate().await.unwrap();
        let plan = move |connection: &mut SqliteConnection| {
            let plan = diesel::sql_query(format!("EXPLAIN QUERY PLAN {NEWEST_LIVE}"));
            let plan = plan.bind::<Id, _>(Id::first_at(START)).bind::<Integer, _>(500);
            Ok(plan.load::<Step>(connection)?)
        };
        let plan = store.read("test", plan).await.unwrap();
        let of_codes: Vec<&str> = plan.iter().map(|step| step.detail.as_str()).collect();
        for name in ["o", "n"] {
            let found = format!("SEARCH {name} USING COVERING INDEX otps_by_mode");
            let found = found + " (project_id=? AND mode=? AND id>?)";
            assert!(of_codes.contains(&found.as_str()), "{of_codes:#?}");
        }
    }
}
