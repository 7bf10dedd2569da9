//! The ports over plain vectors: the shortest store that keeps every promise.

mod logins;
mod money;
mod otps;
mod outbox;
mod projects;
mod receipts;
mod test_quota;

use dwar_event::Endpoint;
use dwar_idempotency::{Record, Slot};
use dwar_identity::Identity;
use dwar_kernel::{BlindIndex, Digest, KeyMode, OtpId, ProjectId, SessionId, StoreError};
use dwar_otp::sandbox::InboxMessage;
use dwar_otp::{GuessBudget, Otp};
use dwar_project::{KeyRecord, Project};
use dwar_ratelimit::{SendKey, SendSlot};
use dwar_session::{Session, SigningKey};
use dwar_testkit::Stores;
use dwar_wallet::{LedgerEntry, OpenHold};
use outbox::Waiting;
use receipts::Kept;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Everything that is on record.
#[derive(Clone, Default)]
struct State {
    projects: Vec<(Project, [KeyRecord; 2])>,
    otps: Vec<Otp>,
    budgets: HashMap<(ProjectId, KeyMode, BlindIndex), GuessBudget>,
    inbox: Vec<(ProjectId, InboxMessage)>,
    identities: Vec<(BlindIndex, Identity)>,
    sessions: Vec<Session>,
    lines: HashMap<Digest, SessionId>,
    signing_keys: Vec<SigningKey>,
    ledger: Vec<(ProjectId, LedgerEntry)>,
    holds: Vec<OpenHold>,
    places: Vec<(SendKey, OtpId, SendSlot)>,
    records: HashMap<Slot, Record>,
    receipts: Vec<Kept>,
    endpoints: Vec<Endpoint>,
    waiting: Vec<Waiting>,
}

/// A store in memory; a torn one forgets the lock between reading and writing.
pub struct Model {
    state: Mutex<State>,
    torn: bool,
}

impl Model {
    pub fn open(torn: bool) -> Stores {
        Stores::of(&Arc::new(Self { state: Mutex::default(), torn }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One step of one port: the rule sees the state alone, or, torn, a copy that others overtake.
    async fn step<T>(&self, rule: impl FnOnce(&mut State) -> T) -> Result<T, StoreError> {
        if !self.torn {
            return Ok(rule(&mut self.lock()));
        }
        let mut copy = self.lock().clone();
        // Long enough for a whole crowd to read before the first of it writes.
        tokio::time::sleep(Duration::from_millis(2)).await;
        let answer = rule(&mut copy);
        *self.lock() = copy;
        Ok(answer)
    }
}

/// Drops what `old` says and gives the number.
fn drop_old<T>(rows: &mut Vec<T>, old: impl Fn(&T) -> bool) -> u64 {
    let before = rows.len();
    rows.retain(|row| !old(row));
    (before - rows.len()) as u64
}
