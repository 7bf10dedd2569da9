//! Providers that carry messages: one file each.

mod base_url;
mod breaker;
mod bulkhead;
mod console;
mod generic_http;
mod gupshup;
mod http_client;
mod language;
mod msg91;
mod references;
mod sandbox;
mod secret;
mod settings;
mod signature;
mod timed;
mod twilio;
mod webhook_token;
mod whatsapp_cloud;
mod wire;

pub use base_url::{BaseUrl, InvalidBaseUrl};
pub use breaker::{BreakerGateway, BreakerSettings};
pub use bulkhead::BulkheadGateway;
pub use console::ConsoleGateway;
pub use generic_http::{
    GenericAnswer, GenericHttpGateway, GenericHttpSettings, GenericMatch, GenericMethod,
    GenericPayload, GenericReceipts, GenericRequest, GenericRule, GenericSecretPlace,
    InvalidGateway,
};
pub use gupshup::{GupshupGateway, GupshupSettings};
pub use http_client::{HttpClient, Seen, UnusableHttpClient};
pub use msg91::{Msg91Gateway, Msg91Settings, Msg91Variable};
pub use references::{DiscreetGateway, DiscreetSource};
pub use reqwest::Method;
pub use sandbox::{SandboxGateway, SandboxOptions};
pub use secret::Secret;
pub use settings::Settings;
pub use timed::TimedGateway;
pub use twilio::{TwilioGateway, TwilioSender, TwilioSettings};
pub use whatsapp_cloud::{WhatsappCloudGateway, WhatsappCloudSettings, WhatsappTemplate};

#[cfg(test)]
mod captured_logs;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod fake_vendor;
#[cfg(test)]
mod fixtures;
