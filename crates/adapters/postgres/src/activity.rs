use crate::PostgresStore;
use crate::connection::error::Failure;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, OtpId, ProjectId, ProjectMode, StoreError, TallyId, Timestamp};
use dwar_otp::{Otp, OtpHistory, RefusalStore, RefusedSends};
use dwar_sql::schema::refused_sends::{self, count, minute};
use dwar_sql::schema::{otp_attempts, otps};
use dwar_sql::{At, AttemptRow, Id, OtpRow, RefusedRow, of_phone, with_attempts};

diesel::define_sql_function! {
    /// The greater one.
    fn greatest(one: diesel::sql_types::Integer, other: diesel::sql_types::Integer)
        -> diesel::sql_types::Integer;
}

/// Rows of one statement: beyond that it would have more parameters than the protocol allows.
const ROWS: usize = 1_000;

#[async_trait]
impl OtpHistory for PostgresStore {
    async fn newest(
        &self,
        project: ProjectId,
        before: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                // As a range, and first in the order: else the planner may walk the primary key
                // backwards, past all that other projects have sent since.
                let mut wanted = otps::table
                    .filter(otps::project_id.ge(Id::from(project)))
                    .filter(otps::project_id.le(Id::from(project)))
                    .order((otps::project_id.desc(), otps::id.desc()))
                    .limit(limit.into())
                    .select(OtpRow::as_select())
                    .into_boxed();
                if let Some(before) = before {
                    wanted = wanted.filter(otps::id.lt(Id::from(before)));
                }
                let rows = wanted.load(conn)?;
                whole(conn, rows)
            })
            .await
    }

    async fn of_phone(
        &self,
        world: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        self.pool
            .of(world.project)
            .run(move |conn| {
                let rows = of_phone!(otps of world, phone.0.as_slice())
                    .order(otps::id.desc())
                    .limit(limit.into())
                    .select(OtpRow::as_select())
                    .load(conn)?;
                whole(conn, rows)
            })
            .await
    }
}

/// The requests of these rows, in their order. What changes in between is shown as it is then.
fn whole(conn: &mut PgConnection, rows: Vec<OtpRow>) -> Result<Vec<Otp>, Failure> {
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    let attempts = otp_attempts::table
        .filter(otp_attempts::otp_id.eq_any(ids))
        .select((otp_attempts::otp_id, AttemptRow::as_select()))
        .load::<(Id, AttemptRow)>(conn)?;
    Ok(with_attempts(rows, attempts)?)
}

#[async_trait]
impl RefusalStore for PostgresStore {
    async fn count(&self, tally: TallyId, counts: Vec<RefusedSends>) -> Result<(), StoreError> {
        for counts in counts.chunks(ROWS) {
            let counts = counts.to_vec();
            self.pool
                .run(move |conn| {
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

    async fn of_phone(
        &self,
        world: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<RefusedSends>, StoreError> {
        self.pool
            .of(world.project)
            .run(move |conn| {
                let rows = of_phone!(refused_sends of world, phone.0.as_slice())
                    .order(minute.desc())
                    .limit(limit.into())
                    .select(RefusedRow::as_select())
                    .load(conn)?;
                Ok(RefusedSends::added_up(dwar_sql::all(rows)?))
            })
            .await
    }

    async fn of_project(
        &self,
        project: ProjectId,
        since: Timestamp,
        most: u32,
    ) -> Result<Vec<RefusedSends>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                let rows = refused_sends::table
                    .filter(refused_sends::project_id.eq(Id::from(project)))
                    .filter(minute.ge(At::from(since)))
                    .order(minute.desc())
                    .limit(most.into())
                    .select(RefusedRow::as_select())
                    .load(conn)?;
                Ok(RefusedSends::without_phones(dwar_sql::all(rows)?))
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_before("refused_sends", "minute", before).await
    }
}
