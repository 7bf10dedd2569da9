use super::error::WiringError;
use super::gateways::available;
use super::keys::{KeySource, Keyset};
use super::policies;
use super::stores::{Access, Database, Location, Opened};
use crate::bounds;
use crate::config::{Config, RunMode, invalid};
use crate::modes;
use dwar_activity::installation::KnownKeys;
use dwar_app::{ClockWatch, CommonPorts, Parts};
use dwar_console::{ConsoleParts, ConsoleStores, Management, ManagementPorts};
use dwar_event::WebhookSender;
use dwar_josekit::JosekitSigner;
use dwar_kernel::StoreError;
use dwar_ratelimit::QuotaLeases;
use dwar_sqlite::beside;
use dwar_system::{SystemClock, SystemEntropy, SystemSteadyClock};
use dwar_webhooks::HttpWebhookSender;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What every command needs: configuration, database, and the parts of the use cases.
#[derive(Clone)]
pub struct Core {
    pub config: Arc<Config>,
    pub database: Arc<dyn Database>,
    pub keys: Arc<Keyset>,
    /// Migrations that were already applied to a database that was created with its key.
    applied: Vec<String>,
    pub parts: Parts,
    pub console: ConsoleStores,
    /// Shares of quotas among several instances; `None` if one process serves.
    pub leases: Option<Arc<dyn QuotaLeases>>,
}

impl Core {
    /// Opens stores and secrets as configured. In production, files that others can read are
    /// refused; elsewhere they are logged.
    ///
    /// [`Core::migrate`] checks that the database belongs to these keys, and [`Core::compare_keys`]
    /// does so for commands that only read.
    pub async fn open(config: Config, access: Access) -> Result<Self, WiringError> {
        let location = Location::of(&config.database)?;
        let source = KeySource::of(&config.secrets, &location);
        if location == Location::Memory && !config.demo {
            let problem = "is false, so there would be no API key: memory: needs it";
            return Err(invalid("demo", problem).into());
        }
        keep_to_ourselves(&config)?;
        let entropy = Arc::new(SystemEntropy::default());
        let policies = policies::all(&config)?;
        let Opened { stores, console, database, leases } =
            Opened::open(&location, &config.database, access)?;
        let (keys, applied) = Keyset::open(&source, &config, database.as_ref(), access).await?;
        let keys = Arc::new(keys);
        let vault = keys.vault.clone();
        let issuer = config.tokens.issuer.clone();
        let signer = JosekitSigner::new(stores.signing_keys.clone(), vault.clone(), issuer);
        let clock = Arc::new(SystemClock);
        let watch = Arc::new(ClockWatch::new(clock.clone(), Arc::new(SystemSteadyClock)));
        let parts = Parts {
            tools: CommonPorts { clock, watch, entropy, vault, observer: Arc::new(()) },
            stores,
            signer: Arc::new(signer),
            codes: keys.codes.clone(),
            policies,
        };
        Ok(Self { config: Arc::new(config), database, keys, applied, parts, console, leases })
    }

    /// Migrates the database if it belongs to the keys of this process, and returns the names of
    /// applied migrations; otherwise changes nothing.
    pub async fn migrate(&self) -> Result<Vec<String>, StoreError> {
        let now = self.database.migrate(self.keys.clone()).await?;
        Ok(self.applied.iter().cloned().chain(now).collect())
    }

    /// Reads the keys that the database was used with.
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if it does not belong to the keys of this process.
    pub async fn compare_keys(&self) -> Result<KnownKeys, StoreError> {
        let found = self.database.look_for_keys().await?;
        self.keys.judge(&found)?;
        Ok(found.known)
    }

    /// Compares the clock of this machine with that of the database, if it has one. `true` if they
    /// differ too much.
    pub async fn compare_clocks(&self) -> Result<bool, StoreError> {
        let watch = &self.parts.tools.watch;
        let asked = watch.moment();
        if let Some(shown) = self.database.clock().await? {
            watch.compare(asked, shown);
        }
        Ok(watch.is_too_far_off())
    }

    pub fn console_parts(&self) -> ConsoleParts {
        ConsoleParts { login: self.parts.clone(), stores: self.console.clone() }
    }

    pub fn management(&self) -> Result<Management, WiringError> {
        self.management_of(Arc::new(available(&self.config)?))
    }

    /// The same, in a process that calls these providers.
    pub fn management_of(
        &self,
        providers: Arc<dyn dwar_otp::Providers>,
    ) -> Result<Management, WiringError> {
        let sender = self.webhook_sender()?;
        Ok(self.console_parts().management(ManagementPorts { sender, providers }))
    }

    /// Where other systems reach the API, if configured; without a slash at the end.
    pub fn public_url(&self) -> Option<String> {
        self.config.gateways.public_url.as_ref().map(ToString::to_string)
    }

    pub fn webhook_sender(&self) -> Result<Arc<dyn WebhookSender>, WiringError> {
        Ok(Arc::new(HttpWebhookSender::new(self.config.events)?))
    }
}

/// The folder in which commands create files: that of the SQLite database, or else that of the
/// master key.
pub fn data_folder(config: &Config) -> Result<Option<PathBuf>, WiringError> {
    let location = Location::of(&config.database)?;
    let file = match (&location, KeySource::of(&config.secrets, &location)) {
        (Location::Sqlite(path), _) => path.clone(),
        (_, KeySource::File(path)) => path,
        _ => return Ok(None),
    };
    // Follow links, as SQLite does.
    let file = file.canonicalize().unwrap_or(file);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok(Some(folder.unwrap_or(Path::new(".")).to_path_buf()))
}

/// The files of this configuration that others can access but should not, one sentence each.
pub fn open_files(config: &Config) -> Result<Vec<String>, WiringError> {
    let location = Location::of(&config.database)?;
    let mut files = Vec::new();
    if let KeySource::File(path) = KeySource::of(&config.secrets, &location) {
        files.push((path, "the master key"));
    }
    if let Location::Sqlite(path) = &location {
        files.extend(["", "-wal", "-shm"].map(|suffix| (beside(path, suffix), "the database")));
    }
    files.extend(config.secret_files.iter().cloned().map(|path| (path, "the secrets in it")));
    let providers = config.gateways.generic_files.iter().cloned();
    files.extend(providers.map(|path| (path, "a provider's credentials")));
    let folder = data_folder(config)?.unwrap_or_else(|| PathBuf::from("."));
    Ok(modes::open_to_others(files, &folder))
}

/// The file of the master key, if it is kept in a file.
pub fn key_file(config: &Config) -> Result<Option<PathBuf>, WiringError> {
    match KeySource::of(&config.secrets, &Location::of(&config.database)?) {
        KeySource::File(path) => Ok(Some(path)),
        KeySource::Configured | KeySource::Drawn => Ok(None),
    }
}

fn keep_to_ourselves(config: &Config) -> Result<(), WiringError> {
    let open = open_files(config)?;
    if config.environment == RunMode::Production && !open.is_empty() {
        return Err(WiringError::OpenToOthers(open));
    }
    for sentence in open.into_iter().chain(bounds::remarks(config)) {
        tracing::warn!("{sentence}");
    }
    Ok(())
}
