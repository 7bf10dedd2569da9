use dwar_kernel::{KeyMode, Paise, PriceList};
use dwar_otp::{Channel, Gateway, Hop, Route};
use dwar_project::Project;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Which providers carry whose messages, and the gateways behind their names.
#[derive(Clone)]
pub struct Routes {
    /// For live keys of projects that set nothing else.
    pub live: Route,
    /// For test keys: the sandbox.
    pub test: Route,
    /// Every gateway that a hop may name.
    pub gateways: HashMap<String, Arc<dyn Gateway>>,
    /// By name, providers whose registered text names the minutes in words that no message can change.
    pub fixed_minutes: HashMap<String, u32>,
}

impl Routes {
    /// The route of a project's messages: as configured, except for what the project sets itself.
    ///
    /// A provider that is no longer configured is skipped.
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
        route
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
        own.map(move |provider| Hop { channel, provider: provider.clone() }).chain(configured)
    }
}

/// A repeated hop would be tried for ever: a delivery knows its place by the hop.
fn once_each(all: impl Iterator<Item = Hop>) -> Vec<Hop> {
    let mut hops = Vec::new();
    for hop in all {
        if !hops.contains(&hop) {
            hops.push(hop);
        }
    }
    hops
}

/// The price of the dearest hop of a route.
pub fn dearest(prices: PriceList, route: &Route) -> Paise {
    route.hops.iter().map(|hop| prices.of(hop.channel)).max().unwrap_or(Paise::ZERO)
}
