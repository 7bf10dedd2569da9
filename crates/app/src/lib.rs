//! The use cases of a login, one file each.
//!
//! A use case is a struct of the ports that it needs (filled in by [`Parts`], or by a test), with one method
//! per kind of request. Refusals are the variants of its error.

mod calls;
mod clock_watch;
mod common_ports;
mod guard;
mod limits;
mod observer;
mod parts;
mod policies;
mod refusals;
mod setup;
mod stores;
mod upkeep;

pub use calls::*;
pub use clock_watch::{ClockReading, ClockWatch};
pub use common_ports::CommonPorts;
pub use guard::Guard;
pub use limits::{Limits, ModeLimits};
pub use observer::{AnsweredRequest, GuessEnd, Observer, ReceiptEnd, SendEnd, SendKind};
pub use parts::{ExternalPorts, Parts, Service, UseCases};
pub use policies::Policies;
pub use setup::*;
pub use stores::Stores;
pub use upkeep::*;
