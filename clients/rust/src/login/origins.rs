use std::net::{Ipv4Addr, Ipv6Addr};

use crate::{Error, Result};

/// Whether browsers keep `Secure` cookies of this host over plain http; a port may follow it.
pub fn is_loopback(host: &str) -> bool {
    let (name, _) = split_port(host);
    name == "localhost"
        || name.ends_with(".localhost")
        || name == "[::1]"
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
    let (is_http, rest) = match origin.strip_prefix("https://") {
        Some(rest) => (false, rest),
        None => (true, origin.strip_prefix("http://").unwrap_or_default()),
    };
    let (host, port) = split_port(rest);
    if !is_host(host) || !port.is_none_or(|port| is_ordinary_port(port, is_http)) {
        return Some("is no origin as browsers send it, such as https://shop.example");
    }
    (is_http && !is_loopback(host)).then_some(
        "is plain http, of which browsers keep no login, but for loopback such as http://localhost:3000",
    )
}

/// The colons of an IPv6 address are in brackets.
fn split_port(host: &str) -> (&str, Option<&str>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    }
}

fn is_ordinary_port(port: &str, is_http: bool) -> bool {
    let default = if is_http { 80 } else { 443 };
    port.parse::<u16>()
        .is_ok_and(|number| number != 0 && number != default && number.to_string() == port)
}

/// A name, or an address as browsers write it.
fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().is_ok_and(|parsed| {
            parsed.to_string() == address && parsed.to_ipv4_mapped().is_none()
        });
    }
    let is_label = |label: &str| {
        let is_letter = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
        !label.is_empty() && label.bytes().all(is_letter)
    };
    let is_name = host.split('.').all(is_label)
        && host
            .rsplit('.')
            .next()
            .is_some_and(|last| last.starts_with(|it: char| it.is_ascii_lowercase()));
    is_name || host.parse::<Ipv4Addr>().is_ok()
}
