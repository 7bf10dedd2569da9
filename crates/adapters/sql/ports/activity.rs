use crate::activity::newest_rows;
use crate::dialect::{Conn, Failure, Store, snapshot};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, OtpId, ProjectId, ProjectMode, RecorderId, StoreError, Timestamp};
use dwar_otp::{Otp, OtpHistory, RefusalStore, RefusedSends};
use dwar_sql::schema::{otp_attempts, otps, refused_sends};
use dwar_sql::{At, AttemptRow, Id, OtpRow, RefusedRow, RefusedSumRow, of_phone, with_attempts};

#[async_trait]
impl OtpHistory for Store {
    async fn newest(
        &self,
        project_mode: ProjectMode,
        failed: bool,
        before: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        self.of(project_mode.project)
            .scan("otp.newest", move |conn| {
                snapshot(conn, |conn| {
                    let rows = newest_rows(conn, project_mode, failed, before, limit)?;
                    whole(conn, rows)
                })
            })
            .await
    }

    async fn of_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        self.of(project_mode.project)
            .scan("otp.of_phone", move |conn| {
                snapshot(conn, |conn| {
                    let rows = of_phone!(otps of project_mode, phone.0.as_slice())
                        .order(otps::id.desc())
                        .limit(limit.into())
                        .select(OtpRow::as_select())
                        .load(conn)?;
                    whole(conn, rows)
                })
            })
            .await
    }
}

/// Adds the attempts to the requests of these rows and keeps their order.
fn whole(conn: &mut Conn, rows: Vec<OtpRow>) -> Result<Vec<Otp>, Failure> {
    let ids: Vec<Id> = rows.iter().map(|row| row.id).collect();
    let attempts = otp_attempts::table
        .filter(otp_attempts::otp_id.eq_any(ids))
        .select((otp_attempts::otp_id, AttemptRow::as_select()))
        .load::<(Id, AttemptRow)>(conn)?;
    Ok(with_attempts(rows, attempts)?)
}

#[async_trait]
impl RefusalStore for Store {
    async fn count(
        &self,
        recorder: RecorderId,
        counts: Vec<RefusedSends>,
    ) -> Result<(), StoreError> {
        self.count_refused(recorder, counts).await
    }

    async fn of_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<RefusedSends>, StoreError> {
        self.of(project_mode.project)
            .scan("otp.of_phone", move |conn| {
                let rows = of_phone!(refused_sends of project_mode, phone.0.as_slice())
                    .order(refused_sends::minute.desc())
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
        until: Option<Timestamp>,
        most: u32,
    ) -> Result<Vec<RefusedSends>, StoreError> {
        self.of(project)
            .scan("otp.of_project", move |conn| {
                let mut counts = refused_sends::table
                    .group_by((
                        refused_sends::project_id,
                        refused_sends::mode,
                        refused_sends::minute,
                        refused_sends::reason,
                    ))
                    .filter(refused_sends::project_id.eq(Id::from(project)))
                    .filter(refused_sends::minute.ge(At::from(since)))
                    .order((
                        refused_sends::minute.desc(),
                        refused_sends::mode,
                        refused_sends::reason,
                    ))
                    .limit(most.into())
                    .select(RefusedSumRow::as_select())
                    .into_boxed();
                if let Some(until) = until {
                    counts = counts.filter(refused_sends::minute.lt(At::from(until)));
                }
                let rows: Vec<RefusedSumRow> = counts.load(conn)?;
                Ok(RefusedSends::added_up(dwar_sql::all(rows)?))
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_before("refused_sends", "minute", before).await
    }
}
