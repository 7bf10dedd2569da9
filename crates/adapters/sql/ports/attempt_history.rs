use crate::activity::NEWEST_LIVE;
use crate::dialect::Store;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::Integer;
use dwar_kernel::{StoreError, Timestamp};
use dwar_otp::{AttemptHistory, DeliveryAttempt};
use dwar_sql::schema::otp_attempts;
use dwar_sql::{AttemptRow, Id, OtpIdRow, newest_first, readable};

#[async_trait]
impl AttemptHistory for Store {
    async fn newest_attempts(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<DeliveryAttempt>, StoreError> {
        self.scan("otp.newest_attempts", move |conn| {
            let otps: Vec<OtpIdRow> = diesel::sql_query(NEWEST_LIVE)
                .bind::<Id, _>(Id::first_at(since))
                .bind::<Integer, _>(i32::try_from(limit).unwrap_or(i32::MAX))
                .load(conn)?;
            let otps: Vec<Id> = otps.into_iter().map(|otp| otp.id).collect();
            let attempts = otp_attempts::table
                .filter(otp_attempts::otp_id.eq_any(otps))
                .select((otp_attempts::otp_id, AttemptRow::as_select()))
                .load::<(Id, AttemptRow)>(conn)?;
            Ok(readable!(newest_first(attempts, limit)))
        })
        .await
    }
}
