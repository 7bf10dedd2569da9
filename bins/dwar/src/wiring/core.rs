use super::keys::{self, KeySource};
use super::policies;
use super::stores::{Location, Stores};
use crate::config::{Config, ConfigError, RunMode};
use crate::modes::{self, Guarded};
use crate::{bounds, config};
use dwar_app::{
    ManageEndpoints, ManageProjects, ManageSigningKeys, ManageWallets, SigningKeyPolicy,
    TellEvents, Toolbox, UnlockPhone,
};
use dwar_josekit::JosekitSigner;
use dwar_otp::CodeKeys;
use dwar_session::TokenSigner;
use dwar_sqlite::OpenError;
use dwar_system::{SystemClock, SystemEntropy};
use dwar_webhooks::{HttpWebhookSender, UnusableClient, WebhookSettings};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What every command needs: configuration, tools, stores, signer.
#[derive(Clone)]
pub struct Core {
    pub config: Arc<Config>,
    pub tools: Toolbox,
    pub stores: Stores,
    pub codes: Arc<CodeKeys>,
    pub signer: Arc<dyn TokenSigner>,
    signing_keys: SigningKeyPolicy,
}

/// Why the program cannot be put together, as a sentence that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    #[error("configuration: {0}")]
    Config(#[from] ConfigError),
    #[error("database: {0}")]
    Sqlite(#[from] OpenError),
    #[error("cannot use the master key file {}: {cause}", path.display())]
    KeyFile { path: PathBuf, cause: std::io::Error },
    #[error(
        "the database exists but its master key file {} does not; put it back, or set \
         secrets.master_key (DWAR__SECRETS__MASTER_KEY)", .0.display()
    )]
    KeyLost(PathBuf),
    #[error("production refuses files that others can read:\n  {}", .0.join("\n  "))]
    OpenToOthers(Vec<String>),
    #[error(transparent)]
    Webhooks(#[from] UnusableClient),
    #[error("cannot listen on {address}: {cause}")]
    Listen { address: String, cause: std::io::Error },
}

impl Core {
    /// Opens stores and secrets as configured.
    ///
    /// # Errors
    /// [`WiringError::OpenToOthers`] in production; elsewhere it is said in the log.
    pub fn open(config: Config) -> Result<Self, WiringError> {
        let location = Location::of(&config.database)?;
        let source = KeySource::of(&config.secrets, &location);
        keep_to_ourselves(&config)?;
        let entropy = Arc::new(SystemEntropy);
        let signing_keys = policies::signing_keys(&config)?;
        let secrets = keys::secrets(&source, &config, &location, entropy.clone())?;
        let stores = Stores::open(&location, &config.database)?;
        let vault = Arc::new(secrets.vault);
        let issuer = config.tokens.issuer.clone();
        let signer = JosekitSigner::new(stores.signing_keys.clone(), vault.clone(), issuer);
        Ok(Self {
            tools: Toolbox { clock: Arc::new(SystemClock), entropy, vault },
            codes: Arc::new(secrets.codes),
            signer: Arc::new(signer),
            config: Arc::new(config),
            stores,
            signing_keys,
        })
    }

    /// Whether an empty database gets a demo project.
    pub fn wants_demo(&self) -> bool {
        self.config.demo && self.config.environment == RunMode::Development
    }

    pub fn manage_projects(&self) -> ManageProjects {
        ManageProjects {
            tools: self.tools.clone(),
            projects: self.stores.projects.clone(),
            wallets: self.stores.wallets.clone(),
        }
    }

    pub fn unlock_phone(&self) -> UnlockPhone {
        UnlockPhone {
            tools: self.tools.clone(),
            projects: self.stores.projects.clone(),
            otps: self.stores.otps.clone(),
            limits: policies::limits(&self.config.limits),
        }
    }

    pub fn manage_wallets(&self) -> ManageWallets {
        ManageWallets {
            tools: self.tools.clone(),
            projects: self.stores.projects.clone(),
            wallets: self.stores.wallets.clone(),
        }
    }

    pub fn manage_endpoints(&self) -> Result<ManageEndpoints, WiringError> {
        Ok(ManageEndpoints {
            tools: self.tools.clone(),
            projects: self.stores.projects.clone(),
            events: self.stores.events.clone(),
            sender: self.webhook_sender()?,
        })
    }

    pub fn tell_events(&self) -> Result<TellEvents, WiringError> {
        Ok(TellEvents {
            tools: self.tools.clone(),
            events: self.stores.events.clone(),
            sender: self.webhook_sender()?,
            switch_off: policies::switch_off(&self.config.events),
        })
    }

    fn webhook_sender(&self) -> Result<Arc<HttpWebhookSender>, WiringError> {
        let events = self.config.events;
        Ok(Arc::new(HttpWebhookSender::new(WebhookSettings {
            timeout: Duration::from_secs(events.timeout_seconds),
            allow_private: events.allow_private,
        })?))
    }

    pub fn manage_signing_keys(&self) -> ManageSigningKeys {
        ManageSigningKeys {
            tools: self.tools.clone(),
            keys: self.stores.signing_keys.clone(),
            signer: self.signer.clone(),
            policy: self.signing_keys,
        }
    }
}

/// The files of this configuration that should be its user's alone and are not, a sentence each.
pub fn open_files(config: &Config) -> Result<Vec<String>, WiringError> {
    let location = Location::of(&config.database)?;
    let mut files = Vec::new();
    if let KeySource::File(path) = KeySource::of(&config.secrets, &location) {
        files.push(Guarded::new(path, "the master key"));
    }
    if let Location::Sqlite(path) = &location {
        let beside = |suffix: &str| {
            let mut name = path.clone().into_os_string();
            name.push(suffix);
            Guarded::new(name, "the database")
        };
        files.extend(["", "-wal", "-shm"].map(beside));
    }
    if let Some(own) = config.file.as_ref().filter(|own| own.secrets) {
        files.push(Guarded::new(&own.path, "the secrets in it"));
    }
    let providers = config::names(&config.gateways.generic_files);
    files.extend(providers.into_iter().map(|path| Guarded::new(path, "a provider's credentials")));
    Ok(modes::open_to_others(files))
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
