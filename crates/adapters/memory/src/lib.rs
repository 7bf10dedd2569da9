//! Every store port in the memory of this process, and the request limiter of one instance.

mod event;
#[cfg(feature = "faults")]
mod faults;
mod idempotency;
mod identity;
mod inbox;
mod otp;
mod project;
mod receipt;
mod request_limiter;
mod send_limiter;
mod session;
mod signing_key;
mod store;
mod test_quota;
mod wallet;

#[cfg(feature = "faults")]
pub use faults::{Fault, Faults};
pub use request_limiter::MemoryRequestLimiter;
pub use store::MemoryStore;
