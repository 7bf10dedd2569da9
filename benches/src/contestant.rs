//! The measured services, each pinned to the same core and started when it is first needed.

use crate::Outcome;
use crate::clients::Users;
use crate::dialect::Dialect;
use crate::floor::{Answers, Recorded};
use crate::http;
use crate::meter::Meter;
use crate::outcome::needed;
use crate::provider::Provider;
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The name in the tables for another binary of Dwar, or another set of settings.
pub const BASELINE: &str = "baseline";
/// Longest time for a service to stop.
const STOP: Duration = Duration::from_secs(5);

/// Settings that all services share.
#[derive(Clone)]
pub struct Environment {
    /// The folder in which each creates its own.
    pub folder: PathBuf,
    /// The core that is reserved for services.
    pub cpu: String,
    pub provider: Provider,
}

/// A service on a database of its own, which it keeps over all rounds.
pub struct Contestant {
    pub kind: Kind,
    pub database: Database,
    /// The URL of the database, as given to the service.
    pub url: String,
    pub folder: PathBuf,
    /// Settings that differ from the shared ones.
    pub settings: Vec<(String, String)>,
    /// Settings of only its first instance.
    pub first_settings: Vec<(String, String)>,
    environment: Environment,
    /// One per instance.
    addresses: Vec<String>,
    pub users: Arc<Users>,
}

#[derive(Clone)]
pub enum Kind {
    /// This binary of Dwar.
    Dwar {
        /// The name in the tables.
        name: &'static str,
        binary: String,
        instances: usize,
    },
    /// better-auth, in `peer/`.
    Peer,
    /// A bare actix handler.
    Floor,
}

#[derive(Clone)]
pub enum Database {
    /// The floor has none.
    None,
    /// A file in the contestant's folder.
    Sqlite,
    /// A database on this server.
    Postgres { url: String, postmaster: u32 },
}

impl Database {
    /// The name in the tables.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::None => "",
            Self::Sqlite => "SQLite",
            Self::Postgres { .. } => "PostgreSQL",
        }
    }
}

impl Contestant {
    /// Creates its database; for Dwar also a project with money.
    pub fn new(kind: Kind, database: Database, environment: &Environment) -> Outcome<Self> {
        let instances = if let Kind::Dwar { instances, .. } = kind { instances } else { 1 };
        let ports = (0..instances).map(|_| free_port()).collect::<Outcome<Vec<_>>>()?;
        let first = ports.first().copied().unwrap_or_default();
        let folder = environment.folder.join(format!("service-{first}"));
        std::fs::create_dir(&folder)?;
        let url = match (&database, &kind) {
            (Database::Postgres { url, .. }, _) => create_database(url, first)?,
            (_, Kind::Peer) => "peer.db".to_owned(),
            _ => "sqlite://dwar.db".to_owned(),
        };
        let addresses = ports.iter().map(|port| format!("127.0.0.1:{port}")).collect();
        let users = Arc::new(Users::new(Dialect::Peer, environment.provider.clone()));
        let environment = environment.clone();
        let (settings, first_settings) = (Vec::new(), Vec::new());
        let mut made = Self {
            kind,
            database,
            url,
            folder,
            settings,
            first_settings,
            environment,
            addresses,
            users,
        };
        if let Kind::Dwar { .. } = &made.kind {
            let key = made.create_project()?;
            let key = format!("x-api-key: {key}\r\n");
            made.users =
                Arc::new(Users::new(Dialect::Dwar { key }, made.environment.provider.clone()));
        }
        Ok(made)
    }

    /// A floor that gets the requests of `other`.
    pub fn floor_of(other: &Self) -> Outcome<Self> {
        let floor = Self::new(Kind::Floor, Database::None, &other.environment)?;
        Ok(Self { users: Arc::clone(&other.users), ..floor })
    }

    /// The name in the tables.
    pub fn name(&self) -> String {
        let name = match &self.kind {
            Kind::Dwar { name, instances: 1, .. } => (*name).to_owned(),
            Kind::Dwar { name, instances, .. } => format!("{name}, {instances} instances"),
            Kind::Peer => "better-auth".to_owned(),
            Kind::Floor => return "bare actix handler, the floor".to_owned(),
        };
        format!("{name} on {}", self.database.name())
    }

