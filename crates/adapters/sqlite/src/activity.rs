//! Of what was sent and refused, what SQLite is asked in words of its own.

use crate::connection::pool::SqliteStore;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use dwar_kernel::{OtpId, ProjectMode, StoreError, TallyId};
use dwar_otp::RefusedSends;
use dwar_sql::schema::{otps, refused_sends};
use dwar_sql::{Id, OtpRow, RefusedRow, statement};

/// The newest requests of one mode, or those that failed, that are older than another one.
pub(crate) fn newest_rows(
    connection: &mut SqliteConnection,
    world: ProjectMode,
    failed: bool,
    before: Option<OtpId>,
    limit: u32,
) -> QueryResult<Vec<OtpRow>> {
    let mut wanted = otps::table
        .filter(otps::project_id.eq(Id::from(world.project)))
        .filter(otps::mode.eq(world.mode.as_str()))
        .order(otps::id.desc())
        .limit(limit.into())
        .select(OtpRow::as_select())
        .into_boxed();
    if failed {
        // Written out: a partial index serves no query that gives its condition as a parameter.
        wanted = wanted.filter(sql::<Bool>("status = 'failed'"));
    }
    if let Some(before) = before {
        wanted = wanted.filter(otps::id.lt(Id::from(before)));
    }
    wanted.load(connection)
}

impl SqliteStore {
    /// Counts refused sends, once each however often it is told of them.
    pub(crate) async fn count_refused(
        &self,
        tally: TallyId,
        counts: Vec<RefusedSends>,
    ) -> Result<(), StoreError> {
        let rows = RefusedRow::all(tally, counts);
        // Lost with the power, it is counted again as long as its minute goes on.
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
