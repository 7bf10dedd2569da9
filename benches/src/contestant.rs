//! The services that are measured, each pinned to the same core and run while it is its turn.

use crate::Outcome;
use crate::client::Client;
use crate::provider::Provider;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A service on a database of its own, which it keeps over all rounds.
pub struct Contestant {
    /// What the tables call it.
    pub name: &'static str,
    /// Which service it is.
    pub kind: Kind,
    /// Which database it is on.
    pub database: Database,
    url: String,
    folder: PathBuf,
    cpu: String,
    provider: String,
    port: u16,
    /// Dwar's API key.
    key: String,
    phones: Arc<AtomicU32>,
}

/// Which service.
pub enum Kind {
    /// This binary of ours.
    Dwar(String),
    /// better-auth, in `peer/`.
    Peer,
}

/// Which database; PostgreSQL by the URL of a server.
#[derive(Clone)]
pub enum Database {
    /// A file.
    Sqlite,
    /// A database on this server.
    Postgres(String),
}

/// What a login gives.
#[derive(Clone)]
pub enum Session {
    /// Dwar's pair.
    Pair {
        /// Validated at each call.
        access: String,
        /// Good for one new pair.
        refresh: String,
    },
    /// The peer's.
    Cookie(String),
}

impl Database {
    /// What the tables call it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres(_) => "PostgreSQL",
        }
    }
}

impl Contestant {
    /// Makes its database; for Dwar also a project with money.
    pub fn new(
        name: &'static str,
        kind: Kind,
        database: Database,
        cpu: String,
        provider: String,
    ) -> Outcome<Self> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder =
            PathBuf::from(std::env::var("COMPARE_FOLDER")?).join(format!("service-{port}"));
        std::fs::create_dir(&folder)?;
        let url = match (&database, &kind) {
            (Database::Sqlite, Kind::Dwar(_)) => "sqlite://dwar.db".to_owned(),
            (Database::Sqlite, Kind::Peer) => "peer.db".to_owned(),
            (Database::Postgres(server), _) => {
                let (base, _) =
                    server.rsplit_once('/').ok_or("COMPARE_POSTGRES names no database")?;
                let create = format!("CREATE DATABASE service_{port}");
                let made = Command::new("psql").args([server, "-qc", &create]).status()?;
                if !made.success() {
                    return Err(format!("psql: {create}: {made}").into());
                }
                format!("{base}/service_{port}")
            }
        };
        let (key, phones) = (String::new(), Arc::default());
        let mut made = Self { name, kind, database, url, folder, cpu, provider, port, key, phones };
        made.key = made.create_project()?;
        Ok(made)
    }

    fn create_project(&self) -> Outcome<String> {
        let Kind::Dwar(binary) = &self.kind else { return Ok(String::new()) };
        let gateway = format!(
            "name = \"bench\"\n[request]\nurl = \"{}\"\n\
             json = '''{{\"to\":\"{{phone_e164}}\",\"text\":\"{{text}}\"}}'''\n\
             [answer]\nreference = \"/id\"\n",
            self.provider
        );
        std::fs::write(self.folder.join("bench.toml"), gateway)?;
        let mut command = Command::new(binary);
        command.args([
            "project",
            "create",
            "--name",
            "Bench",
            "--balance-rupees",
            "1000000",
            "--json",
        ]);
        let output = self.settle_in(&mut command).output()?;
        let made: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())?;
        Ok(made["live_key"].as_str().ok_or("no live key")?.to_owned())
    }

    /// Gives a command this contestant's folder and settings, and nothing of our environment.
    fn settle_in<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.current_dir(&self.folder).env_clear().env("PATH", path);
        match self.kind {
            Kind::Dwar(_) => command
                .env("DWAR__DATABASE__URL", &self.url)
                .env("DWAR__HTTP__ADDRESS", format!("127.0.0.1:{}", self.port))
                .env("DWAR__DEMO", "false")
                .env("DWAR__LOG__LEVEL", "warn")
                .env("DWAR__GATEWAYS__GENERIC_FILES", "bench.toml")
                .env("DWAR__GATEWAYS__WHATSAPP", "")
                .env("DWAR__GATEWAYS__SMS", "bench")
                // Neither side is to refuse what the comparison asks for.
                .env("DWAR__LIMITS__LIVE__SENDS_PER_MINUTE", "0")
                .env("DWAR__LIMITS__LIVE__VERIFIES_PER_MINUTE", "0")
                .env("DWAR__LIMITS__LIVE__VALIDATE_PER_MINUTE", "1000000000")
                .env("DWAR__LIMITS__LIVE__GENERAL_PER_MINUTE", "1000000000"),
            Kind::Peer => command
                .env("NODE_ENV", "production")
                .env("PEER_DATABASE", &self.url)
                .env("PEER_PORT", self.port.to_string())
                .env("PEER_PROVIDER", &self.provider),
        }
    }

    /// Starts it on its core and waits until it answers.
    pub async fn start(&self) -> Outcome<Running<'_>> {
        let mut command = Command::new("taskset");
        command.args(["-c", &self.cpu]);
        match &self.kind {
            Kind::Dwar(binary) => command.args([binary, "serve"]),
            Kind::Peer => {
                command.args(["node", concat!(env!("CARGO_MANIFEST_DIR"), "/peer/server.js")])
            }
        };
        let log = std::fs::File::create(self.folder.join("log"))?;
        let child = self.settle_in(&mut command);
        let child = child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?;
        let running = Running { contestant: self, child };
        let ready = if running.is_dwar() { "GET /readyz" } else { "GET /api/auth/ok" };
        for _ in 0..600 {
            if let Ok(mut client) = running.client().await
                && client.ask(ready, "", "").await.is_ok()
            {
                return Ok(running);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let log = std::fs::read_to_string(self.folder.join("log"))?;
        Err(format!("{} on {} did not start: {log}", self.name, self.database.name()).into())
    }
}

