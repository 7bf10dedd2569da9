use crate::console::Console;
use crate::guard::guard;
use crate::live::Live;
use crate::pages;
use crate::settings::Settings;
use actix_web::App;
use actix_web::http::StatusCode;
use actix_web::middleware::from_fn;
use actix_web::web::Data;
use dwar_admin::AdminApi;
use dwar_wire::{AppService, ClientTimeouts, Listener, Server, Serving, serve};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Operators with browsers are few, and each costs little.
const SERVING: Serving = Serving {
    workers: 1,
    max_connections: 256,
    patience: ClientTimeouts {
        head: Duration::from_secs(5),
        write: Duration::from_secs(30),
        keep_alive: Duration::from_secs(30),
    },
    shutdown_timeout: Duration::from_secs(5),
};

/// The dashboard on its bound addresses, not yet serving.
pub struct Dashboard {
    server: Server,
    live: Live,
}

/// A handle that stops the dashboard from another task.
#[derive(Clone)]
pub struct StopHandle(dwar_wire::StopHandle, Live);

impl Dashboard {
    /// Builds the pages and the admin API behind the listener. Serves nothing before
    /// [`Dashboard::run`].
    ///
    /// # Errors
    /// The operating system refused a thread.
    pub fn new(listener: Listener, console: Console, admin_api: AdminApi) -> io::Result<Self> {
        let live = console.live.clone();
        let (console, admin_api) = (Data::new(console), Data::new(admin_api));
        let pages = move || app(console.clone(), admin_api.clone());
        Ok(Self { server: serve(listener, SERVING, pages, unreadable)?, live })
    }

    /// Every address on which the dashboard listens, with its actual port.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.server.addresses()
    }

    /// Returns a handle that stops the dashboard. The server itself handles no signals.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.server.stop_handle(), self.live.clone())
    }

    /// Serves requests until the dashboard is stopped.
    ///
    /// # Errors
    /// The operating system refused a thread or a socket.
    pub async fn run(self) -> io::Result<()> {
        self.server.run().await
    }
}

impl StopHandle {
    /// Refuses new connections, lets pages in progress finish, and returns when they have.
    pub async fn stop(&self) {
        self.1.close();
        self.0.stop().await;
    }
}

/// Builds the dashboard and the admin API as an actix application with its only middleware.
pub fn app(console: Data<Console>, admin_api: Data<AdminApi>) -> App<impl AppService> {
    App::new().app_data(console).app_data(admin_api).configure(pages::routes).wrap(from_fn(guard))
}

/// Tells whether `address` is exposed to a network without TLS.
///
/// Passwords and sessions on a network need TLS, which a proxy has to provide.
pub fn is_exposed(settings: &Settings, address: &str) -> bool {
    !settings.behind_tls_proxy && !Settings::is_loopback(address)
}

/// A complete answer to bytes that are not a request. The connection ends with it.
fn unreadable(status: StatusCode) -> Vec<u8> {
    tracing::info!(target: "dwar::dashboard", status = status.as_u16(), "unreadable");
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").into_bytes()
}
