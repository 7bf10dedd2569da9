//! Reads the layers and puts them together.
//!
//! No sentence here repeats what a setting holds, nor a line of a file: any of them may be a
//! secret, and sentences end up in logs.

use super::{Config, ConfigError, RunMode, invalid, names};
use crate::bounds::{self, Bound, NUMBERS};
use config::{File, FileFormat, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use zeroize::Zeroizing;

/// Every key with its default; also the reference manual.
pub const DEFAULTS: &str = dwar_defaults::FILE;
const FILE: &str = "dwar.toml";
const PREFIX: &str = "DWAR__";
/// The settings whose values are secrets.
const SECRETS: [&str; 14] = [
    "secrets.master_key",
    "secrets.older_master_keys",
    "secrets.lookup_key",
    "gateways.whatsapp_cloud.access_token",
    "gateways.whatsapp_cloud.app_secret",
    "gateways.whatsapp_cloud.verify_token",
    "gateways.twilio.auth_token",
    "gateways.twilio.api_key_secret",
    "gateways.msg91.auth_key",
    "gateways.msg91.webhook_token",
    "gateways.gupshup.password",
    "gateways.gupshup.webhook_token",
    "metrics.token",
    "traces.header",
];
/// The settings that may hold a user and a password.
const ADDRESSES: [&str; 4] = ["database.url", "database.direct_url", "redis.url", "gateways.proxy"];
/// The tables whose entries the operator names; one that is given takes the place of the default.
const OPEN: [&str; 4] = [
    "gateways.whatsapp_cloud.templates",
    "gateways.twilio.whatsapp_templates",
    "gateways.msg91.sms_variables",
    "gateways.msg91.whatsapp_templates",
];
/// How alike two keys are when one is proposed for the other.
const ALIKE: f64 = 0.8;
/// How many letters of a file's key may be foreign for a sentence to repeat it. Where a quote or a
/// line break is missing, the text in the place of a key may be a secret.
const SLIPS: usize = 2;

/// Reads the configuration from `file` (or `dwar.toml`, if it is there) and `environment`.
///
/// # Errors
/// A sentence that names the place (line and column of the file, name of the variable) and never
/// what is there.
pub fn load<N: Into<OsString>, V: Into<OsString>>(
    file: Option<&Path>,
    environment: impl IntoIterator<Item = (N, V)>,
) -> Result<Config, ConfigError> {
    assemble(read_file(file)?, environment)
}

/// The embedded defaults with `settings` (named as variables) in place of some, whatever files and
/// environment say.
pub fn built_in(
    settings: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> Result<Config, ConfigError> {
    assemble(None, settings)
}

fn assemble<N: Into<OsString>, V: Into<OsString>>(
    file: Option<(PathBuf, Zeroizing<String>)>,
    environment: impl IntoIterator<Item = (N, V)>,
) -> Result<Config, ConfigError> {
    let unreadable = |cause: config::ConfigError| ConfigError::Unreadable(sentence(&cause, None));
    let defaults = keys_of(DEFAULTS).map_err(ConfigError::Unreadable)?;
    let known: BTreeSet<&str> = defaults.keys().map(String::as_str).collect();
    let mut given = BTreeSet::new();
    let (mut secret_file, mut layer) = (None, None);
    if let Some((path, text)) = file {
        let used = keys_of(&text)
            .map_err(|cause| ConfigError::Unreadable(format!("{}: {cause}", path.display())))?;
        for (key, leaf) in &used {
            if !known.contains(key.as_str()) && open(key).is_none() {
                let origin = format!("{}, {}", path.display(), place(&text, leaf.at));
                return Err(unknown(origin, &seen(key, &known), key, &known));
            }
            given.extend(open(key));
        }
        layer = Some(File::from_str(&text, FileFormat::Toml));
        secret_file = used.values().any(|leaf| leaf.secret).then_some(path);
    }
    let overrides = overrides(environment, &defaults)?;
    given.extend(OPEN.into_iter().filter(|open| overrides.contains_key(*open)));
    let defaults = File::from_str(&defaults_without(&given), FileFormat::Toml);
    let mut builder = config::Config::builder().add_source(defaults);
    builder = builder.add_source(layer.into_iter().collect::<Vec<_>>());
    for (key, value) in overrides {
        builder = builder.set_override(key, value).map_err(unreadable)?;
    }
    let merged = builder.build().map_err(unreadable)?;
    let number = |bound: &Bound| Ok((bound.key, merged.get(bound.key)?));
    let numbers = NUMBERS.iter().map(number).collect::<Result<_, _>>().map_err(unreadable)?;
    let mut config: Config = merged.try_deserialize().map_err(unreadable)?;
    config.numbers = numbers;
    config.secret_file = secret_file;
    config.check()?;
    bounds::refuse_exposed_development(&config)?;
    config.objections = bounds::objections(&config);
    if config.environment == RunMode::Production && !config.objections.is_empty() {
        return Err(ConfigError::Unsafe(config.objections));
    }
    Ok(config)
}

/// What the variables that are ours say, by key.
fn overrides<N: Into<OsString>, V: Into<OsString>>(
    environment: impl IntoIterator<Item = (N, V)>,
    defaults: &BTreeMap<String, Leaf>,
) -> Result<BTreeMap<String, Value>, ConfigError> {
    let unreadable = |problem| ConfigError::Unreadable(format!("environment: {problem}"));
    let mut overrides = BTreeMap::new();
    for (name, value) in environment {
        let (name, value): (OsString, OsString) = (name.into(), value.into());
        if !name.to_string_lossy().to_ascii_uppercase().starts_with(PREFIX) {
            continue;
        }
        let Some(name) = name.to_str() else {
            return Err(unreadable("a DWAR__ variable's name is not UTF-8".to_owned()));
        };
        let Ok(value) = value.into_string() else {
            return Err(unreadable(format!("the value of {name} is not UTF-8")));
        };
        let key = path_of(name);
        let value = match (defaults.get(&key), OPEN.into_iter().find(|open| *open == key)) {
            (Some(Leaf { list: true, .. }), _) => names(&value).into(),
            (Some(_), _) => value.into(),
            (None, Some(open)) => {
                table(&value).ok_or_else(|| invalid(open, "is not an inline table of TOML"))?
            }
            (None, None) => {
                let known = defaults.keys().map(String::as_str).collect();
                return Err(unknown("environment".to_owned(), &key, &key, &known));
            }
        };
        overrides.insert(key, value);
    }
    Ok(overrides)
}

/// The table of [`OPEN`] that `key` names or lies in.
fn open(key: &str) -> Option<&'static str> {
    let holds = |open: &&str| {
        key.strip_prefix(open).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    OPEN.into_iter().find(holds)
}

/// The defaults, without the tables that were given.
#[expect(clippy::expect_used, reason = "it is part of this binary, and read in every test")]
fn defaults_without(given: &BTreeSet<&str>) -> String {
    let mut defaults: toml::Table = DEFAULTS.parse().expect("the defaults are TOML");
    for open in given {
        let below = |table, name| toml::Table::get_mut(table, name)?.as_table_mut();
        if let Some(table) = open.split('.').try_fold(&mut defaults, below) {
            table.clear();
        }
    }
    defaults.to_string()
}

/// A table as one variable gives it: `{ en = "HX…", hi = "HX…" }`.
fn table(text: &str) -> Option<Value> {
    let mut read: BTreeMap<String, Value> = toml::from_str(&format!("it = {text}")).ok()?;
    Some(read.remove("it")?.into_table().ok()?.into())
}

fn read_file(file: Option<&Path>) -> Result<Option<(PathBuf, Zeroizing<String>)>, ConfigError> {
    let path = file.map_or_else(|| PathBuf::from(FILE), Path::to_path_buf);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, Zeroizing::new(text)))),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound && file.is_none() => Ok(None),
        Err(cause) => {
            Err(ConfigError::Unreadable(format!("cannot read {}: {cause}", path.display())))
        }
    }
}

