use crate::PostgresStore;
use crate::send_log::read_log;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendKey, SendLimiter, SendLog};
use dwar_sql::schema::send_slots;
use dwar_sql::{Id, of_phone};

#[async_trait]
impl SendLimiter for PostgresStore {
    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError> {
        self.of(key.project_mode.project)
            .read("ratelimit.log", move |conn| Ok(read_log(conn, &key)?.log))
            .await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.of(key.project_mode.project)
            .write_one("ratelimit.forgive", move |conn| {
                let phone = key.phone.0.as_slice();
                let slot = of_phone!(send_slots of key.project_mode, phone)
                    .filter(send_slots::send_id.eq(Id::from(send)));
                let forgiven = send_slots::forgiven.eq(true);
                diesel::update(slot).set(forgiven).execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_made_before("send_slots", "send_id", before).await
    }
}
