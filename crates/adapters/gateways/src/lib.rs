//! Gateways to the providers of messages, one file each.

mod base_url;
mod breaker;
mod bulkhead;
mod call_times;
mod console;
mod generic_http;
mod gupshup;
mod http_client;
mod language;
mod last_refusal;
mod msg91;
mod proxy_url;
mod references;
mod sandbox;
mod secret;
mod settings;
mod signature;
mod timed;
mod twilio;
mod vendor;
mod webhook_token;
mod whatsapp_cloud;
mod wire;

pub use base_url::{BaseUrl, InvalidBaseUrl};
pub use breaker::{BreakerGateway, BreakerState, FaultRow};
pub use bulkhead::BulkheadGateway;
pub use call_times::CallTimes;
pub use console::ConsoleGateway;
pub use generic_http::{GenericHttp, GenericHttpSettings, InvalidGateway};
pub use gupshup::Gupshup;
pub use http_client::{HttpClient, ProbeAnswer, UnusableHttpClient};
pub use last_refusal::{LastRefusal, LastRefusals};
pub use msg91::{Msg91, Msg91Variable};
pub use proxy_url::{InvalidProxyUrl, ProxyUrl};
pub use references::HashedReferences;
pub use reqwest::Method;
pub use sandbox::SandboxGateway;
pub use secret::Secret;
pub use settings::Settings;
pub use timed::{CallTimeRecorder, TimedGateway};
pub use twilio::{Twilio, TwilioSettings};
pub use vendor::HttpGateway;
pub use whatsapp_cloud::{WhatsappCloud, WhatsappTemplate};

#[cfg(test)]
mod tests;