/// One setting of a TOML document.
struct Leaf {
    /// Where its name is.
    at: usize,
    /// Whether a secret is filled in.
    secret: bool,
    list: bool,
}

/// The leaves of a TOML document by their dotted paths.
fn keys_of(text: &str) -> Result<BTreeMap<String, Leaf>, String> {
    let table = DeTable::parse(text).map_err(|cause| located(text, &cause, cause.message()))?;
    let mut keys = BTreeMap::new();
    collect(table.get_ref(), "", &mut keys);
    Ok(keys)
}

fn collect(table: &DeTable<'_>, above: &str, keys: &mut BTreeMap<String, Leaf>) {
    for (name, value) in table {
        let path = format!("{above}{}", name.get_ref());
        match value.get_ref() {
            DeValue::Table(below) => collect(below, &format!("{path}."), keys),
            leaf => {
                let (text, list) = (leaf.as_str().unwrap_or_default(), leaf.as_array());
                let filled = !text.is_empty() || list.is_some_and(|list| !list.is_empty());
                let secret = SECRETS.contains(&path.as_str()) && filled
                    || ADDRESSES.contains(&path.as_str()) && text.contains('@');
                keys.insert(path, Leaf { at: name.span().start, secret, list: list.is_some() });
            }
        }
    }
}

