//! Runs the real binary on a database of its own, and uses it as its users do.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod collector;
mod crowd;
mod database;
mod disk;
mod documents;
mod doors;
mod ear;
mod endpoint;
pub mod old_sends;
mod servers;
mod staff;
mod tap;
mod vendor;
mod wire;

#[allow(unused_imports, reason = "each test file uses its part")]
pub use collector::{Collector, Manner, attribute};
#[allow(unused_imports, reason = "each test file uses its part")]
pub use crowd::{Bystander, Resident, attacker, raise_descriptors};
pub use database::Database;
#[allow(unused_imports, reason = "each test file uses its part")]
pub use disk::Disk;
#[allow(unused_imports, reason = "each test file uses its part")]
pub use doors::{Doors, sorted, with_doors};
#[allow(unused_imports, reason = "each test file uses its part")]
pub use ear::{EAR, Ear, Run, note_run};
#[allow(unused_imports, reason = "each test file uses its part")]
pub use endpoint::{Endpoint, Told};
#[allow(unused_imports, reason = "each test file uses its part")]
pub use servers::{FIRST, SECOND, Servers};
#[allow(unused_imports, reason = "each test file uses its part")]
pub use staff::{PASSWORD, Person, Program};
#[allow(unused_imports, reason = "each test file uses its part")]
pub use tap::{Counted, Tap};
#[allow(unused_imports, reason = "each test file uses its part")]
pub use vendor::{Play, RECEIPTS, TOKEN, Taken, Vendor, delivered, stray};
#[allow(unused_imports, reason = "each test file uses its part")]
pub use wire::Wire;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);
/// Longer than a log line takes from the service to the test.
const LOG_LAG: Duration = Duration::from_millis(100);
const LISTENING: &str = "Dwar is listening on ";
/// Number of log lines of a service that are shown with a failing test.
const TOLD: usize = 60;

pub struct Service {
    pub world: World,
    pub base: String,
    pub client: reqwest::Client,
    child: Child,
    stdout: Arc<Mutex<Vec<String>>>,
    stderr: Arc<Mutex<Vec<String>>>,
    /// Ends when the process has closed its standard output and all of it is collected.
    listener: Option<JoinHandle<()>>,
}

/// A configuration and a database, which outlive a restart.
pub struct World {
    pub database: Database,
    pub settings: Vec<(String, String)>,
    /// Arguments for the shell's `ulimit`.
    pub ulimit: Option<String>,
    phones: AtomicU32,
}

#[derive(Clone, Debug)]
pub struct Project {
    pub id: String,
    pub live: String,
    pub test: String,
}

#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
    pub body: Value,
}