    /// Runs a command of the service in its folder, and returns its output.
    pub fn run(&self, arguments: &[&str]) -> Outcome<String> {
        let Kind::Dwar { binary, .. } = &self.kind else { return Err("no such command".into()) };
        let first = self.first_settings.iter().map(|(name, value)| (name, value));
        let output = self.settle_in(Command::new(binary).args(arguments)).envs(first).output()?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
        }
        Ok(String::from_utf8(output.stdout)?)
    }

    fn create_project(&self) -> Outcome<String> {
        let gateway = format!(
            "name = \"bench\"\n[request]\nurl = \"{}\"\n\
             json = '''{{\"to\":\"{{phone_e164}}\",\"text\":\"{{text}}\"}}'''\n\
             [answer]\nreference = \"/id\"\n",
            self.environment.provider.url()
        );
        std::fs::write(self.folder.join("bench.toml"), gateway)?;
        let (project, key) = self.add_project("Bench")?;
        let is_baseline = matches!(self.kind, Kind::Dwar { name: BASELINE, .. });
        if let Some(mode) = needed("COMPARE_GUARD").ok().filter(|_| !is_baseline) {
            self.run(&["project", "set", "--project", &project, "--guard", &mode])?;
        }
        Ok(key)
    }

    /// Creates a project with money; returns its id and its live key.
    pub fn add_project(&self, name: &str) -> Outcome<(String, String)> {
        let project =
            ["project", "create", "--name", name, "--balance-rupees", "1000000", "--json"];
        let made: Value = serde_json::from_str(&self.run(&project)?)?;
        let text = |field: &str| made[field].as_str().map(str::to_owned);
        Ok((text("project_id").ok_or("no project")?, text("live_key").ok_or("no live key")?))
    }

    /// Gives a command this contestant's folder and settings, and nothing of our environment.
    fn settle_in<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.current_dir(&self.folder).env_clear().env("PATH", path);
        match self.kind {
            Kind::Dwar { .. } => command
                .env("DWAR__DATABASE__URL", &self.url)
                .env("DWAR__DEMO", "false")
                .env("DWAR__DASHBOARD__ADDRESS", "")
                .env("DWAR__METRICS__ADDRESS", "off")
                .env("DWAR__LOG__LEVEL", "warn")
                .env("DWAR__GATEWAYS__GENERIC_FILES", "bench.toml")
                .env("DWAR__GATEWAYS__WHATSAPP", "")
                .env("DWAR__GATEWAYS__SMS", "bench")
                // Longer than all rounds together.
                .env("DWAR__SESSION__ACCESS_SECONDS", "86400")
                // Neither side may refuse requests of the comparison.
                .env("DWAR__LIMITS__LIVE__SENDS_PER_MINUTE", "0")
                .env("DWAR__LIMITS__LIVE__VERIFIES_PER_MINUTE", "0")
                .env("DWAR__LIMITS__LIVE__VALIDATE_PER_MINUTE", "1000000000")
                .env("DWAR__LIMITS__LIVE__GENERAL_PER_MINUTE", "1000000000")
                .envs(self.settings.iter().map(|(name, value)| (name, value))),
            Kind::Peer => command
                .env("NODE_ENV", "production")
                .env("PEER_DATABASE", &self.url)
                .env("PEER_PROVIDER", self.environment.provider.url()),
            Kind::Floor => command,
        }
    }

    /// Starts its instances on their core and waits until they answer.
    pub fn start(&self, answers: &Answers) -> Outcome<Running<'_>> {
        let mut running = Running { contestant: self, instances: Vec::new() };
        for (number, address) in self.addresses.iter().enumerate() {
            let log = std::fs::File::create(self.folder.join(format!("log-{number}")))?;
            let mut command = Command::new("taskset");
            let command = self.settle_in(command.args(["-c", &self.environment.cpu]));
            self.program(command, address, answers)?;
            if number == 0 {
                command.envs(self.first_settings.iter().map(|(name, value)| (name, value)));
            }
            let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn()?;
            running.instances.push(child);
            self.wait_for(address, number)?;
        }
        Ok(running)
    }

    fn program(&self, command: &mut Command, address: &str, answers: &Answers) -> Outcome<()> {
        match &self.kind {
            Kind::Dwar { binary, .. } => {
                command.args([binary, "serve"]).env("DWAR__HTTP__ADDRESS", address)
            }
            Kind::Peer => {
                let port = address.rsplit(':').next().unwrap_or_default();
                let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peer/server.js");
                command.args(["node", script]).env("PEER_PORT", port)
            }
            Kind::Floor => {
                let answers = serde_json::to_string(answers)?;
                command.arg(std::env::current_exe()?).args(["floor", address, &answers])
            }
        };
        Ok(())
    }

    fn wait_for(&self, address: &str, number: usize) -> Outcome<()> {
        let line = match self.kind {
            Kind::Dwar { .. } => "GET /readyz",
            Kind::Peer => "GET /api/auth/ok",
            Kind::Floor => "GET /",
        };
        let wanted = if matches!(self.kind, Kind::Floor) { "404" } else { "200" };
        for _ in 0..600 {
            if http::ask(address, &http::request(line, "", "")).is_ok_and(|got| got == wanted) {
                return Ok(());
            }
            sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.folder.join(format!("log-{number}")))?;
        Err(format!("{} did not start: {log}", self.name()).into())
    }
}

