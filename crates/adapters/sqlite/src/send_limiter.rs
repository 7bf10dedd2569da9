use crate::convert::Row;
use crate::pool::{SWEEP, SqliteStore};
use crate::schema::send_slots;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{OtpId, StoreError, Timestamp};
use dwar_ratelimit::{Admission, Quota, SendKey, SendLimiter, Window};

#[async_trait]
impl SendLimiter for SqliteStore {
    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        self.write(move |connection| {
            let (project, send) = (key.project.to_string(), send.to_string());
            let taken: Vec<i64> = send_slots::table
                .filter(send_slots::project_id.eq(&project))
                .filter(send_slots::mode.eq(key.mode.as_str()))
                .filter(send_slots::phone_index.eq(key.phone.0.as_slice()))
                .order(send_slots::taken_at)
                .select(send_slots::taken_at)
                .load(connection)?;
            let row = Row::new("send_slots", &project);
            let mut window = taken
                .into_iter()
                .map(|at| row.instant("taken_at", at))
                .collect::<Result<Window, _>>()?;
            let admission = window.hit(quota, now);
            if admission.admitted {
                let slot = (
                    send_slots::send_id.eq(&send),
                    send_slots::project_id.eq(&project),
                    send_slots::mode.eq(key.mode.as_str()),
                    send_slots::phone_index.eq(key.phone.0.as_slice()),
                    send_slots::taken_at.eq(now.timestamp_millis()),
                );
                diesel::insert_into(send_slots::table).values(slot).execute(connection)?;
            }
            Ok(admission)
        })
        .await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.write(move |connection| {
            let slot = send_slots::table
                .filter(send_slots::send_id.eq(send.to_string()))
                .filter(send_slots::project_id.eq(key.project.to_string()))
                .filter(send_slots::mode.eq(key.mode.as_str()))
                .filter(send_slots::phone_index.eq(key.phone.0.as_slice()));
            diesel::delete(slot).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = before.timestamp_millis();
        self.drain(move |connection| {
            let old: Vec<String> = send_slots::table
                .filter(send_slots::taken_at.lt(before))
                .select(send_slots::send_id)
                .limit(SWEEP.into())
                .load(connection)?;
            let old = send_slots::table.filter(send_slots::send_id.eq_any(old));
            diesel::delete(old).execute(connection)
        })
        .await
    }
}
