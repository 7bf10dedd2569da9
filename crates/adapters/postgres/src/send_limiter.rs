use crate::PostgresStore;
use crate::lock::Lock;
use crate::schema::send_slots;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendAdmission, SendKey, SendLimiter, SendLog, SendQuota, SendSlot};
use uuid::Uuid;

#[async_trait]
impl SendLimiter for PostgresStore {
    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        quota: SendQuota,
        now: Timestamp,
    ) -> Result<SendAdmission, StoreError> {
        // The request is issued after this, on disk, before any provider is called.
        self.pool
            .transaction_ahead_of_disk(move |conn| {
                Lock::SendSlots(&key.phone).take(conn)?;
                let taken: Vec<(Timestamp, bool)> = send_slots::table
                    .filter(send_slots::project_id.eq(key.project.uuid()))
                    .filter(send_slots::mode.eq(key.mode.as_str()))
                    .filter(send_slots::phone_index.eq(key.phone.0.as_slice()))
                    .order(send_slots::taken_at)
                    .select((send_slots::taken_at, send_slots::forgiven))
                    .load(conn)?;
                let slots = taken.into_iter().map(|(at, forgiven)| SendSlot { at, forgiven });
                let admission = slots.collect::<SendLog>().admit(&quota, now);
                if admission.counted.admitted {
                    diesel::insert_into(send_slots::table)
                        .values((
                            send_slots::send_id.eq(send.uuid()),
                            send_slots::project_id.eq(key.project.uuid()),
                            send_slots::mode.eq(key.mode.as_str()),
                            send_slots::phone_index.eq(key.phone.0.as_slice()),
                            send_slots::taken_at.eq(now),
                            send_slots::forgiven.eq(false),
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
                let forgiven = send_slots::forgiven.eq(true);
                diesel::update(slot_of(&key, send)).set(forgiven).execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn withdraw(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.pool
            .run(move |conn| {
                diesel::delete(slot_of(&key, send)).execute(conn)?;
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
                .limit(crate::SWEEP_BATCH)
                .for_update()
                .skip_locked();
            diesel::delete(send_slots::table.filter(send_slots::send_id.eq_any(old))).execute(conn)
        })
        .await
    }
}

/// The place that a send of this phone took.
#[diesel::dsl::auto_type(no_type_alias)]
fn slot_of(key: &SendKey, send: OtpId) -> _ {
    let (send, project): (Uuid, Uuid) = (send.uuid(), key.project.uuid());
    let mode: &'static str = key.mode.as_str();
    let phone: Vec<u8> = key.phone.0.to_vec();
    send_slots::table
        .filter(send_slots::send_id.eq(send))
        .filter(send_slots::project_id.eq(project))
        .filter(send_slots::mode.eq(mode))
        .filter(send_slots::phone_index.eq(phone))
}
