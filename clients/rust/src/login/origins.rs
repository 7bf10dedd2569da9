use std::net::Ipv4Addr;

use reqwest::Url;

use crate::{Error, Result};

/// Whether browsers keep `Secure` cookies of this host over plain http; a port may follow it.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    };
    matches!(name, "localhost" | "[::1]")
        || name.ends_with(".localhost")
        || name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses what no browser sends as the origin of a page that can keep the cookies. `clients/login/README.md` has the rule.
pub fn check_origins(origins: &[String]) -> Result<()> {
    if origins.is_empty() {
        let message = "origins must be a list of at least one, such as https://shop.example";
        return Err(Error::argument(message));
    }
    match origins.iter().find_map(|origin| Some((origin, fault(origin)?))) {
        Some((origin, fault)) => Err(Error::argument(&format!("origins: \"{origin}\" {fault}"))),
        None => Ok(()),
    }
}

fn fault(origin: &str) -> Option<&'static str> {
    if origin.starts_with("capacitor:") || origin.starts_with("ionic:") {
        return Some(
            "is an app, whose web view keeps no cookies of yours: let it call by native HTTP, such as CapacitorHttp",
        );
    }
    let url = Url::parse(origin).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let is_exact = |url: &Url| {
        url.origin().ascii_serialization() == origin
            && matches!(url.scheme(), "http" | "https")
            && url.port() != Some(0)
    };
    if !url.as_ref().is_some_and(is_exact) || !is_plain(host) {
        return Some("is no origin as browsers send it, such as https://shop.example");
    }
    (origin.starts_with("http:") && !is_loopback(host)).then_some(
        "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000",
    )
}

/// [`Url`] takes also a wildcard, empty labels, and an IPv4 address within IPv6.
fn is_plain(host: &str) -> bool {
    let is_allowed =
        |it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-' | b'[' | b':' | b']');
    host.bytes().all(is_allowed)
        && host.split('.').all(|label| !label.is_empty())
        && !host.starts_with("[::ffff:")
}
