use crate::{Code, InvalidLanguage, RelayLifetime};
use derive_more::Display;
use dwar_kernel::{is_line, words};
use std::str::FromStr;

/// Longest value of a variable that every DLT portal accepts (TRAI).
const DLT_VARIABLE: usize = 30;
/// Longest message in bytes that an Android app can read (SMS Retriever).
const RETRIEVER: usize = 140;
/// Longer messages lose parts or are cut on the way.
const MAX_SEGMENTS: usize = 3;
const APP_HASH: usize = 11;

/// Text of an SMS: a checked template and its values.
///
/// The text is the template with `{code}`, `{brand}` and `{minutes}` filled in, and optionally a last line
/// for a browser (`@domain #code`, WebOTP) or an Android app (its hash).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmsText {
    template: String,
    brand: String,
    ending: MessageEnding,
}

/// Last line of an SMS, for software that reads the code out of the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageEnding {
    None,
    /// For the browser, on this site (origin-bound one-time codes; WebOTP).
    WebOtp(String),
    /// For the Android app with this 11-character hash (SMS Retriever).
    AppHash(String),
}

/// Why a text, brand or ending is refused; the message names the rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidText {
    #[error("the text has to contain {{code}} exactly once")]
    Code,
    #[error("unknown placeholder {0}: the text can use {{code}}, {{brand}} and {{minutes}}")]
    Placeholder(String),
    /// A control character other than a line break.
    #[error("the text contains a control character")]
    Control,
    /// The brand is empty, too long, or has several lines.
    #[error("a brand has 1 to 30 characters on one line, as a DLT variable has")]
    Brand,
    #[error("the domain is a host name such as login.example.com")]
    Domain,
    #[error("an app hash has 11 characters of base64")]
    AppHash,
    #[error("a project has at most 16 last lines to choose from")]
    TooManyEndings,
    #[error("an SMS has one last line: set a domain or an app hash, not both")]
    TwoEndings,
    /// More than the 140 bytes that the SMS Retriever reads; holds the length.
    #[error(
        "with an app hash the text has at most 140 bytes; this one has {0} with a code of ten digits"
    )]
    TooLongForApp(usize),
    /// More than three SMS parts; holds the number of parts.
    #[error("with a code of ten digits the text takes {0} SMS parts; at most 3 are allowed")]
    TooManySegments(usize),
    #[error(transparent)]
    Language(#[from] InvalidLanguage),
}

impl MessageEnding {
    /// Validates a domain or an app hash and makes the ending of it.
    ///
    /// # Errors
    /// If both are given, or one is malformed.
    pub fn of(domain: Option<&str>, app_hash: Option<&str>) -> Result<Self, InvalidText> {
        match (domain, app_hash) {
            (None, None) => Ok(Self::None),
            (Some(domain), None) if is_host(domain) => Ok(Self::WebOtp(domain.to_owned())),
            (Some(_), None) => Err(InvalidText::Domain),
            (None, Some(hash)) if is_app_hash(hash) => Ok(Self::AppHash(hash.to_owned())),
            (None, Some(_)) => Err(InvalidText::AppHash),
            (Some(_), Some(_)) => Err(InvalidText::TwoEndings),
        }
    }
}

impl FromStr for MessageEnding {
    type Err = InvalidText;

    /// Parses a host name, which has a dot, or an app hash, which has none.
    fn from_str(text: &str) -> Result<Self, InvalidText> {
        match text.contains('.') {
            true => Self::of(Some(text), None),
            false => Self::of(None, Some(text)),
        }
    }
}

