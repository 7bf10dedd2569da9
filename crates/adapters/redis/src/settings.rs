use redis::{Client, ConnectionAddr};
use serde::Deserialize;
use serde_with::{As, DurationMilliSeconds, NoneAsEmptyString};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::Duration;

/// What counts requests for all instances: the section `[redis]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where it is; without one requests are counted without it.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub url: Option<RedisUrl>,
    /// How long one request may wait for it, for a connection and an answer together.
    #[serde(rename = "timeout_ms", with = "As::<DurationMilliSeconds<u64>>")]
    pub timeout: Duration,
}

/// The address of a Redis server: `redis://` or `rediss://` (over TLS, with a certificate that the
/// system trusts), perhaps a user and a password, a host, perhaps a port and the number of a
/// database. `Debug` hides user and password.
#[derive(Clone)]
pub struct RedisUrl(Client);

/// The text is no usable address; says why, without repeating it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidRedisUrl(&'static str);

const UNREADABLE: InvalidRedisUrl = InvalidRedisUrl(
    "it is redis:// or rediss:// (TLS) with a host, such as rediss://:PASSWORD@HOST:6379",
);
const TAIL: InvalidRedisUrl = InvalidRedisUrl(
    "it must have no query and no fragment, and user and password have to be percent-encoded",
);

impl RedisUrl {
    /// The password, if there is one, for code that checks it.
    pub fn password(&self) -> Option<&str> {
        self.0.get_connection_info().redis_settings().password()
    }

    /// Whether calls cannot be read or answered by anybody in between: they are encrypted and the
    /// certificate is checked, or they never leave this machine.
    pub fn is_private(&self) -> bool {
        match self.0.get_connection_info().addr() {
            ConnectionAddr::Tcp(host, _) => {
                let address: Result<IpAddr, _> = host.parse();
                address.map_or(host == "localhost", |it| it.to_canonical().is_loopback())
            }
            _ => true,
        }
    }

    pub(crate) const fn client(&self) -> &Client {
        &self.0
    }
}

impl FromStr for RedisUrl {
    type Err = InvalidRedisUrl;

    fn from_str(text: &str) -> Result<Self, InvalidRedisUrl> {
        let (scheme, rest) = text.split_once("://").ok_or(UNREADABLE)?;
        if !["redis", "rediss"].contains(&scheme) {
            return Err(UNREADABLE);
        }
        // Anything else here may be the second half of a password.
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        if rest.contains(['?', '#']) || authority.matches('@').count() > 1 || path.contains('@') {
            return Err(TAIL);
        }
        Client::open(text).map(Self).map_err(|_| UNREADABLE)
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RedisUrl({})", self.0.get_connection_info().addr())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RedisUrl, InvalidRedisUrl> {
        text.parse()
    }

    #[test]
    fn an_address_says_whether_others_can_read_along() {
        for (text, private) in [
            ("redis://127.0.0.1", true),
            ("redis://[::1]:6379/2", true),
            ("redis://localhost:6379", true),
            ("rediss://:secret@redis.example.com:6380/0", true),
            ("redis://redis", false),
            ("redis://user:secret@10.0.0.2:6379", false),
            ("redis://localhost.example.com", false),
        ] {
            assert_eq!(read(text).unwrap().is_private(), private, "{text}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_not_repeated() {
        for text in [
            "secret",
            "http://secret@127.0.0.1",
            "redis://",
            "redis://0.0.0.0",
            "redis://127.0.0.1/secret",
            "redis://:p@secret@127.0.0.1",
            "redis://:1/secret@127.0.0.1",
            "redis://secret:6379#s@127.0.0.1",
            "redis://:secret@127.0.0.1?protocol=resp3",
            "rediss://127.0.0.1/#insecure",
        ] {
            let refused = read(text).unwrap_err().to_string();
            assert!(refused.starts_with("it ") && !refused.contains("secret"), "{text}: {refused}");
        }
    }

    #[test]
    fn a_password_is_decoded_and_hidden() {
        let url = read("rediss://dwar:p%40ss@redis.example.com").unwrap();
        assert_eq!(url.password(), Some("p@ss"));
        let shown = format!("{url:?}");
        assert!(!shown.contains("ss@") && !shown.contains("p%40") && !shown.contains("p@"));
        assert_eq!(shown, "RedisUrl(redis.example.com:6379)");
    }
}
