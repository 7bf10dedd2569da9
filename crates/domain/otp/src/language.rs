use std::fmt;
use std::str::FromStr;

/// Long enough for every tag in use, and the minimum that RFC 5646 (section 4.4.1) requires.
const LONGEST: usize = 35;

/// The language of a message: a language tag of BCP 47, such as `en`, `hi-IN` or `hi-Latn`.
///
/// The tag is well-formed (RFC 5646, section 2.1: the production `langtag`), begins with a language of two or
/// three letters, as every registered tag does, and has at most 35 characters. Whether its subtags are
/// registered is not checked. Not accepted: `hindi`, private-use tags (`x-…`) and irregular tags (`i-…`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Language(String);

/// Parse error: the text is not a BCP 47 language tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a language is a BCP 47 tag such as en, hi-IN or hi-Latn")]
pub struct InvalidLanguage;

impl Language {
    /// The tag in its original spelling; tags are compared as they are.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Language {
    type Err = InvalidLanguage;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() <= LONGEST && is_tag(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidLanguage)
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// Language, script, region, variants, extensions, private use, in this order; only the language is required.
fn is_tag(text: &str) -> bool {
    let mut rest = text.split('-').peekable();
    if rest.next_if(|it| is_alpha(it, 2..=3)).is_none() {
        return false;
    }
    // Extended language subtags, such as zh-cmn.
    for _ in 0..3 {
        rest.next_if(|it| is_alpha(it, 3..=3));
    }
    rest.next_if(|it| is_alpha(it, 4..=4));
    rest.next_if(|it| is_alpha(it, 2..=2) || is_digits(it));
    while rest.next_if(|it| is_variant(it)).is_some() {}
    while let Some(singleton) = rest.next_if(|it| is_alphanumeric(it, 1..=1)) {
        let shortest = if singleton.eq_ignore_ascii_case("x") { 1 } else { 2 };
        let mut told = 0;
        while rest.next_if(|it| is_alphanumeric(it, shortest..=8)).is_some() {
            told += 1;
        }
        if told == 0 {
            return false;
        }
    }
    rest.next().is_none()
}

fn is_variant(subtag: &str) -> bool {
    is_alphanumeric(subtag, 5..=8)
        || is_alphanumeric(subtag, 4..=4) && subtag.starts_with(|it: char| it.is_ascii_digit())
}

fn is_alpha(subtag: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphabetic())
}

fn is_alphanumeric(subtag: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// A region as a three-digit UN M.49 code.
fn is_digits(subtag: &str) -> bool {
    subtag.len() == 3 && subtag.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_every_shape_are_taken_as_they_are_written() {
        for tag in [
            "en",
            "hi-IN",
            "hi-Latn",
            "hi-Latn-IN",
            "HI-latn-in",
            "kok",
            "zh-cmn-Hans-CN",
            "zh-yue-abc-def",
            "es-419",
            "sl-rozaj-biske-1994",
            "de-CH-1901",
            "en-a-myext-b-another",
            "de-u-co-phonebk",
            "hi-x-a-1",
            "en-US-x-twain",
        ] {
            assert_eq!(tag.parse::<Language>().map(|it| it.to_string()), Ok(tag.to_owned()));
        }
    }

    #[test]
    fn what_is_no_tag_is_refused() {
        let long = format!("en-x{}", "-abcdefg".repeat(4));
        assert!(long.parse::<Language>().is_err() && long[..35].parse::<Language>().is_ok());
        for text in [
            "",
            "e",
            "-",
            "en-",
            "-en",
            "en--IN",
            "xx-quatsch!!",
            "en_IN",
            "en IN",
            " en",
            "en\n",
            "हिन्दी",
            "hindi",
            "english-language",
            "en-IN-IN",
            "en-IN-Latn",
            "hi-abc-abc-abc-abc",
            "en-12",
            "en-x",
            "en-a",
            "en-a-b",
            "en-a-b-cc",
            "en-x-abcdefghi",
            "i-klingon",
            "x-own",
            "12",
            "e1",
        ] {
            assert_eq!(text.parse::<Language>(), Err(InvalidLanguage), "{text:?}");
        }
    }
}
