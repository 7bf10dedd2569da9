use crate::is_line;
use std::fmt;
use std::str::FromStr;

/// Claims with fixed values that a project adds to its access tokens, such as `role: authenticated`.
///
/// At most [`FixedClaims::MOST`], sorted by name, with names that are unique ignoring case. Claims read by
/// [`FixedClaims::stored`] may break these rules: they are shown as stored, but tokens leave out those that
/// break a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedClaims(Vec<(String, String)>);

/// Why claims of a project are refused; the message names the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidClaims {
    #[error("at most 8 claims, with their names 512 bytes together")]
    TooMuch,
    #[error(
        "a claim has a name that no other has in any case: up to 31 of a-z, 0-9 and _, a letter first, \
         or an https:// URL of up to 64 characters"
    )]
    Name,
    /// A name that a standard or this service reserves.
    #[error(
        "this name has a meaning in every access token (RFC 9068) or means more than a claim may"
    )]
    Reserved,
    #[error("a value is 1 or more visible characters on one line, and not service_role")]
    Value,
}

/// Names that RFC 7519, RFC 9068, RFC 8693 and OpenID Connect define, and names that this service writes
/// itself.
const RESERVED: [&str; 25] = [
    "iss",
    "sub",
    "aud",
    "exp",
    "nbf",
    "iat",
    "jti",
    "client_id",
    "sid",
    "mode",
    "scope",
    "auth_time",
    "acr",
    "amr",
    "azp",
    "nonce",
    "cnf",
    "act",
    "may_act",
    "at_hash",
    "c_hash",
    "typ",
    "events",
    "txn",
    "toe",
];

/// Supabase lets a caller with this role do anything.
const SERVICE_ROLE: &str = "service_role";

/// Prefixes of names that OpenID Connect defines: a user who is known by phone must not claim an email
/// address.
const RESERVED_BEGINNINGS: [&str; 2] = ["email", "phone_number"];

impl FixedClaims {
    /// Most claims that a project may add to its tokens.
    pub const MOST: usize = 8;
    /// Most bytes of all names and values together.
    pub const LONGEST: usize = 512;
    /// Most characters of a name that is a word.
    const WORD: usize = 31;
    /// Most characters of a name that is a URL.
    const URL: usize = 64;

    /// Validates claims, after trimming names and values.
    ///
    /// # Errors
    /// [`InvalidClaims`] for the first rule that is broken.
    pub fn new(claims: Vec<(String, String)>) -> Result<Self, InvalidClaims> {
        let tidy = |(name, value): (String, String)| (name.trim().into(), value.trim().into());
        let mut claims = Self(claims.into_iter().map(tidy).collect());
        // Sorted, since JSON objects have no order: the result is the same from the API and the form.
        claims.0.sort();
        claims.check().map(|()| claims)
    }

    /// Claims as a store kept them, even if they break a rule.
    pub fn stored(text: &str) -> Self {
        let lines = text.split('\n').filter(|line| !line.is_empty());
        let pair = |line: &str| {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            (name.to_owned(), value.to_owned())
        };
        Self(lines.map(pair).collect())
    }

    /// Checks every rule.
    ///
    /// # Errors
    /// [`InvalidClaims`] for the first rule that is broken.
    pub fn check(&self) -> Result<(), InvalidClaims> {
        self.judged().1.map_or(Ok(()), Err)
    }

    /// All claims as pairs of name and value, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The claims that tokens contain: each one that keeps the rules, given the ones before it.
    pub fn sound(&self) -> Vec<(&str, &str)> {
        self.judged().0
    }

    /// Whether there are no claims, as for a new project.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The claims that keep the rules, and the first rule that another one breaks.
    fn judged(&self) -> (Vec<(&str, &str)>, Option<InvalidClaims>) {
        let mut sound = Vec::with_capacity(self.0.len());
        let mut fault = None;
        for claim in self.iter() {
            match fault_beside(&sound, claim) {
                None => sound.push(claim),
                Some(found) => fault = fault.or(Some(found)),
            }
        }
        (sound, fault)
    }
}

/// Why a claim cannot be added to `others`. Names are compared ignoring case, as JSON readers in Go do.
fn fault_beside(others: &[(&str, &str)], (name, value): (&str, &str)) -> Option<InvalidClaims> {
    let size = |(name, value): &(&str, &str)| name.len() + value.len();
    let bytes: usize = others.iter().map(size).sum::<usize>() + size(&(name, value));
    if others.len() >= FixedClaims::MOST || bytes > FixedClaims::LONGEST {
        Some(InvalidClaims::TooMuch)
    } else if is_reserved(name) {
        Some(InvalidClaims::Reserved)
    } else if !is_name(name) || others.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
        Some(InvalidClaims::Name)
    } else if !is_line(value, FixedClaims::LONGEST)
        || value.trim() != value
        || value == SERVICE_ROLE
    {
        Some(InvalidClaims::Value)
    } else {
        None
    }
}

