use crate::common::World;
use dwar_app::{Routes, dearest};
use dwar_kernel::KeyMode;
use dwar_otp::{Channel, Gateway, Hop, MockGateway};
use dwar_project::{Project, Routing};
use dwar_testkit::seconds;
use dwar_wallet::Paise;
use std::sync::Arc;

/// The usual routes, with additional gateways, and a project without choices of its own.
fn routes() -> (Routes, Project) {
    let mut world = World::live();
    let mut routes = world.routes();
    for name in ["gupshup", "twilio"] {
        let gateway: Arc<dyn Gateway> = Arc::new(MockGateway::new());
        routes.gateways.insert(name.to_owned(), gateway);
    }
    (routes, world.caller.project)
}

fn names(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|&name| name.to_owned()).collect())
}

/// The hops of a live send with this routing, as `whatsapp:meta`.
fn stops(routing: Routing) -> Vec<String> {
    let (routes, project) = routes();
    let route = routes.of(&Project { routing, ..project }, KeyMode::Live);
    route.hops.iter().map(|hop| format!("{}:{}", hop.channel.as_str(), hop.provider)).collect()
}

#[test]
fn a_project_that_says_nothing_goes_as_configured() {
    let (routes, project) = routes();
    assert_eq!(routes.of(&project, KeyMode::Live), routes.live);
    assert_eq!(routes.of(&project, KeyMode::Test), routes.test);
}

#[test]
fn a_projects_own_providers_come_in_its_order_and_the_other_channel_stays() {
    let sms = Routing { sms: names(&["twilio", "msg91"]), ..Routing::default() };
    assert_eq!(stops(sms), ["whatsapp:meta", "sms:twilio", "sms:msg91"]);
    let whatsapp = Routing { whatsapp: names(&["gupshup"]), ..Routing::default() };
    assert_eq!(stops(whatsapp), ["whatsapp:gupshup", "sms:msg91"]);
}

#[test]
fn a_provider_that_is_not_configured_is_passed_over() {
    let routing = Routing {
        whatsapp: names(&["closed_down"]),
        sms: names(&["closed_down", "twilio"]),
        ..Routing::default()
    };
    assert_eq!(stops(routing), ["sms:twilio"]);
}

#[test]
fn an_empty_list_skips_its_channel() {
    let no_whatsapp = Routing { whatsapp: names(&[]), ..Routing::default() };
    assert_eq!(stops(no_whatsapp), ["sms:msg91"]);
    let no_sms = Routing { sms: names(&[]), ..Routing::default() };
    assert_eq!(stops(no_sms), ["whatsapp:meta"]);
    let nothing = Routing { whatsapp: names(&[]), sms: names(&[]), ..Routing::default() };
    assert_eq!(stops(nothing), Vec::<String>::new());
}

#[test]
fn a_provider_that_is_named_twice_is_one_stop_per_channel() {
    let routing = Routing {
        whatsapp: names(&["twilio", "twilio"]),
        sms: names(&["twilio", "msg91", "twilio"]),
        ..Routing::default()
    };
    assert_eq!(stops(routing), ["whatsapp:twilio", "sms:twilio", "sms:msg91"]);
    let (mut routes, project) = routes();
    let again = Hop::new(Channel::Whatsapp, "meta");
    routes.live.hops.insert(1, again);
    let route = routes.of(&project, KeyMode::Live);
    assert_eq!(route.hops.iter().filter(|hop| hop.provider == "meta").count(), 1);
}

#[test]
fn a_test_key_stays_in_the_sandbox_whatever_the_project_says() {
    let (routes, project) = routes();
    let routing = Routing { whatsapp: names(&[]), sms: names(&["twilio"]), ..Routing::default() };
    let route = routes.of(&Project { routing, ..project }, KeyMode::Test);
    assert_eq!(route.hops, routes.test.hops);
}

#[test]
fn a_projects_own_patience_takes_the_place_of_the_configured_one() {
    let (routes, project) = routes();
    let window = |fallback_seconds, mode| {
        let routing = Routing { fallback_seconds, ..Routing::default() };
        let route = routes.of(&Project { routing, ..project.clone() }, mode);
        assert_eq!(route.lease, routes.live.lease);
        route.receipt_window
    };
    for mode in [KeyMode::Live, KeyMode::Test] {
        assert_eq!(window(None, mode), Some(seconds(20)));
        assert_eq!(window(Some(45), mode), Some(seconds(45)));
        assert_eq!(window(Some(0), mode), None);
    }
}

#[test]
fn the_dearest_price_is_that_of_the_stops_that_are_left() {
    let (routes, mut project) = routes();
    let mut prices = World::live().prices;
    prices.sms = Paise(45);
    let dearest = |project: &Project| {
        dearest(project.prices.over(prices), &routes.of(project, KeyMode::Live))
    };
    assert_eq!(dearest(&project), Paise(45));
    project.routing.sms = names(&[]);
    assert_eq!(dearest(&project), Paise(30));
    project.prices.whatsapp = Some(Paise(7));
    assert_eq!(dearest(&project), Paise(7));
    project.routing.whatsapp = names(&[]);
    assert_eq!(dearest(&project), Paise::ZERO);
}
