use serde::Deserialize;
use std::fmt;
use std::net::ToSocketAddrs;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// The meaning of the default address in development.
const DEVELOPMENT: &str = "127.0.0.1:8082";
/// The address that depends on the environment.
const AUTO: &str = "auto";
const OFF: &str = "off";

/// Where metrics are served, and to whom: the section `[metrics]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `host:port`, `auto` or `off`.
    pub address: String,
    pub token: Token,
}

impl Settings {
    /// The address to listen on; `None` for `off`, and for `auto` in production.
    pub fn address(&self, production: bool) -> Option<&str> {
        match self.address.as_str() {
            OFF => None,
            AUTO if production => None,
            AUTO => Some(DEVELOPMENT),
            own => Some(own),
        }
    }

    /// The address, if other machines can reach it and no token is required.
    pub fn open_to_others(&self, production: bool) -> Option<&str> {
        let address = self.address(production).filter(|_| self.token.is_empty())?;
        // An address that cannot be resolved cannot be bound either, which is reported there.
        let mut all = address.to_socket_addrs().into_iter().flatten();
        all.any(|address| !address.ip().to_canonical().is_loopback()).then_some(address)
    }
}

/// The bearer token of scrapers. Neither `Debug` nor a log shows it, and dropping it wipes it.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Token(Zeroizing<String>);

impl Token {
    /// Wraps a token; an empty one means that none is required.
    pub fn new(token: impl Into<String>) -> Self {
        Self(Zeroizing::new(token.into()))
    }

    /// The text itself, for code that checks it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Tells whether the token is empty, so that scrapes need none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Tells whether an `Authorization` header contains this token. The time reveals at most the
    /// token's length. Any header matches if no token is required.
    pub(crate) fn is_shown_by(&self, header: Option<&[u8]>) -> bool {
        let shown = header.and_then(bearer).unwrap_or_default();
        self.is_empty() || bool::from(self.0.as_bytes().ct_eq(shown))
    }
}

/// The text after the scheme, which is case-insensitive (RFC 6750 section 2.1, RFC 9110 section
/// 11.1).
fn bearer(header: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = header.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(address: &str, token: &str) -> Settings {
        Settings { address: address.to_owned(), token: Token::new(token) }
    }

    #[test]
    fn development_listens_on_loopback_and_production_only_where_it_is_told() {
        assert_eq!(settings("auto", "").address(false), Some("127.0.0.1:8082"));
        assert_eq!(settings("auto", "").address(true), None);
        assert_eq!(settings("off", "").address(false), None);
        assert_eq!(settings("[::1]:1", "").address(true), Some("[::1]:1"));
    }

    #[test]
    fn an_address_that_others_reach_asks_for_a_token() {
        for address in ["0.0.0.0:1", "[::]:1", "192.0.2.1:1"] {
            assert_eq!(settings(address, "").open_to_others(true), Some(address));
            assert_eq!(settings(address, "secret").open_to_others(true), None);
        }
        for address in ["127.0.0.1:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "off", "auto"] {
            assert_eq!(settings(address, "").open_to_others(false), None, "{address}");
        }
    }

    #[test]
    fn only_the_token_itself_is_taken_and_it_hides_itself() {
        let token = Token::new("open sesame");
        for header in ["Bearer open sesame", "bearer open sesame", "BEARER  open sesame "] {
            assert!(token.is_shown_by(Some(header.as_bytes())), "{header}");
        }
        for header in
            ["", "Bearer", "Bearer ", "Bearer open sesam", "Basic open sesame", "open sesame"]
        {
            assert!(!token.is_shown_by(Some(header.as_bytes())), "{header}");
        }
        assert!(!token.is_shown_by(None));
        assert!(Token::default().is_shown_by(None));
        assert_eq!(format!("{token:?}"), "Token(…)");
    }
}
