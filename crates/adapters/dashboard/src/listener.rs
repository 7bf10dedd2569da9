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
use dwar_wire::{AppService, Listener, Patience, Server, Serving, serve};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// People with browsers are few, and each costs little.
const SERVING: Serving = Serving {
    workers: 1,
    max_connections: 256,
    patience: Patience {
        head: Duration::from_secs(5),
        write: Duration::from_secs(30),
        keep_alive: Duration::from_secs(30),
    },
    shutdown_timeout: Duration::from_secs(5),
};

/// The dashboard on its addresses, waiting to be run.
pub struct Dashboard {
    server: Server,
    live: Live,
}

/// Stops a dashboard from elsewhere.
#[derive(Clone)]
pub struct StopHandle(dwar_wire::StopHandle, Live);

impl Dashboard {
    /// Puts the pages and the admin API behind the listener. Serves nothing before [`Dashboard::run`].
    ///
    /// # Errors
    /// The operating system refused a thread.
    pub fn new(listener: Listener, console: Console, admin_api: AdminApi) -> io::Result<Self> {
        let live = console.live.clone();
        let (console, admin_api) = (Data::new(console), Data::new(admin_api));
        let pages = move || app(console.clone(), admin_api.clone());
        Ok(Self { server: serve(listener, SERVING, pages, unreadable)?, live })
    }

    /// Every address it listens on.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.server.addresses()
    }

    /// A handle that stops it. The server itself listens to no signals.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.server.stop_handle(), self.live.clone())
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// The operating system refused a thread or a socket.
    pub async fn run(self) -> io::Result<()> {
        self.server.run().await
    }
}

impl StopHandle {
    /// Refuses new connections, lets pages under way finish, and returns when they have.
    pub async fn stop(&self) {
        self.1.close();
        self.0.stop().await;
    }
}

/// The whole dashboard and the admin API as an actix application, with its one middleware.
pub fn app(console: Data<Console>, admin_api: Data<AdminApi>) -> App<impl AppService> {
    App::new().app_data(console).app_data(admin_api).configure(pages::routes).wrap(from_fn(guard))
}

/// Whether a dashboard may listen on `address` as it is.
///
/// On a network passwords and sessions need TLS, which is for a proxy to end.
pub fn is_exposed(settings: &Settings, address: &str) -> bool {
    !settings.behind_tls_proxy && !Settings::is_loopback(address)
}

/// A whole answer to what cannot be read as a request; the connection ends with it.
fn unreadable(status: StatusCode) -> Vec<u8> {
    tracing::info!(target: "dwar::dashboard", status = status.as_u16(), "unreadable");
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").into_bytes()
}
