use crate::{ClockWatch, Observer};
use dwar_kernel::{Clock, Entropy, Timestamp, Vault};
use std::sync::Arc;

/// What nearly every use case needs: the time, randomness, the keeper of secrets, and whom to tell what
/// happened.
#[derive(Clone)]
pub struct Toolbox {
    /// The only source of the time.
    pub clock: Arc<dyn Clock>,
    pub watch: Arc<ClockWatch>,
    /// The only source of unguessable bytes.
    pub entropy: Arc<dyn Entropy>,
    pub vault: Arc<dyn Vault>,
    pub observer: Arc<dyn Observer>,
}

impl Toolbox {
    /// The present instant.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
