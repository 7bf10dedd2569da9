//! Background work: sweeps, receipts, events.

mod apply_receipts;
mod call_endpoints;
mod clock_set_back;
mod crew;
mod provider_watch;
mod sweep;
mod tally;
mod tell_events;

pub use apply_receipts::ApplyReceipts;
pub use call_endpoints::call_endpoints;
pub use clock_set_back::ClockSetBack;
pub use crew::{Chores, keep_going};
pub use provider_watch::ProviderWatch;
pub use sweep::{Retention, Sweep, Swept};
pub use tally::Tally;
pub use tell_events::{Resting, TellEvents};
