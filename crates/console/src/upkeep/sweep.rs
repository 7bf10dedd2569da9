use dwar_app::Toolbox;
use dwar_kernel::StoreError;
use dwar_operator::{AdminTokenStore, AuditStore, OperatorStore, SearchStore};
use std::sync::Arc;
use std::time::Duration;

/// Drops what operators and their tokens leave behind.
pub struct ConsoleSweep {
    /// Says what is over.
    pub tools: Toolbox,
    /// Drops sessions, links and failures of operators.
    pub operators: Arc<dyn OperatorStore>,
    /// Drops tokens that are over.
    pub admin_tokens: Arc<dyn AdminTokenStore>,
    /// Drops entries that were kept long enough.
    pub audit: Arc<dyn AuditStore>,
    /// Drops searches that no longer count.
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
    /// Audit entries.
    pub audit: u64,
    /// Phone numbers that were searched for.
    pub searches: u64,
}

impl ConsoleSweep {
    /// Drops what is no longer needed.
    pub async fn tidy(&self) -> Result<ConsoleSwept, StoreError> {
        let now = self.tools.now();
        Ok(ConsoleSwept {
            operators: self.operators.sweep(now).await?,
            admin_tokens: self.admin_tokens.sweep(now - self.kept).await?,
            audit: self.audit.sweep(now - self.kept).await?,
            searches: self.searches.sweep(now).await?,
        })
    }
}
