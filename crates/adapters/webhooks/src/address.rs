//! Restricts the destinations of events, so that nobody can use this service to reach private
//! networks.

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Resolves names and accepts only public addresses, at the time of the connection: a name that was
/// public when it was entered may later resolve to a private address.
pub(crate) struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|found| is_public(found.ip())).collect();
            if public.is_empty() {
                return Err(io::Error::other(NotPublic).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the host has no public address")]
pub(crate) struct NotPublic;

/// Tells whether a URL may be called, as far as the URL itself shows.
pub(crate) fn allows(url: &str, private: bool) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let clean = url.username().is_empty() && url.password().is_none() && url.fragment().is_none();
    if private {
        return clean && matches!(url.scheme(), "http" | "https") && url.has_host();
    }
    let Some(host) = url.host_str() else { return false };
    let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    clean && url.scheme() == "https" && literal.is_none_or(is_public) && named(host)
}

fn named(host: &str) -> bool {
    let host = host.trim_end_matches('.');
    host.contains(['.', ':']) && !host.ends_with(".local") && !host.ends_with(".internal")
}

/// Tells whether an address is reachable from the whole internet (RFC 6890).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19));
    !special
}

/// Global unicast only, without a special IPv4 address embedded in it.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match (a, b) {
        // NAT64, and 6to4.
        (0x64, 0xff9b) if [c, d, e, f] == [0; 4] => is_public_v4(v4(g, h)),
        (0x2002, _) => is_public_v4(v4(b, c)),
        // Teredo, benchmarking, ORCHID, documentation.
        (0x2001, 0 | 2 | 0xdb8 | 0x10..=0x2f) | (0x3fff, 0..=0xfff) => false,
        _ => (0x2000..0x4000).contains(&a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_addresses_are_those_anybody_can_reach() {
        for text in ["1.1.1.1", "203.0.114.1", "100.128.0.1", "2606:4700::1111", "64:ff9b::101:101"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "::1",
            "::",
            "::ffff:10.0.0.1",
            "::ffff:1.1.1.1",
            "fc00::1",
            "fe80::1",
            "ff02::1",
            "64:ff9b::a00:1",
            "2002:a00:1::",
            "2001:db8::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn only_https_to_public_hosts_is_allowed() {
        for url in
            ["https://example.com/hook", "https://1.1.1.1:8443/", "https://[2606:4700::1111]/"]
        {
            assert!(allows(url, false), "{url}");
        }
        for url in [
            "http://example.com/",
            "https://localhost/",
            "https://printer.local/",
            "https://db.internal./",
            "https://127.1/",
            "https://0x7f000001/",
            "https://2130706433/",
            "https://[::1]/",
            "https://10.0.0.1/",
            "https://user:secret@example.com/",
            "https://example.com/#part",
            "ftp://example.com/",
            "example.com",
            "",
        ] {
            assert!(!allows(url, false), "{url}");
        }
    }

    #[test]
    fn private_addresses_are_for_those_who_ask_for_them() {
        assert!(allows("http://127.0.0.1:9000/hook", true));
        assert!(!allows("file:///etc/passwd", true));
        assert!(!allows("http://user@127.0.0.1/", true));
    }
}
