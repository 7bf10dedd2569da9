use chrono::SecondsFormat;
use dwar_event::{Event, Subject};
use dwar_kernel::Channel;
use serde::Serialize;

/// The body of an event: `type`, `timestamp`, `data` (Standard Webhooks, Payload structure).
#[derive(Serialize)]
struct Body {
    #[serde(rename = "type")]
    kind: &'static str,
    timestamp: String,
    data: Data,
}

#[derive(Serialize)]
struct Data {
    project_id: String,
    mode: &'static str,
    #[serde(flatten)]
    subject: Detail,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Detail {
    Otp { otp_id: String, channel: Option<&'static str>, phone: Option<String> },
    Session { session_id: String, identity_id: String },
    Identity { identity_id: String, sessions_revoked: u64 },
    Wallet { balance_paise: i64, threshold_paise: i64 },
    Spend { percent: u8, spent_paise: i64, limit_paise: i64 },
    Guard { subject: &'static str, guard: &'static str },
    Endpoint { webhook_id: String, failures: u32, failing_since: String },
    Provider { provider: String, failed: u32, receipts: u32 },
    Alert { alert: &'static str, severity: &'static str, webhook_id: Option<String>, since: String },
    Test { webhook_id: String },
}

/// Renders the event as JSON, with the phone number as it is to be shown.
#[expect(clippy::expect_used, reason = "strings and numbers under text keys become JSON")]
pub(crate) fn render(event: &Event, phone: Option<String>) -> Vec<u8> {
    let subject = match &event.subject {
        Subject::Otp { otp, channel, .. } => {
            Detail::Otp { otp_id: otp.to_string(), channel: channel.map(Channel::as_str), phone }
        }
        Subject::Session { session, identity } => {
            Detail::Session { session_id: session.to_string(), identity_id: identity.to_string() }
        }
        Subject::Identity { identity, sessions_revoked } => Detail::Identity {
            identity_id: identity.to_string(),
            sessions_revoked: *sessions_revoked,
        },
        Subject::Wallet { balance, threshold, .. } => {
            Detail::Wallet { balance_paise: balance.0, threshold_paise: threshold.0 }
        }
        Subject::Spend { percent, spent, limit, .. } => {
            Detail::Spend { percent: *percent, spent_paise: spent.0, limit_paise: limit.0 }
        }
        Subject::Guard { subject, guard } => {
            Detail::Guard { subject: subject.as_str(), guard: guard.as_str() }
        }
        Subject::Endpoint { endpoint, failures, since } => Detail::Endpoint {
            webhook_id: endpoint.to_string(),
            failures: *failures,
            failing_since: since.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        },
        Subject::Provider { provider, failed, receipts } => {
            Detail::Provider { provider: provider.clone(), failed: *failed, receipts: *receipts }
        }
        Subject::Alert { alert, endpoint, since } => Detail::Alert {
            alert: alert.as_str(),
            severity: alert.severity().as_str(),
            webhook_id: endpoint.map(|id| id.to_string()),
            since: since.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        },
        Subject::Test { endpoint } => Detail::Test { webhook_id: endpoint.to_string() },
    };
    let body = Body {
        kind: event.kind.as_str(),
        timestamp: event.at.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        data: Data {
            project_id: event.project_mode.project.to_string(),
            mode: event.project_mode.mode.as_str(),
            subject,
        },
    };
    serde_json::to_vec(&body).expect("it always becomes JSON")
}
