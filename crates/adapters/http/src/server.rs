use crate::api::{Api, Readiness};
use crate::connection::{Edge, Gate, Patience};
use crate::request_id::unreadable;
use crate::routes::app;
use actix_http::{Extensions, HttpService, KeepAlive, Protocol};
use actix_server::{GracefulShutdownSignal, ServerBuilder, ServerHandle};
use actix_service::{
    IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, apply_fn_factory, map_config,
};
use actix_web::dev::AppConfig;
use actix_web::web::Data;
use dwar_app::UseCases;
use serde::Deserialize;
use serde_with::{As, DurationSeconds};
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long a client whose request was answered before it was read is listened to.
const LINGER: Duration = Duration::from_secs(1);
/// What the system may keep of answers that a client does not take, per connection, in bytes.
/// Linux doubles it for its own bookkeeping.
const SEND_BUFFER: u32 = 32 * 1_024;

/// Connections that the operating system queues, per address, before they are accepted.
const BACKLOG: u32 = 1_024;

/// Where and how patiently to listen: the section `[http]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// `host:port`; port 0 takes a free one.
    pub address: String,
    /// Whether whoever starts a server for development may name an address that other machines
    /// reach. The server itself listens wherever it is told to.
    pub allow_public_development: bool,
    /// Threads that serve; 0 is one per core.
    pub workers: usize,
    /// Connections at once, over all workers. The last place of each worker is kept free as long
    /// as one of its connections is without a whole request being worked on.
    pub max_connections: usize,
    /// How long each head may take, from its first byte.
    #[serde(rename = "head_timeout_seconds", with = "As::<DurationSeconds<u64>>")]
    pub head_timeout: Duration,
    /// How long a body may take.
    #[serde(rename = "body_timeout_seconds", with = "As::<DurationSeconds<u64>>")]
    pub body_timeout: Duration,
    /// How long a client may take for all of an answer, from the moment on that the system has
    /// no room for more of it.
    #[serde(rename = "write_timeout_seconds", with = "As::<DurationSeconds<u64>>")]
    pub write_timeout: Duration,
    /// How long an idle connection is kept.
    #[serde(rename = "keep_alive_seconds", with = "As::<DurationSeconds<u64>>")]
    pub keep_alive: Duration,
    /// How long requests in flight may take to finish when the server stops; whole seconds.
    #[serde(rename = "shutdown_timeout_seconds", with = "As::<DurationSeconds<u64>>")]
    pub shutdown_timeout: Duration,
}

/// A server that holds its address and waits to be run.
pub struct Server {
    server: actix_server::Server,
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
    pub fn bind(
        settings: Settings,
        use_cases: UseCases,
        ready: Arc<dyn Readiness>,
    ) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let api = Data::new(Api::new(&settings, use_cases, ready, runtime));
        let listeners = listen(&settings)?;
        let addresses =
            listeners.iter().map(TcpListener::local_addr).collect::<io::Result<Vec<_>>>()?;
        let workers = match settings.workers {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            workers => workers,
        };
        let places = settings.max_connections.div_ceil(workers);
        let mut builder = ServerBuilder::new()
            .workers(workers)
            .max_concurrent_connections(places)
            .shutdown_timeout(settings.shutdown_timeout.as_secs())
            .disable_signals();
        let stopping = builder.graceful_shutdown_signal();
        let patience = Patience {
            head: settings.head_timeout,
            write: settings.write_timeout,
            keep_alive: settings.keep_alive,
        };
        // Each listener sees its own connections alone: all together have to make room before the
        // worker is full, so each does so at its share.
        let share = places.div_ceil(listeners.len());
        for listener in listeners {
            let (api, stopping) = (api.clone(), stopping.clone());
            let factory = move || connections(&api, patience, share, &stopping);
            builder = builder.listen("dwar", listener, factory)?;
        }
        let shutdown_timeout = settings.shutdown_timeout;
        Ok(Self { server: builder.run(), addresses, api, shutdown_timeout })
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

/// One listener for each address that the setting names.
fn listen(settings: &Settings) -> io::Result<Vec<TcpListener>> {
    let addresses = settings.address.to_socket_addrs()?;
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    let mut listeners = Vec::new();
    for address in addresses {
        match listen_on(address) {
            Ok(listener) => listeners.push(listener),
            Err(cause) => failed = cause,
        }
    }
    if listeners.is_empty() { Err(failed) } else { Ok(listeners) }
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    // Connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// What one worker does with its connections. As actix-web's own server does it, with a [`Gate`]
/// between socket and parser, and every time limit in [`Edge`].
fn connections(
    api: &Data<Api>,
    patience: Patience,
    places: usize,
    stopping: &GracefulShutdownSignal,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = (), InitError = ()> + use<>
{
    let stopping = stopping.clone();
    let stops = move || {
        let stopping = stopping.clone();
        async move { stopping.notified().await }
    };
    let app = app(api.clone()).into_factory().map_err(|error| error.error_response());
    let http = HttpService::build()
        .keep_alive(KeepAlive::Os)
        .client_request_timeout(Duration::ZERO)
        .client_disconnect_timeout(LINGER)
        .graceful_shutdown_signal(stops)
        .on_connect_ext(|gate: &Gate<TcpStream>, data: &mut Extensions| {
            data.insert(Rc::clone(gate.connection()));
        })
        .finish(map_config(app, |()| AppConfig::default()))
        .map_err(drop);
    let edge = Rc::new(Edge::new(patience, places));
    let api = api.clone();
    let word = Rc::new(move |status| unreadable(&api.use_cases.tools, status));
    apply_fn_factory(http, move |stream: TcpStream, http| {
        let _as_before = stream.set_nodelay(true);
        let visit = edge.admit();
        let gate = Gate::new(stream, visit.connection(), Rc::clone(&word) as _);
        let http = http.call((gate, Protocol::Http1, None));
        async move {
            visit.serve(http).await;
            Ok(())
        }
    })
}

impl StopHandle {
    /// Refuses new connections, lets requests in flight finish, and returns when they have.
    pub async fn stop(&self) {
        self.api.begin_stopping();
        self.server.stop(true).await;
    }
}
