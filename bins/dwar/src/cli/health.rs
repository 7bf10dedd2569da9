//! `dwar health`: whether the service of this configuration is ready for requests.

use super::answer::Answer;
use super::failure::Failure;
use crate::config::Config;
use dwar_gateways::{HttpClient, Method, ProbeAnswer};
use serde_json::{Value, json};
use std::time::Duration;

/// Longer than `/readyz` waits for a silent database.
const PATIENCE: Duration = Duration::from_secs(5);
const REQUEST_ID: &str = "dwar-health";

/// Asks the service at `http.address` whether it is ready, without using its database or its keys.
/// Good if it answers so within five seconds.
pub async fn run(config: Config) -> Result<Answer, Failure> {
    let (url, seen) = readiness(&config, REQUEST_ID).await;
    let problem = match seen {
        Err(problem) => Some(format!("{url} cannot be reached: {problem}")),
        Ok(ProbeAnswer { status, body, .. }) => {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let ready = status == 200 && body["status"] == "ready";
            (!ready).then(|| format!("{url} answered {status}: not ready"))
        }
    };
    let ready = problem.is_none();
    let text = problem.unwrap_or_else(|| format!("{url} is ready"));
    Ok(Answer::judged(&json!({ "ready": ready, "detail": text }), text.clone(), ready))
}

/// Requests `/readyz` at the service's own address and returns its URL and the answer. Uses no
/// proxy, because the path is not public.
///
/// # Errors
/// A sentence: why there was no answer within five seconds.
pub async fn readiness(config: &Config, id: &str) -> (String, Result<ProbeAnswer, String>) {
    let address = config.http.address.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:");
    let url = format!("http://{address}/readyz");
    let seen = match HttpClient::new(PATIENCE, PATIENCE, None) {
        Ok(client) => client.probe(Method::GET, &url, id).await,
        Err(cause) => Err(cause.to_string()),
    };
    (url, seen)
}
