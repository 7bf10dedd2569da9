//! What [`dwar_otp::ReceiptStore`] promises. Receipts belong to no tenant, so every suite is for a
//! fresh store.

use super::ROUNDS;
use crate::{Fixtures, MS, START, Stores, race, seconds};
use dwar_kernel::{ReceiptId, Timestamp};
use dwar_otp::{KeptReceipt, Reason, Receipt, Report};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

const LEASE: Duration = seconds(45);
/// Later than every receipt of a fixture.
const NOW: Timestamp = match START.checked_add_signed(chrono_minute()) {
    Some(now) => now,
    None => START,
};

async fn claim(stores: &Stores, now: Timestamp, limit: u32) -> Vec<KeptReceipt> {
    stores.receipts.claim(now, LEASE, limit).await.unwrap()
}

async fn keep(stores: &Stores, receipts: &[KeptReceipt]) {
    stores.receipts.keep(receipts.to_vec()).await.unwrap();
}
