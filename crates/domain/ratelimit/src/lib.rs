//! Rate limits: quota, key and window.
//!
//! Every limit is a sliding log: at most `limit` admissions in any period of length `window`.

mod holding;
mod instants;
mod ports;
mod quota;
mod sends;
mod share;
mod window;

pub use holding::{Asking, Holding, LEASE, LeaseDecision};
pub use ports::*;
pub use quota::{Quota, RequestKey, RequestScope, SendKey};
pub use sends::{Opening, SendAdmission, SendBound, SendLog, SendQuota, SendSlot};
pub use share::{Grant, Share, Shares, Wish};
pub use window::{Admission, Window};
