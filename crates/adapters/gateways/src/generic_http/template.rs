use crate::Secret;
use dwar_otp::Message;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;
use std::collections::BTreeMap;

/// Text with places for values of a message. Secrets are already filled in.
pub(super) struct Template(Vec<Part>);

enum Part {
    Text(String),
    Secret(Secret),
    Slot(Slot),
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Slot {
    PhoneE164,
    PhoneDigits,
    PhoneNational,
    Code,
    Text,
    Brand,
    Minutes,
    Language,
    OtpId,
    AttemptId,
    TemplateId,
}

impl Slot {
    fn of(self, message: &Message, template_id: &str) -> String {
        match self {
            Self::PhoneE164 => message.phone.e164(),
            Self::PhoneDigits => format!("91{}", message.phone.national()),
            Self::PhoneNational => message.phone.national().to_owned(),
            Self::Code => message.code.expose().to_owned(),
            Self::Text => message.text.clone(),
            Self::Brand => message.brand.clone(),
            Self::Minutes => message.minutes.to_string(),
            Self::Language => message.language.clone(),
            Self::OtpId => message.otp.to_string(),
            Self::AttemptId => message.attempt.to_string(),
            Self::TemplateId => {
                message.template_id.clone().unwrap_or_else(|| template_id.to_owned())
            }
        }
    }
}

impl Template {
    /// Parses `{name}`, `{secret.NAME}`, `{{` and `}}`.
    ///
    /// # Errors
    /// A sentence that describes the problem.
    pub(super) fn parse(text: &str, secrets: &BTreeMap<String, Secret>) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let (brace, doubled) = (&rest[at..=at], rest[at + 1..].starts_with(&rest[at..=at]));
            if doubled {
                literal.push_str(brace);
                rest = &rest[at + 2..];
                continue;
            }
            let inner = rest[at + 1..].split_once('}').filter(|_| brace == "{");
            let (name, after) = inner.ok_or("a single brace; write {{ or }} for one")?;
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal)));
            }
            parts.push(part(name, secrets)?);
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Self(parts))
    }

    /// Tells whether one of its places is for `slot`.
    pub(super) fn names(&self, slot: Slot) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Slot(known) if *known == slot))
    }

    /// Its text, if no part of it depends on the message.
    pub(super) fn constant(&self) -> Option<String> {
        self.0.iter().try_fold(String::new(), |text, part| match part {
            Part::Text(part) => Some(text + part),
            Part::Secret(secret) => Some(text + secret.expose()),
            Part::Slot(_) => None,
        })
    }

    /// Turns secrets into literal text, for places that take them unencoded.
    pub(super) fn with_literal_secrets(self) -> Self {
        let literal = |part| match part {
            Part::Secret(secret) => Part::Text(secret.expose().to_owned()),
            other => other,
        };
        Self(self.0.into_iter().map(literal).collect())
    }

    pub(super) fn literals(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Secret(_) | Part::Slot(_) => None,
        })
    }

    /// The text for `message`, with `encode` applied to every value.
    pub(super) fn fill(
        &self,
        message: &Message,
        template_id: &str,
        encode: impl Fn(&str) -> String,
    ) -> String {
        let part = |part: &Part| match part {
            Part::Text(text) => text.clone(),
            Part::Secret(secret) => encode(secret.expose()),
            Part::Slot(slot) => encode(&slot.of(message, template_id)),
        };
        self.0.iter().map(part).collect()
    }
}

fn part(name: &str, secrets: &BTreeMap<String, Secret>) -> Result<Part, String> {
    if let Some(secret) = name.strip_prefix("secret.") {
        let found = secrets.get(secret).cloned().map(Part::Secret);
        return found.ok_or_else(|| format!("there is no secret named {secret:?}"));
    }
    let slot = Slot::deserialize(name.into_deserializer());
    slot.map(Part::Slot).map_err(|_: Error| format!("unknown placeholder {name:?}"))
}

/// Encodes for a segment of a path: all but unreserved characters (RFC 3986) percent-encoded.
pub(super) fn in_path(text: &str) -> String {
    percent(text, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// Encodes a value of a message for a header: characters that a header cannot contain (RFC 9110)
/// percent-encoded, and the percent sign too.
pub(super) fn in_header(text: &str) -> String {
    percent(text, |byte| matches!(byte, b' '..=b'~') && byte != b'%')
}

fn percent(text: &str, keep: impl Fn(u8) -> bool) -> String {
    let encode = |byte: u8| {
        if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(encode).collect()
}
