//! Reads and merges the layers of the configuration.
//!
//! No message here quotes a value or a line of a file: any of them may be a secret, and messages
//! end up in logs.

use super::sentences::{located, place, sentence};
use super::{Config, ConfigError, RunMode, env_file, names, text};
use crate::bounds;
use config::{File, FileFormat, Value, ValueKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use zeroize::Zeroizing;

/// Every key with its default; also the reference manual.
pub const DEFAULTS: &str = include_str!("../../../../config.default.toml");
const FILE: &str = "dwar.toml";
const PREFIX: &str = "DWAR__";
const NO_SETTINGS: [&str; 2] = ["DWAR_KEY", "DWAR_URL"];
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
/// Settings that may contain a user and a password.
const ADDRESSES: [&str; 3] = ["database.url", "database.direct_url", "gateways.proxy"];
/// Tables whose entries the operator names; a given table replaces the default.
const OPEN: [&str; 5] = [
    "gateways.fixed_minutes",
    "gateways.whatsapp_cloud.templates",
    "gateways.twilio.whatsapp_templates",
    "gateways.msg91.sms_variables",
    "gateways.msg91.whatsapp_templates",
];
/// Similarity of two keys above which one is suggested for the other.
const ALIKE: f64 = 0.8;
/// Most misspelt letters of a file's key for a message to quote the key. If a quote or a line break
/// is missing, the text in the place of a key may be a secret.
const SLIPS: usize = 2;

/// Reads the configuration from `file` (or `dwar.toml`, if it exists), then `environment`, then the
/// variables of `env_file`, each overriding the one before.
///
/// # Errors
/// A sentence that names the place (line and column of the file, name of the variable) but never
/// the value.
pub fn load<N: Into<OsString>, V: Into<OsString>>(
    file: Option<&Path>,
    env_file: Option<&Path>,
    environment: impl IntoIterator<Item = (N, V)>,
) -> Result<Config, ConfigError> {
    let variables = env_file.map(read_variables).transpose()?;
    assemble(read_file(file)?, environment, variables)
}

/// The embedded defaults, overridden by `settings` (named as variables). Ignores files and
/// environment.
pub fn built_in(
    settings: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> Result<Config, ConfigError> {
    assemble(None, settings, None)
}

type TextFile = (PathBuf, Zeroizing<String>);
type VariableFile = (PathBuf, Vec<(String, String)>);

fn assemble<N: Into<OsString>, V: Into<OsString>>(
    file: Option<TextFile>,
    environment: impl IntoIterator<Item = (N, V)>,
    variables: Option<VariableFile>,
) -> Result<Config, ConfigError> {
    let (merged, secret_files) = merge(file, environment, variables)?;
    let mut config: Config = merged.try_deserialize().map_err(unreadable)?;
    config.secret_files = secret_files;
    config.check()?;
    bounds::refuse_exposed_development(&config)?;
    config.objections = bounds::objections(&config);
    if config.environment == RunMode::Production && !config.objections.is_empty() {
        return Err(ConfigError::Unsafe(config.objections));
    }
    Ok(config)
}

/// All layers merged, and the files among them that contain secrets.
fn merge<N: Into<OsString>, V: Into<OsString>>(
    file: Option<TextFile>,
    environment: impl IntoIterator<Item = (N, V)>,
    variables: Option<VariableFile>,
) -> Result<(config::Config, Vec<PathBuf>), ConfigError> {
    let defaults = keys_of(DEFAULTS).map_err(ConfigError::Unreadable)?;
    let known: BTreeSet<&str> = defaults.keys().map(String::as_str).collect();
    let mut given = BTreeSet::new();
    let (mut secret_files, mut layer) = (Vec::new(), None);
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
        secret_files.extend(used.values().any(|leaf| leaf.secret).then_some(path));
    }
    let mut overrides = overrides("environment", environment, &defaults)?;
    if let Some((path, variables)) = variables {
        let secret = |(name, value): &(String, String)| {
            is_ours(name) && is_secret(&path_of(name), value.trim())
        };
        secret_files.extend(variables.iter().any(secret).then(|| path.clone()));
        overrides.extend(self::overrides(&path.display().to_string(), variables, &defaults)?);
    }
    given.extend(OPEN.into_iter().filter(|open| overrides.contains_key(*open)));
    let defaults = File::from_str(&defaults_without(&given), FileFormat::Toml);
    let mut builder = config::Config::builder().add_source(defaults);
    builder = builder.add_source(layer.into_iter().collect::<Vec<_>>());
    for (key, value) in overrides {
        builder = builder.set_override(key, value).map_err(unreadable)?;
    }
    let mut merged = builder.build().map_err(unreadable)?;
    clean(&mut merged.cache, "")?;
    Ok((merged, secret_files))
}

fn unreadable(cause: config::ConfigError) -> ConfigError {
    ConfigError::Unreadable(sentence(&cause, None))
}

/// Parses every text as its setting requires, in whichever layer it was given.
fn clean(value: &mut Value, key: &str) -> Result<(), ConfigError> {
    let unfit = |problem| ConfigError::Unreadable(format!("{key}: {problem}"));
    match &mut value.kind {
        ValueKind::String(given) => *given = text::plain(given).map_err(unfit)?.to_owned(),
        ValueKind::Array(items) => items.iter_mut().try_for_each(|item| clean(item, key))?,
        ValueKind::Table(table) => {
            for (name, below) in table {
                if text::plain(name) != Ok(name) {
                    return Err(unfit(
                        "has a name with blanks around it, or with hidden characters",
                    ));
                }
                let dot = if key.is_empty() { "" } else { "." };
                clean(below, &format!("{key}{dot}{name}"))?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn is_ours(variable: &str) -> bool {
    variable.to_ascii_uppercase().starts_with(PREFIX)
}

/// The settings in our own variables, by key.
fn overrides<N: Into<OsString>, V: Into<OsString>>(
    origin: &str,
    variables: impl IntoIterator<Item = (N, V)>,
    defaults: &BTreeMap<String, Leaf>,
) -> Result<BTreeMap<String, Value>, ConfigError> {
    let unreadable = |problem| ConfigError::Unreadable(format!("{origin}: {problem}"));
    let mut overrides = BTreeMap::new();
    for (name, value) in variables {
        let (name, value): (OsString, OsString) = (name.into(), value.into());
        if !is_ours(&name.to_string_lossy()) {
            continue;
        }
        let Some(name) = name.to_str() else {
            return Err(unreadable("a DWAR__ variable's name is not UTF-8".to_owned()));
        };
        let Some(value) = value.to_str() else {
            return Err(unreadable(format!("the value of {name} is not UTF-8")));
        };
        let key = path_of(name);
        let unfit = |problem| unreadable(format!("{key}: {problem}"));
        let is_open = OPEN.contains(&key.as_str());
        if !is_open && !defaults.contains_key(&key) {
            let known = defaults.keys().map(String::as_str).chain(OPEN).collect();
            return Err(unknown(origin.to_owned(), &key, &key, &known));
        }
        let value = text::unquoted(value).map_err(unfit)?;
        let value = match defaults.get(&key) {
            _ if is_open => table(value).ok_or_else(|| unfit("is not an inline table of TOML"))?,
            Some(Leaf { list: true, .. }) => {
                let names = names(value);
                names.iter().try_for_each(|name| text::unquoted(name).map(drop)).map_err(unfit)?;
                names.into()
            }
            _ => value.into(),
        };
        overrides.insert(key, value);
    }
    Ok(overrides)
}

/// The table of [`OPEN`] that `key` names or belongs to.
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

/// Parses a table given in one variable: `{ en = "HX…", hi = "HX…" }`.
fn table(text: &str) -> Option<Value> {
    let mut read: BTreeMap<String, Value> = toml::from_str(&format!("it = {text}")).ok()?;
    Some(read.remove("it")?.into_table().ok()?.into())
}

fn read_file(file: Option<&Path>) -> Result<Option<TextFile>, ConfigError> {
    let path = file.map_or_else(|| PathBuf::from(FILE), Path::to_path_buf);
    match text::read(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound && file.is_none() => Ok(None),
        Err(cause) => Err(not_read(&path, &cause)),
    }
}

fn read_variables(path: &Path) -> Result<VariableFile, ConfigError> {
    let unfit = |problem: String| ConfigError::Unreadable(format!("{}: {problem}", path.display()));
    let text = text::read(path).map_err(|cause| not_read(path, &cause))?;
    let variables = env_file::variables(&text).map_err(|cause| unfit(cause.to_string()))?;
    for (name, _) in &variables {
        // systemd would pass these on to libpq, which would then connect elsewhere than configured.
        if name.starts_with("PG") {
            return Err(unfit(format!("{name} is not a setting: use DWAR__DATABASE__URL")));
        }
        let name = name.to_ascii_uppercase();
        if name.starts_with("DWAR_") && !is_ours(&name) && !NO_SETTINGS.contains(&name.as_str()) {
            return Err(unfit(format!("{name} is not a setting: settings begin with {PREFIX}")));
        }
    }
    Ok((path.to_owned(), variables))
}

fn not_read(path: &Path, cause: &std::io::Error) -> ConfigError {
    ConfigError::Unreadable(format!("cannot read {}: {cause}", path.display()))
}

struct Leaf {
    at: usize,
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
                let filled = list.is_some_and(|list| !list.is_empty());
                let secret = is_secret(&path, text) || filled && SECRETS.contains(&path.as_str());
                keys.insert(path, Leaf { at: name.span().start, secret, list: list.is_some() });
            }
        }
    }
}

/// Tells whether the value of this setting is a secret.
fn is_secret(key: &str, text: &str) -> bool {
    SECRETS.contains(&key) && !text.is_empty()
        || ADDRESSES.contains(&key) && (text.contains('@') || text.contains("password="))
}

/// Tells whether a file that sets this key must be accessible only to its user.
#[cfg(test)]
pub fn holds_secret(key: &str) -> bool {
    SECRETS.contains(&key) || ADDRESSES.contains(&key)
}

/// Converts a variable to a key: `DWAR__HTTP__ADDRESS` is `http.address`.
fn path_of(variable: &str) -> String {
    variable[PREFIX.len()..].to_ascii_lowercase().replace("__", ".")
}

/// A key of a file as it may be quoted: words that are not a misspelling of a known one are left
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

#[cfg(test)]
#[path = "settings_tests.rs"]
mod settings_tests;
#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
