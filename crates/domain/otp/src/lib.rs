//! The life of a one-time code: issue, delivery, guesses, use.

mod attempt_history;
mod code;
mod delivery;
mod dlt;
mod history;
mod hook;
pub mod idempotency;
mod language;
mod otp;
mod ports;
mod receipt;
mod receipt_health;
mod reference;
mod refusals;
mod route;
pub mod sandbox;
mod test_quota;
mod text;

pub use attempt_history::*;
pub use code::{Code, CodeDigest, CodeKeys, Guess, InvalidCode, InvalidRelayedCode};
pub use delivery::{
    AttemptStatus, Charge, Delivery, DeliveryAttempt, DeliveryStatus, DeliveryStep, Reach, Report,
};
pub use dlt::{DltForm, DltWarning};
pub use dwar_kernel::{Channel, GuessBudget, GuessPeriod, GuessPolicy, Reason, Refusal, SendPace};
pub use history::*;
pub use hook::{HookFault, HookFormat, HookMessage, HookRefusal, RelayLifetime};
pub use language::{InvalidLanguage, Language};
pub use otp::{Allowance, Otp, OtpState, Verdict};
pub use ports::*;
pub use receipt::{
    KeptReceipt, MAX_UNKNOWN, Receipt, ReceiptRoom, ReceiptSource, ReceiptTarget, Reviewed,
    UnknownReceipts, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
pub use receipt_health::{HealthChange, ReceiptHealth};
pub use reference::{LONGEST_REFERENCE, gives_away, is_reference};
pub use refusals::*;
pub use route::{Hop, Route};
pub use test_quota::*;
pub use text::{Encoding, Ending, InvalidText, Segments, SmsText};
