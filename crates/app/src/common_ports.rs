use crate::{ClockWatch, Observer};
use dwar_kernel::{Clock, Entropy, Timestamp, Vault};
use std::sync::Arc;

/// The ports that nearly every use case needs: clock, randomness, vault and observer.
#[derive(Clone)]
pub struct CommonPorts {
    /// The only source of time.
    pub clock: Arc<dyn Clock>,
    pub watch: Arc<ClockWatch>,
    /// The only source of unpredictable bytes.
    pub entropy: Arc<dyn Entropy>,
    pub vault: Arc<dyn Vault>,
    pub observer: Arc<dyn Observer>,
}

impl CommonPorts {
    /// The present instant of the wall clock, in whole milliseconds.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
