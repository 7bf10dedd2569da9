use crate::api::{Api, Readiness};
use crate::body_places::BodyPlaces;
use crate::in_process::InProcess;
use crate::request_id::unreadable;
use crate::routes::app;
use crate::tasks::Tasks;
use actix_web::web::Data;
use dwar_app::UseCases;
use dwar_kernel::bounds::{LOAD, SLOW, within};
use dwar_kernel::sections;
use dwar_wire::{ClientTimeouts, Listener, Serving, Throttle, serve};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long an idle connection is kept: longer than the 60 s of nginx and most load balancers, so
/// that none of them sends a request on a connection that is being closed.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

sections! {
    /// Where and how patiently to listen: the section `[http]`.
    pub struct Settings {
        /// `host:port`; port 0 takes a free one.
        pub address: String,
        /// Whether a development server may have an address that other machines can reach. The
        /// server itself listens on every address that it is given.
        pub allow_public_development: bool,
        /// Whether a proxy in front records its caller in `X-Forwarded-For`. Without a proxy any
        /// client can write that header, so it is not trusted.
        pub behind_proxy: bool,
        /// Threads that serve; 0 is one per core.
        pub workers: usize = within(0..=256, LOAD),
        /// Connections at once, over all workers. The last place of each worker is kept free as long as
        /// one of its connections has no whole request in progress.
        pub max_connections: usize = within(1..=100_000, LOAD),
        /// How long a client may take for a head, from its first byte, or for a body; and twice as long
        /// for all of an answer, from the moment that the system has no room for more of it.
        pub client_timeout_seconds: u64 = within(1..=30, SLOW),
    }
}

impl Api {
    /// Makes the shared state of a server. Work that must not be cancelled runs on `runtime`.
    pub fn new(
        settings: &Settings,
        use_cases: UseCases,
        ready: Arc<dyn Readiness>,
        runtime: Handle,
    ) -> Self {
        Self {
            use_cases,
            ready,
            tasks: Tasks::new(runtime),
            client_timeout: Duration::from_secs(settings.client_timeout_seconds),
            rooms: BodyPlaces::default(),
            throttle: Throttle::default(),
            behind_proxy: settings.behind_proxy,
            document: OnceLock::new(),
            stopping: OnceLock::new(),
        }
    }
}

/// A server with bound addresses that waits to be run.
pub struct Server {
    server: dwar_wire::Server,
    api: Data<Api>,
}

/// A handle that stops a server from another task.
#[derive(Clone)]
pub struct StopHandle {
    server: dwar_wire::StopHandle,
    api: Data<Api>,
}

impl Server {
    /// How long requests in progress may take to finish at shutdown. Longer than a client and a
    /// provider take by default; with all later steps shorter than the 30 s after which Kubernetes
    /// kills the process.
    pub const STOPS_WITHIN: Duration = Duration::from_secs(15);

    /// Builds the API behind the listener. Serves nothing before [`Server::run`]. Work that must
    /// outlive its client runs on the current runtime, which should have several threads.
    ///
    /// # Errors
    /// The operating system refused a thread, or there is no runtime.
    pub fn new(
        listener: Listener,
        settings: Settings,
        use_cases: UseCases,
        ready: Arc<dyn Readiness>,
    ) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let api = Data::new(Api::new(&settings, use_cases, ready, runtime));
        let client_timeout = api.client_timeout;
        let serving = Serving {
            workers: settings.workers,
            max_connections: settings.max_connections,
            patience: ClientTimeouts {
                head: client_timeout,
                write: 2 * client_timeout,
                keep_alive: KEEP_ALIVE,
            },
            shutdown_timeout: Self::STOPS_WITHIN,
        };
        let routes = {
            let api = api.clone();
            move || app(api.clone())
        };
        let tools = api.use_cases.tools.clone();
        let server = serve(listener, serving, routes, move |status| unreadable(&tools, status))?;
        Ok(Self { server, api })
    }

    /// Every address on which the server listens, with its actual port.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.server.addresses()
    }

    /// Returns a handle that stops the server. The server itself handles no signals.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle { server: self.server.stop_handle(), api: self.api.clone() }
    }

    /// Makes a client of the same API that needs no socket; see [`InProcess`].
    ///
    /// # Errors
    /// The operating system refused a thread.
    pub fn in_process(&self) -> io::Result<InProcess> {
        InProcess::start(self.api.clone())
    }

    /// Serves until it is stopped and all work in progress is done, or the shutdown timeout
    /// expires.
    ///
    /// # Errors
    /// The operating system refused a thread or a socket.
    pub async fn run(self) -> io::Result<()> {
        self.server.run().await?;
        let spent = self.api.stopping_since().map_or(Duration::ZERO, |since| since.elapsed());
        let rest = Self::STOPS_WITHIN.saturating_sub(spent);
        if timeout(rest, self.api.tasks.idle()).await.is_err() {
            tracing::warn!("stopped before all work was finished");
        }
        Ok(())
    }
}

impl StopHandle {
    /// Refuses new connections, lets requests in progress finish, and returns when they have.
    pub async fn stop(&self) {
        self.api.begin_stopping();
        self.server.stop().await;
    }
}
