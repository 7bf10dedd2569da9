use crate::Secret;
use reqwest::Url;
use serde::{Deserialize, Deserializer, de};
use std::str::FromStr;

/// The address of an HTTP proxy: `http` or `https`, optionally a user and a password, a host,
/// optionally a port, and nothing else. `Debug` hides it.
#[derive(Clone, Debug)]
pub struct ProxyUrl(Secret);

/// The text is not the address of a proxy. The message describes a valid one without quoting the
/// text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is http:// or https:// and a host, such as http://proxy:3128")]
pub struct InvalidProxyUrl;

impl ProxyUrl {
    /// The address itself, for code that connects to it.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl FromStr for ProxyUrl {
    type Err = InvalidProxyUrl;

    fn from_str(text: &str) -> Result<Self, InvalidProxyUrl> {
        let (scheme, authority) = text.split_once("://").ok_or(InvalidProxyUrl)?;
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let known = ["http", "https"].contains(&scheme);
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"/\\?#".contains(&byte);
        let whole = authority.bytes().all(plain) && authority.matches('@').count() < 2;
        let has_host = Url::parse(text).is_ok_and(|url| url.host_str().is_some());
        if known && whole && has_host { Ok(Self(Secret::new(text))) } else { Err(InvalidProxyUrl) }
    }
}

impl<'de> Deserialize<'de> for ProxyUrl {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_host_that_speaks_http_and_nothing_else() {
        for text in [
            "http://proxy:3128",
            "http://proxy:3128/",
            "https://proxy",
            "http://user:p%40ss@proxy:3128",
            "http://[::1]:3128",
        ] {
            let url: ProxyUrl = text.parse().unwrap();
            assert_eq!(url.expose(), text);
            assert_eq!(format!("{url:?}"), "ProxyUrl(Secret(…))");
        }
        for text in [
            "",
            "proxy:3128",
            "http://",
            "\"http://proxy:3128\"",
            " http://proxy:3128",
            "http://proxy:3128\r",
            "http://proxy:3128x",
            "http://proxy:99999",
            "http://proxy/path",
            "http://user:p@ss@proxy:3128",
            "http://user:p/ss@proxy:3128",
            "http://user:1#ss@proxy:3128",
            "socks5://proxy:1080",
        ] {
            assert_eq!(text.parse::<ProxyUrl>().err(), Some(InvalidProxyUrl), "{text:?}");
        }
    }
}
