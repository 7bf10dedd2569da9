use super::WiringError;
use super::stores::Location;
use crate::config::{self, Config, ConfigError, RunMode, invalid};
use dwar_kernel::Entropy;
use dwar_otp::CodeKeys;
use dwar_system::{MasterKey, RustCryptoVault};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

/// Where the master key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// `secrets.master_key`.
    Configured,
    /// A file, made on first use.
    File(PathBuf),
    /// Drawn at each start, like the database it belongs to.
    Drawn,
}

impl KeySource {
    /// Decides by the configuration; a file is next to the embedded database unless configured
    /// otherwise.
    pub fn of(secrets: &config::Secrets, location: &Location) -> Self {
        if !secrets.master_key.is_empty() {
            return Self::Configured;
        }
        if !secrets.master_key_file.is_empty() {
            return Self::File(PathBuf::from(&secrets.master_key_file));
        }
        match location {
            Location::Sqlite(database) => {
                let mut name = database.clone().into_os_string();
                name.push(".key");
                Self::File(name.into())
            }
            Location::Postgres => Self::File(PathBuf::from("dwar.key")),
            Location::Memory => Self::Drawn,
        }
    }
}

/// Reads the master keys, or makes the first one where it is to be kept in a file.
pub fn secrets(
    source: &KeySource,
    config: &Config,
    location: &Location,
    entropy: Arc<dyn Entropy>,
) -> Result<(RustCryptoVault, CodeKeys), WiringError> {
    let secrets = &config.secrets;
    let current = match source {
        KeySource::Configured => parse("secrets.master_key", secrets.master_key.expose())?,
        KeySource::File(path) => keep(path, location, entropy.as_ref())?,
        KeySource::Drawn => MasterKey::generate(entropy.as_ref()),
    };
    // One that is configured was checked with the configuration.
    if let (Some(problem), RunMode::Production) = (current.weakness(), config.environment) {
        return Err(invalid("secrets.master_key_file", format!("the key {problem}")).into());
    }
    let older = secrets.older_master_keys.iter();
    let older = older.map(|key| parse("secrets.older_master_keys", key.expose()));
    let older: Vec<MasterKey> = older.collect::<Result<_, _>>()?;
    let lookup = match secrets.lookup_key.expose() {
        "" => None,
        text => Some(parse("secrets.lookup_key", text)?),
    };
    let codes = CodeKeys::new(*current.code_secret(), older.iter().map(|key| *key.code_secret()));
    Ok((RustCryptoVault::new(current, older, lookup, entropy), codes))
}

fn parse(key: &'static str, text: &str) -> Result<MasterKey, ConfigError> {
    MasterKey::from_str(text).map_err(|cause| invalid(key, cause.to_string()))
}

/// Reads the key file; makes it, for its owner alone, if there is neither key nor database yet.
fn keep(path: &Path, location: &Location, entropy: &dyn Entropy) -> Result<MasterKey, WiringError> {
    // Checked first: the key is always made before the database.
    let old_database = match location {
        Location::Sqlite(database) => std::fs::metadata(database).is_ok_and(|file| file.len() > 0),
        Location::Postgres | Location::Memory => false,
    };
    match std::fs::read_to_string(path).map(Zeroizing::new) {
        Ok(text) => return Ok(parse("secrets.master_key_file", &text)?),
        // A new key could open nothing that is in an old database.
        Err(cause) if cause.kind() == ErrorKind::NotFound && old_database => {
            return Err(WiringError::KeyLost(path.to_path_buf()));
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => {}
        Err(cause) => return Err(WiringError::KeyFile { path: path.to_path_buf(), cause }),
    }
    let key = MasterKey::generate(entropy);
    match write_new(path, &key.to_text()) {
        Ok(()) => {
            tracing::warn!(path = %path.display(), "made a master key; keep a copy of it in a safe place");
            Ok(key)
        }
        // Another process was faster.
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => keep(path, location, entropy),
        Err(cause) => Err(WiringError::KeyFile { path: path.to_path_buf(), cause }),
    }
}

/// Appears with its whole content or not at all, so that nobody reads half a key; for its owner
/// alone, as every temporary file.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut draft = NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    writeln!(draft, "{text}")?;
    draft.as_file().sync_all()?;
    draft.persist_noclobber(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_system::SystemEntropy;

    #[test]
    fn makes_the_file_once_and_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dwar.db.key");
        let location = Location::Sqlite(dir.path().join("dwar.db"));
        let first = keep(&path, &location, &SystemEntropy::default()).unwrap();
        assert!(first == keep(&path, &location, &SystemEntropy::default()).unwrap());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn never_makes_a_new_key_for_an_old_database() {
        let dir = tempfile::tempdir().unwrap();
        let database = dir.path().join("dwar.db");
        std::fs::write(&database, "something").unwrap();
        let lost =
            keep(&dir.path().join("key"), &Location::Sqlite(database), &SystemEntropy::default());
        assert!(matches!(lost, Err(WiringError::KeyLost(_))));
    }
}
