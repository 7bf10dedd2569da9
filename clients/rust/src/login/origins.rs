use std::net::Ipv4Addr;

use crate::{Error, Result};

/// Whether browsers keep `Secure` cookies of this host over plain http; a port may follow it.
pub fn is_loopback(host: &str) -> bool {
    let (name, _) = split_port(host);
    matches!(name, "localhost" | "[::1]")
        || name.ends_with(".localhost")
        || name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback())
}

/// Refuses an origin that is not in the form in which browsers send it, or whose pages cannot keep
/// the cookies. `clients/login/README.md` has the rule.
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
    let (scheme, authority) = origin.split_once("://").unwrap_or_default();
    let (host, port) = split_port(authority);
    let is_written_so = match scheme {
        "https" => port != Some("443"),
        "http" => port != Some("80"),
        _ => false,
    };
    if !is_written_so || !is_host(host) || !port.is_none_or(is_port) {
        return Some("is not an origin as browsers send it, such as https://shop.example");
    }
    (scheme == "http" && !is_loopback(host)).then_some(
        "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000",
    )
}

fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|address| address.strip_suffix(']')) {
        Some(address) => is_of(address, |it| matches!(it, b'0'..=b'9' | b'a'..=b'f' | b':')),
        None => host
            .split('.')
            .all(|label| is_of(label, |it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))),
    }
}

fn is_port(port: &str) -> bool {
    !port.starts_with('0') && port.len() <= 5 && is_of(port, |it| it.is_ascii_digit())
}

fn is_of(text: &str, is_allowed: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(is_allowed)
}
