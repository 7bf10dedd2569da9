use dwar_kernel::StoreError;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a step does instead of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Answers [`StoreError::Unavailable`] and changes nothing.
    Fails,
    /// Answers [`StoreError::Failed`] and changes nothing.
    Breaks,
    Panics,
    /// Forgets the lock between reading and writing, as a store without transactions would.
    Tears,
}

/// Makes steps of a [`MemoryStore`](crate::MemoryStore) fail. A step is named by its port and
/// method: `OtpStore::issue`.
#[derive(Debug, Default)]
pub struct Faults {
    plan: Mutex<Plan>,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Plan {
    every: Option<Fault>,
    next: HashMap<&'static str, Fault>,
}

type Calls = HashMap<&'static str, u64>;

impl Faults {
    /// Every step from now on; `None` mends the store.
    pub fn every(&self, fault: Option<Fault>) {
        *self.plan() = Plan { every: fault, next: HashMap::new() };
    }

    /// The next step of this name, once.
    pub fn next(&self, step: &'static str, fault: Fault) {
        self.plan().next.insert(step, fault);
    }

    /// How often the step of this name was asked for, whatever became of it.
    pub fn calls(&self, step: &str) -> u64 {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.get(step).copied().unwrap_or_default()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn strike(&self, step: &'static str) -> Result<bool, StoreError> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        *calls.entry(step).or_default() += 1;
        drop(calls);
        let mut plan = self.plan();
        let fault = plan.next.remove(step).or(plan.every);
        drop(plan);
        match fault {
            None => Ok(false),
            Some(Fault::Tears) => Ok(true),
            Some(Fault::Fails) => Err(StoreError::Unavailable(format!("{step} was told to fail"))),
            Some(Fault::Breaks) => {
                Err(StoreError::Failed(format!("{step} was told to break").into()))
            }
            Some(Fault::Panics) => panic!("{step} was told to panic"),
        }
    }
}
