//! Background work: sweeps, receipts, events.

mod apply_receipts;
mod call_endpoints;
mod clock_set_back;
mod emptied_levels;
mod provider_watch;
mod sweep;
mod tell_events;
mod usage_recorder;
mod worker_pool;

pub use apply_receipts::ApplyReceipts;
pub use call_endpoints::call_endpoints;
pub use clock_set_back::ClockSetBack;
pub(crate) use emptied_levels::EmptiedLevels;
pub use provider_watch::ProviderWatch;
pub use sweep::{Retention, Sweep, SweepResult};
pub use tell_events::{EndpointPauses, TellEvents};
pub use usage_recorder::UsageRecorder;
pub use worker_pool::{ClaimedWork, keep_going};
