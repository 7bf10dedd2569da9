use crate::{BaseUrl, Gupshup, Msg91, ProxyUrl, TwilioSettings, WhatsappCloud};
use serde::Deserialize;
use serde_with::{As, DurationMilliSeconds, NoneAsEmptyString};
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

/// Who carries messages, and how they are called: the section `[gateways]`.
#[derive(Clone, Debug, Deserialize)]
pub struct Settings {
    /// The providers of WhatsApp messages in the order they are tried; none skips the channel.
    pub whatsapp: Vec<String>,
    /// The same for SMS.
    pub sms: Vec<String>,
    /// Where the world reaches this service.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub public_url: Option<BaseUrl>,
    /// How long one call to a provider may take.
    #[serde(rename = "call_timeout_ms", with = "As::<DurationMilliSeconds<u64>>")]
    pub call_timeout: Duration,
    /// Faults in a row after which a provider is not called for a while.
    pub breaker_faults: u32,
    /// Calls to one provider that may be under way at once.
    pub calls_at_once: usize,
    /// By provider, the minutes that its registered text names in words that no message can change.
    pub fixed_minutes: HashMap<String, u32>,
    /// Files that each describe a [`GenericHttpSettings`](crate::GenericHttpSettings).
    pub generic_files: Vec<PathBuf>,
    /// What every call goes through. May hold a user and a password.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub proxy: Option<ProxyUrl>,
    pub whatsapp_cloud: WhatsappCloud,
    pub twilio: TwilioSettings,
    pub msg91: Msg91,
    pub gupshup: Gupshup,
}
