use dwar_kernel::StoreError;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How a step fails instead of doing its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Answers [`StoreError::Unavailable`] and changes nothing.
    Fails,
    /// Answers [`StoreError::Failed`] and changes nothing.
    Breaks,
    Panics,
    /// Drops the lock between reading and writing, as a store without transactions would.
    Tears,
}

/// Makes steps of a [`MemoryStore`](crate::MemoryStore) fail. A step has the name of its port and
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
    /// Makes every later step fail this way; `None` restores normal work.
    pub fn every(&self, fault: Option<Fault>) {
        *self.plan() = Plan { every: fault, next: HashMap::new() };
    }

    /// Makes the next step of this name fail, once.
    pub fn next(&self, step: &'static str, fault: Fault) {
        self.plan().next.insert(step, fault);
    }

    /// Counts the calls of the step with this name, including failed ones.
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
