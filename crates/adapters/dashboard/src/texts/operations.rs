//! How the installation is doing.

use dwar_app::operations::Health;

pub(crate) const TITLE: &str = "Operations";
pub(crate) const LEAD: &str = "The state of this installation, problems first.";
pub(crate) const LOOKED: &str = "Checked";
pub(crate) const AGAIN: &str = "Check again";
pub(crate) const CHECKS: &str = "Checks";
pub(crate) const LEDGER: &str =
    "The same checks as the command dwar doctor. The proof of the ledger is on the Wallet page.";
pub(crate) const INSTANCES: &str = "Instances";
pub(crate) const INSTANCE_HEADS: [&str; 5] =
    ["Machine", "State", "Version", "Listens on", "Started"];
pub(crate) const NO_INSTANCES: &str = "None is on record.";
pub(crate) const ALIVE: &str = "alive";
pub(crate) const SILENT: &str = "silent since";
pub(crate) const PROCESS: &str = "process";
pub(crate) const QUEUES: &str = "Queues";
pub(crate) const QUEUE_HEADS: [&str; 3] = ["What waits", "How many", "Longest since"];
pub(crate) const RECEIPTS: &str = "Receipts to process";
pub(crate) const OVERDUE: &str = "Overdue sends";
pub(crate) const HOLDS: &str = "Open holds";
pub(crate) const EVENTS: &str = "Events of";
pub(crate) const NO_EVENTS: &str = "Events";
pub(crate) const LOOPS: &str = "Background work of this process";
pub(crate) const RUNNING: &str = "runs";
pub(crate) const DOWN: &str = "down, will be restarted in a moment";
pub(crate) const RESTARTS: &str = "restarts";
pub(crate) const PROVIDERS: &str = "Providers, as this process sees them";
pub(crate) const PROVIDER_HEADS: [&str; 5] =
    ["Provider", "State", "Faults of its latest calls", "Used by default", "Named by"];
pub(crate) const NO_PROVIDERS: &str =
    "None is configured, so live keys can send nothing. See docs/providers.md.";
pub(crate) const CALLED: &str = "called";
pub(crate) const LEFT_ALONE: &str = "not called for";
pub(crate) const NO_CALLS: &str = "no call yet";
pub(crate) const THIS: &str = "This process";
pub(crate) const VERSION: &str = "Version";
pub(crate) const DATABASE: &str = "Database";
pub(crate) const STARTED: &str = "Started";
pub(crate) const MEMORY: &str = "Memory";
pub(crate) const UNKNOWN: &str = "Unknown";

/// A word and a sign for how bad it is, so that colour is not all there is.
pub(crate) const fn health(health: Health) -> (&'static str, &'static str, &'static str) {
    match health {
        Health::Good => ("good", "✓", "ok"),
        Health::Warning => ("warn", "!", "warning"),
        Health::Failed => ("bad", "✕", "failed"),
    }
}
