//! The database of the instances, and what depends on it.

use crate::history::Settings;
use crate::process::free_port;
use crate::proxy::Proxy;
use crate::{Arguments, Outcome};
use std::process::Stdio;
use tokio::process::Command;

/// A server or a file.
pub enum Database {
    /// Three instances share it, each through its own proxy.
    Postgres {
        /// On loopback.
        port: u16,
        name: String,
        /// Restarts it: words of a command that lacks only `-m MODE restart`.
        pg_ctl: Vec<String>,
    },
    /// Used by one instance and the command line. A process uses its file directly, so the proxy is
    /// between clients and the instance.
    Sqlite,
}

/// A fault of the database or of the way through a proxy.
#[derive(Clone, Copy)]
pub enum Trouble {
    /// In this mode of `pg_ctl`.
    Restart(&'static str),
    Cut,
    Freeze,
}

/// The weight of each fault, and its name.
pub type Troubles = &'static [(u64, (Trouble, &'static str))];

/// Where an instance listens and where clients call it, possibly through a proxy.
pub struct Way {
    pub instance: u16,
    pub clients: u16,
    pub proxy: Proxy,
}

impl Database {
    /// The database that the arguments choose.
    pub fn of(arguments: &Arguments) -> Self {
        let words = |command: &str| command.split_whitespace().map(str::to_owned).collect();
        match (arguments.postgres, &arguments.pg_ctl) {
            (Some(port), Some(pg_ctl)) => {
                let name = arguments.database.clone();
                Self::Postgres { port, name, pg_ctl: words(pg_ctl) }
            }
            _ => Self::Sqlite,
        }
    }

    /// Most instances that may use it at once.
    pub const fn instances(&self) -> usize {
        match self {
            Self::Postgres { .. } => 3,
            Self::Sqlite => 1,
        }
    }

    /// The checks that do not apply, for the report.
    pub const fn leaves_out(&self) -> Option<&'static str> {
        match self {
            Self::Postgres { .. } => None,
            Self::Sqlite => Some(
                "one instance on SQLite: nothing is seen of what several share, and requests of a key are \
                 counted from each start on",
            ),
        }
    }

    /// The settings of the service on this database.
    pub fn settings(&self) -> Settings {
        match self {
            Self::Postgres { .. } => Settings::default(),
            // A count that is soon full again after each kill.
            Self::Sqlite => Settings {
                validates: 80,
                requests: 30,
                is_count_of_one_start: true,
                ..Settings::default()
            },
        }
    }

    /// How many of a hundred faults of an instance are kills; the others stop it for a while.
    pub const fn kills(&self) -> u64 {
        match self {
            Self::Postgres { .. } => 35,
            // Only the command line uses the file until the next start.
            Self::Sqlite => 60,
        }
    }

    /// The faults besides those of instances.
    pub const fn troubles(&self) -> Troubles {
        match self {
            Self::Postgres { .. } => &[
                (2, (Trouble::Restart("fast"), "database restart, fast")),
                (2, (Trouble::Restart("immediate"), "database restart, immediate")),
                (3, (Trouble::Cut, "connections cut")),
                (3, (Trouble::Freeze, "connections frozen")),
            ],
            Self::Sqlite => {
                &[(3, (Trouble::Cut, "clients cut off")), (1, (Trouble::Freeze, "clients frozen"))]
            }
        }
    }

    /// A way for one more instance.
    pub async fn way(&self) -> Outcome<Way> {
        let instance = free_port()?;
        Ok(match self {
            Self::Postgres { port, .. } => {
                Way { instance, clients: instance, proxy: Proxy::start(*port).await? }
            }
            Self::Sqlite => {
                let proxy = Proxy::start(instance).await?;
                Way { instance, clients: proxy.port, proxy }
            }
        })
    }

    /// Its URL, for an instance through its proxy, and for the command line.
    pub fn url(&self, proxy: Option<&Proxy>) -> String {
        match self {
            Self::Postgres { port, name, .. } => {
                let port = proxy.map_or(*port, |proxy| proxy.port);
                format!("postgres://dwar@127.0.0.1:{port}/{name}")
            }
            // In the folder that all of them run in.
            Self::Sqlite => "sqlite://dwar.db".to_owned(),
        }
    }

    /// Restarts it, `fast` or `immediate`; a file cannot be restarted.
    pub async fn restart(&self, mode: &str) -> Outcome<()> {
        let Self::Postgres { pg_ctl, .. } = self else { return Ok(()) };
        let (program, arguments) = pg_ctl.split_first().ok_or("no pg_ctl")?;
        let mut command = Command::new(program);
        command.args(arguments).args(["-m", mode, "-w", "-t", "60", "restart"]);
        let done =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        match done.await? {
            status if status.success() => Ok(()),
            status => Err(format!("pg_ctl -m {mode} restart: {status}").into()),
        }
    }
}