impl SmsText {
    /// The default template of a language; English if the language has none.
    pub fn default_template(language: &str) -> &'static str {
        match language.split('-').next().unwrap_or_default() {
            "hi" => {
                "{code} आपका {brand} सत्यापन कोड है। यह {minutes} मिनट तक मान्य है। इसे किसी के साथ साझा न करें।"
            }
            _ => {
                // A registered text has to arrive word for word, so it cannot switch between «minute» and
                // «minutes».
                "{code} is your {brand} verification code. It is valid for {minutes} min. \
                 Do not share it with anyone."
            }
        }
    }

    /// Checks template and values. The length is checked separately by [`SmsText::check_length`].
    ///
    /// # Errors
    /// The first fault that is found.
    pub fn new(template: &str, brand: &str, ending: MessageEnding) -> Result<Self, InvalidText> {
        check_placeholders(template)?;
        if !is_line(brand, DLT_VARIABLE) {
            return Err(InvalidText::Brand);
        }
        Ok(Self { template: template.to_owned(), brand: brand.to_owned(), ending })
    }

    /// Checks that every message fits, with the longest code (a relayed one) and the longest lifetime.
    ///
    /// # Errors
    /// [`InvalidText::TooLongForApp`] or [`InvalidText::TooManySegments`].
    pub fn check_length(&self) -> Result<(), InvalidText> {
        let minutes = u32::try_from(RelayLifetime::SECONDS.end() / 60).unwrap_or(u32::MAX);
        let longest = self.fill(&"0".repeat(Code::LONGEST), &minutes.to_string());
        if matches!(self.ending, MessageEnding::AppHash(_)) && longest.len() > RETRIEVER {
            return Err(InvalidText::TooLongForApp(longest.len()));
        }
        match Segments::of(&longest).parts {
            parts if parts > MAX_SEGMENTS => Err(InvalidText::TooManySegments(parts)),
            _ => Ok(()),
        }
    }

    /// Whether the text may state its minutes in fixed words, which fit only one lifetime: it contains a
    /// number and no `{minutes}`.
    pub fn has_fixed_minutes(&self) -> bool {
        !self.template.contains("{minutes}") && self.template.contains(char::is_numeric)
    }

    /// The message that carries `code`, with its lifetime in minutes.
    pub fn compose(&self, code: &Code, minutes: u32) -> String {
        self.fill(code.expose(), &minutes.to_string())
    }

    /// Number of SMS parts of a login message; all login codes give the same.
    pub fn segments(&self, minutes: u32) -> Segments {
        Segments::of(&self.fill("000000", &minutes.to_string()))
    }

    pub(crate) fn fill(&self, code: &str, minutes: &str) -> String {
        // The brand is filled in last: braces in it must not become placeholders.
        let body = self.template.replace("{code}", code).replace("{minutes}", minutes);
        let body = body.replace("{brand}", &self.brand);
        match &self.ending {
            MessageEnding::None => body,
            MessageEnding::WebOtp(domain) => format!("{body}\n\n@{domain} #{code}"),
            MessageEnding::AppHash(hash) => format!("{body}\n\n{hash}"),
        }
    }
}

/// Length of an SMS and the number of parts it is sent in (3GPP TS 23.038, 23.040).
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
#[display("{parts} part{} ({units} units, {encoding})", if *parts == 1 { "" } else { "s" })]
pub struct Segments {
    pub encoding: Encoding,
    /// Length in septets (GSM-7) or 16-bit units (UCS-2).
    pub units: usize,
    pub parts: usize,
}

words! {
    /// Character encoding of an SMS.
    Encoding {
        /// 160 septets in one message, 153 in each part of a longer one.
        Gsm7 = "GSM-7",
        /// 70 UTF-16 units in one message, 67 in each part of a longer one.
        Ucs2 = "UCS-2",
    }
}

impl Segments {
    /// Encodes `text` and counts its units and parts.
    pub fn of(text: &str) -> Self {
        match text.chars().map(septets).sum::<Option<usize>>() {
            Some(units) => Self::cut(Encoding::Gsm7, units, 160, 153),
            None => Self::cut(Encoding::Ucs2, text.encode_utf16().count(), 70, 67),
        }
    }

    const fn cut(encoding: Encoding, units: usize, alone: usize, each: usize) -> Self {
        let parts = if units <= alone { 1 } else { units.div_ceil(each) };
        Self { encoding, units, parts }
    }
}

/// Septets of a character in GSM-7; `None` if GSM-7 lacks it.
fn septets(character: char) -> Option<usize> {
    const BASIC: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡\
        ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
    const EXTENDED: &str = "\u{c}^{}\\[~]|€";
    if BASIC.contains(character) {
        Some(1)
    } else if EXTENDED.contains(character) {
        Some(2)
    } else {
        None
    }
}

fn check_placeholders(template: &str) -> Result<(), InvalidText> {
    if template.chars().any(|character| character.is_control() && character != '\n') {
        return Err(InvalidText::Control);
    }
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let tail = &rest[open..];
        let end = tail.find('}').map_or(tail.len(), |close| close + 1);
        if !matches!(&tail[..end], "{code}" | "{brand}" | "{minutes}") {
            return Err(InvalidText::Placeholder(tail[..end].to_owned()));
        }
        rest = &tail[end..];
    }
    if template.matches("{code}").count() == 1 { Ok(()) } else { Err(InvalidText::Code) }
}

fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.contains('.') && text.split('.').all(label)
}

fn is_app_hash(text: &str) -> bool {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    text.len() == APP_HASH && text.bytes().all(base64)
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
