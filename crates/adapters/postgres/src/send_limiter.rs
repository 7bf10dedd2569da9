use crate::PostgresStore;
use crate::lock::Lock;
use crate::schema::send_slots;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{OtpId, StoreError, Timestamp};
use dwar_ratelimit::{Admission, Quota, SendKey, SendLimiter, Window};

#[async_trait]
impl SendLimiter for PostgresStore {
    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        // The request is issued after this, on disk, before any provider is called.
        self.pool
            .transaction_ahead_of_disk(move |conn| {
                Lock::SendSlots(&key.phone).take(conn)?;
                let taken: Vec<Timestamp> = send_slots::table
                    .filter(send_slots::project_id.eq(key.project.uuid()))
                    .filter(send_slots::mode.eq(key.mode.as_str()))
                    .filter(send_slots::phone_index.eq(key.phone.0.as_slice()))
                    .order(send_slots::taken_at)
                    .select(send_slots::taken_at)
                    .load(conn)?;
                let admission = taken.into_iter().collect::<Window>().hit(quota, now);
                if admission.admitted {
                    diesel::insert_into(send_slots::table)
                        .values((
                            send_slots::send_id.eq(send.uuid()),
                            send_slots::project_id.eq(key.project.uuid()),
                            send_slots::mode.eq(key.mode.as_str()),
                            send_slots::phone_index.eq(key.phone.0.as_slice()),
                            send_slots::taken_at.eq(now),
                        ))
                        .execute(conn)?;
                }
                Ok(admission)
            })
            .await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.pool
            .run(move |conn| {
                let slot = send_slots::table
                    .find(send.uuid())
                    .filter(send_slots::project_id.eq(key.project.uuid()))
                    .filter(send_slots::mode.eq(key.mode.as_str()))
                    .filter(send_slots::phone_index.eq(key.phone.0.as_slice()));
                diesel::delete(slot).execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.sweep_in_batches(move |conn| {
            let old = diesel::alias!(send_slots as old);
            let old = old
                .filter(old.field(send_slots::taken_at).lt(before))
                .select(old.field(send_slots::send_id))
                .limit(crate::SWEEP_BATCH);
            diesel::delete(send_slots::table.filter(send_slots::send_id.eq_any(old))).execute(conn)
        })
        .await
    }
}
