use super::keys::{self, KeySource};
use super::policies;
use super::stores::{Location, Stores};
use crate::config::{Config, ConfigError, RunMode};
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
    #[error("production refuses {0}")]
    Unsafe(&'static str),
    #[error(transparent)]
    Webhooks(#[from] UnusableClient),
    #[error("cannot listen on {address}: {cause}")]
    Listen { address: String, cause: std::io::Error },
}

impl Core {
    /// Opens stores and secrets as configured.
    ///
    /// # Errors
    /// [`WiringError::Unsafe`] in production, for what is only safe on a developer's machine.
    pub fn open(config: Config) -> Result<Self, WiringError> {
        let location = Location::of(&config.database)?;
        let source = KeySource::of(&config.secrets, &location);
        refuse_unsafe(&config, &location, &source)?;
        let entropy = Arc::new(SystemEntropy);
        let signing_keys = policies::signing_keys(&config)?;
        let secrets = keys::secrets(&source, &config.secrets, &location, entropy.clone())?;
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

fn refuse_unsafe(
    config: &Config,
    location: &Location,
    source: &KeySource,
) -> Result<(), WiringError> {
    if config.environment == RunMode::Development {
        return Ok(());
    }
    if config.gateways.providers().concat().iter().any(|name| name == "console") {
        return Err(WiringError::Unsafe(
            "the console gateway, which prints codes: set gateways.whatsapp and gateways.sms \
             (DWAR__GATEWAYS__WHATSAPP, DWAR__GATEWAYS__SMS) to providers, or to nothing",
        ));
    }
    if *location == Location::Postgres
        && matches!(source, KeySource::File(_))
        && config.secrets.master_key_file.is_empty()
    {
        return Err(WiringError::Unsafe(
            "a generated master key beside a server database, since the next machine would make \
             another one: set secrets.master_key (DWAR__SECRETS__MASTER_KEY), for example to the \
             output of `openssl rand -base64 32`",
        ));
    }
    Ok(())
}