/// A service that runs; it stops with this value.
pub struct Running<'a> {
    contestant: &'a Contestant,
    child: Child,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
    }
}

impl Running<'_> {
    fn is_dwar(&self) -> bool {
        matches!(self.contestant.kind, Kind::Dwar(_))
    }

    /// A new connection to it.
    pub async fn client(&self) -> Outcome<Client> {
        Client::connect(&format!("127.0.0.1:{}", self.contestant.port)).await
    }

    /// Whom requests come from.
    pub fn caller(&self, provider: &Provider) -> Caller {
        let headers = format!("x-api-key: {}\r\n", self.contestant.key);
        let phones = Arc::clone(&self.contestant.phones);
        Caller { dwar: self.is_dwar(), headers, provider: provider.clone(), phones }
    }
}

/// Speaks to either service.
#[derive(Clone)]
pub struct Caller {
    /// Whether it is Dwar that is asked, or the peer.
    pub dwar: bool,
    headers: String,
    provider: Provider,
    /// How many phones have logged in, so that each does so once.
    phones: Arc<AtomicU32>,
}

impl Caller {
    /// Does nothing at all.
    pub async fn nothing(&self, client: &mut Client) -> Outcome<()> {
        client.ask("GET /healthz", "", "").await.map(|_| ())
    }

    /// Has a code sent to a new phone, takes it from the provider, and gives it back.
    pub async fn log_in(&self, client: &mut Client) -> Outcome<Session> {
        let phone = format!("98{:08}", self.phones.fetch_add(1, Ordering::Relaxed));
        let e164 = format!("+91{phone}");
        if self.dwar {
            let body = json!({ "phone": phone }).to_string();
            client.ask("POST /v1/otp/send", &self.headers, &body).await?;
            let code = self.provider.code(&e164)?;
            let body = json!({ "phone": phone, "code": code }).to_string();
            let pair = client.ask("POST /v1/otp/verify", &self.headers, &body).await?;
            let (access, refresh) = (pair.text("access_token")?, pair.text("refresh_token")?);
            return Ok(Session::Pair { access, refresh });
        }
        let body = json!({ "phoneNumber": e164 }).to_string();
        client.ask("POST /api/auth/phone-number/send-otp", "", &body).await?;
        let code = self.provider.code(&e164)?;
        let body = json!({ "phoneNumber": e164, "code": code }).to_string();
        let answer = client.ask("POST /api/auth/phone-number/verify", "", &body).await?;
        let cookie = answer.header("set-cookie").and_then(|cookie| cookie.split(';').next());
        Ok(Session::Cookie(cookie.ok_or("no cookie")?.to_owned()))
    }

    /// Asks whether the session is good.
    pub async fn validate(&self, client: &mut Client, session: &Session) -> Outcome<()> {
        match session {
            Session::Pair { access, .. } => {
                let body = json!({ "access_token": access }).to_string();
                client.ask("POST /v1/session/validate", &self.headers, &body).await?;
            }
            Session::Cookie(cookie) => {
                let headers = format!("cookie: {cookie}\r\n");
                let answer = client.ask("GET /api/auth/get-session", &headers, "").await?;
                if answer.body == b"null" {
                    return Err("the peer does not know its own session".into());
                }
            }
        }
        Ok(())
    }

    /// Swaps a pair for the next; the peer has nothing of the kind.
    pub async fn refresh(&self, client: &mut Client, session: &Session) -> Outcome<Session> {
        let Session::Pair { refresh, .. } = session else { return Ok(session.clone()) };
        let body = json!({ "refresh_token": refresh }).to_string();
        let pair = client.ask("POST /v1/session/refresh", &self.headers, &body).await?;
        Ok(Session::Pair {
            access: pair.text("access_token")?,
            refresh: pair.text("refresh_token")?,
        })
    }
}
