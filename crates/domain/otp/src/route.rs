use dwar_kernel::Channel;
use std::time::Duration;

/// One hop of a route: a channel and its provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    pub channel: Channel,
    pub provider: String,
    /// The only lifetime that the hop's text names, in fixed words; `None` if the text names no lifetime, or
    /// fills in any.
    pub only_for: Option<Duration>,
}

/// Providers in the order in which a code tries them, and the time limits between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub hops: Vec<Hop>,
    /// How long an accepted message may stay without a receipt before the next hop is tried; `None` means
    /// that receipts are not awaited.
    pub receipt_window: Option<Duration>,
    /// How long a provider may be silent before its call counts as lost.
    pub lease: Duration,
}

impl Hop {
    /// A hop that carries codes of any lifetime, without [`Hop::only_for`].
    pub fn new(channel: Channel, provider: impl Into<String>) -> Self {
        Self { channel, provider: provider.into(), only_for: None }
    }
}

impl Route {
    /// The route for a relayed code with this lifetime: without hops whose text names another lifetime.
    #[must_use]
    pub fn of_lifetime(mut self, lifetime: Duration) -> Self {
        self.hops.retain(|hop| hop.only_for.is_none_or(|only| only == lifetime));
        self
    }
}
