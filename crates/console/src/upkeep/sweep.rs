use dwar_app::Toolbox;
use dwar_kernel::StoreError;
use dwar_operator::{AdminTokenStore, AuditStore, OperatorStore, SearchStore};
use std::sync::Arc;
use std::time::Duration;

/// Drops what operators and their tokens leave behind.
pub struct ConsoleSweep {
    pub tools: Toolbox,
    pub operators: Arc<dyn OperatorStore>,
    pub admin_tokens: Arc<dyn AdminTokenStore>,
    pub audit: Arc<dyn AuditStore>,
    pub searches: Arc<dyn SearchStore>,
    /// How long audit entries stay, and tokens from their end.
    pub kept: Duration,
}

/// What a clean-up removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsoleSwept {
    /// Links and sessions of operators, and their failures to sign in.
    pub operators: u64,
    /// Tokens of the admin API that were over.
    pub admin_tokens: u64,
    pub audit: u64,
    pub searches: u64,
}

impl ConsoleSweep {
    /// Drops what is no longer needed: nothing while the clock is too far off, nor for time that did not go by.
    pub async fn tidy(&self) -> Result<ConsoleSwept, StoreError> {
        if self.tools.watch.is_too_far_off() {
            return Ok(ConsoleSwept::default());
        }
        let now = self.tools.watch.for_sweeps();
        Ok(ConsoleSwept {
            operators: self.operators.sweep(now).await?,
            admin_tokens: self.admin_tokens.sweep(now - self.kept).await?,
            audit: self.audit.sweep(now - self.kept).await?,
            searches: self.searches.sweep(now).await?,
        })
    }
}
