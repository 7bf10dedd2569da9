//! `dwar try`: one complete login, with the calls of a backend.

mod client;
mod own;
mod report;
mod steps;

use super::failure::Failure;
use super::open::runtime;
use super::serve;
use crate::config::{self, Config, ConfigError, text};
use crate::telemetry::LostLines;
use client::Client;
use dwar_gateways::BaseUrl;
use dwar_kernel::{Entropy, Phone};
use dwar_system::SystemEntropy;
use own::Own;
use report::Report;
use std::process::ExitCode;
use std::str::FromStr;
use steps::{Recipient, Trial};
use zeroize::Zeroizing;

/// The settings of the built-in service that differ from the defaults: it leaves nothing behind,
/// occupies no fixed port, and logs only errors.
const SETTINGS: [(&str, &str); 6] = [
    ("DWAR__DATABASE__URL", "memory:"),
    ("DWAR__HTTP__ADDRESS", "127.0.0.1:0"),
    ("DWAR__HTTP__WORKERS", "1"),
    ("DWAR__DASHBOARD__ADDRESS", ""),
    ("DWAR__METRICS__ADDRESS", "off"),
    ("DWAR__LOG__LEVEL", "error"),
];
/// The variable of the API key. Other users of the machine can read arguments.
const KEY: &str = "DWAR_KEY";
const TEST: &str = "svc_test_";
const LIVE: &str = "svc_live_";
const IN_CLEAR: &str = "over http:// everybody on the way can read the API key; use https://, or run \
                        this on the machine of the service";

/// Where to log in, and as whom.
#[derive(clap::Args)]
pub struct Args {
    /// URL of a running service
    #[arg(long, value_name = "URL", env = "DWAR_URL", value_parser = private)]
    url: Option<BaseUrl>,
    /// Send a real code to this phone, with a live key, and read the code from standard input
    #[arg(long, value_name = "PHONE", requires = "url")]
    live: Option<Phone>,
}

/// The configuration of the built-in service, independent of all other configuration.
pub fn config() -> Result<Config, ConfigError> {
    config::built_in(SETTINGS)
}

/// Runs a whole login and prints each step when it ends; stops at the first step that fails.
pub fn run(config: Config, asked: Args, json: bool, lost: LostLines) -> Result<ExitCode, Failure> {
    let Args { url, live } = asked;
    let Some(url) = url else {
        return serve::on_threads(in_memory(config, json, lost));
    };
    let key = key(live.is_some())?;
    let client = Client::new(url, &key)?;
    let (told, recipient) = match live {
        None => (format!("with the test key in {KEY}"), Recipient::Nobody(drawn())),
        Some(phone) => {
            let told = format!("with the live key in {KEY}: a real code goes to {phone}");
            (told, Recipient::Person(phone))
        }
    };
    let told = format!("{}, {told}", client.url());
    runtime()?.block_on(attempt(client, recipient, &told, json))
}

async fn in_memory(config: Config, json: bool, lost: LostLines) -> Result<ExitCode, Failure> {
    let own = Own::build(config, lost).await?;
    let client = Client::new(own.url.clone(), own.key.expose())?;
    let told = format!("A service in memory at {}, with its test key", own.url);
    own.serve_during(attempt(client, Recipient::Nobody(drawn()), &told, json)).await?
}

async fn attempt(
    client: Client,
    recipient: Recipient,
    told: &str,
    json: bool,
) -> Result<ExitCode, Failure> {
    let mut report = Report::open(json, client.url(), told)?;
    let tried = Trial { client: &client, recipient: &recipient, report: &mut report }.run().await;
    let closed = report.close(tried.is_ok());
    // An error of the login matters more than one of the shutdown.
    tried?;
    closed?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the API key from the environment and checks its mode.
fn key(live: bool) -> Result<Zeroizing<String>, Failure> {
    let given = Zeroizing::new(std::env::var(KEY).unwrap_or_default());
    let key = text::unquoted(&given).map_err(|it| Failure::Usage(format!("{KEY} {it}")))?;
    let kinds = [(TEST, false), (LIVE, true)];
    let kind = kinds.into_iter().find(|(start, _)| key.starts_with(start)).map(|(_, live)| live);
    let problem = match kind {
        Some(kind) if kind == live => return Ok(Zeroizing::new(key.to_owned())),
        Some(false) => "is a test key, whose messages reach no phone; --live needs the live key",
        Some(true) => "is a live key; to send a real message, name a phone with --live",
        None if key.is_empty() => "is not set: it holds the API key to call the service with",
        None => "is not an API key: API keys begin with svc_test_ or svc_live_",
    };
    Err(Failure::Usage(format!("{KEY} {problem}")))
}

/// Accepts only `https://` or an address on this machine, so that the key crosses no network
/// unencrypted.
fn private(text: &str) -> Result<BaseUrl, String> {
    let url = BaseUrl::from_str(text::unquoted(text)?).map_err(|cause| cause.to_string())?;
    if url.is_private() { Ok(url) } else { Err(IN_CLEAR.to_owned()) }
}

/// Draws a number that no other run uses, so that its limits are not exhausted; not a magic number
/// (docs/api.md).
#[expect(clippy::expect_used, reason = "it is ten digits, the first a 9")]
fn drawn() -> Phone {
    let mut drawn = [0; 8];
    SystemEntropy::default().fill_public(&mut drawn);
    let number = u64::from_le_bytes(drawn) % 100_000_000;
    format!("98{number:08}").parse().expect("a mobile number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_otp::sandbox::Scenario;

    #[test]
    fn a_drawn_number_plays_no_scene_and_comes_once() {
        let numbers: Vec<Phone> = std::iter::repeat_with(drawn).take(20).collect();
        for (index, number) in numbers.iter().enumerate() {
            assert_eq!(Scenario::of(number), Scenario::Delivered);
            assert!(!numbers[..index].contains(number));
        }
    }

    #[test]
    fn a_key_crosses_no_network_in_clear() {
        for url in ["https://otp.example.com", "http://127.0.0.1:8080", "http://localhost:8080/"] {
            assert!(private(url).is_ok(), "{url}");
        }
        for url in ["http://otp.example.com", "http://10.0.0.1", "https://a:b@c", "example.com"] {
            assert!(private(url).is_err(), "{url}");
        }
    }
}
