//! Of what was sent and refused, what PostgreSQL is asked in words of its own.

use crate::PostgresStore;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use dwar_kernel::{OtpId, ProjectMode, StoreError, TallyId};
use dwar_otp::RefusedSends;
use dwar_sql::schema::otps;
use dwar_sql::schema::refused_sends::{self, count};
use dwar_sql::{Id, OtpRow, RefusedRow};

diesel::define_sql_function! {
    fn greatest(one: diesel::sql_types::Integer, other: diesel::sql_types::Integer)
        -> diesel::sql_types::Integer;
}

/// Rows of one statement: beyond that it would have more parameters than the protocol allows.
const ROWS: usize = 1_000;

/// The newest requests of one mode, or those that failed, that are older than another one.
pub(crate) fn newest_rows(
    conn: &mut PgConnection,
    world: ProjectMode,
    failed: bool,
    before: Option<OtpId>,
    limit: u32,
) -> QueryResult<Vec<OtpRow>> {
    let mode = world.mode.as_str();
    // The mode as a range, and first in the order: else the planner may walk the primary key backwards, past all
    // that other projects have sent since. The project is no range, for then the walk would go on past all of
    // the other mode.
    let mut wanted = otps::table
        .filter(otps::project_id.eq(Id::from(world.project)))
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
        // Written out: a partial index serves no plan that was made for any parameter.
        wanted = wanted.filter(sql::<Bool>("status = 'failed'"));
    }
    wanted.load(conn)
}

impl PostgresStore {
    /// Counts refused sends, once each however often it is told of them.
    pub(crate) async fn count_refused(
        &self,
        tally: TallyId,
        counts: Vec<RefusedSends>,
    ) -> Result<(), StoreError> {
        for counts in counts.chunks(ROWS) {
            let counts = counts.to_vec();
            self.write_one("otp.count", move |conn| {
                diesel::insert_into(refused_sends::table)
                    .values(RefusedRow::all(tally, counts.clone()))
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