impl World {
    pub fn new(database: Database) -> Self {
        let settings = [
            ("DWAR__HTTP__ADDRESS", "127.0.0.1:0"),
            ("DWAR__LOG__FORMAT", "json"),
            ("DWAR__DEMO", "false"),
            ("DWAR__DASHBOARD__ADDRESS", ""),
            ("DWAR__METRICS__ADDRESS", "off"),
            ("DWAR__HTTP__WORKERS", "2"),
        ];
        let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { database, settings: settings.to_vec(), ulimit: None, phones: AtomicU32::new(0) }
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Runs the binary, or the one that DWAR_TEST_BINARY names, with only this world's settings and
    /// nothing else of this process's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let other = std::env::var("DWAR_TEST_BINARY").ok();
        let binary = other.as_deref().unwrap_or(env!("CARGO_BIN_EXE_dwar"));
        let mut command = match &self.ulimit {
            None => Command::new(binary),
            Some(limit) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\""), binary]);
                shell
            }
        };
        command
            .args(arguments)
            .current_dir(self.database.folder())
            .env_clear()
            .env("DWAR__DATABASE__URL", self.database.url())
            .envs(self.settings.iter().map(|(name, value)| (name, value)));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        note_run(arguments, &output);
        output
    }

    /// The JSON answer of a command; fails the test if the command fails.
    pub fn cli(&self, arguments: &[&str]) -> Value {
        let output = self.run(&[arguments, &["--json"]].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {error}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub fn project(&self, rupees: &str) -> Project {
        let made = self.cli(&["project", "create", "--name", "Acme", "--balance-rupees", rupees]);
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        Project { id: text("project_id"), live: text("live_key"), test: text("test_key") }
    }

    pub fn balance(&self, project: &Project) -> Value {
        self.cli(&["wallet", "balance", "--project", &project.id])
    }

    pub fn audit(&self) {
        assert_eq!(self.cli(&["wallet", "verify"])["difference_paise"], 0);
    }

    /// A number that no other call has returned, and that is not a magic one.
    pub fn phone(&self) -> String {
        // Steps that share no factor with the modulus: no digits that might occur by chance.
        let count = u64::from(self.phones.fetch_add(1, Ordering::Relaxed));
        format!("98{:08}", (31_415_927 + count * 27_182_819) % 100_000_000)
    }
}

impl Service {
    pub fn start(database: Database) -> Self {
        Self::start_in(World::new(database))
    }

    /// Starts the binary and waits until it is ready.
    pub fn start_in(world: World) -> Self {
        Self::start_until(world, "Dwar is ready")
    }

    /// Starts the binary and waits until it listens, whatever the state of its database.
    pub fn start_unprepared(world: World) -> Self {
        Self::start_until(world, LISTENING)
    }

    fn start_until(world: World, wanted: &str) -> Self {
        let mut child = world
            .command(&["serve"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdout, _, listener) = collect(child.stdout.take().unwrap());
        let (stderr, listening, _) = collect(child.stderr.take().unwrap());
        let mut base = String::new();
        loop {
            let line = listening.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("not {wanted:?}: {:?}", stderr.lock()));
            if let Some((_, rest)) = line.split_once(LISTENING) {
                rest.split('"').next().unwrap().clone_into(&mut base);
            }
            if line.contains(wanted) {
                break;
            }
        }
        Self {
            world,
            base,
            client: reqwest::Client::new(),
            child,
            stdout,
            stderr,
            listener: Some(listener),
        }
    }

    /// Another process on the same database. On PostgreSQL the world has to set the master key.
    pub fn twin(&self) -> Self {
        let World { database, settings, ulimit, phones } = &self.world;
        let mut settings = settings.clone();
        settings.push(("DWAR__DATABASE__URL".to_owned(), database.url()));
        let phones = AtomicU32::new(phones.load(Ordering::Relaxed) + 10_000_000);
        let ulimit = ulimit.clone();
        Self::start_in(World { database: Database::None, settings, ulimit, phones })
    }

    /// Asks the process to stop, as a supervisor does.
    pub fn terminate(&self) {
        let status = Command::new("kill").arg(self.pid().to_string()).status().unwrap();
        assert!(status.success());
    }

    /// Stops the process at once, as a crash would, and returns the world.
    pub fn kill(self) -> World {
        self.last_words().0
    }

    /// Like [`Service::kill`], with everything that was ever written to standard output.
    pub fn last_words(mut self) -> (World, Vec<String>) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.listener.take().unwrap().join().unwrap();
        let world = std::mem::replace(&mut self.world, World::new(Database::None));
        (world, self.stdout())
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the process to end by itself.
    pub fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + patience;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// The address of the dashboard, if it is on.
    pub fn dashboard(&self) -> String {
        const SAID: &str = "the dashboard is on ";
        let logged = self.stderr();
        let line = logged.iter().find_map(|line| Some(line.split_once(SAID)?.1));
        line.unwrap().split('"').next().unwrap().to_owned()
    }

    pub fn stdout(&self) -> Vec<String> {
        self.stdout.lock().unwrap().clone()
    }

    /// The log lines until now. Lines arrive shortly after the events that they report.
    pub fn stderr(&self) -> Vec<String> {
        std::thread::sleep(LOG_LAG);
        self.stderr.lock().unwrap().clone()
    }

    /// The address of the metrics, if they are on.
    pub fn metrics(&self) -> String {
        let logged = self.stderr();
        let line = logged.iter().find_map(|line| Some(line.split_once("metrics are on ")?.1));
        line.unwrap().split('"').next().unwrap().to_owned()
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    pub fn call(&self, key: &str, path: &str, body: &Value) -> RequestBuilder {
        self.request(Method::POST, path).header("X-Api-Key", key).json(body)
    }

    pub async fn post(&self, key: &str, path: &str, body: Value) -> Answer {
        answer(self.call(key, path, &body)).await
    }

    pub async fn get(&self, key: &str, path: &str) -> Answer {
        answer(self.request(Method::GET, path).header("X-Api-Key", key)).await
    }

    pub async fn delete(&self, key: &str, path: &str) -> Answer {
        answer(self.request(Method::DELETE, path).header("X-Api-Key", key)).await
    }

    pub async fn send(&self, key: &str, phone: &str) -> Answer {
        self.post(key, "/v1/otp/send", json!({ "phone": phone })).await
    }

    pub async fn verify(&self, key: &str, phone: &str, code: &str) -> Answer {
        self.post(key, "/v1/otp/verify", json!({ "phone": phone, "code": code })).await
    }

    /// The code in the newest message to `phone`: from the sandbox, or from the console gateway.
    pub async fn code(&self, key: &str, phone: &str) -> String {
        if key.starts_with("svc_test_") {
            let inbox = self.get(key, &format!("/v1/sandbox/messages?phone={phone}")).await;
            return inbox.body["messages"][0]["code"].as_str().unwrap().to_owned();
        }
        self.printed(phone).await
    }

    /// The code in the newest message of the console that contains `what`: a phone, or a request.
    async fn printed(&self, what: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let lines = self.stdout();
            let message = lines.iter().rev().filter(|line| line.contains(what)).find_map(|line| {
                serde_json::from_str::<Value>(line).ok()?["text"].as_str().map(str::to_owned)
            });
            if let Some(text) = message {
                return text[..6].to_owned();
            }
            assert!(Instant::now() < until, "no message about {what}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Sends a code to `phone`, reads it, and verifies it.
    pub async fn log_in(&self, key: &str, phone: &str) -> Value {
        let sent = self.send(key, phone).await.ok();
        let code = match key.starts_with("svc_live_") {
            // The only message printed so far may be an earlier one to this phone.
            true => self.printed(sent["otp_id"].as_str().unwrap()).await,
            false => self.code(key, phone).await,
        };
        self.verify(key, phone, &code).await.ok()
    }

    /// Waits until `/readyz` answers this. Its answer changes at most once a second.
    pub async fn becomes(&self, status: u16) {
        let until = Instant::now() + PATIENCE;
        while self.get("", "/readyz").await.status != status {
            assert!(Instant::now() < until, "/readyz never said {status}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub async fn validate(&self, key: &str, token: &Value) -> Answer {
        self.post(key, "/v1/session/validate", json!({ "access_token": token })).await
    }

    pub async fn refresh(&self, key: &str, token: &Value) -> Answer {
        self.post(key, "/v1/session/refresh", json!({ "refresh_token": token })).await
    }

    pub async fn logout(&self, key: &str, token: &Value) -> Answer {
        self.post(key, "/v1/session/logout", json!({ "access_token": token })).await
    }
}

impl Drop for Service {
    #[expect(clippy::print_stderr, reason = "the reader of a failed test needs the cause")]
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
        if std::thread::panicking() {
            let told = self.stderr();
            let last = &told[told.len().saturating_sub(TOLD)..];
            eprintln!("the service's last lines:\n{}", last.join("\n"));
        }
    }
}

impl Answer {
    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn ok(self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        self.body
    }

    /// Checks a refusal: status, code, the three fields and the request id.
    pub fn refused(&self, status: u16, code: &str) {
        assert_eq!((self.status.as_u16(), self.code()), (status, code), "{}", self.text);
        let mut fields: Vec<&str> =
            self.body.as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["code", "error", "request_id"]);
        assert_eq!(self.body["request_id"], self.header("x-request-id"));
        assert!(!self.header("x-request-id").is_empty());
        assert!(self.body["error"].as_str().is_some_and(|text| !text.is_empty()));
    }
}

/// The answer of the service, which has to be one that its document lists.
pub async fn answer(request: RequestBuilder) -> Answer {
    let (client, request) = request.build_split();
    let request = request.unwrap();
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let answer = taken_apart(client.execute(request).await.unwrap()).await;
    documents::hold(&method, &path, &answer);
    answer
}

pub async fn taken_apart(response: reqwest::Response) -> Answer {
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.unwrap();
    ear::note_answer(&headers, &text);
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Answer { status, headers, text, body }
}

/// Makes all the calls at the same time.
pub async fn at_once(calls: impl IntoIterator<Item = RequestBuilder>) -> Vec<Answer> {
    let calls: Vec<_> = calls.into_iter().collect();
    let start = Arc::new(tokio::sync::Barrier::new(calls.len()));
    let racers: Vec<_> = calls
        .into_iter()
        .map(|call| {
            let start = Arc::clone(&start);
            tokio::spawn(async move {
                start.wait().await;
                answer(call).await
            })
        })
        .collect();
    let mut answers = Vec::with_capacity(racers.len());
    for racer in racers {
        answers.push(racer.await.unwrap());
    }
    answers
}

/// The number of each outcome: `"200"`, or a code.
pub fn tally(answers: &[Answer]) -> BTreeMap<&str, usize> {
    let mut tally = BTreeMap::new();
    for answer in answers {
        let outcome = if answer.status == StatusCode::OK { "200" } else { answer.code() };
        *tally.entry(outcome).or_default() += 1;
    }
    tally
}

/// Six digits that are not `code`, a different one for each `n`.
pub fn wrong(code: &str, n: u32) -> String {
    let code: u32 = code.parse().unwrap();
    format!("{:06}", (code + 1 + n % 999_999) % 1_000_000)
}

/// Collects the lines of a stream, and passes each on while anything listens.
fn collect(
    stream: impl std::io::Read + Send + 'static,
) -> (Arc<Mutex<Vec<String>>>, mpsc::Receiver<String>, JoinHandle<()>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let (sender, receiver) = mpsc::channel();
    let kept = Arc::clone(&lines);
    let listener = std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let _nobody_listens = sender.send(line.clone());
            kept.lock().unwrap().push(line);
        }
    });
    (lines, receiver, listener)
}

/// Runs one test body on both databases: `both!(name, |database| async …)`.
#[macro_export]
macro_rules! on_both_databases {
    ($($(#[$attribute:meta])* $name:ident;)+) => {
        mod sqlite {
            $($(#[$attribute])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $name() {
                super::$name($crate::common::Database::sqlite()).await;
            })+
        }
        mod postgres {
            $($(#[$attribute])*
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            #[ignore = "needs DWAR_TEST_POSTGRES_URL"]
            async fn $name() {
                super::$name($crate::common::Database::postgres().await).await;
            })+
        }
    };
}
