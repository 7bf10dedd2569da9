//! Quota, key, window: how often is too often.
//!
//! Every limit is a sliding log: at most `limit` admissions in any stretch of `window` length.

mod instants;
mod ports;
mod quota;
mod sends;
mod window;

#[cfg(feature = "mocks")]
pub use ports::{MockRequestLimiter, MockSendLimiter};
pub use ports::{RequestLimiter, SendLimiter};
pub use quota::{Quota, RequestKey, RequestScope, SendKey};
pub use sends::{SendAdmission, SendLog, SendQuota, SendSlot};
pub use window::{Admission, Window};