fn is_reserved(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    RESERVED.contains(&name.as_str())
        || name == SERVICE_ROLE
        || RESERVED_BEGINNINGS.iter().any(|begins| name.starts_with(begins))
}

fn is_name(name: &str) -> bool {
    if let Some(rest) = name.strip_prefix("https://") {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-#~".contains(&byte);
        return name.len() <= FixedClaims::URL
            && rest.starts_with(|first: char| first.is_ascii_alphanumeric())
            && rest.bytes().all(plain);
    }
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() <= FixedClaims::WORD
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(plain)
}

/// The stored and typed form: one line `name=value` per claim.
impl fmt::Display for FixedClaims {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, value)) in self.iter().enumerate() {
            let line = if number == 0 { "" } else { "\n" };
            write!(out, "{line}{name}={value}")?;
        }
        Ok(())
    }
}

/// Ignores blank lines, and blanks around a line.
impl FromStr for FixedClaims {
    type Err = InvalidClaims;

    fn from_str(text: &str) -> Result<Self, InvalidClaims> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let pair = |line: &str| {
            let (name, value) = line.split_once('=').ok_or(InvalidClaims::Value)?;
            Ok((name.to_owned(), value.to_owned()))
        };
        Self::new(lines.map(pair).collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, InvalidClaims> {
        text.parse::<FixedClaims>().map(|claims| claims.to_string())
    }

    #[test]
    fn reads_what_it_wrote() {
        for text in ["", "role=authenticated", "https://a.example/org=x=y z\nrole=authenticated"] {
            assert_eq!(read(text).as_deref(), Ok(text));
        }
        assert_eq!(
            read("\n role = authenticated \n\n org=x").as_deref(),
            Ok("org=x\nrole=authenticated")
        );
    }

    #[test]
    fn what_means_something_else_is_refused() {
        for name in RESERVED {
            for name in [name.to_owned(), name.to_uppercase()] {
                assert_eq!(read(&format!("{name}=x")), Err(InvalidClaims::Reserved), "{name}");
            }
        }
        for name in ["service_role", "email", "Email_Verified", "phone_number", "PHONE_NUMBERS"] {
            assert_eq!(read(&format!("{name}=x")), Err(InvalidClaims::Reserved), "{name}");
        }
        for name in ["role", "roles", "groups", "entitlements", "phone", "https://a.example/iss"] {
            assert_eq!(read(&format!("{name}=x")), Ok(format!("{name}=x")));
        }
        for value in ["service_role", " service_role ", "", "a\u{0}b", "a\u{61c}b"] {
            assert_eq!(read(&format!("role={value}")), Err(InvalidClaims::Value), "{value:?}");
        }
        assert_eq!(read("role"), Err(InvalidClaims::Value));
    }

    #[test]
    fn a_name_is_a_word_or_a_url_and_comes_once() {
        let (word, url) = ("n".repeat(31), format!("https://{}", "n".repeat(56)));
        for name in [word.as_str(), &url, "a", "a_1", "https://a.example:8/b-c#d"] {
            assert_eq!(read(&format!("{name}=x")), Ok(format!("{name}=x")));
        }
        let (word, url) = (format!("{word}n"), format!("{url}n"));
        let others = ["", "a b", "é", "Role", "_a", "1a", "a.b", "a-b", "http://a", "https://"];
        for name in others.into_iter().chain([word.as_str(), &url, "https:///a", "https://a b"]) {
            assert_eq!(read(&format!("{name}=x")), Err(InvalidClaims::Name), "{name}");
        }
        let twice = ["role=a\nrole=b", "https://a.example/b=1\nhttps://A.example/B=2"];
        for text in twice {
            assert_eq!(read(text), Err(InvalidClaims::Name), "{text}");
        }
    }

    #[test]
    fn what_is_stored_is_read_whatever_it_is_and_said_where_it_keeps_the_rules() {
        let kept = "ISS=https://other\nrole= service_role\norg=1\nORG=2\nnonsense\nteam=a=b";
        let claims = FixedClaims::stored(kept);
        assert_eq!(claims.sound(), [("org", "1"), ("team", "a=b")]);
        assert_eq!(claims.check(), Err(InvalidClaims::Reserved));
        assert_eq!(claims.to_string(), kept.replace("nonsense", "nonsense="));
        assert_eq!(FixedClaims::stored(""), FixedClaims::default());
        let nine: String = (0..9).map(|n| format!("c{n}=x\n")).collect();
        assert_eq!(FixedClaims::stored(&nine).sound().len(), FixedClaims::MOST);
    }

    #[test]
    fn there_are_eight_of_512_bytes_at_most() {
        let lines = |count: u32| (0..count).map(|n| format!("c{n}=x\n")).collect::<String>();
        assert!(read(&lines(8)).is_ok());
        assert_eq!(read(&lines(9)), Err(InvalidClaims::TooMuch));
        assert!(read(&format!("role={}", "x".repeat(508))).is_ok());
        assert_eq!(read(&format!("role={}", "x".repeat(509))), Err(InvalidClaims::TooMuch));
    }
}
