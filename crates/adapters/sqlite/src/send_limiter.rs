use crate::connection::command::snapshot;
use crate::connection::error::Failure;
use crate::connection::pool::SqliteStore;
use crate::connection::remembered::Changes;
use crate::connection::statement;
use crate::otp::row;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{GuessPolicy, OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendAdmission, SendKey, SendLimiter, SendLog, SendQuota, SendSlot};
use dwar_sql::schema::send_slots;
use dwar_sql::{At, Id, Row, of_phone};

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
        self.of(key.project)
            .write_ahead_of_disk(move |connection| {
                let (project, send) = (Id::from(key.project), Id::from(send));
                let admission = read_log(connection, &key)?.admit(&quota, &guesses, now);
                if admission.counted.admitted {
                    let slot = (
                        send_slots::send_id.eq(send),
                        send_slots::project_id.eq(project),
                        send_slots::mode.eq(key.mode.as_str()),
                        send_slots::phone_index.eq(key.phone.0.as_slice()),
                        send_slots::taken_at.eq(At::from(now)),
                        send_slots::forgiven.eq(false),
                    );
                    diesel::insert_into(send_slots::table).values(slot).execute(connection)?;
                }
                Ok(admission)
            })
            .await
    }

    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError> {
        self.of(key.project)
            .read(move |connection| snapshot(connection, |connection| read_log(connection, &key)))
            .await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.of(key.project)
            .write_that(Changes::NoLookUp, move |connection| {
                let phone = key.phone.0.as_slice();
                let slot = of_phone!(send_slots of key.project, key.mode, phone)
                    .filter(send_slots::send_id.eq(Id::from(send)));
                let forgiven = send_slots::forgiven.eq(true);
                statement::update(slot, forgiven).execute(connection)?;
                Ok(())
            })
            .await
    }

    async fn withdraw(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.of(key.project)
            .write_that(Changes::NoLookUp, move |connection| {
                let phone = key.phone.0.as_slice();
                let slot = of_phone!(send_slots of key.project, key.mode, phone)
                    .filter(send_slots::send_id.eq(Id::from(send)));
                diesel::delete(slot).execute(connection)?;
                Ok(())
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = Id::first_at(before);
        self.drain_gently(move |connection, rows| {
            let old: Vec<Id> = send_slots::table
                .filter(send_slots::send_id.lt(before))
                .select(send_slots::send_id)
                .limit(rows.into())
                .load(connection)?;
            let old = send_slots::table.filter(send_slots::send_id.eq_any(old));
            diesel::delete(old).execute(connection)
        })
        .await
    }
}

/// What the phone's next send is judged by.
fn read_log(connection: &mut SqliteConnection, key: &SendKey) -> Result<SendLog, Failure> {
    let taken: Vec<(At, bool)> =
        of_phone!(send_slots of key.project, key.mode, key.phone.0.as_slice())
            .order(send_slots::taken_at)
            .select((send_slots::taken_at, send_slots::forgiven))
            .load(connection)?;
    let row = Row::new("send_slots", Id::from(key.project));
    let slot = |(at, forgiven)| Ok(SendSlot { at: row.at("taken_at", at)?, forgiven });
    let slots = taken.into_iter().map(slot).collect::<Result<Vec<_>, StoreError>>()?;
    let budget = row::budget(connection, key.project, key.mode, key.phone)?;
    Ok(SendLog::new(slots, budget))
}
