//! Shared vocabulary of the domain crates, and nothing else.
//!
//! ```
//! use dwar_kernel::{Paise, Phone};
//!
//! let phone: Phone = "9876543210".parse().unwrap();
//! assert_eq!(phone.e164(), "+919876543210");
//! // What a log shows of it.
//! assert_eq!(format!("{phone:?}"), "+9198••••3210");
//! assert!("98765 43210".parse::<Phone>().is_err());
//!
//! assert_eq!(Paise(12_345_650).to_string(), "₹1,23,456.50");
//! ```

mod alert;
pub mod bounds;
mod channel;
mod clock;
mod entropy;
mod error;
mod event;
mod fixed_claims;
mod guard;
mod guard_verdict;
mod guesses;
mod host;
mod id;
mod india;
mod line;
mod mode;
mod money;
mod phone;
mod reason;
mod retry_after;
mod secret_text;
mod token_profile;
mod trace;
mod vault;
mod webhook_secret;
mod words;

pub use alert::{AlertKind, Severity};
pub use channel::Channel;
pub use clock::{CLOCK_TOLERANCE, Clock, SteadyClock, Timestamp, read_instant};
pub use entropy::Entropy;
pub use error::{StoreError, with_causes};
pub use event::{Event, EventKind, EventPhone, Subject};
pub use fixed_claims::{FixedClaims, InvalidClaims};
pub use guard::{GuardMode, GuardSubjectKind, UnknownGuardMode};
pub use guard_verdict::GuardVerdict;
pub use guesses::{DevicePeriod, GuessBudget, GuessPeriod, GuessPolicy, SendPace};
pub use host::is_this_machine;
pub use id::{
    AdminTokenId, ApiKeyId, AttemptId, AuditId, CallId, EndpointId, EntryId, HookId, IdentityId,
    InstanceId, KeeperId, MalformedId, OperatorId, OtpId, ProjectId, ReceiptId, RecorderId,
    SearcherId, SessionId, TokenId,
};
pub use india::{INDIA_AHEAD, india_midnight};
pub use line::is_line;
pub use mode::{KeyMode, ProjectMode, UnknownMode};
pub use money::{Amount, InvalidAmount, Paise, PriceList, grouped};
pub use phone::{InvalidPhone, Phone};
pub use reason::{Reason, Refusal};
pub use retry_after::{http_date, retry_after};
pub use secret_text::SecretText;
pub use token_profile::{TokenProfile, TokenType, UnknownTokenType};
pub use trace::{PARENT_AWAITED, TRACE, TRACE_BEGINS};
pub use vault::{BlindIndex, Digest, Purpose, Sealed, Unsealable, Vault};
pub use webhook_secret::{
    KeptSecret, MalformedWebhookSecret, NewSecret, PreviousSecret, WebhookSecret,
};
