use dwar_kernel::is_this_machine;
use reqwest::Url;
use serde::{Deserialize, Deserializer, de};
use std::fmt;
use std::str::FromStr;

/// An address to which paths are appended: `https://otp.example.com/api`, never with a slash at the
/// end.
///
/// It consists of scheme `http` or `https`, a host and perhaps a path. It has no user, query or
/// fragment, so it contains no secret, and none of the spellings that the WHATWG URL standard
/// silently corrects (blanks, backslashes, a missing slash), so its destination is evident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    text: String,
    private: bool,
}

/// The text is not a usable address. The message says why, without quoting it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidBaseUrl(&'static str);

const SCHEME: InvalidBaseUrl = InvalidBaseUrl("it begins with https:// or http://");
const USER: InvalidBaseUrl = InvalidBaseUrl("it must name no user and no password");
const TAIL: InvalidBaseUrl = InvalidBaseUrl("it must have no query and no fragment");
const UNREADABLE: InvalidBaseUrl =
    InvalidBaseUrl("it is not an address such as https://otp.example.com");

impl BaseUrl {
    /// The address as text, without a slash at the end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Tells whether calls cannot be read on the way: they are encrypted, or stay on this machine.
    pub fn is_private(&self) -> bool {
        self.private
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl FromStr for BaseUrl {
    type Err = InvalidBaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidBaseUrl> {
        let (scheme, rest) = text.split_once("://").ok_or(SCHEME)?;
        if !["https", "http"].contains(&scheme) {
            return Err(SCHEME);
        }
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(USER);
        }
        if rest.contains(['?', '#']) {
            return Err(TAIL);
        }
        let plain = rest.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let url = Url::parse(text).map_err(|_| UNREADABLE)?;
        let host = url.host_str().filter(|_| plain && !authority.is_empty());
        let host = host.ok_or(UNREADABLE)?;
        let here = is_this_machine(host.trim_matches(['[', ']']));
        let text = url.as_str().trim_end_matches('/').to_owned();
        Ok(Self { text, private: scheme == "https" || here })
    }
}

impl<'de> Deserialize<'de> for BaseUrl {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<BaseUrl, InvalidBaseUrl> {
        text.parse()
    }

    #[test]
    fn is_kept_without_a_slash_at_its_end() {
        for (text, kept) in [
            ("https://otp.example.com", "https://otp.example.com"),
            ("https://otp.example.com/", "https://otp.example.com"),
            ("https://otp.example.com//", "https://otp.example.com"),
            ("https://OTP.example.com:443/", "https://otp.example.com"),
            ("https://otp.example.com:8443", "https://otp.example.com:8443"),
            ("https://example.com/auth/otp/", "https://example.com/auth/otp"),
            ("https://example.com/a/../b/", "https://example.com/b"),
            ("http://127.0.0.1:9", "http://127.0.0.1:9"),
            ("http://[::1]:9/", "http://[::1]:9"),
        ] {
            assert_eq!(read(text).unwrap().as_str(), kept, "{text}");
            assert_eq!(read(kept).unwrap(), read(text).unwrap(), "{text}");
        }
    }

    #[test]
    fn what_hides_where_it_leads_is_refused() {
        for (text, why) in [
            ("", SCHEME),
            ("otp.example.com", SCHEME),
            ("ftp://x", SCHEME),
            ("HTTPS:otp.example.com", SCHEME),
            ("https:/otp.example.com", SCHEME),
            ("javascript://x", SCHEME),
            (" https://otp.example.com", SCHEME),
            ("https://user:pw@otp.example.com", USER),
            ("https://@otp.example.com", USER),
            ("http://localhost:x@evil.example", USER),
            ("http://127.0.0.1:80@evil.example/", USER),
            ("https://otp.example.com?a=1", TAIL),
            ("https://otp.example.com/#x", TAIL),
            ("https://", UNREADABLE),
            ("https:///path", UNREADABLE),
            ("https://otp.example.com:x", UNREADABLE),
            ("https://otp.example.com:99999", UNREADABLE),
            ("https://otp example.com", UNREADABLE),
            ("https://otp.example.com/a b", UNREADABLE),
            ("https://otp.example.com\\@evil.example", UNREADABLE),
            ("https://otp.exa\tmple.com", UNREADABLE),
            ("https://otp.example.com\n", UNREADABLE),
        ] {
            assert_eq!(read(text), Err(why), "{text:?}");
        }
    }

    #[test]
    fn knows_what_others_can_read() {
        for (text, private) in [
            ("http://127.0.0.1:80", true),
            ("http://127.9.9.9", true),
            ("http://2130706433", true),
            ("http://[::1]", true),
            ("http://[::ffff:127.0.0.1]", true),
            ("http://localhost:9", true),
            ("https://localhost", true),
            ("https://10.0.0.1", true),
            ("http://10.0.0.1", false),
            ("http://localhost.evil.example", false),
            ("http://127.0.0.1.evil.example", false),
        ] {
            assert_eq!(read(text).unwrap().is_private(), private, "{text}");
        }
    }
}
