//! Telepost: SMS over HTTP, with signed receipts (`telepost.example/docs/messages`).

use crate::http_client::Answer;
use crate::signature::{claimed_hex, is_signed};
use crate::vendor::{Vendor, undelivered};
use crate::{BaseUrl, HttpClient, Secret};
use dwar_otp::{
    Channel, Message, Reason, Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use hmac::Hmac;
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;

const PROVIDER: &str = "telepost";
/// A report is some 200 bytes (`telepost.example/docs/reports`).
const LONGEST_BODY: usize = 4 * 1_024;

/// Our account with Telepost: the section `[gateways.telepost]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telepost {
    /// `https://api.telepost.example`.
    pub base_url: BaseUrl,
    /// Empty: there is no account.
    pub api_key: Secret,
    /// Signs the calls to us. Empty: none is believed, and no receipt is waited for.
    pub signing_secret: Secret,
}

/// What Telepost's error codes mean, in an answer and in a report alike
/// (`telepost.example/docs/errors`); `None` for those that say nothing a caller could use.
const fn reason_of(code: i64) -> Option<Reason> {
    Some(match code {
        1001 => Reason::ProviderAuth,
        1002 => Reason::ProviderThrottled,
        2001 => Reason::RejectedNumber,
        2002 => Reason::Blocked,
        3001 => Reason::TemplateRejected,
        _ => return None,
    })
}

/// The signature that a call claims to have.
fn claimed(head: &WebhookHead) -> Option<[u8; 32]> {
    claimed_hex(head.header("x-telepost-signature")?)
}

impl Vendor for Telepost {
    fn name(&self) -> &str {
        PROVIDER
    }

    fn call(&self, client: &HttpClient, message: &Message) -> Result<RequestBuilder, Reason> {
        if message.channel != Channel::Sms {
            tracing::error!(provider = PROVIDER, "routed a message that is not an SMS");
            return Err(Reason::ProviderUnavailable);
        }
        let call = client.post(&format!("{}/v1/messages", self.base_url));
        Ok(call.bearer_auth(self.api_key.expose()).json(&json!({
            "to": message.phone.e164(),
            "text": message.text,
            "template": message.template_id,
            "reference": message.attempt.to_string(),
        })))
    }

    fn judge(&self, _: Channel, answer: &Answer) -> Result<Option<String>, Reason> {
        let id = answer.body.get("id").and_then(Value::as_str);
        if let Some(id) = id.filter(|id| answer.status.is_success() && !id.is_empty()) {
            return Ok(Some(id.to_owned()));
        }
        let code = answer.body.pointer("/error/code").and_then(Value::as_i64);
        Err(answer.refused(PROVIDER, code, code.and_then(reason_of)))
    }

    fn reports(&self) -> bool {
        !self.signing_secret.is_empty()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        claimed(head).ok_or(WebhookError::Unauthenticated)?;
        Ok(WebhookAdmission { longest_body: LONGEST_BODY, proven: false })
    }

    fn is_signed(&self, call: &WebhookCall) -> bool {
        let judge = |given: [u8; 32]| {
            is_signed::<Hmac<Sha256>>(&self.signing_secret, &[&call.body], &given)
        };
        claimed(&call.head).is_some_and(judge)
    }

