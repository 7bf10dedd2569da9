use crate::api::{Api, UseCases};
use crate::routes::app;
use actix_web::HttpServer;
use actix_web::dev::{self, ServerHandle};
use actix_web::web::Data;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// Where and how patiently to listen.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `host:port`; port 0 takes a free one.
    pub address: String,
    /// Threads that serve; at least one.
    pub workers: usize,
    /// Longest body, in bytes.
    pub max_body: usize,
    /// How long the head of a connection's first request may take. The server has no clock for
    /// the heads of later ones; a proxy in front should have.
    pub head_timeout: Duration,
    /// How long a body may take.
    pub body_timeout: Duration,
    /// How long an idle connection is kept.
    pub keep_alive: Duration,
    /// How long requests in flight may take to finish when the server stops; whole seconds.
    pub shutdown_timeout: Duration,
    /// Connections at once, over all workers.
    pub max_connections: usize,
    /// Connections the operating system queues before they are accepted.
    pub backlog: u32,
}

/// The default: every loopback client, limits as decided.
impl Default for Settings {
    fn default() -> Self {
        Self {
            address: "127.0.0.1:8080".to_owned(),
            workers: std::thread::available_parallelism().map_or(1, usize::from),
            max_body: 16 * 1_024,
            head_timeout: Duration::from_secs(5),
            body_timeout: Duration::from_secs(5),
            keep_alive: Duration::from_secs(15),
            shutdown_timeout: Duration::from_secs(12),
            max_connections: 10_000,
            backlog: 1_024,
        }
    }
}

/// A server that holds its address and waits to be run.
pub struct Server {
    server: dev::Server,
    addresses: Vec<SocketAddr>,
    api: Data<Api>,
    shutdown_timeout: Duration,
}

/// Stops a server from elsewhere.
#[derive(Clone)]
pub struct StopHandle {
    server: ServerHandle,
    api: Data<Api>,
}

impl Server {
    /// Takes the address. Work that must outlive its client runs on the runtime this is called
    /// on, so call it on one that has several threads.
    ///
    /// # Errors
    /// The address cannot be read or taken, or there is no runtime.
    pub fn bind(settings: Settings, use_cases: UseCases) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let api = Data::new(Api::new(&settings, use_cases, runtime));
        let workers = settings.workers.max(1);
        let factory = {
            let api = api.clone();
            move || app(api.clone())
        };
        let server = HttpServer::new(factory)
            .workers(workers)
            .backlog(settings.backlog)
            .max_connections(settings.max_connections.div_ceil(workers))
            .client_request_timeout(settings.head_timeout)
            .keep_alive(settings.keep_alive)
            .tcp_nodelay(true)
            .shutdown_timeout(settings.shutdown_timeout.as_secs())
            .disable_signals()
            .bind(settings.address.as_str())?;
        let addresses = server.addrs();
        let shutdown_timeout = settings.shutdown_timeout;
        Ok(Self { server: server.run(), addresses, api, shutdown_timeout })
    }

    /// Every address it listens on.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The port of the first address.
    pub fn port(&self) -> u16 {
        self.addresses.first().map_or(0, SocketAddr::port)
    }

    /// A handle that stops it. The server itself listens to no signals.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle { server: self.server.handle(), api: self.api.clone() }
    }

    /// Serves until it is stopped and everything begun is done, or the shutdown timeout is over.
    ///
    /// # Errors
    /// The operating system refused a thread or a socket.
    pub async fn run(self) -> io::Result<()> {
        self.server.await?;
        let spent = self.api.stopping_since().map_or(Duration::ZERO, |since| since.elapsed());
        let rest = self.shutdown_timeout.saturating_sub(spent);
        if timeout(rest, self.api.tasks.idle()).await.is_err() {
            tracing::warn!("stopped with work unfinished");
        }
        Ok(())
    }
}

impl StopHandle {
    /// Refuses new connections, lets requests in flight finish, and returns when they have.
    pub async fn stop(&self) {
        self.api.begin_stopping();
        self.server.stop(true).await;
    }
}
