//! The way from the world to the service that runs, as providers take it.

use super::Failure;
use super::doctor::{Check, failed, ok, warning};
use crate::config::Config;
use crate::wiring::{http_client, public_url, reporting_providers};
use dwar_gateways::{BaseUrl, HttpClient, Method, Seen};
use serde_json::Value;

const ADDRESS: &str = "public address";
const WEBHOOK: &str = "webhook";
const ADVICE: &str = "check gateways.public_url, its name and certificate, and that the proxy \
                      passes path, query and body on unchanged";

/// Calls the service through `gateways.public_url`: its health, and the webhook of each provider
/// that is configured, which must refuse a call that proves nothing. `id` is a request id that
/// only this service will give back.
pub async fn run(config: &Config, id: &str) -> Vec<Check> {
    let (url, client) = match (public_url(config), http_client(&config.gateways)) {
        (Ok(Some(url)), Ok(client)) => (url, client),
        (Ok(None), Ok(_)) => {
            return vec![warning(
                ADDRESS,
                "gateways.public_url is empty, so nothing was called".to_owned(),
                "set it if providers report to this service",
            )];
        }
        (Err(cause), _) | (_, Err(cause)) => {
            return vec![failed(ADDRESS, &cause, "do what it says, then run this again")];
        }
    };
    let mut checks = vec![health(&client, &url, id).await];
    // A configuration that names impossible providers was told above.
    for provider in reporting_providers(config).unwrap_or_default() {
        checks.push(webhook(&client, &url, &provider, id).await);
    }
    checks
}

async fn health(client: &HttpClient, url: &BaseUrl, id: &str) -> Check {
    let url = format!("{url}/healthz");
    let answer = client.look(Method::GET, &url, id).await;
    judge(ADDRESS, &url, answer, id, |status, body| status == 200 && body["status"] == "ok")
}

async fn webhook(client: &HttpClient, url: &BaseUrl, provider: &str, id: &str) -> Check {
    let url = format!("{url}/webhooks/{provider}");
    let answer = client.look(Method::POST, &url, id).await;
    if let Ok(Seen { status: 404, request_id: Some(given), .. }) = &answer
        && given == id
    {
        let unknown = Failure(format!("{url} is ours, and does not know this provider"));
        return failed(WEBHOOK, &unknown, "restart the service with these settings");
    }
    judge(WEBHOOK, &url, answer, id, |status, body| {
        status == 401 && body["code"] == "WEBHOOK_UNAUTHENTICATED"
    })
}

fn judge(
    name: &'static str,
    url: &str,
    answer: Result<Seen, String>,
    id: &str,
    expected: impl Fn(u16, &Value) -> bool,
) -> Check {
    let problem = match answer {
        Err(problem) => format!("{url} cannot be reached: {problem}"),
        Ok(Seen { status, request_id, body }) => {
            let body: Value = serde_json::from_slice(&body).unwrap_or_default();
            if expected(status, &body) && request_id.as_deref() == Some(id) {
                return ok(name, format!("{url} answers as ours"));
            }
            format!("{url} answers {status}, and not as this service does")
        }
    };
    failed(name, &Failure(problem), ADVICE)
}
