//! Texts about the state of the installation.

use dwar_console::operations::Health;

pub(crate) const TITLE: &str = "Operations";
pub(crate) const LEAD: &str = "Health of this installation. Problems first.";
pub(crate) const LOOKED: &str = "Checked";
pub(crate) const CHECKS: &str = "Checks";
pub(crate) const LEDGER: &str =
    "The same checks as the command dwar doctor. Ledger checks are on the Wallet page.";
pub(crate) const PASSED: &str = "passed";
pub(crate) const INSTANCES: &str = "Instances";
pub(crate) const INSTANCE_HEADS: [&str; 5] = ["Host", "Status", "Version", "Address", "Started"];
pub(crate) const NO_INSTANCES: &str = "No instances registered.";
pub(crate) const ALIVE: &str = "Running";
pub(crate) const SILENT: &str = "No heartbeat since";
pub(crate) const PROCESS: &str = "process";
pub(crate) const QUEUES: &str = "Queues";
pub(crate) const QUEUE_HEADS: [&str; 3] = ["Queue", "Waiting", "Oldest since"];
pub(crate) const RECEIPTS: &str = "Delivery receipts";
pub(crate) const OVERDUE: &str = "Overdue sends";
pub(crate) const HOLDS: &str = "Codes with money reserved";
pub(crate) const FEED: &str = "Events held back from feeds";
pub(crate) const EVENTS: &str = "Events:";
pub(crate) const NO_EVENTS: &str = "Events";
pub(crate) const RETRIES: &str = "Failed events to try again:";
pub(crate) const NEXT_ATTEMPT: &str = "next attempt";
pub(crate) const LOOPS: &str = "Background jobs of this process";
pub(crate) const RUNNING: &str = "Running";
pub(crate) const ALL_RUNNING: &str = "running";
pub(crate) const DOWN: &str = "Stopped, restarting";
pub(crate) const RESTARTS: &str = "restarts";
pub(crate) const PROVIDERS: &str = "Providers, as seen by this process";
pub(crate) const PROVIDER_HEADS: [&str; 5] =
    ["Provider", "Status", "Failed recent calls", "Default for", "Projects"];
pub(crate) const CALLED: &str = "In use";
pub(crate) const LEFT_ALONE: &str = "Paused for";
pub(crate) const NO_CALLS: &str = "No calls yet";
pub(crate) const THIS: &str = "This process";
pub(crate) const VERSION: &str = "Version";
pub(crate) const DATABASE: &str = "Database";
pub(crate) const STARTED: &str = "Started";
pub(crate) const MEMORY: &str = "Memory";
pub(crate) const UNKNOWN: &str = "Unknown";

/// A word and a sign for a state, so that it does not depend only on colour.
pub(crate) const fn health(health: Health) -> (&'static str, &'static str, &'static str) {
    match health {
        Health::Good => ("good", "✓", "OK"),
        Health::Warning => ("warn", "!", "Warning"),
        Health::Failed => ("bad", "✕", "Failed"),
    }
}
