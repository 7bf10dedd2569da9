//! Signs events and posts them to the endpoints of projects (Standard Webhooks 1.0).

mod address;
mod body;
mod sender;

pub use sender::{HttpWebhookSender, UnusableClient, WebhookSettings};
