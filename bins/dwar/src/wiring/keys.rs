use super::error::WiringError;
use super::stores::{Access, Database, Location, Opened};
use crate::config::{self, Config, ConfigError, RunMode, invalid};
use dwar_activity::installation::{ForeignKey, GivenKeys, KeyHolder, NewKeys, StoredKeys};
use dwar_kernel::{Entropy, StoreError};
use dwar_otp::CodeKeys;
use dwar_system::{MasterKey, RustCryptoVault, SystemEntropy};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

const OTHER_MASTER: &str = "the master key is not the one of this database, and nothing was changed: set \
                            secrets.master_key or its file to the key that the database is used with, or add \
                            that one to secrets.older_master_keys (see docs/operations/keys.md)";
const OTHER_LOOKUP: &str = "the lookup key is not the one of this database, and nothing was changed: set \
                            secrets.lookup_key to the first master key that the database was used with (see \
                            docs/operations/keys.md)";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// `secrets.master_key`.
    Configured,
    File(PathBuf),
    /// Drawn at each start, for a database in memory.
    Drawn,
}

impl KeySource {
    /// Chooses the source by the configuration. A file is next to the embedded database unless
    /// configured otherwise.
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

/// The keys of this process. Decides whether a database belongs to them.
pub struct Keyset {
    pub vault: Arc<RustCryptoVault>,
    pub codes: Arc<CodeKeys>,
    pub given: GivenKeys,
    /// A new key, and the file to which it is written when a new database is created with it.
    draft: Option<(PathBuf, Zeroizing<String>)>,
}

impl Keyset {
    /// Reads the keys. If the file of the master key is missing and the access is not read-only, creates the file
    /// and a new database. Also returns the migrations that created this database.
    pub async fn open(
        source: &KeySource,
        config: &Config,
        database: &dyn Database,
        access: Access,
    ) -> Result<(Self, Vec<String>), WiringError> {
        let path = match (read(source, config)?, source) {
            (Some(keys), _) => return Ok((keys, Vec::new())),
            (None, KeySource::File(path)) => path,
            (None, _) => return Ok((Self::of(&draw(), config)?, Vec::new())),
        };
        let key = draw();
        let draft = Self { draft: Some((path.clone(), key.to_text())), ..Self::of(&key, config)? };
        if access == Access::Read {
            return Ok((draft, Vec::new()));
        }
        let migrated = database.migrate(Arc::new(draft)).await;
        match (read(source, config)?, migrated) {
            // The file was created by this process, or by another process at the same time.
            (Some(keys), migrated) => Ok((keys, migrated.unwrap_or_default())),
            (None, Err(StoreError::Foreign(told))) => Err(WiringError::OtherKeys(told)),
            (None, Err(cause)) => Err(WiringError::KeyNotMade { path: path.clone(), cause }),
            (None, Ok(_)) => Err(WiringError::OtherKeys(lost(path))),
        }
    }

    fn of(master: &MasterKey, config: &Config) -> Result<Self, WiringError> {
        let secrets = &config.secrets;
        let older = secrets.older_master_keys.iter();
        let older = older.map(|key| parse("secrets.older_master_keys", key.expose()));
        let older: Vec<MasterKey> = older.collect::<Result<_, _>>()?;
        let lookup = match secrets.lookup_key.expose() {
            "" => older.last().unwrap_or(master).clone(),
            text => parse("secrets.lookup_key", text)?,
        };
        let codes = older.iter().map(|key| *key.code_secret());
        let codes = Arc::new(CodeKeys::new(*master.code_secret(), codes));
        let given = GivenKeys {
            master: master.check_of_master(),
            older: older.iter().map(MasterKey::check_of_master).collect(),
            lookup: lookup.check_of_lookup(),
        };
        let entropy = Arc::new(SystemEntropy::default());
        let vault = RustCryptoVault::new(master.clone(), older, Some(lookup), entropy);
        Ok(Self { vault: Arc::new(vault), codes, given, draft: None })
    }

