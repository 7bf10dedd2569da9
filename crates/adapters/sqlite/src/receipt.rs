use crate::convert::Row;
use crate::pool::SqliteStore;
use crate::schema::receipts;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{ReceiptId, StoreError, Timestamp};
use dwar_otp::{KeptReceipt, Receipt, ReceiptStore};
use std::time::Duration;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = receipts)]
struct ReceiptRow {
    id: String,
    provider: String,
    provider_ref: String,
    report: String,
    reason: Option<String>,
    received_at: i64,
    due_at: i64,
}

impl From<KeptReceipt> for ReceiptRow {
    fn from(kept: KeptReceipt) -> Self {
        let (report, reason) = kept.receipt.words();
        let received_at = kept.received_at.timestamp_millis();
        Self {
            id: kept.id.to_string(),
            report: report.to_owned(),
            reason: reason.map(str::to_owned),
            provider: kept.receipt.provider,
            provider_ref: kept.receipt.provider_ref,
            received_at,
            due_at: received_at,
        }
    }
}

impl TryFrom<ReceiptRow> for KeptReceipt {
    type Error = StoreError;

    fn try_from(stored: ReceiptRow) -> Result<Self, StoreError> {
        let row = Row::new("receipts", &stored.id);
        let (provider, provider_ref) = (stored.provider, stored.provider_ref);
        let reason = stored.reason.as_deref();
        let receipt = Receipt::from_words(provider, provider_ref, &stored.report, reason);
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            receipt: row.known("report", receipt)?,
            received_at: row.instant("received_at", stored.received_at)?,
        })
    }
}

#[async_trait]
impl ReceiptStore for SqliteStore {
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError> {
        self.write(move |connection| {
            for kept in receipts {
                let row = ReceiptRow::from(kept);
                diesel::insert_into(receipts::table).values(row).execute(connection)?;
            }
            Ok(())
        })
        .await
    }

    /// In the order of their being due, so that those nobody knows hold up no newer ones.
    async fn claim(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<KeptReceipt>, StoreError> {
        self.write(move |connection| {
            let due = receipts::table
                .filter(receipts::due_at.le(now.timestamp_millis()))
                .order((receipts::due_at, receipts::received_at, receipts::id))
                .limit(i64::from(limit))
                .select(ReceiptRow::as_select())
                .load(connection)?;
            let again = (now + lease).timestamp_millis();
            let mut claimed = Vec::with_capacity(due.len());
            for row in due {
                diesel::update(receipts::table.find(&row.id))
                    .set(receipts::due_at.eq(again))
                    .execute(connection)?;
                claimed.push(row.try_into()?);
            }
            Ok(claimed)
        })
        .await
    }

    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError> {
        self.write(move |connection| {
            diesel::delete(receipts::table.find(receipt.to_string())).execute(connection)?;
            Ok(())
        })
        .await
    }
}
