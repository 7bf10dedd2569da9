//! Providers that carry messages: one file each.

mod breaker;
mod console;
mod http_client;
mod language;
mod none;
mod sandbox;
mod secret;
mod timed;
mod webhook_token;
mod wire;

pub use breaker::{BreakerGateway, BreakerSettings, BreakerState, Monotonic};
pub use console::ConsoleGateway;
pub use http_client::{HttpClient, HttpClientSettings, UnusableHttpClient};
pub use none::NoGateway;
pub use sandbox::{SandboxGateway, SandboxOptions};
pub use secret::Secret;
pub use timed::TimedGateway;

#[cfg(test)]
mod fake_vendor;
#[cfg(test)]
mod fixtures;