/// Whether a file in which this setting is filled in must be accessible to its user alone.
#[cfg(test)]
pub fn is_for_us_alone(key: &str) -> bool {
    SECRETS.contains(&key) || ADDRESSES.contains(&key)
}

/// Where and why a TOML text is not what `T` needs, without a word of the text.
pub fn toml_sentence(text: &str, cause: &toml::de::Error) -> String {
    match DeTable::parse(text) {
        Err(syntax) => located(text, &syntax, syntax.message()),
        Ok(_) => located(text, cause, &without_content(cause.message())),
    }
}

/// The parser's own messages name what it expected and never what it found.
fn located(text: &str, cause: &toml::de::Error, message: &str) -> String {
    match cause.span() {
        Some(span) => format!("{}: {message}", place(text, span.start)),
        None => message.to_owned(),
    }
}

fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
    format!("line {line}, column {column}")
}

/// `DWAR__HTTP__ADDRESS` is `http.address`.
fn path_of(variable: &str) -> String {
    variable[PREFIX.len()..].to_ascii_lowercase().replace("__", ".")
}

/// A key of a file as it may be repeated: words that are no misspelling of a known one are left
/// out.
fn seen(key: &str, known: &BTreeSet<&str>) -> String {
    let words: BTreeSet<&str> = known.iter().flat_map(|key| key.split('.')).collect();
    let slip = |word, known: &&str| strsim::damerau_levenshtein(known, word) <= SLIPS;
    let word = |word| if words.iter().any(|known| slip(word, known)) { word } else { "…" };
    key.split('.').map(word).collect::<Vec<_>>().join(".")
}

fn unknown(origin: String, shown: &str, key: &str, known: &BTreeSet<&str>) -> ConfigError {
    let likeness = |known: &&&str| strsim::jaro_winkler(known, key);
    let near = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let near = near.filter(|near| likeness(near) > ALIKE);
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    ConfigError::UnknownKey { origin, key: shown.to_owned(), hint }
}

/// What is wrong with a value, in words that do not hold it.
fn sentence(cause: &config::ConfigError, key: Option<&str>) -> String {
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

/// The end of a message of serde, which says what would be right; what comes before it quotes
/// what was found.
fn without_content(message: &str) -> String {
    const QUOTING: [&str; 4] =
        ["invalid type: ", "invalid value: ", "invalid length ", "unknown variant `"];
    // Those of our own types begin like this, and never repeat what was found.
    if message.starts_with("missing field `") || message.starts_with("it ") {
        return message.to_owned();
    }
    if message.starts_with("enum ") {
        return "is not one of the allowed words".to_owned();
    }
    match message.rsplit_once(", expected ") {
        Some((unknown, known)) if unknown.starts_with("unknown field `") => {
            format!("takes {known} and nothing else")
        }
        Some((_, right)) if QUOTING.iter().any(|start| message.starts_with(start)) => {
            format!("is not {}", in_toml(right))
        }
        _ => "cannot be used".to_owned(),
    }
}

/// What serde calls a thing, as a person who writes the file calls it.
fn in_toml(expected: &str) -> &str {
    match expected {
        "a sequence" => "a list",
        "a map" => "a table",
        other => other,
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
