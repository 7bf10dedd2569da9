//! Checks the running service: the way to it from the internet, as providers take it, and its
//! loops.

use super::answer::lines;
use super::health::readiness;
use crate::config::Config;
use crate::wiring::checks::{Check, Finding, OBEY, failed, ok, warning};
use crate::wiring::{http_client, reporting_providers};
use dwar_gateways::{BaseUrl, HttpClient, Method, ProbeAnswer};
use serde_json::Value;

const ADDRESS: &str = "public address";
const ADVICE: &str = "check gateways.public_url, its host name and certificate, and that the proxy \
                      passes on path, query and body unchanged";

/// Asks the service at its own address for loops that had to be restarted.
pub async fn loops(config: &Config, id: &str) -> Finding {
    let (url, seen) = readiness(config, id).await;
    let problem = match seen {
        Err(problem) => format!("{url} cannot be reached: {problem}"),
        Ok(ProbeAnswer { status: 200, body, .. }) => {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            let Some(fallen) = body["loops"].as_array() else {
                return ok("none had to be restarted");
            };
            let line = |it: &Value| {
                let state = if it["running"] == true { "is running again" } else { "is down" };
                let name = it["name"].as_str().unwrap_or("?");
                format!("{name} {state}, restarts: {}", it["restarts"])
            };
            let advice = "search the log for \"a background loop ended\"";
            return warning(lines(fallen, line, ""), advice);
        }
        Ok(ProbeAnswer { status, .. }) => {
            format!("{url} answered {status}, so their state is unknown")
        }
    };
    warning(problem, "run this on the machine of the service, once it is ready")
}

/// Calls the service through `gateways.public_url`: its health, and the webhook of each configured
/// provider, which must refuse an unsigned call. `id` is a request id that only this service
/// returns.
pub async fn run(config: &Config, id: &str) -> Vec<Check> {
    let (url, client) = match (&config.gateways.public_url, http_client(&config.gateways)) {
        (Some(url), Ok(client)) => (url, client),
        (None, Ok(_)) => {
            let finding = warning(
                "gateways.public_url is empty, so nothing was called",
                "set it if providers report to this service",
            );
            return vec![(ADDRESS, finding)];
        }
        (_, Err(cause)) => return vec![(ADDRESS, failed(cause, OBEY))],
    };
    let mut checks = vec![(ADDRESS, health(&client, url, id).await)];
    // A configuration with impossible providers was reported above.
    for provider in reporting_providers(config).unwrap_or_default() {
        checks.push(("webhook", webhook(&client, url, &provider, id).await));
    }
    checks
}

async fn health(client: &HttpClient, url: &BaseUrl, id: &str) -> Finding {
    let url = format!("{url}/healthz");
    let answer = client.probe(Method::GET, &url, id).await;
    judge(&url, answer, id, |status, body| status == 200 && body["status"] == "ok")
}

async fn webhook(client: &HttpClient, url: &BaseUrl, provider: &str, id: &str) -> Finding {
    let url = format!("{url}/webhooks/{provider}");
    let answer = client.probe(Method::POST, &url, id).await;
    if let Ok(ProbeAnswer { status: 404, request_id: Some(given), .. }) = &answer
        && given == id
    {
        let unknown = format!("{url} reaches this service, which does not know this provider");
        return failed(unknown, "restart the service with these settings");
    }
    judge(&url, answer, id, |status, body| {
        status == 401 && body["code"] == "WEBHOOK_UNAUTHENTICATED"
    })
}

fn judge(
    url: &str,
    answer: Result<ProbeAnswer, String>,
    id: &str,
    expected: impl Fn(u16, &Value) -> bool,
) -> Finding {
    let problem = match answer {
        Err(problem) => format!("{url} cannot be reached: {problem}"),
        Ok(ProbeAnswer { status, request_id, body }) => {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            if expected(status, &body) && request_id.as_deref() == Some(id) {
                return ok(format!("{url} is answered by this service"));
            }
            format!("{url} answered {status}, unlike this service")
        }
    };
    failed(problem, ADVICE)
}
