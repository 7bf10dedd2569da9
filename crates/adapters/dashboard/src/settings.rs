use dwar_kernel::is_this_machine;
use serde::Deserialize;
use std::net::ToSocketAddrs;

/// The meaning of the default address in development.
const DEVELOPMENT: &str = "127.0.0.1:8081";
/// The address that depends on the environment.
const AUTO: &str = "auto";

/// Where the dashboard listens, and its host names: the section `[dashboard]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `host:port`, `auto`, or empty for no dashboard.
    pub address: String,
    /// Where browsers reach it, if that is not the address: `http` or `https`, a host, optionally a
    /// path.
    pub public_url: String,
    /// Whether a proxy in front of it terminates TLS.
    pub behind_tls_proxy: bool,
    /// Further host names beside the address and the public URL.
    pub hosts: Vec<String>,
}

impl Settings {
    /// The address to listen on; `None` if empty, and for `auto` in production.
    pub fn address(&self, production: bool) -> Option<&str> {
        match self.address.as_str() {
            "" => None,
            AUTO if production => None,
            AUTO => Some(DEVELOPMENT),
            own => Some(own),
        }
    }

    /// URL of the dashboard for browsers, if the settings alone determine it.
    pub fn base_url(&self) -> String {
        let public = self.public_url.trim_end_matches('/');
        if !public.is_empty() {
            return public.to_owned();
        }
        let address = self.address(false).unwrap_or(DEVELOPMENT);
        format!("http://{}", address.replacen("0.0.0.0", "localhost", 1))
    }

    /// Tells whether only this machine can reach the address.
    pub fn is_loopback(address: &str) -> bool {
        // An address that cannot be resolved cannot be bound either, which is reported there.
        let mut all = address.to_socket_addrs().into_iter().flatten();
        all.all(|address| address.ip().to_canonical().is_loopback())
    }

    /// The host of the public URL, without its port; `None` if the URL is empty or invalid.
    pub fn public_host(&self) -> Option<&str> {
        let rest = self.public_url.split_once("://")?.1;
        let authority = rest.split(['/', '?', '#']).next()?;
        Some(host_of(authority)).filter(|host| !host.is_empty())
    }

    /// Scheme, host and port of the public URL as browsers write them, and its host; `None` if the
    /// URL is empty or invalid.
    pub(crate) fn public_origin(&self) -> Option<(String, String)> {
        let host = self.public_host()?.to_ascii_lowercase();
        let (scheme, rest) = self.public_url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?.to_ascii_lowercase();
        let usual = if scheme == "https" { ":443" } else { ":80" };
        let authority = authority.strip_suffix(usual).unwrap_or(&authority);
        Some((format!("{scheme}://{authority}"), host))
    }

    /// Tells whether browsers on other machines are sent to it without TLS.
    pub fn is_public_in_clear(&self) -> bool {
        let elsewhere = self.public_host().is_some_and(|host| !is_this_machine(host));
        elsewhere && !self.public_url.starts_with("https://")
    }
}

/// An authority without its port; an IPv6 address without its brackets.
pub(crate) fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(address: &str, public_url: &str) -> Settings {
        let (address, public_url) = (address.to_owned(), public_url.to_owned());
        Settings { address, public_url, behind_tls_proxy: false, hosts: Vec::new() }
    }

    #[test]
    fn production_has_no_dashboard_unless_it_is_asked_for() {
        for (address, development, production) in [
            ("auto", Some("127.0.0.1:8081"), None),
            ("", None, None),
            ("[::1]:9", Some("[::1]:9"), Some("[::1]:9")),
        ] {
            let settings = settings(address, "");
            assert_eq!(settings.address(false), development);
            assert_eq!(settings.address(true), production);
        }
    }

    #[test]
    fn reads_the_host_of_a_url() {
        for (url, host) in [
            ("", None),
            ("https://ops.example.com", Some("ops.example.com")),
            ("https://ops.example.com:8443/dwar", Some("ops.example.com")),
            ("http://[::1]:81", Some("::1")),
            ("https://", None),
            ("ops.example.com", None),
        ] {
            assert_eq!(settings("", url).public_host(), host);
        }
    }

    #[test]
    fn links_begin_with_the_public_url_or_else_the_address() {
        for (address, public_url, base) in [
            ("auto", "", "http://127.0.0.1:8081"),
            ("", "", "http://127.0.0.1:8081"),
            ("0.0.0.0:9", "", "http://localhost:9"),
            ("[::1]:9", "https://ops.example.com/", "https://ops.example.com"),
        ] {
            assert_eq!(settings(address, public_url).base_url(), base);
        }
    }

    #[test]
    fn a_public_url_elsewhere_needs_tls() {
        for (url, clear) in [
            ("", false),
            ("https://ops.example.com", false),
            ("http://localhost:81", false),
            ("http://ops.example.com", true),
        ] {
            assert_eq!(settings("", url).is_public_in_clear(), clear, "{url}");
        }
    }

    #[test]
    fn knows_what_stays_on_this_machine() {
        assert!(Settings::is_loopback("127.0.0.1:1") && Settings::is_loopback("[::1]:1"));
        assert!(!Settings::is_loopback("0.0.0.0:1") && !Settings::is_loopback("10.0.0.1:1"));
    }
}
