//! Rows of providers' receipts that are not applied yet.

use crate::schema::receipts;
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_otp::{KeptReceipt, Receipt};

/// Row of `receipts`, without two columns: `known` (whether its message is on record) and `due_at` (when to apply or
/// check it).
#[derive(QueryableByName, Insertable)]
#[diesel(table_name = receipts)]
pub struct ReceiptRow {
    pub id: Id,
    pub provider: String,
    pub provider_ref: String,
    pub report: String,
    pub reason: Option<String>,
    pub received_at: At,
}

/// A receipt whose message was not on record, and whether the message is on record now.
#[derive(QueryableByName)]
#[diesel(table_name = receipts)]
pub struct UnknownRow {
    pub id: Id,
    pub received_at: At,
    pub known: bool,
}

impl From<&KeptReceipt> for ReceiptRow {
    fn from(kept: &KeptReceipt) -> Self {
        let (report, reason) = kept.receipt.words();
        Self {
            id: kept.id.into(),
            provider: kept.receipt.provider.clone(),
            provider_ref: kept.receipt.provider_ref.clone(),
            report: report.to_owned(),
            reason: reason.map(str::to_owned),
            received_at: kept.received_at.into(),
        }
    }
}

impl TryFrom<ReceiptRow> for KeptReceipt {
    type Error = StoreError;

    fn try_from(row: ReceiptRow) -> Result<Self, StoreError> {
        let read = Row::new("receipts", row.id);
        let reason = row.reason.as_deref();
        let receipt = Receipt::from_words(row.provider, row.provider_ref, &row.report, reason);
        Ok(Self {
            id: read.id("id", row.id)?,
            receipt: read.known("report", receipt)?,
            received_at: read.at("received_at", row.received_at)?,
        })
    }
}