/// A port on which no process listens.
pub fn free_port() -> Outcome<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn create_database(server: &str, port: u16) -> Outcome<String> {
    let (base, _) = server.rsplit_once('/').ok_or("COMPARE_POSTGRES names no database")?;
    let create = format!("CREATE DATABASE service_{port}");
    let made = Command::new("psql").args([server, "-qc", &create]).status()?;
    if !made.success() {
        return Err(format!("psql: {create}: {made}").into());
    }
    Ok(format!("{base}/service_{port}"))
}

/// A running service; it stops when this is dropped.
pub struct Running<'a> {
    contestant: &'a Contestant,
    instances: Vec<Child>,
}

impl Drop for Running<'_> {
    /// Lets the instances stop by themselves for a while: an instance that is killed stays
    /// recorded, and the next ones would take it for alive.
    fn drop(&mut self) {
        for instance in &self.instances {
            let pid = instance.id().to_string();
            let _already_gone = Command::new("kill").args(["-TERM", &pid]).status();
        }
        let end = Instant::now() + STOP;
        let stops = |instance: &mut Child| matches!(instance.try_wait(), Ok(None));
        while self.instances.iter_mut().any(stops) && Instant::now() < end {
            sleep(Duration::from_millis(20));
        }
        for instance in &mut self.instances {
            let _already_gone = instance.kill();
            let _already_gone = instance.wait();
        }
    }
}

impl Running<'_> {
    pub const fn is_peer(&self) -> bool {
        matches!(self.contestant.kind, Kind::Peer)
    }

    pub const fn is_floor(&self) -> bool {
        matches!(self.contestant.kind, Kind::Floor)
    }

    /// The addresses of its instances.
    pub fn addresses(&self) -> &[String] {
        &self.contestant.addresses
    }

    pub const fn users(&self) -> &Arc<Users> {
        &self.contestant.users
    }

    pub fn meter(&self) -> Meter {
        let postmaster = match self.contestant.database {
            Database::Postgres { postmaster, .. } => Some(postmaster),
            _ => None,
        };
        Meter { service: self.instances.iter().map(Child::id).collect(), postmaster }
    }

    /// Its answers, for the floor to repeat.
    pub fn answers(&self) -> Outcome<Answers> {
        let mut answers = Answers::new();
        let users = self.users();
        let key_set = users.key_set().ok_or("no key set")?;
        for request in [users.example()?, key_set] {
            let path = request.split(|byte| *byte == b' ').nth(1).ok_or("no path")?;
            let path = String::from_utf8(path.to_vec())?;
            answers.insert(path, record(&self.contestant.addresses[0], &request)?);
        }
        Ok(answers)
    }
}

fn record(address: &str, request: &[u8]) -> Outcome<Recorded> {
    // The server adds these by itself.
    const OWN: [&str; 3] = ["content-length", "date", "connection"];
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request)?;
    let recorded = http::receive(&mut stream, &mut Vec::new(), |answer| {
        if answer.status() != "200" {
            return Err(answer.complaint().into());
        }
        let mut headers = answer.headers();
        headers.retain(|(name, _)| !OWN.contains(&name.to_lowercase().as_str()));
        Ok(Recorded { headers, body: String::from_utf8(answer.body.to_vec())? })
    })?;
    Ok(recorded.ok_or("no answer")?)
}

/// The process of a PostgreSQL data directory.
fn postmaster(data: &Path) -> Outcome<u32> {
    let file = std::fs::read_to_string(data.join("postmaster.pid"))?;
    Ok(file.lines().next().ok_or("an empty postmaster.pid")?.trim().parse()?)
}

pub fn environment() -> Outcome<Environment> {
    Ok(Environment {
        folder: needed("COMPARE_FOLDER")?.into(),
        cpu: needed("COMPARE_SERVER_CPU")?,
        provider: Provider::start()?,
    })
}

pub fn postgres() -> Outcome<Database> {
    Ok(Database::Postgres {
        url: needed("COMPARE_POSTGRES")?,
        postmaster: postmaster(Path::new(&needed("COMPARE_POSTGRES_DATA")?))?,
    })
}
