//! The steps of a login: a send, a provider's answer, and a right code. Each step makes all of its changes or
//! none.
//!
//! Each step is a pure function that asks the aggregates of the other domain crates one after another, and a
//! method of [`LoginStore`] that does the same on stored data. The aggregates do not know each other; only
//! this crate knows them all (docs/adr/0049-a-login-is-three-steps.md).
//!
//! ```
//! use dwar_kernel::{BlindIndex, EntryId, GuessPolicy, KeyMode, OtpId, ProjectId, Sealed, read_instant};
//! use dwar_login::{Cost, NewSend, Prepared};
//! use dwar_otp::{CodeDigest, Delivery, DeliveryStatus, Otp, OtpState};
//! use dwar_ratelimit::{Quota, SendLog, SendQuota};
//! use dwar_wallet::{Balance, OpenHold, Paise, Wallet};
//! use std::time::Duration;
//!
//! let now = read_instant("2026-11-27T08:00:00Z").unwrap();
//! let project = ProjectId::first_at(now);
//! let otp = Otp {
//!     id: OtpId::first_at(now),
//!     project_mode: project.in_mode(KeyMode::Live),
//!     phone: BlindIndex([0; 32]),
//!     sealed_phone: Sealed(Vec::new()),
//!     code: CodeDigest { key: 0, mac: [0; 32] },
//!     sealed_code: None,
//!     state: OtpState::Active,
//!     wrong: 0,
//!     max_wrong: 5,
//!     device_only: false,
//!     guard: None,
//!     guesses: Vec::new(),
//!     created_at: now,
//!     expires_at: now + Duration::from_secs(600),
//!     delivery: Delivery { status: DeliveryStatus::Queued, attempts: Vec::new(), due_at: None },
//! };
//! let places = Quota { limit: 1, window: Duration::from_secs(600) };
//! let send = NewSend {
//!     otp,
//!     by_device: false,
//!     quota: SendQuota { places, reach: None },
//!     guesses: GuessPolicy::default(),
//!     cost: Cost::Hold(Paise(25)),
//!     guard: None,
//!     day: None,
//!     entry: EntryId::first_at(now),
//! };
//!
//! // The phone's limit has room, and the wallet covers the price: both change, or neither does.
//! let balance = Balance { balance: Paise(30), held: Paise::ZERO };
//! let mut wallet = Wallet::new(project, balance);
//! let mut log = SendLog::default();
//! let hold = |it: OpenHold| wallet.hold(&it, send.entry).map(|step| step.outcome);
//! assert!(matches!(send.judge(&mut log, hold, now), Ok(Prepared::Ready(_))));
//! assert_eq!(wallet.balance.held, Paise(25));
//!
//! // The phone's limit has no room any more: the send is refused, and the wallet is not asked.
//! let hold = |_| -> Result<_, ()> { unreachable!() };
//! assert!(matches!(send.judge(&mut log, hold, now), Ok(Prepared::Limited(_))));
//! ```

mod new_send;
mod ports;
mod redemption;
mod send_report;

pub use new_send::{Cost, NewSend, Prepared};
pub use ports::*;
pub use redemption::{Redeemed, Redemption};
pub use send_report::{MoneyOutcome, ReportOutcome, SendReport};
