use crate::event::Waiting;
use crate::receipt::Kept;
use dwar_event::Endpoint;
use dwar_identity::Identity;
use dwar_kernel::{BlindIndex, KeyMode, OtpId, ProjectId, StoreError};
use dwar_otp::idempotency::{Record, Slot};
use dwar_otp::sandbox::InboxMessage;
use dwar_otp::{GuessBudget, Otp};
use dwar_project::{KeyRecord, Project};
use dwar_ratelimit::{SendKey, SendSlot};
use dwar_session::{Session, SigningKey};
use dwar_wallet::{LedgerEntry, OpenHold};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Everything that is on record.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub projects: Vec<(Project, [KeyRecord; 2])>,
    pub otps: Vec<Otp>,
    pub budgets: HashMap<(ProjectId, KeyMode, BlindIndex), GuessBudget>,
    pub inbox: Vec<(ProjectId, InboxMessage)>,
    pub identities: Vec<(BlindIndex, Identity)>,
    pub sessions: Vec<Session>,
    pub signing_keys: Vec<SigningKey>,
    pub ledger: Vec<(ProjectId, LedgerEntry)>,
    pub holds: Vec<OpenHold>,
    pub places: Vec<(SendKey, OtpId, SendSlot)>,
    pub records: HashMap<Slot, Record>,
    pub receipts: Vec<Kept>,
    pub endpoints: Vec<Endpoint>,
    pub waiting: Vec<Waiting>,
}

/// Every store port in the memory of this process: the shortest store that keeps every promise.
/// A restart begins anew.
///
/// One lock over everything: a step sees the state alone. Look-ups go through all rows, so this is
/// for the some thousand rows of a test suite, not for a service.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    #[cfg(feature = "faults")]
    faults: crate::faults::Faults,
}

impl MemoryStore {
    /// Domain functions do not panic; should one, what it left is no worse than a test that ends.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One step of one port, `name`: the rule sees the state alone.
    #[cfg(not(feature = "faults"))]
    pub(crate) async fn step<T>(
        &self,
        _name: &'static str,
        rule: impl FnOnce(&mut State) -> T,
    ) -> Result<T, StoreError> {
        Ok(rule(&mut self.lock()))
    }
}

#[cfg(feature = "faults")]
impl MemoryStore {
    /// What its steps are made to do instead of their work.
    pub fn faults(&self) -> &crate::faults::Faults {
        &self.faults
    }

    pub(crate) async fn step<T>(
        &self,
        name: &'static str,
        rule: impl FnOnce(&mut State) -> T,
    ) -> Result<T, StoreError> {
        if !self.faults.strike(name)? {
            return Ok(rule(&mut self.lock()));
        }
        let mut copy = self.lock().clone();
        // Long enough for a whole crowd to read before the first of it writes.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        let answer = rule(&mut copy);
        *self.lock() = copy;
        Ok(answer)
    }
}

/// Drops what `old` says and gives the number.
pub(crate) fn drop_old<T>(rows: &mut Vec<T>, old: impl Fn(&T) -> bool) -> u64 {
    let before = rows.len();
    rows.retain(|row| !old(row));
    (before - rows.len()) as u64
}