    /// The keys that a database should record.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if the database belongs to other keys, or if the key file is missing and the
    /// database is not new.
    pub fn judge(&self, found: &StoredKeys) -> Result<NewKeys, StoreError> {
        if let (Some((path, _)), false) = (&self.draft, found.is_empty) {
            return Err(StoreError::Foreign(lost(path)));
        }
        self.given.claim(found).map_err(|foreign| {
            StoreError::Foreign(match foreign {
                ForeignKey::Master => OTHER_MASTER.to_owned(),
                ForeignKey::Lookup => OTHER_LOOKUP.to_owned(),
            })
        })
    }
}

/// Writes a new key to its file before the database records it, so that no database is ever without
/// its key.
impl KeyHolder for Keyset {
    fn claim(&self, found: &StoredKeys) -> Result<NewKeys, StoreError> {
        let new = self.judge(found)?;
        if let Some((path, text)) = &self.draft {
            write_new(path, text).map_err(|cause| StoreError::Foreign(unusable(path, &cause)))?;
            tracing::warn!(path = %path.display(), "made a master key; keep a copy of it in a safe place");
        }
        Ok(new)
    }
}

/// Checks that this database file belongs to the configured keys, without changing it. An empty or
/// missing file belongs to any keys.
///
/// # Errors
/// An error whose text tells the operator which key does not match, or why the file cannot be checked.
pub async fn check_file(config: &Config, file: &Path) -> Result<(), WiringError> {
    let source = KeySource::of(&config.secrets, &Location::of(&config.database)?);
    let location = Location::Sqlite(file.to_path_buf());
    let database = Opened::open(&location, &config.database, Access::Read)?.database;
    let (keys, _) = Keyset::open(&source, config, database.as_ref(), Access::Read).await?;
    let found = database.look_for_keys().await.map_err(WiringError::Store)?;
    keys.judge(&found).map(drop).map_err(WiringError::Store)
}

/// Reads the configured keys; `None` if the file of the master key does not exist, or no file is
/// used.
fn read(source: &KeySource, config: &Config) -> Result<Option<Keyset>, WiringError> {
    let master = match source {
        KeySource::Configured => parse("secrets.master_key", config.secrets.master_key.expose())?,
        KeySource::File(path) => match std::fs::read_to_string(path).map(Zeroizing::new) {
            Ok(text) => parse("secrets.master_key_file", &text)?,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(WiringError::OtherKeys(unusable(path, &cause))),
        },
        KeySource::Drawn => return Ok(None),
    };
    // A configured key was already checked with the configuration.
    if let (Some(problem), RunMode::Production) = (master.weakness(), config.environment) {
        return Err(invalid("secrets.master_key_file", format!("the key {problem}")).into());
    }
    Keyset::of(&master, config).map(Some)
}

fn parse(key: &'static str, text: &str) -> Result<MasterKey, ConfigError> {
    MasterKey::from_str(text).map_err(|cause| invalid(key, cause.to_string()))
}

fn draw() -> MasterKey {
    let entropy: &dyn Entropy = &SystemEntropy::default();
    MasterKey::generate(entropy)
}

fn lost(path: &Path) -> String {
    format!(
        "the database exists but its master key file {} does not: put back the key that it was made with, \
         which may be on another machine, or set secrets.master_key (DWAR__SECRETS__MASTER_KEY)",
        path.display()
    )
}

fn unusable(path: &Path, cause: &std::io::Error) -> String {
    format!("cannot use the master key file {}: {cause}", path.display())
}

/// Creates the file with its whole content or not at all, so that nobody reads half a key. Only its
/// owner may read and write the file, which is the mode of a temporary file. The file and its name are on
/// disk when this returns.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut draft = NamedTempFile::new_in(folder)?;
    writeln!(draft, "{text}")?;
    draft.as_file().sync_all()?;
    draft.persist_noclobber(path)?;
    std::fs::File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(path: &Path) -> Keyset {
        let (key, config) = (draw(), config::built_in([]).unwrap());
        let draft = Some((path.to_path_buf(), key.to_text()));
        Keyset { draft, ..Keyset::of(&key, &config).unwrap() }
    }

    #[test]
    fn makes_the_file_once_and_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("dwar.db.key");
        let empty = StoredKeys { is_empty: true, ..StoredKeys::default() };
        draft(&path).claim(&empty).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(draft(&path).claim(&empty).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
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
        let path = dir.path().join("key");
        assert!(matches!(draft(&path).claim(&StoredKeys::default()), Err(StoreError::Foreign(_))));
        assert!(!path.exists());
    }
}
