use dwar_kernel::Channel;
use std::time::Duration;

/// One hop of a route: a channel and who serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub channel: Channel,
    /// The name of the provider that serves it.
    pub provider: String,
    /// The one lifetime that the text which it sends names, in words that no message can change; `None`: it names
    /// none, or any.
    pub only_for: Option<Duration>,
}

/// In which order a code is tried, and how patiently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The hops in the order in which they are tried.
    pub hops: Vec<Hop>,
    /// How long a message that was accepted may go without a receipt before the next hop is
    /// tried; `None` waits for no receipt.
    pub receipt_window: Option<Duration>,
    /// How long a provider may be silent before its call is taken for lost.
    pub lease: Duration,
}

impl Hop {
    /// A hop whose text names no lifetime, or any.
    pub fn new(channel: Channel, provider: impl Into<String>) -> Self {
        Self { channel, provider: provider.into(), only_for: None }
    }
}

impl Route {
    /// The route of a code that somebody else made and that works for `lifetime`: without the hops whose text names
    /// another one.
    #[must_use]
    pub fn of_lifetime(mut self, lifetime: Duration) -> Self {
        self.hops.retain(|hop| hop.only_for.is_none_or(|only| only == lifetime));
        self
    }
}
