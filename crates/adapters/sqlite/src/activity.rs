use crate::connection::command::snapshot;
use crate::connection::error::Failure;
use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::Integer;
use dwar_kernel::{BlindIndex, OtpId, ProjectId, ProjectMode, StoreError, TallyId, Timestamp};
use dwar_otp::{Otp, OtpHistory, RefusalStore, RefusedSends};
use dwar_sql::schema::{otp_attempts, otps, refused_sends};
use dwar_sql::statement;
use dwar_sql::{At, AttemptRow, Id, OtpRow, RefusedRow, of_phone, with_attempts};

#[async_trait]
impl OtpHistory for SqliteStore {
    async fn newest(
        &self,
        project: ProjectId,
        before: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        self.of(project)
            .scan(move |connection| {
                snapshot(connection, |connection| {
                    let mut wanted = otps::table
                        .filter(otps::project_id.eq(Id::from(project)))
                        .order(otps::id.desc())
                        .limit(limit.into())
                        .select(OtpRow::as_select())
                        .into_boxed();
                    if let Some(before) = before {
                        wanted = wanted.filter(otps::id.lt(Id::from(before)));
                    }
                    let rows = wanted.load(connection)?;
                    whole(connection, rows)
                })
            })
            .await
    }

    async fn of_phone(
        &self,
        world: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        self.of(world.project)
            .scan(move |connection| {
                snapshot(connection, |connection| {
                    let rows = of_phone!(otps of world, phone.0.as_slice())
                        .order(otps::id.desc())
                        .limit(limit.into())
                        .select(OtpRow::as_select())
                        .load(connection)?;
                    whole(connection, rows)
                })
            })
            .await
    }
}

/// The requests of these rows, in their order.
fn whole(connection: &mut SqliteConnection, rows: Vec<OtpRow>) -> Result<Vec<Otp>, Failure> {
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    let attempts = otp_attempts::table
        .filter(otp_attempts::otp_id.eq_any(ids))
        .select((otp_attempts::otp_id, AttemptRow::as_select()))
        .load::<(Id, AttemptRow)>(connection)?;
    Ok(with_attempts(rows, attempts)?)
}

#[async_trait]
impl RefusalStore for SqliteStore {
    async fn count(&self, tally: TallyId, counts: Vec<RefusedSends>) -> Result<(), StoreError> {
        let rows = RefusedRow::all(tally, counts);
        // Lost with the power, it is counted again as long as its minute goes on.
        self.write_ahead_of_disk(move |connection| {
            for row in rows {
                let count = diesel::dsl::sql::<Integer>("max(excluded.count, refused_sends.count)");
                let insert = diesel::insert_into(refused_sends::table).values(row);
                let key = "project_id, mode, phone_index, minute, reason, tally";
                statement::upsert(insert, key, refused_sends::count.eq(count))
                    .execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    async fn of_phone(
        &self,
        world: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<RefusedSends>, StoreError> {
        self.of(world.project)
            .scan(move |connection| {
                let rows = of_phone!(refused_sends of world, phone.0.as_slice())
                    .order(refused_sends::minute.desc())
                    .limit(limit.into())
                    .select(RefusedRow::as_select())
                    .load(connection)?;
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
        self.of(project)
            .scan(move |connection| {
                let rows = refused_sends::table
                    .filter(refused_sends::project_id.eq(Id::from(project)))
                    .filter(refused_sends::minute.ge(At::from(since)))
                    .order(refused_sends::minute.desc())
                    .limit(most.into())
                    .select(RefusedRow::as_select())
                    .load(connection)?;
                Ok(RefusedSends::without_phones(dwar_sql::all(rows)?))
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_before("refused_sends", "minute", before).await
    }
}
