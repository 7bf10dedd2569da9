//! The life of a one-time code: issue, delivery, guesses, use.
//!
//! ```
//! use dwar_otp::{Code, MessageEnding, SmsText};
//!
//! let template = SmsText::default_template("en");
//! let ending = MessageEnding::WebOtp("shop.example".to_owned());
//! let text = SmsText::new(template, "Shop", ending).unwrap();
//! let code: Code = "098765".parse().unwrap();
//! let sms = text.compose(&code, 10);
//! assert!(sms.starts_with("098765 is your Shop verification code. It is valid for 10 min."));
//! // The last line, which a browser looks for.
//! assert_eq!(sms.lines().last(), Some("@shop.example #098765"));
//! // A log does not show the digits of the code.
//! assert_eq!(format!("{code:?}"), "Code(••••••)");
//! ```

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
    AttemptStatus, Charge, Delivery, DeliveryAttempt, DeliveryStatus, DeliveryStep, FailureReach,
    Report,
};
pub use dlt::{DltForm, DltWarning};
pub use dwar_kernel::{Channel, GuessBudget, GuessPeriod, GuessPolicy, Reason, Refusal, SendPace};
pub use history::*;
pub use hook::{HookFault, HookFormat, HookMessage, HookRefusal, RelayLifetime};
pub use language::{InvalidLanguage, Language};
pub use otp::{Allowance, GuessVerdict, Otp, OtpState};
pub use ports::*;
pub use receipt::{
    KeptReceipt, MAX_UNKNOWN, Receipt, ReceiptReview, ReceiptRoom, ReceiptSource, ReceiptTarget,
    UnknownReceipts, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
pub use receipt_health::{HealthChange, ReceiptHealth};
pub use reference::{LONGEST_REFERENCE, gives_away, is_reference};
pub use refusals::*;
pub use route::{Hop, Route};
pub use test_quota::*;
pub use text::{Encoding, InvalidText, MessageEnding, Segments, SmsText};
