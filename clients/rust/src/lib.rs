#![cfg_attr(feature = "axum", doc = include_str!("../README.md"))]
#![cfg_attr(not(feature = "axum"), doc = "Calls a Dwar service; README.md shows how.")]
#![warn(missing_docs)]

pub mod answers;
mod client;
mod clock;
mod error;
mod event_types;
mod events;
mod flight;
mod keys;
#[cfg(feature = "axum")]
pub mod login;
mod secret;
mod send_options;
mod session;
mod transport;
mod verifier;

pub use answers::Tokens;
pub use client::Client;
pub use error::{BoxError, Code, Error, Result};
pub use event_types::{
    AlertEvent, EndpointEvent, EventData, GuardEvent, IdentityEvent, OtpEvent, ProviderEvent,
    SessionEvent, SpendEvent, WalletEvent, WebhookTestEvent,
};
pub use events::{Event, EventVerifier};
pub use keys::Algorithm;
/// The crate whose builder [`Client::with_http`] takes.
pub use reqwest;
pub use secret::Secret;
pub use send_options::{SendOptions, Visitor};
pub use session::{Session, Store};
pub use verifier::{Claims, Mode, TokenType, Verifier};
