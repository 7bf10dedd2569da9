use std::fmt;
use zeroize::Zeroizing;

const SHORTEST: usize = 12;
/// In bytes. Argon2 would accept more, but nobody types more.
const LONGEST: usize = 128;
const DISTINCT: usize = 5;

/// A password in clear. `Debug` hides it; dropping the value wipes it.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

/// Why a new password is refused (NIST SP 800-63B, section 3.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPassword {
    #[error("the password needs at least 12 characters")]
    TooShort,
    #[error("the password can have at most 128 bytes")]
    TooLong,
    /// Too few different characters remain without common words, the name of the operator and that of this
    /// service.
    #[error("this password is too easy to guess")]
    TooEasy,
}

impl Password {
    /// A password entered at sign-in, without any check.
    pub fn typed(text: &str) -> Self {
        Self(Zeroizing::new(text.to_owned()))
    }

    /// Checks a new password of the operator `name`.
    ///
    /// # Errors
    /// [`InvalidPassword`], to be shown on the page.
    pub fn chosen(text: &str, name: &str) -> Result<Self, InvalidPassword> {
        if text.chars().count() < SHORTEST {
            return Err(InvalidPassword::TooShort);
        }
        if text.len() > LONGEST {
            return Err(InvalidPassword::TooLong);
        }
        if is_easy(&text.to_lowercase(), &name.to_lowercase()) {
            return Err(InvalidPassword::TooEasy);
        }
        Ok(Self::typed(text))
    }

    /// The password in clear, for the hasher only.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Removes common words first; the rest must still have enough different characters.
fn is_easy(text: &str, name: &str) -> bool {
    const FIRST_TRIED: [&str; 8] =
        ["password", "qwerty", "letmein", "welcome", "admin", "dwar", "123456789", "123456"];
    let words = FIRST_TRIED.into_iter().chain((name.chars().count() > 2).then_some(name));
    let rest = words.fold(text.to_owned(), |rest, word| rest.replace(word, ""));
    let mut letters: Vec<char> = rest.chars().collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len() < DISTINCT
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Password(…)")
    }
}

/// Stored form of a password: a PHC string with its own salt and costs. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// Wraps a PHC string of a hasher or a store, without any check.
    pub fn new(phc: impl Into<String>) -> Self {
        Self(phc.into())
    }

    /// The PHC string in clear, only for hashers and stores.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("PasswordHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use InvalidPassword::{TooEasy, TooLong, TooShort};

    #[test]
    fn easy_passwords_are_refused() {
        for (text, why) in [
            ("", TooShort),
            ("correct hor", TooShort),
            ("aaaaaaaaaaaaaaaa", TooEasy),
            ("123456123456", TooEasy),
            ("Password1234", TooEasy),
            ("AshaAshaAsha", TooEasy),
            ("dwar-admin-1", TooEasy),
            (&"x1".repeat(65), TooLong),
        ] {
            assert_eq!(Password::chosen(text, "asha").map(drop), Err(why), "{text}");
        }
        for text in ["correct horse", "कखगघङचछजझञटठ", "n3-Rq_tz!Lp0"] {
            assert!(Password::chosen(text, "asha").is_ok(), "{text}");
        }
    }

    #[test]
    fn neither_shows_itself() {
        let shown = format!("{:?} {:?}", Password::typed("hush"), PasswordHash::new("$argon2"));
        assert_eq!(shown, "Password(…) PasswordHash(…)");
    }
}
