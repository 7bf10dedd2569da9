//! The steps of a login: what a send, a provider's answer and a right code change, all or nothing.
//!
//! Each step is a pure function that asks the aggregates of the other domain crates one after another, and a
//! method of [`LoginStore`] that does the same on stored data. The aggregates do not know each other; only
//! this crate knows them all (docs/adr/0049-a-login-is-three-steps.md).

mod new_send;
mod ports;
mod redemption;
mod send_report;

pub use new_send::{Cost, NewSend, Prepared};
pub use ports::*;
pub use redemption::{Redeemed, Redemption};
pub use send_report::{Concluded, Ending, SendReport};
