use crate::settings::{Settings, host_of};
use actix_web::http::header::{self, HeaderMap, HeaderName};
use dwar_kernel::is_this_machine;
use std::net::{IpAddr, SocketAddr};

/// The host names of the dashboard. Requests with another name (DNS rebinding) are refused.
#[derive(Clone, Debug)]
pub struct HostNames {
    own: Vec<String>,
    /// Whether a proxy in front terminates TLS, so that browsers use `https`.
    pub(crate) tls: bool,
    /// Whether the names of this machine are accepted, with any port.
    this_machine: bool,
    site: Option<Site>,
}

/// The only site to which passkeys are bound. It comes from the settings, because the sender of a
/// request chooses its host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    /// The host name in the address bar, without a port.
    pub(crate) id: String,
    /// The origin as browsers write it: scheme, host and port.
    pub(crate) origin: String,
}

impl Site {
    /// The site of the public URL, or else `localhost` with the port on which we listen. Browsers
    /// bind passkeys to names and not to addresses, and without TLS only to names of this machine.
    fn of(settings: &Settings, local: Option<SocketAddr>) -> Option<Self> {
        let (origin, id) = match settings.public_origin() {
            Some(public) => public,
            None if settings.behind_tls_proxy => return None,
            None => (format!("http://localhost:{}", local?.port()), "localhost".to_owned()),
        };
        let secure = origin.starts_with("https://");
        let here = id == "localhost" || id.ends_with(".localhost");
        let nameable = id.parse::<IpAddr>().is_err() && (secure || here);
        nameable.then_some(Self { id, origin })
    }
}

impl HostNames {
    /// The names of a dashboard that listens on `addresses`.
    pub fn of(settings: &Settings, addresses: &[SocketAddr]) -> Self {
        let listening = addresses.iter().map(|address| address.ip());
        let concrete = listening.clone().filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_string());
        let named = settings.hosts.iter().map(|host| host_of(host).to_ascii_lowercase());
        let public = settings.public_host().map(str::to_ascii_lowercase);
        let here =
            |address: &&SocketAddr| address.ip().is_loopback() || address.ip().is_unspecified();
        let local = addresses.iter().find(here).copied();
        Self {
            own: named.chain(public).chain(concrete).collect(),
            tls: settings.behind_tls_proxy,
            this_machine: local.is_some(),
            site: Site::of(settings, local),
        }
    }

    /// The site of passkeys, if it is the one in the address bar of the request's browser.
    pub(crate) fn site(&self, headers: &HeaderMap) -> Option<&Site> {
        let host = host_of(only(headers, header::HOST)?);
        self.site.as_ref().filter(|site| site.id.eq_ignore_ascii_case(host))
    }

    pub(crate) fn know(&self, authority: &str) -> bool {
        let host = host_of(authority).to_ascii_lowercase();
        self.own.contains(&host) || self.this_machine && is_this_machine(&host)
    }

    /// Tells whether `origin` is ours, for a request to `authority`.
    pub(crate) fn is_ours(&self, origin: &str, authority: &str) -> bool {
        let scheme = if self.tls { "https" } else { "http" };
        origin
            .split_once("://")
            .is_some_and(|(given, host)| given == scheme && host.eq_ignore_ascii_case(authority))
    }
}

/// The value of a header that occurs once and is text.
pub(crate) fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name);
    let first = values.next()?;
    if values.next().is_some() { None } else { first.to_str().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    fn names(address: &str, public_url: &str, hosts: &[&str], tls: bool) -> HostNames {
        let settings = Settings {
            address: address.to_owned(),
            public_url: public_url.to_owned(),
            behind_tls_proxy: tls,
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        HostNames::of(&settings, &[address.parse().unwrap()])
    }

    #[test]
    fn a_loopback_dashboard_goes_by_the_names_of_this_machine_alone() {
        let names = names("127.0.0.1:8081", "", &["Console.test:1"], false);
        for host in ["127.0.0.1:8081", "localhost:8081", "LOCALHOST", "[::1]:1", "console.test"] {
            assert!(names.know(host), "{host}");
        }
        for host in ["", "evil.example", "127.0.0.1.evil.example", "10.0.0.1:8081", "localhost."] {
            assert!(!names.know(host), "{host}");
        }
    }

    #[test]
    fn one_on_a_network_goes_by_its_address_and_its_public_name() {
        let names = names("10.0.0.1:80", "https://ops.example.com:8443/x", &[], true);
        assert!(names.know("10.0.0.1") && names.know("OPS.example.com:8443"));
        assert!(!names.know("localhost") && !names.know("127.0.0.1"));
    }

    #[test]
    fn the_site_of_passkeys_is_that_of_the_settings() {
        let here = |port| Some(("localhost", format!("http://localhost:{port}")));
        let at = |origin: &str| Some(("ops.example.com", origin.to_owned()));
        for (address, public_url, tls, site) in [
            ("127.0.0.1:8081", "", false, here(8081)),
            ("[::1]:9", "", false, here(9)),
            ("0.0.0.0:9", "", false, here(9)),
            ("10.0.0.1:9", "", false, None),
            ("127.0.0.1:8081", "", true, None),
            ("127.0.0.1:8081", "http://localhost:9999", false, here(9999)),
            ("127.0.0.1:8081", "http://127.0.0.1:9999", false, None),
            ("127.0.0.1:8081", "http://ops.example.com", false, None),
            ("127.0.0.1:8081", "https://OPS.example.com/x", true, at("https://ops.example.com")),
            ("10.0.0.1:1", "https://ops.example.com:443", true, at("https://ops.example.com")),
            (
                "10.0.0.1:1",
                "https://ops.example.com:8443",
                true,
                at("https://ops.example.com:8443"),
            ),
        ] {
            let found = names(address, public_url, &["other.example.com"], tls).site;
            let found = found.map(|site| (site.id, site.origin));
            let wanted = site.map(|(id, origin)| (id.to_owned(), origin));
            assert_eq!(found, wanted, "{address} {public_url} {tls}");
        }
    }

    /// The attack: a page of another service on this host, with its port in the `Host` header.
    #[test]
    fn a_request_chooses_no_port_of_the_site() {
        let names = names("127.0.0.1:8081", "", &[], false);
        let site = |host: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
            names.site(&headers).map(|site| site.origin.clone())
        };
        for host in ["localhost:8081", "localhost:9999", "LOCALHOST"] {
            assert_eq!(site(host).as_deref(), Some("http://localhost:8081"), "{host}");
        }
        assert_eq!(site("127.0.0.1:8081"), None);
    }

    #[test]
    fn an_origin_is_ours_to_the_letter() {
        let plain = names("127.0.0.1:8081", "", &[], false);
        let tls = names("127.0.0.1:8081", "https://ops.example.com", &[], true);
        assert!(plain.is_ours("http://127.0.0.1:8081", "127.0.0.1:8081"));
        assert!(tls.is_ours("https://ops.example.com", "ops.example.com"));
        for origin in ["null", "", "http://127.0.0.1:8080", "https://127.0.0.1:8081", "http://x"] {
            assert!(!plain.is_ours(origin, "127.0.0.1:8081"), "{origin}");
        }
        assert!(!tls.is_ours("http://ops.example.com", "ops.example.com"));
    }
}
