use dwar_activity::installation::{Instance, InstanceTrouble, OpenAlert};
use dwar_activity::{Counts, FiguresLease, Grain, Key};
use dwar_event::{Endpoint, EndpointCall, Event};
use dwar_identity::Identity;
use dwar_kernel::{
    BlindIndex, Digest, EndpointId, InstanceId, OperatorId, OtpId, ProjectId, ProjectMode,
    RecorderId, SearcherId, StoreError, Timestamp,
};
use dwar_operator::{
    AdminToken, AuditEntry, FailureCounter, OneTimeLink, Operator, OperatorSession, Passkey,
    Searches,
};
use dwar_otp::idempotency::{IdempotencyRecord, IdempotencySlot};
use dwar_otp::sandbox::InboxMessage;
use dwar_otp::{GuessBudget, KeptReceipt, Otp, RefusedSends};
use dwar_project::{Hook, KeyRecord, Project};
use dwar_ratelimit::guard::{GuardLevel, GuardMark, GuardSubject};
use dwar_ratelimit::{SendKey, SendSlot};
use dwar_session::{Session, SigningKey};
use dwar_wallet::{Balance, Closing, DaySpend, LedgerProof, OpenHold, ProofRun, StatementLine};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub projects: Vec<(Project, [KeyRecord; 2])>,
    pub otps: Vec<Otp>,
    pub budgets: HashMap<(ProjectMode, BlindIndex), GuessBudget>,
    pub inbox: Vec<(ProjectId, InboxMessage)>,
    pub identities: Vec<(BlindIndex, Identity)>,
    pub sessions: Vec<Session>,
    pub signing_keys: Vec<SigningKey>,
    /// The wallets, each with the position of its newest entry.
    pub wallets: BTreeMap<ProjectId, (Balance, u64)>,
    pub day_spends: HashMap<ProjectId, DaySpend>,
    pub ledger: Vec<(ProjectId, StatementLine)>,
    pub closings: Vec<Closing>,
    pub holds: Vec<OpenHold>,
    pub proofs: Vec<LedgerProof>,
    pub proof_runs: HashMap<ProjectId, ProofRun>,
    pub places: Vec<(SendKey, OtpId, SendSlot)>,
    pub records: Vec<(IdempotencySlot, IdempotencyRecord)>,
    pub receipts: Vec<Kept>,
    pub endpoints: Vec<Endpoint>,
    pub waiting: Vec<Waiting>,
    pub calls: Vec<EndpointCall>,
    pub told: HashMap<String, Event>,
    /// The feeds of all projects and modes in order, and the number of the last appended event.
    pub fed: Vec<FeedEvent>,
    pub last_fed: u64,
    /// The last event that was removed from each feed.
    pub dropped_fed: HashMap<ProjectMode, u64>,
    /// The name of the feeds' life, to which cursors belong.
    pub life: String,
    pub operators: Vec<Operator>,
    pub links: Vec<OneTimeLink>,
    pub operator_sessions: Vec<OperatorSession>,
    pub failure_counters: HashMap<(OperatorId, Digest), FailureCounter>,
    /// Used challenges of passkeys, kept until they expire.
    pub used_challenges: HashMap<Digest, Timestamp>,
    pub passkeys: Vec<Passkey>,
    pub admin_tokens: Vec<AdminToken>,
    pub hooks: Vec<Hook>,
    pub audit: Vec<AuditEntry>,
    pub searches: HashMap<SearcherId, Searches>,
    pub instances: Vec<Instance>,
    pub troubles: Vec<(InstanceId, InstanceTrouble)>,
    pub alerts: Vec<OpenAlert>,
    pub figures: BTreeMap<(Grain, Timestamp, Key), Counts>,
    pub figures_lease: FiguresLease,
    pub refused: Vec<(RecorderId, RefusedSends)>,
    pub guard_marks: HashMap<OtpId, GuardMark>,
    pub guard_levels: BTreeMap<(ProjectId, GuardSubject), GuardLevel>,
}

/// An event that is still to be delivered to an endpoint.
#[derive(Clone, Debug)]
pub struct Waiting {
    pub endpoint: EndpointId,
    pub event: Event,
    pub failures: u32,
    pub due_at: Timestamp,
}

/// An event in the feed of its project and mode.
#[derive(Clone, Debug)]
pub struct FeedEvent {
    pub number: u64,
    pub event: Event,
}

/// A stored receipt, and when it may be handed out.
#[derive(Clone, Debug)]
pub struct Kept {
    pub kept: KeptReceipt,
    /// When it may be handed out or is checked again.
    pub due_at: Timestamp,
    pub known: bool,
}

/// Implements every store port in the memory of this process, as simply as the contract of the
/// ports allows. A restart loses everything.
///
/// One lock protects everything, so only one step at a time changes the state. Look-ups scan all
/// rows, so this store is meant for a test suite with a few thousand rows, not for a service.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    #[cfg(feature = "faults")]
    faults: crate::faults::Faults,
}

impl MemoryStore {
    /// Domain functions do not panic. If one did, its partial state would only matter to a failing
    /// test.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a step of a port; `name` is its port and method. The step ends when the guard is
    /// dropped.
    #[cfg(not(feature = "faults"))]
    pub(crate) async fn step(&self, _name: &'static str) -> Result<StateGuard<'_>, StoreError> {
        Ok(self.lock())
    }
}

#[cfg(not(feature = "faults"))]
type StateGuard<'store> = MutexGuard<'store, State>;

#[cfg(feature = "faults")]
impl MemoryStore {
    /// The faults with which its steps can be made to fail.
    pub fn faults(&self) -> &crate::faults::Faults {
        &self.faults
    }

    pub(crate) async fn step(&self, name: &'static str) -> Result<StateGuard<'_>, StoreError> {
        if !self.faults.strike(name)? {
            return Ok(StateGuard::Alone(self.lock()));
        }
        let copy = Box::new(self.lock().clone());
        // Long enough for all concurrent steps to read before the first of them writes.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        Ok(StateGuard::Torn(copy, self))
    }
}

#[cfg(feature = "faults")]
pub(crate) enum StateGuard<'store> {
    Alone(MutexGuard<'store, State>),
    /// Writes back the copy that was read, whatever others wrote meanwhile.
    Torn(Box<State>, &'store MemoryStore),
}

#[cfg(feature = "faults")]
impl std::ops::Deref for StateGuard<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        match self {
            Self::Alone(state) => state,
            Self::Torn(copy, _) => copy,
        }
    }
}

#[cfg(feature = "faults")]
impl std::ops::DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut State {
        match self {
            Self::Alone(state) => state,
            Self::Torn(copy, _) => copy,
        }
    }
}

#[cfg(feature = "faults")]
impl Drop for StateGuard<'_> {
    fn drop(&mut self) {
        if let Self::Torn(copy, store) = self {
            *store.lock() = std::mem::take(copy);
        }
    }
}
