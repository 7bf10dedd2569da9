//! The life of a one-time code: issued, delivered, guessed, used.

mod activity;
mod code;
mod delivery;
pub mod idempotency;
mod otp;
mod ports;
mod receipt;
mod receipt_health;
mod reference;
pub mod sandbox;
mod test_quota;
mod text;

pub use activity::*;
pub use code::{Code, CodeDigest, CodeKeys, Guess, InvalidCode};
pub use delivery::{
    AttemptStatus, Charge, Delivery, DeliveryAttempt, DeliveryStatus, Hop, Reach, Reason, Report,
    Route, Step,
};
pub use dwar_kernel::{Channel, GuessBudget, GuessPeriod, GuessPolicy, SendPace};
pub use otp::{Allowance, Otp, OtpState, Verdict};
pub use ports::*;
pub use receipt::{
    KeptReceipt, MAX_UNKNOWN, Receipt, ReceiptRoom, ReceiptSource, ReceiptTarget, Reviewed,
    UnknownReceipts, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
pub use receipt_health::{HealthChange, ReceiptHealth};
pub use reference::{LONGEST_REFERENCE, gives_away, is_reference};
pub use test_quota::*;
pub use text::{Encoding, Ending, InvalidText, Segments, SmsText};
