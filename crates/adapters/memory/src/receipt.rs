use crate::store::{Kept, MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{ReceiptId, StoreError, Timestamp};
use dwar_otp::{
    DeliveryAttempt, KeptReceipt, Otp, Receipt, ReceiptReview, ReceiptRoom, ReceiptStore,
    UnknownReceipts,
};
use std::time::Duration;

impl Kept {
    /// When the receipt may be handed out; `None` if its message is not known.
    pub fn due(&self) -> Option<Timestamp> {
        self.known.then_some(self.due_at)
    }

    /// Tells whether the receipt reports a failed message.
    pub const fn failed(&self) -> bool {
        matches!(self.kept.receipt.report, dwar_otp::Report::Failed(_))
    }

    fn age(&self) -> (Timestamp, ReceiptId) {
        (self.kept.received_at, self.kept.id)
    }
}

fn same_message(one: &Receipt, other: &Receipt) -> bool {
    (&one.provider, &one.provider_ref) == (&other.provider, &other.provider_ref)
}

/// The attempts to which a provider's reference may belong.
pub fn attempts_of<'otps>(
    otps: &'otps [Otp],
    provider: &str,
    provider_ref: &str,
) -> impl Iterator<Item = (&'otps Otp, &'otps DeliveryAttempt)> {
    let attempts = otps.iter().flat_map(|otp| otp.delivery.attempts.iter().map(move |a| (otp, a)));
    attempts.filter(move |(_, attempt)| {
        attempt.provider == provider && attempt.provider_ref.as_deref() == Some(provider_ref)
    })
}

fn is_on_record(otps: &[Otp], receipt: &Receipt) -> bool {
    attempts_of(otps, &receipt.provider, &receipt.provider_ref).next().is_some()
}

impl State {
    /// Makes unknown receipts due whose attempt is recorded by now.
    pub fn wake_receipts(&mut self) {
        for row in self.receipts.iter_mut().filter(|row| !row.known) {
            row.known = is_on_record(&self.otps, &row.kept.receipt);
            if row.known {
                row.due_at = row.kept.received_at;
            }
        }
    }
}

#[async_trait]
impl ReceiptStore for MemoryStore {
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError> {
        let state = &mut *self.step("ReceiptStore::keep").await?;
        for kept in receipts {
            let repeats = |row: &Kept| row.kept.id == kept.id || row.kept.receipt == kept.receipt;
            if !state.receipts.iter().any(repeats) {
                let known = is_on_record(&state.otps, &kept.receipt);
                let at = kept.received_at;
                let check_at = KeptReceipt::next_check(at, at).unwrap_or(at);
                let due_at = if known { at } else { check_at };
                state.receipts.push(Kept { kept, due_at, known });
            }
        }
        Ok(())
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease: Duration,
        room: ReceiptRoom,
    ) -> Result<Vec<KeptReceipt>, StoreError> {
        let state = &mut *self.step("ReceiptStore::claim").await?;
        let all = state.receipts.clone();
        let is_first = |row: &&mut Kept| {
            let mut same = all.iter().filter(|o| same_message(&o.kept.receipt, &row.kept.receipt));
            same.all(|other| other.age() >= row.age())
        };
        state.receipts.sort_by_key(|row| (row.due_at, row.kept.id));
        let mut claimed = Vec::new();
        for (calling, most) in [(false, room.others), (true, room.calling)] {
            let of_kind = |row: &&mut Kept| {
                row.known && row.kept.may_call_next_provider() == calling && row.due_at <= now
            };
            let due = state.receipts.iter_mut().filter(of_kind);
            for row in due.filter(is_first).take(most as usize) {
                row.due_at = now + lease;
                claimed.push(row.kept.clone());
            }
        }
        Ok(claimed)
    }

    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("ReceiptStore::bring_forward").await?;
        let late = state.receipts.iter_mut().filter(|row| row.due_at > later_than);
        Ok(late.map(|row| row.due_at = to).count() as u64)
    }

    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError> {
        self.step("ReceiptStore::done").await?.receipts.retain(|row| row.kept.id != receipt);
        Ok(())
    }

    async fn review(&self, now: Timestamp, most: u32) -> Result<ReceiptReview, StoreError> {
        let state = &mut *self.step("ReceiptStore::review").await?;
        state.wake_receipts();
        let over = |row: &mut Kept| {
            !row.known && KeptReceipt::next_check(row.kept.received_at, now).is_none()
        };
        let expired = state.receipts.extract_if(.., over).count() as u64;
        state.receipts.sort_by_key(Kept::age);
        let unknown = state.receipts.iter().filter(|row| !row.known).count();
        let oldest = |row: &mut Kept| !row.known;
        let too_many = unknown.saturating_sub(most as usize);
        let crowded_out = state.receipts.extract_if(.., oldest).take(too_many).count() as u64;
        Ok(ReceiptReview { expired, crowded_out })
    }

    async fn unknown(&self) -> Result<UnknownReceipts, StoreError> {
        let state = &*self.step("ReceiptStore::unknown").await?;
        let unknown = || state.receipts.iter().filter(|row| !row.known);
        let oldest = unknown().map(|row| row.kept.received_at).min();
        Ok(UnknownReceipts { count: unknown().count() as u64, oldest })
    }
}
