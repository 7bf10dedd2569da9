//! Instances of the service on one database, and its command line.

use crate::Outcome;
use crate::database::{Database, Way};
use crate::history::Settings;
use crate::process;
use crate::proxy::Proxy;
use rustix::process::Signal;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

/// For a debug build on a slow machine, on a database that is starting.
const START: Duration = Duration::from_secs(120);
const COMMAND: Duration = Duration::from_secs(60);
/// Thirty-two bytes that protect nothing.
const MASTER_KEY: &str = "aGlzdG9yeS1oaXN0b3J5LWhpc3RvcnktaGlzdG9yeTE=";

/// The settings for running the service.
pub struct ClusterSetup {
    pub binary: PathBuf,
    /// The folder of its files.
    pub folder: PathBuf,
    pub database: Database,
    pub settings: Settings,
}

pub struct Cluster {
    pub setup: ClusterSetup,
    pub instances: Vec<Instance>,
}

/// One process, and its proxy.
pub struct Instance {
    pub way: Way,
    child: Mutex<Option<Child>>,
}

impl Cluster {
    /// Starts every instance and waits until it is ready.
    pub async fn start(setup: ClusterSetup, provider: u16) -> Outcome<Self> {
        let description = crate::provider::description(provider);
        let file = setup.folder.join("stub.toml");
        std::fs::write(&file, description)?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))?;
        let mut instances = Vec::new();
        for _ in 0..setup.database.instances() {
            instances.push(Instance { way: setup.database.way().await?, child: Mutex::default() });
        }
        let cluster = Self { setup, instances };
        for number in 0..cluster.instances.len() {
            cluster.run(number).await?;
            if !cluster.is_ready(number, START).await {
                return Err(
                    format!("instance {number} did not start: {}", cluster.log(number)).into()
                );
            }
        }
        Ok(cluster)
    }

    /// The program with only our settings and nothing else of this process's environment.
    fn command(&self, proxy: Option<&Proxy>) -> Command {
        let ClusterSetup { binary, folder, database, settings, .. } = &self.setup;
        let mut command = Command::new(binary);
        command
            .current_dir(folder)
            .env_clear()
            .envs([
                ("DWAR__DATABASE__URL", database.url(proxy)),
                ("DWAR__LIMITS__LIVE__SEND", settings.sends.to_string()),
                ("DWAR__LIMITS__LIVE__VERIFY_ATTEMPTS", settings.max_wrong.to_string()),
                ("DWAR__LIMITS__GUESSES__STOP_AT", settings.stop_at.to_string()),
                ("DWAR__SESSION__LEEWAY_SECONDS", seconds(settings.leeway)),
                ("DWAR__SESSION__ACCESS_SECONDS", seconds(settings.access_lifetime)),
                ("DWAR__LIMITS__TEST__VALIDATE_PER_MINUTE", settings.validates.to_string()),
                ("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", settings.requests.to_string()),
                ("DWAR__OTP__LIFETIME_SECONDS", seconds(settings.code_lifetime)),
                (
                    "DWAR__LIMITS__LIVE__SEND_WINDOW_SECONDS",
                    (settings.send_window_ms / 1_000).to_string(),
                ),
            ])
            .envs([
                ("DWAR__SECRETS__MASTER_KEY", MASTER_KEY),
                ("DWAR__DATABASE__CONNECTIONS", "8"),
                ("DWAR__DEMO", "false"),
                ("DWAR__DASHBOARD__ADDRESS", ""),
                ("DWAR__METRICS__ADDRESS", "off"),
                ("DWAR__HTTP__WORKERS", "2"),
                ("DWAR__LOG__LEVEL", "warn"),
                ("DWAR__GATEWAYS__GENERIC_FILES", "stub.toml"),
                ("DWAR__GATEWAYS__WHATSAPP", ""),
                ("DWAR__GATEWAYS__SMS", "stub"),
                // A send that was interrupted is soon taken for abandoned, even if its instance
                // only sleeps.
                ("DWAR__GATEWAYS__CALL_TIMEOUT_MS", "2000"),
                ("DWAR__GATEWAYS__FALLBACK_WINDOW_SECONDS", "0"),
                ("DWAR__GATEWAYS__BREAKER_FAULTS", "1000"),
                // Slower sends after many wrong codes would hide the stop.
                ("DWAR__LIMITS__GUESSES__SLOW_FROM", "0"),
                ("DWAR__LIMITS__GUESSES__SLOWER_FROM", "0"),
                // Requests per key are checked with a test key, so that they do not delay others.
                ("DWAR__LIMITS__LIVE__SENDS_PER_MINUTE", "0"),
                ("DWAR__LIMITS__LIVE__VERIFIES_PER_MINUTE", "0"),
                ("DWAR__LIMITS__LIVE__VALIDATE_PER_MINUTE", "1000000000"),
                ("DWAR__LIMITS__LIVE__GENERAL_PER_MINUTE", "1000000000"),
            ])
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Starts an instance that is not running; does not wait for it.
    pub async fn run(&self, number: usize) -> Outcome<()> {
        let instance = &self.instances[number];
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.setup.folder.join(format!("instance-{number}.log")))?;
        let Way { instance: port, proxy, .. } = &instance.way;
        let mut command = self.command(Some(proxy));
        command.arg("serve").env("DWAR__HTTP__ADDRESS", format!("127.0.0.1:{port}"));
        let child = command.stdout(Stdio::null()).stderr(log).spawn()?;
        *instance.child.lock().await = Some(child);
        Ok(())
    }

    /// Sends a signal to an instance.
    pub async fn signal(&self, number: usize, signal: Signal) {
        let mut child = self.instances[number].child.lock().await;
        let Some(running) = child.as_mut() else { return };
        process::signal(running, signal);
        if signal == Signal::KILL {
            let _already_gone = running.wait().await;
            *child = None;
        }
    }

    /// Tells whether an instance becomes ready within `patience`; one that has ended by itself is
    /// restarted.
    pub async fn is_ready(&self, number: usize, patience: Duration) -> bool {
        let url = format!("http://127.0.0.1:{}/readyz", self.instances[number].way.instance);
        let until = Instant::now() + patience;
        let client = reqwest::Client::new();
        while Instant::now() < until {
            let asked = client.get(&url).timeout(Duration::from_secs(5)).send().await;
            if asked.is_ok_and(|answer| answer.status().is_success()) {
                return true;
            }
            let mut child = self.instances[number].child.lock().await;
            let ended = child.as_mut().is_none_or(|child| matches!(child.try_wait(), Ok(Some(_))));
            drop(child);
            if ended && self.run(number).await.is_err() {
                return false;
            }
            sleep(Duration::from_millis(100)).await;
        }
        false
    }

    /// The JSON answer of a command; `Err` if it fails, also by a time-out.
    pub async fn cli(&self, arguments: &[&str]) -> Outcome<Value> {
        let mut command = self.command(None);
        let output = timeout(COMMAND, command.args(arguments).arg("--json").output()).await??;
        if !output.status.success() {
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(format!("{arguments:?}: {error}").into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Restarts everything and waits until it works.
    pub async fn heal(&self) -> Outcome<()> {
        for (number, instance) in self.instances.iter().enumerate() {
            instance.way.proxy.freeze(false);
            self.signal(number, Signal::CONT).await;
            if !self.is_ready(number, START).await {
                return Err(format!("instance {number} is not back: {}", self.log(number)).into());
            }
        }
        Ok(())
    }

    /// The last lines that an instance wrote.
    pub fn log(&self, number: usize) -> String {
        let log = self.setup.folder.join(format!("instance-{number}.log"));
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

fn seconds(micros: u64) -> String {
    (micros / crate::history::SECOND).to_string()
}
