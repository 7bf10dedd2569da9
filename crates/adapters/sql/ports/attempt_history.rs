use crate::dialect::Store;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{KeyMode, StoreError, Timestamp};
use dwar_otp::{AttemptHistory, DeliveryAttempt};
use dwar_sql::schema::{otp_attempts, otps};
use dwar_sql::{AttemptRow, Id, read_each};

#[async_trait]
impl AttemptHistory for Store {
    async fn newest_attempts(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<DeliveryAttempt>, StoreError> {
        self.scan("otp.newest_attempts", move |conn| {
            let query = otp_attempts::table
                .inner_join(otps::table)
                .filter(otps::mode.eq(KeyMode::Live.as_str()))
                .filter(otps::id.ge(Id::first_at(since)))
                .order((otps::id.desc(), otp_attempts::position.desc()))
                .limit(i64::from(limit));
            Ok(read_each!(AttemptRow of query, conn))
        })
        .await
    }
}
