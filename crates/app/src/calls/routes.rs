use super::message_text::sms_text_of;
use dwar_kernel::{KeyMode, Paise, PriceList};
use dwar_otp::{Channel, Gateway, Hop, Route};
use dwar_project::Project;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The providers that carry each project's messages, and the gateways behind their names.
#[derive(Clone)]
pub struct Routes {
    /// Route of live keys, for projects without a choice of their own.
    pub live: Route,
    pub test: Route,
    pub gateways: HashMap<String, Arc<dyn Gateway>>,
    /// Minutes that a provider's registered text names in fixed words, by provider name.
    pub fixed_minutes: HashMap<String, u32>,
    /// Lifetime of login codes. A project's own text that names minutes in fixed words is
    /// taken to name this lifetime.
    pub login_lifetime: Duration,
}

impl Routes {
    /// The route of a project's messages: the configured one, with the project's own choices.
    ///
    /// Providers that are no longer configured are skipped.
    pub fn of(&self, project: &Project, mode: KeyMode) -> Route {
        let routing = &project.routing;
        let mut route = match mode {
            KeyMode::Test => self.test.clone(),
            KeyMode::Live => {
                let whatsapp = self.hops(Channel::Whatsapp, routing.whatsapp.as_deref());
                let sms = self.hops(Channel::Sms, routing.sms.as_deref());
                Route { hops: once_each(whatsapp.chain(sms)), ..self.live.clone() }
            }
        };
        if let Some(seconds) = routing.fallback_seconds {
            let window = Duration::from_secs(seconds.into());
            route.receipt_window = (!window.is_zero()).then_some(window);
        }
        let own = sms_text_of(project, None).is_ok_and(|text| text.has_fixed_minutes());
        for hop in &mut route.hops {
            hop.only_for = self.lifetime_named_by(hop, own);
        }
        route
    }

    /// The lifetime that the text of a hop names in fixed words, if it does: the text registered with the
    /// provider decides, or, for SMS without a registered text, the project's own text.
    fn lifetime_named_by(&self, hop: &Hop, own_is_fixed: bool) -> Option<Duration> {
        let registered = self.fixed_minutes.get(&hop.provider);
        let registered = registered.map(|minutes| Duration::from_secs(u64::from(*minutes) * 60));
        let own = (own_is_fixed && hop.channel == Channel::Sms).then_some(self.login_lifetime);
        registered.or(own)
    }

    fn hops<'all>(
        &'all self,
        channel: Channel,
        own: Option<&'all [String]>,
    ) -> impl Iterator<Item = Hop> + 'all {
        let configured = self.live.hops.iter().filter(move |hop| hop.channel == channel);
        let configured = configured.filter(move |_| own.is_none()).cloned();
        let own = own.unwrap_or_default().iter();
        let own = own.filter(|provider| self.gateways.contains_key(*provider));
        own.map(move |provider| Hop::new(channel, provider)).chain(configured)
    }
}

/// Removes repeated hops: a delivery finds its place in the route by the hop, so a repeated one would be
/// tried for ever.
fn once_each(all: impl Iterator<Item = Hop>) -> Vec<Hop> {
    let mut hops = Vec::new();
    for hop in all {
        if !hops.contains(&hop) {
            hops.push(hop);
        }
    }
    hops
}

/// The price of the most expensive hop of a route; zero without hops.
pub fn dearest(prices: PriceList, route: &Route) -> Paise {
    route.hops.iter().map(|hop| prices.of(hop.channel)).max().unwrap_or(Paise::ZERO)
}
