//! Signs events and posts them where projects want them (Standard Webhooks 1.0).

mod address;
mod body;
mod sender;

pub use sender::{HttpWebhookSender, UnusableClient, WebhookSettings};
