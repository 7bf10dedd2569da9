use crate::convert::Row;
use crate::otp_row;
use crate::pool::{SWEEP, SqliteStore};
use crate::schema::send_slots;
use crate::statement;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{GuessPolicy, OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendAdmission, SendKey, SendLimiter, SendLog, SendQuota, SendSlot};

#[async_trait]
impl SendLimiter for SqliteStore {
    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        quota: SendQuota,
        guesses: GuessPolicy,
        now: Timestamp,
    ) -> Result<SendAdmission, StoreError> {
        // The request that is issued next takes it to the disk; a refusal writes nothing.
        self.write_ahead_of_disk(move |connection| {
            let (project, send) = (key.project.to_string(), send.to_string());
            let taken: Vec<(i64, bool)> = send_slots::table
                .filter(send_slots::project_id.eq(&project))
                .filter(send_slots::mode.eq(key.mode.as_str()))
                .filter(send_slots::phone_index.eq(key.phone.0.as_slice()))
                .order(send_slots::taken_at)
                .select((send_slots::taken_at, send_slots::forgiven))
                .load(connection)?;
            let row = Row::new("send_slots", &project);
            let slot = |(at, forgiven)| Ok(SendSlot { at: row.instant("taken_at", at)?, forgiven });
            let slots = taken.into_iter().map(slot).collect::<Result<Vec<_>, StoreError>>()?;
            let budget = otp_row::budget(connection, key.project, key.mode, key.phone)?;
            let admission = SendLog::new(slots, budget).admit(&quota, &guesses, now);
            if admission.counted.admitted {
                let slot = (
                    send_slots::send_id.eq(&send),
                    send_slots::project_id.eq(&project),
                    send_slots::mode.eq(key.mode.as_str()),
                    send_slots::phone_index.eq(key.phone.0.as_slice()),
                    send_slots::taken_at.eq(now.timestamp_millis()),
                    send_slots::forgiven.eq(false),
                );
                diesel::insert_into(send_slots::table).values(slot).execute(connection)?;
            }
            Ok(admission)
        })
        .await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.write(move |connection| {
            let forgiven = send_slots::forgiven.eq(true);
            statement::update(slot_of(&key, send), forgiven).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn withdraw(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.write(move |connection| {
            diesel::delete(slot_of(&key, send)).execute(connection)?;
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

/// The place that a send of this phone took.
#[diesel::dsl::auto_type(no_type_alias)]
fn slot_of(key: &SendKey, send: OtpId) -> _ {
    let (send, project): (String, String) = (send.to_string(), key.project.to_string());
    let mode: &'static str = key.mode.as_str();
    let phone: Vec<u8> = key.phone.0.to_vec();
    send_slots::table
        .filter(send_slots::send_id.eq(send))
        .filter(send_slots::project_id.eq(project))
        .filter(send_slots::mode.eq(mode))
        .filter(send_slots::phone_index.eq(phone))
}
