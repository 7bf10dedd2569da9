use crate::{BaseUrl, Gupshup, Msg91, ProxyUrl, TwilioSettings, WhatsappCloud};
use dwar_kernel::bounds::{LOAD, SLOW, positive, within};
use dwar_kernel::sections;
use serde_with::{As, NoneAsEmptyString};
use std::collections::HashMap;
use std::path::PathBuf;

sections! {
    /// Who carries messages, and how they are called: the section `[gateways]`.
    pub struct Settings {
        /// The providers of WhatsApp messages in the order they are tried; none skips the channel.
        pub whatsapp: Vec<String>,
        pub sms: Vec<String>,
        #[serde(with = "As::<NoneAsEmptyString>")]
        pub public_url: Option<BaseUrl>,
        /// How long one call to a provider may take.
        pub call_timeout_ms: u64 = positive(500..=30_000, SLOW),
        /// How long a receipt is waited for before the next channel is tried; 0 waits for none.
        pub fallback_window_seconds: u64 = within(0..=300, "the SMS has to come while its code is good"),
        /// Faults in a row after which a provider is not called for a while.
        pub breaker_faults: u32 = within(1..=1_000, "a provider that is down costs every send its time-out until then"),
        /// Calls to one provider that may be under way at once.
        pub calls_at_once: usize = positive(1..=100_000, LOAD),
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
}