    fn read(&self, call: &WebhookCall) -> Option<Vec<(String, Report)>> {
        let report: Value = serde_json::from_slice(&call.body).ok()?;
        let id = report.get("id")?.as_str()?.to_owned();
        let code = report.get("code").and_then(Value::as_i64);
        Some(match report.get("status")?.as_str()? {
            "delivered" => vec![(id, Report::Delivered)],
            "failed" => vec![(id, undelivered(PROVIDER, code, code.and_then(reason_of)))],
            // On the way.
            _ => Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HttpGateway;
    use crate::tests::contract::{NATIONAL, SECRET, client, survives_a_broken_provider, to};
    use crate::tests::fake_vendor::{FakeVendor, Play};
    use crate::tests::fixtures::{ATTEMPT, TEXT};
    use dwar_otp::{Gateway, Outcome, Receipt, ReceiptSource};
    use hmac::{KeyInit, Mac};

    fn gateway(base_url: String, client: &HttpClient) -> HttpGateway<Telepost> {
        let account = Telepost {
            base_url: base_url.parse().unwrap(),
            api_key: Secret::new(format!("{SECRET}-key")),
            signing_secret: Secret::new(format!("{SECRET}-signing")),
        };
        HttpGateway::new(account, client.clone())
    }

    /// A call of Telepost's: `body`, signed under `secret`.
    fn call(body: &str, secret: &str) -> WebhookCall {
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(secret.as_bytes()).unwrap();
        let signature = mac.chain_update(body).finalize().into_bytes();
        let headers =
            vec![("x-telepost-signature".to_owned(), base16ct::lower::encode_string(&signature))];
        let (path_and_query, query) = (String::new(), Vec::new());
        let head = WebhookHead { path_and_query, query, headers };
        WebhookCall { head, body: body.as_bytes().to_vec() }
    }

    #[tokio::test]
    async fn sends_as_documented() {
        let vendor = FakeVendor::start(Play::json(202, &json!({"id": "m-1"}))).await;
        let outcome = gateway(vendor.base_url(), &client()).deliver(to(Channel::Sms)).await;
        let provider_ref = Some("m-1".to_owned());
        assert_eq!(outcome, Outcome::Accepted { provider_ref, awaits_receipt: true });
        let request = vendor.only_request();
        assert_eq!((&*request.method, &*request.target), ("POST", "/v1/messages"));
        assert_eq!(request.header("authorization"), format!("Bearer {SECRET}-key"));
        let to = format!("+91{NATIONAL}");
        let body = json!({"to": to, "text": TEXT, "template": null, "reference": ATTEMPT});
        assert_eq!(request.json(), body);
    }

    #[tokio::test]
    async fn every_code_has_its_reason() {
        let client = client();
        for (code, reason) in [
            (1001, Reason::ProviderAuth),
            (1002, Reason::ProviderThrottled),
            (2001, Reason::RejectedNumber),
            (2002, Reason::Blocked),
            (3001, Reason::TemplateRejected),
            (9999, Reason::ProviderRefused),
        ] {
            let refusal = Play::json(400, &json!({"error": {"code": code}}));
            let vendor = FakeVendor::start(refusal).await;
            let outcome = gateway(vendor.base_url(), &client).deliver(to(Channel::Sms)).await;
            assert_eq!(outcome, Outcome::Refused(reason), "{code}");
        }
    }

    #[tokio::test]
    async fn survives_everything_a_broken_provider_does() {
        survives_a_broken_provider(Channel::Sms, gateway).await;
    }

    #[test]
    fn reads_reports_that_are_signed_and_no_others() {
        let gateway = gateway("http://127.0.0.1:9".to_owned(), &client());
        let signing = format!("{SECRET}-signing");
        for (body, report) in [
            (r#"{"id":"m-1","status":"delivered"}"#, Some(Report::Delivered)),
            (
                r#"{"id":"m-1","status":"failed","code":2002}"#,
                Some(Report::Failed(Reason::Blocked)),
            ),
            (r#"{"id":"m-1","status":"failed"}"#, Some(Report::Failed(Reason::Unknown))),
            (r#"{"id":"m-1","status":"sent"}"#, None),
        ] {
            let receipt = |report| Receipt {
                provider: PROVIDER.to_owned(),
                provider_ref: "m-1".to_owned(),
                report,
            };
            let expected: Vec<_> = report.into_iter().map(receipt).collect();
            assert_eq!(gateway.receipts(&call(body, &signing)), Ok(expected), "{body}");
            let forged = gateway.receipts(&call(body, "another secret"));
            assert_eq!(forged, Err(WebhookError::Unauthenticated));
            let mut altered = call(body, &signing);
            altered.body.push(b' ');
            assert_eq!(gateway.receipts(&altered), Err(WebhookError::Unauthenticated));
            altered.head.headers.clear();
            assert_eq!(gateway.admit(&altered.head), Err(WebhookError::Unauthenticated));
        }
        let garbage = gateway.receipts(&call("garbage", &signing));
        assert_eq!(garbage, Err(WebhookError::Unreadable));
    }
}
