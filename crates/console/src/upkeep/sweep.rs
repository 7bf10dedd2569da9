use dwar_app::CommonPorts;
use dwar_kernel::StoreError;
use dwar_operator::{AdminTokenStore, AuditStore, OperatorStore, SearchStore};
use std::sync::Arc;
use std::time::Duration;

/// Deletes expired rows of operators, admin tokens, searches and the audit log.
pub struct ConsoleSweep {
    pub tools: CommonPorts,
    pub operators: Arc<dyn OperatorStore>,
    pub admin_tokens: Arc<dyn AdminTokenStore>,
    pub audit: Arc<dyn AuditStore>,
    pub searches: Arc<dyn SearchStore>,
    /// How long audit entries are kept, and tokens after their expiry.
    pub kept: Duration,
}

/// Numbers of rows that [`ConsoleSweep::tidy`] deleted, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConsoleSwept {
    /// Links, sessions and counts of failed sign-ins.
    pub operators: u64,
    pub admin_tokens: u64,
    pub audit: u64,
    pub searches: u64,
}

impl ConsoleSweep {
    /// Deletes rows whose retention is over. Does nothing while the clock is too far off, and expires nothing
    /// for time that has not passed.
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
