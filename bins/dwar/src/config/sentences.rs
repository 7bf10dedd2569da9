//! Describes errors of a configuration without quoting its content.

use toml::de::DeTable;

/// Where and why a TOML text does not fit `T`, without quoting the text.
pub fn toml_sentence(text: &str, cause: &toml::de::Error) -> String {
    match DeTable::parse(text) {
        Err(syntax) => located(text, &syntax, syntax.message()),
        Ok(_) => located(text, cause, &without_content(cause.message())),
    }
}

/// Adds the place to a message. The parser's own messages name what it expected and never what it
/// found.
pub(super) fn located(text: &str, cause: &toml::de::Error, message: &str) -> String {
    match cause.span() {
        Some(span) => format!("{}: {message}", place(text, span.start)),
        None => message.to_owned(),
    }
}

pub(super) fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    format!("line {line}, column {column}")
}

pub(super) fn sentence(cause: &config::ConfigError, key: Option<&str>) -> String {
    use config::ConfigError as Cause;
    let (key, problem) = match cause {
        Cause::At { error, key: inner, .. } => return sentence(error, inner.as_deref().or(key)),
        Cause::Type { expected, key: inner, .. } => {
            (inner.as_deref().or(key), format!("is not {}", in_toml(expected)))
        }
        Cause::NotFound(missing) => (Some(missing.as_str()), "is missing".to_owned()),
        Cause::Message(message) => (key, without_content(message)),
        _ => (key, "cannot be read".to_owned()),
    };
    key.map_or_else(|| problem.clone(), |key| format!("{key}: {problem}"))
}

/// The end of a message of serde, which says what is expected. The part before it quotes the value.
pub(super) fn without_content(message: &str) -> String {
    const QUOTING: [&str; 4] =
        ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant `"];
    // Messages of our own types begin like this and never quote the value.
    if message.starts_with("missing field `") || message.starts_with("it ") {
        return message.to_owned();
    }
    if message.starts_with("enum ") {
        return "is not one of the allowed words".to_owned();
    }
    match message.rsplit_once(", expected ") {
        Some((unknown, known)) if unknown.starts_with("unknown field `") => {
            format!("accepts only {known}")
        }
        Some((_, right)) if QUOTING.iter().any(|start| message.starts_with(start)) => {
            format!("is not {}", in_toml(right))
        }
        _ => "cannot be used".to_owned(),
    }
}

/// Translates serde's name of a type to the name in TOML.
fn in_toml(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list",
        "a map" => "a table",
        other => other,
    }
}
