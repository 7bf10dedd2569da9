use crate::connection::{ClientTimeouts, Connection, Edge, Gate, begin};
use actix_http::{Extensions, HttpService, KeepAlive, Protocol};
use actix_server::{GracefulShutdownSignal, ServerBuilder, ServerHandle};
use actix_service::{
    IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt, apply_fn_factory, map_config,
};
use actix_web::body::BoxBody;
use actix_web::dev::{AppConfig, Payload, ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::{App, Error, HttpMessage};
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::rc::Rc;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};

/// How long to keep reading from a client that was answered before its request was read completely.
const LINGER: Duration = Duration::from_secs(1);
/// Size of the system's buffer for answers that a client has not taken, per connection, in bytes.
/// Linux doubles it for its own bookkeeping. With less than two segments of the loopback device, of 64 KiB each, a client
/// or proxy on the same machine acknowledges every 64 KiB of a longer answer only after 40 ms.
const SEND_BUFFER: u32 = 128 * 1_024;
/// Connections per address that the operating system queues before they are accepted.
const BACKLOG: u32 = 1_024;

/// Limits of a server: threads, connections and waits.
#[derive(Clone, Copy, Debug)]
pub struct Serving {
    /// Number of threads that serve; 0 means one per core.
    pub workers: usize,
    /// Most connections at once, over all workers. The last place of each worker stays free while
    /// any of its connections has no whole request in progress.
    pub max_connections: usize,
    pub patience: ClientTimeouts,
    /// How long requests in progress may take to finish at shutdown; whole seconds.
    pub shutdown_timeout: Duration,
}

/// The bound addresses of a server that does not serve yet.
pub struct Listener {
    sockets: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
}

impl Listener {
    /// Binds every address that `address` resolves to; at least one.
    ///
    /// # Errors
    /// The address cannot be parsed, or none can be bound.
    pub fn take(address: &str) -> io::Result<Self> {
        let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
        let mut sockets = Vec::new();
        for address in address.to_socket_addrs()? {
            match listen_on(address) {
                Ok(socket) => sockets.push(socket),
                Err(cause) => failed = cause,
            }
        }
        if sockets.is_empty() {
            return Err(failed);
        }
        let addresses = sockets.iter().map(TcpListener::local_addr).collect::<io::Result<_>>()?;
        Ok(Self { sockets, addresses })
    }

    /// Every address that is bound, with its actual port.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

fn listen_on(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    // Accepted connections inherit this setting.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// An application whose answers have boxed bodies, as in all our servers.
pub trait AppService:
    ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<BoxBody>,
        Error = Error,
        InitError = (),
    >
{
}

impl<S> AppService for S where
    S: ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse<BoxBody>,
            Error = Error,
            InitError = (),
        >
{
}

/// A server with bound addresses that waits to be run.
pub struct Server {
    server: actix_server::Server,
    addresses: Vec<SocketAddr>,
}

/// A handle that stops a server from another task.
#[derive(Clone)]
pub struct StopHandle(ServerHandle);

impl Server {
    /// Every address on which the server listens, with its actual port.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns a handle that stops the server. The server itself handles no signals.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.server.handle())
    }

    /// Serves requests until the server is stopped.
    ///
    /// # Errors
    /// The operating system refused a thread or a socket.
    pub async fn run(self) -> io::Result<()> {
        self.server.await
    }
}

impl StopHandle {
    /// Refuses new connections, lets requests in progress finish, and returns when they have.
    pub async fn stop(&self) {
        self.0.stop(true).await;
    }
}

/// Serves `app` on every address of the listener, as actix-web's own server would, but limits the
/// cost of each connection. `word` makes the whole answer to bytes that are not a request or come
/// too late.
///
/// The outermost middleware of `app` MUST call [`begin_request`] with each request before its body is read,
/// and [`Connection::answer`] once its answer is ready.
///
/// # Errors
/// The operating system refused a thread or a socket.
pub fn serve<S: AppService + 'static>(
    listener: Listener,
    serving: Serving,
    app: impl Fn() -> App<S> + Clone + Send + 'static,
    word: impl Fn(StatusCode) -> Vec<u8> + Clone + Send + 'static,
) -> io::Result<Server> {
    let workers = match serving.workers {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    let places = serving.max_connections.div_ceil(workers);
    let mut builder = ServerBuilder::new()
        .workers(workers)
        .max_concurrent_connections(places)
        .shutdown_timeout(serving.shutdown_timeout.as_secs())
        .disable_signals();
    let stopping = builder.graceful_shutdown_signal();
    // Each listener sees only its own connections. Together they have to close connections before
    // the worker is full, so each does so at its share.
    let share = places.div_ceil(listener.sockets.len().max(1));
    for socket in listener.sockets {
        let (app, word, stopping) = (app.clone(), word.clone(), stopping.clone());
        let edge = move || Edge::new(serving.patience, share);
        let factory = move || connections(app(), edge(), Rc::new(word.clone()), &stopping);
        builder = builder.listen("dwar", socket, factory)?;
    }
    Ok(Server { server: builder.run(), addresses: listener.addresses })
}

/// Tells the connection of a request that the request has begun, and returns its body, wrapped to
/// be watched. A test or a call within the process has no connection.
pub fn begin_request(request: &mut ServiceRequest) -> (Option<Rc<Connection>>, Payload) {
    let connection = request.conn_data::<Rc<Connection>>().cloned();
    let payload = request.take_payload();
    let payload = match &connection {
        Some(connection) => begin(connection, request.head(), payload),
        None => payload,
    };
    (connection, payload)
}

/// Serves the connections of one worker: a [`Gate`] between socket and parser, and every time limit
/// in [`Edge`].
fn connections<S: AppService + 'static>(
    app: App<S>,
    edge: Rc<Edge>,
    word: Rc<dyn Fn(StatusCode) -> Vec<u8>>,
    stopping: &GracefulShutdownSignal,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = (), InitError = ()> + use<S>
{
    let stopping = stopping.clone();
    let stops = move || {
        let stopping = stopping.clone();
        async move { stopping.notified().await }
    };
    let app = app.into_factory().map_err(|error: Error| error.error_response());
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
    apply_fn_factory(http, move |stream: TcpStream, http| {
        let _as_before = stream.set_nodelay(true);
        let visit = edge.admit();
        let peer = stream.peer_addr().ok();
        let gate = Gate::new(stream, visit.connection(), Rc::clone(&word));
        let http = http.call((gate, Protocol::Http1, peer));
        async move {
            visit.serve(http).await;
            Ok(())
        }
    })
}
