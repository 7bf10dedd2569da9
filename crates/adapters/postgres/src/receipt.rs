use crate::PostgresStore;
use crate::convert::Row;
use crate::schema::receipts;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{ReceiptId, StoreError, Timestamp};
use dwar_otp::{KeptReceipt, Receipt, ReceiptStore};
use std::time::Duration;
use uuid::Uuid;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = receipts)]
struct ReceiptRow {
    id: Uuid,
    provider: String,
    provider_ref: String,
    report: String,
    reason: Option<String>,
    received_at: Timestamp,
    due_at: Timestamp,
}

impl From<&KeptReceipt> for ReceiptRow {
    fn from(kept: &KeptReceipt) -> Self {
        let (report, reason) = kept.receipt.words();
        Self {
            id: kept.id.uuid(),
            provider: kept.receipt.provider.clone(),
            provider_ref: kept.receipt.provider_ref.clone(),
            report: report.to_owned(),
            reason: reason.map(str::to_owned),
            received_at: kept.received_at,
            due_at: kept.received_at,
        }
    }
}

impl TryFrom<ReceiptRow> for KeptReceipt {
    type Error = StoreError;

    fn try_from(row: ReceiptRow) -> Result<Self, StoreError> {
        let reason = row.reason.as_deref();
        let receipt = Receipt::from_words(row.provider, row.provider_ref, &row.report, reason);
        Ok(Self {
            id: row.id.into(),
            receipt: Row::new("receipts", row.id).known("report", receipt)?,
            received_at: row.received_at,
        })
    }
}

#[async_trait]
impl ReceiptStore for PostgresStore {
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError> {
        self.pool
            .run(move |conn| {
                let rows: Vec<_> = receipts.iter().map(ReceiptRow::from).collect();
                diesel::insert_into(receipts::table)
                    .values(rows)
                    .on_conflict_do_nothing()
                    .execute(conn)?;
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
        self.pool
            .transaction(move |conn| {
                let rows: Vec<ReceiptRow> = receipts::table
                    .filter(receipts::due_at.le(now))
                    .order((receipts::due_at, receipts::received_at, receipts::id))
                    .limit(i64::from(limit))
                    .select(ReceiptRow::as_select())
                    .for_update()
                    .skip_locked()
                    .load(conn)?;
                diesel::update(receipts::table)
                    .filter(receipts::id.eq_any(rows.iter().map(|row| row.id)))
                    .set(receipts::due_at.eq(now + lease))
                    .execute(conn)?;
                Ok(rows.into_iter().map(KeptReceipt::try_from).collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError> {
        self.pool
            .run(move |conn| {
                diesel::delete(receipts::table.find(receipt.uuid())).execute(conn)?;
                Ok(())
            })
            .await
    }
}
