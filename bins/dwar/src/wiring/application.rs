use super::background::{Background, Restarts};
use super::core::{Core, WiringError};
use super::gateways::{self, Providers};
use super::stores::Database;
use async_trait::async_trait;
use dwar_app::{CreatedProject, Demo, FirstStart, Outside};
use dwar_http::{LoopHealth, Readiness, Server, StopHandle};
use dwar_kernel::StoreError;
use dwar_memory::MemoryRequestLimiter;
use dwar_wallet::Paise;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PREPARE_AGAIN: Duration = Duration::from_secs(2);
const DEMO_BALANCE: Paise = Paise(10_000);

/// The whole service, bound to its address but not yet serving.
pub struct Application {
    server: Server,
    background: Background,
    restarts: Arc<Restarts>,
}

impl Application {
    /// Puts the service together and takes its address. Answers nothing yet.
    ///
    /// # Errors
    /// [`WiringError::Listen`] if the address is not to be had.
    pub fn build(core: Core, prepared: Arc<AtomicBool>) -> Result<Self, WiringError> {
        let Providers { routes, sources } = gateways::build(&core)?;
        let service = core.parts.service(Outside {
            requests: Arc::new(MemoryRequestLimiter::default()),
            routes,
            sources,
            sender: core.webhook_sender()?,
        });
        let (database, restarts) = (core.database, Arc::<Restarts>::default());
        let background = Background::new(&service, database.clone());
        let ready = Arc::new(Ready { database, prepared, restarts: restarts.clone() });
        let server = Server::bind(core.config.http.clone(), service.use_cases, ready);
        let address = core.config.http.address.clone();
        let server = server.map_err(|cause| WiringError::Listen { address, cause })?;
        Ok(Self { server, background, restarts })
    }

    /// The addresses it listens on.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.server.addresses().to_vec()
    }

    /// What makes [`Application::run`] end.
    pub fn stop_handle(&self) -> StopHandle {
        self.server.stop_handle()
    }

    /// Serves until it is stopped, then lets running requests finish.
    pub async fn run(self) -> std::io::Result<()> {
        let background = self.background.start(&self.restarts);
        let served = self.server.run().await;
        background.stop().await;
        served
    }
}

/// Brings the database up to date and sees to signing keys and demo project.
///
/// # Errors
/// A database that is out of reach gives a transient error; see [`keep_preparing`].
pub async fn prepare(core: &Core) -> Result<Option<CreatedProject>, StoreError> {
    core.database.migrate().await?;
    core.parts.manage_signing_keys().ensure().await?;
    // Fails if the master key cannot open what is stored, before the first client finds out.
    core.parts.signer.public_keys(core.parts.tools.now()).await?;
    let demo = core.wants_demo().then(|| Demo { name: "Demo".to_owned(), balance: DEMO_BALANCE });
    FirstStart { projects: Arc::new(core.parts.manage_projects()), demo }.run().await
}

/// Prepares again and again for as long as the database is out of reach.
pub async fn keep_preparing(core: &Core) -> Result<Option<CreatedProject>, StoreError> {
    loop {
        tokio::time::sleep(PREPARE_AGAIN).await;
        match prepare(core).await {
            Err(StoreError::NoRoom) => {}
            Err(cause) if cause.is_transient() => {
                tracing::warn!(error = %cause, "the database is still out of reach");
            }
            done => return done,
        }
    }
}

/// Ready means: prepared, the database answers, and it has room to write.
struct Ready {
    database: Arc<dyn Database>,
    prepared: Arc<AtomicBool>,
    restarts: Arc<Restarts>,
}

#[async_trait]
impl Readiness for Ready {
    async fn ready(&self) -> bool {
        self.prepared.load(Ordering::Acquire)
            && self.database.ping().await.is_ok()
            && self.database.room().await.is_ok()
    }

    fn restarted(&self) -> Vec<LoopHealth> {
        self.restarts.list()
    }
}
