use crate::is_line;
use std::fmt;
use std::str::FromStr;

/// Claims with a value of their own that a project adds to its access tokens, such as `role: authenticated`.
///
/// At most [`FixedClaims::MOST`], each name once, in the order they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedClaims(Vec<(String, String)>);

/// A token cannot have these claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidClaims {
    /// Too many, or together too long.
    #[error("at most 8 claims, with their names 512 bytes together")]
    TooMuch,
    /// Not a name, or one that comes twice.
    #[error("a claim has a name of 1 to 64 letters, digits and . _ : / - that no other has")]
    Name,
    /// A name with a meaning of its own.
    #[error(
        "this name has a meaning in every access token (RFC 9068) or means more than a claim may"
    )]
    Reserved,
    /// Not a value.
    #[error("a value is 1 or more visible characters on one line, and not service_role")]
    Value,
}

/// Names that RFC 7519, RFC 9068, RFC 8693 and OpenID Connect give a meaning to, and those that this service
/// writes itself.
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

/// What Supabase takes for a caller who may do anything.
const SERVICE_ROLE: &str = "service_role";

impl FixedClaims {
    /// How many there may be.
    pub const MOST: usize = 8;
    /// How many bytes names and values may have together.
    pub const LONGEST: usize = 512;

    /// These claims.
    ///
    /// # Errors
    /// [`InvalidClaims`] for the first rule that they break.
    pub fn new(claims: Vec<(String, String)>) -> Result<Self, InvalidClaims> {
        let bytes: usize = claims.iter().map(|(name, value)| name.len() + value.len()).sum();
        if claims.len() > Self::MOST || bytes > Self::LONGEST {
            return Err(InvalidClaims::TooMuch);
        }
        for (at, (name, value)) in claims.iter().enumerate() {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte);
            let is_name = (1..=64).contains(&name.len()) && name.bytes().all(plain);
            if !is_name || claims[..at].iter().any(|(other, _)| other == name) {
                return Err(InvalidClaims::Name);
            }
            if RESERVED.contains(&name.as_str()) || name == SERVICE_ROLE {
                return Err(InvalidClaims::Reserved);
            }
            if !is_line(value, Self::LONGEST) || value == SERVICE_ROLE {
                return Err(InvalidClaims::Value);
            }
        }
        Ok(Self(claims))
    }

    /// Each name with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// As stores keep them and people write them: a line `name=value` for each.
impl fmt::Display for FixedClaims {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (name, value)) in self.iter().enumerate() {
            let line = if number == 0 { "" } else { "\n" };
            write!(out, "{line}{name}={value}")?;
        }
        Ok(())
    }
}

/// Blank lines, and blanks around a line, are left out.
impl FromStr for FixedClaims {
    type Err = InvalidClaims;

    fn from_str(text: &str) -> Result<Self, InvalidClaims> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let pair = |line: &str| {
            let (name, value) = line.split_once('=').ok_or(InvalidClaims::Value)?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
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
        for text in ["", "role=authenticated", "role=authenticated\nhttps://a.example/org=x=y z"] {
            assert_eq!(read(text).as_deref(), Ok(text));
        }
        assert_eq!(read("\n role = authenticated \n\n").as_deref(), Ok("role=authenticated"));
    }

    #[test]
    fn what_means_something_else_is_refused() {
        for name in RESERVED {
            assert_eq!(read(&format!("{name}=x")), Err(InvalidClaims::Reserved), "{name}");
        }
        assert_eq!(read("service_role=x"), Err(InvalidClaims::Reserved));
        for value in ["service_role", "", "a\u{0}b"] {
            assert_eq!(read(&format!("role={value}")), Err(InvalidClaims::Value), "{value:?}");
        }
        assert_eq!(read("role"), Err(InvalidClaims::Value));
        for text in ["=x", "a b=x", "é=x", "role=a\nrole=b"] {
            assert_eq!(read(text), Err(InvalidClaims::Name), "{text}");
        }
        assert_eq!(read(&format!("{}=x", "n".repeat(65))), Err(InvalidClaims::Name));
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
