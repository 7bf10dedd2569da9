//! Rate limits: quota, key and window.
//!
//! Every limit is a sliding log: at most `limit` admissions in any period of length `window`.
//!
//! ```
//! use dwar_kernel::read_instant;
//! use dwar_ratelimit::{Quota, Window};
//! use std::time::Duration;
//!
//! let minutes = |count: u64| Duration::from_secs(60 * count);
//! let start = read_instant("2026-11-27T08:00:00Z").unwrap();
//! let quota = Quota { limit: 2, window: minutes(10) };
//! let mut window = Window::default();
//! assert!(window.hit(quota, start).admitted);
//! assert!(window.hit(quota, start + minutes(4)).admitted);
//! // Full until ten minutes after the first; a refusal is not counted.
//! let refused = window.hit(quota, start + minutes(9));
//! assert_eq!((refused.admitted, refused.reset), (false, minutes(1)));
//! assert!(window.hit(quota, start + minutes(10)).admitted);
//! ```

pub mod guard;
mod instants;
mod local_lease;
mod ports;
mod quota;
mod sends;
mod share;
mod window;

pub use local_lease::{LEASE, LeaseDecision, LocalLease, RenewalRequest};
pub use ports::*;
pub use quota::{Quota, RequestKey, RequestScope, SendKey};
pub use sends::{DayBound, NextSendSlot, SendAdmission, SendBound, SendLog, SendQuota, SendSlot};
pub use share::{Grant, LeaseRequest, QuotaShare, QuotaShares};
pub use window::{Admission, Window};
