use crate::store::{MemoryStore, State, drop_old};
use async_trait::async_trait;
use dwar_kernel::{ReceiptId, StoreError, Timestamp};
use dwar_otp::{KeptReceipt, Receipt, ReceiptRoom, ReceiptStore, Reviewed, UnknownReceipts};
use std::time::Duration;

/// A receipt on record.
#[derive(Clone, Debug)]
pub struct Kept {
    kept: KeptReceipt,
    /// When it may be given out, or is looked at again.
    due_at: Timestamp,
    known: bool,
}

fn same_message(one: &Receipt, other: &Receipt) -> bool {
    (&one.provider, &one.provider_ref) == (&other.provider, &other.provider_ref)
}

impl State {
    fn is_on_record(&self, receipt: &Receipt) -> bool {
        self.otps.iter().flat_map(|otp| &otp.delivery.attempts).any(|attempt| {
            attempt.provider == receipt.provider
                && attempt.provider_ref.as_ref() == Some(&receipt.provider_ref)
        })
    }

    /// Unknown receipts whose attempt is on record are due.
    pub fn wake_receipts(&mut self) {
        let mut receipts = std::mem::take(&mut self.receipts);
        for row in receipts.iter_mut().filter(|row| !row.known) {
            row.known = self.is_on_record(&row.kept.receipt);
            if row.known {
                row.due_at = row.kept.received_at;
            }
        }
        self.receipts = receipts;
    }
}

#[async_trait]
impl ReceiptStore for MemoryStore {
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError> {
        self.step("ReceiptStore::keep", |state| {
            for kept in receipts {
                let repeats =
                    |row: &Kept| row.kept.id == kept.id || row.kept.receipt == kept.receipt;
                if state.receipts.iter().any(repeats) {
                    continue;
                }
                let known = state.is_on_record(&kept.receipt);
                let at = kept.received_at;
                let look = KeptReceipt::next_look(at, at).unwrap_or(at);
                let due_at = if known { at } else { look };
                state.receipts.push(Kept { kept, due_at, known });
            }
        })
        .await
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease: Duration,
        room: ReceiptRoom,
    ) -> Result<Vec<KeptReceipt>, StoreError> {
        self.step("ReceiptStore::claim", |state| {
            let age = |kept: &KeptReceipt| (kept.received_at, kept.id);
            let all: Vec<_> = state.receipts.iter().map(|row| row.kept.clone()).collect();
            let is_first = |kept: &KeptReceipt| {
                let mut same = all.iter().filter(|o| same_message(&o.receipt, &kept.receipt));
                same.all(|other| age(other) >= age(kept))
            };
            state.receipts.sort_by_key(|row| (row.due_at, row.kept.id));
            let mut claimed = Vec::new();
            for (calling, most) in [(false, room.others), (true, room.calling)] {
                let of_kind = |row: &&mut Kept| {
                    row.known && row.kept.may_call_on() == calling && row.due_at <= now
                };
                let due = state.receipts.iter_mut().filter(of_kind);
                for row in due.filter(|row| is_first(&row.kept)).take(most as usize) {
                    row.due_at = now + lease;
                    claimed.push(row.kept.clone());
                }
            }
            claimed
        })
        .await
    }

    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError> {
        self.step("ReceiptStore::done", |state| state.receipts.retain(|row| row.kept.id != receipt))
            .await
    }

    async fn review(&self, now: Timestamp, most: u32) -> Result<Reviewed, StoreError> {
        self.step("ReceiptStore::review", |state| {
            state.wake_receipts();
            let over = |row: &Kept| {
                !row.known && KeptReceipt::next_look(row.kept.received_at, now).is_none()
            };
            let expired = drop_old(&mut state.receipts, over);
            let mut ages: Vec<_> = state.receipts.iter().filter(|row| !row.known).collect();
            ages.sort_by_key(|row| (row.kept.received_at, row.kept.id));
            let old: Vec<_> =
                ages.iter().rev().skip(most as usize).map(|row| row.kept.id).collect();
            let crowded_out = drop_old(&mut state.receipts, |row| old.contains(&row.kept.id));
            Reviewed { expired, crowded_out }
        })
        .await
    }

    async fn unknown(&self) -> Result<UnknownReceipts, StoreError> {
        self.step("ReceiptStore::unknown", |state| {
            let unknown = || state.receipts.iter().filter(|row| !row.known);
            let oldest = unknown().map(|row| row.kept.received_at).min();
            UnknownReceipts { count: unknown().count() as u64, oldest }
        })
        .await
    }
}
