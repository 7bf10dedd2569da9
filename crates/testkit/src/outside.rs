use crate::Fixtures;
use async_trait::async_trait;
use dwar_app::{ExternalPorts, Policies, Routes};
use dwar_console::{ConsoleParts, Management, ManagementPorts};
use dwar_event::{CallFailure, Event, SendFailure, WebhookRequest, WebhookSecret, WebhookSender};
use dwar_kernel::{ProjectMode, Timestamp};
use dwar_otp::{
    Channel, Code, Gateway, HookFault, HookFormat, HookMessage, HookRefusal, Message, Outcome,
    Probe, ProviderHealth, ProviderRefusal, Providers, Reason, Route, WebhookCall, WebhookHead,
};
use dwar_ratelimit::RequestLimiter;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Connections of a service that lead nowhere: every message of both modes goes to `postbox`, first over
/// WhatsApp, then over SMS; every event goes to `post`.
pub fn outside(
    requests: Arc<dyn RequestLimiter>,
    postbox: &Arc<Postbox>,
    post: &Arc<Post>,
) -> ExternalPorts {
    let route = Fixtures::seeded(0).route();
    let policies = Policies::default();
    let route = Route { receipt_window: policies.receipt_window, lease: policies.lease(), ..route };
    let gateway = |name: &String| (name.clone(), Arc::<Postbox>::clone(postbox) as _);
    let gateways: HashMap<String, Arc<dyn Gateway>> =
        route.hops.iter().map(|hop| gateway(&hop.provider)).collect();
    ExternalPorts {
        requests,
        routes: Routes {
            live: route.clone(),
            test: route,
            gateways,
            fixed_minutes: HashMap::new(),
            login_lifetime: policies.code_lifetime,
        },
        sources: HashMap::new(),
        hook_formats: |_| &PlainFormat,
        sender: Arc::<Post>::clone(post),
    }
}

/// All use cases of operators; events go to `post`.
pub fn management(parts: &ConsoleParts, post: &Arc<Post>) -> Management {
    let sender = Arc::<Post>::clone(post);
    parts.management(ManagementPorts { sender, providers: Arc::new(Carriers) })
}

/// Three providers that carry messages over every channel, with a template in Tamil. Twilio is paused.
#[derive(Clone, Copy, Debug)]
pub struct Carriers;

#[async_trait]
impl Providers for Carriers {
    fn names(&self, _: Channel) -> Vec<String> {
        ["meta", "msg91", "twilio"].map(str::to_owned).to_vec()
    }

    fn defaults(&self, _: Channel) -> Vec<String> {
        vec!["console".to_owned()]
    }

    fn template_languages(&self) -> Vec<String> {
        ["en", "ta"].map(str::to_owned).to_vec()
    }

    fn paused_for(&self, provider: &str) -> Option<Duration> {
        (provider == "twilio").then_some(Duration::from_secs(12))
    }

    fn health(&self, provider: &str) -> ProviderHealth {
        let refusal = ProviderRefusal {
            age: Duration::from_secs(90),
            reason: Reason::ProviderUnavailable,
            status: Some(500),
            code: Some(20_500),
        };
        ProviderHealth {
            paused_for: self.paused_for(provider),
            calls: 4,
            faults: 1,
            median: Some(Duration::from_millis(340)),
            refusals: if provider == "twilio" { vec![refusal] } else { Vec::new() },
        }
    }

    async fn probe(&self, provider: &str) -> Option<Probe> {
        let status = (provider == "msg91").then_some(404);
        (provider != "meta").then_some(Probe { status, took: Duration::from_millis(85) })
    }
}

/// A provider that keeps every message. It accepts each, unless a test sets another answer.
#[derive(Debug, Default)]
pub struct Postbox {
    answers: Mutex<VecDeque<Outcome>>,
    messages: Mutex<Vec<Message>>,
}

impl Postbox {
    /// Sets the answer to the next message that has none yet.
    pub fn answer(&self, outcome: Outcome) {
        self.answers.lock().unwrap().push_back(outcome);
    }

    pub fn messages(&self) -> Vec<Message> {
        self.messages.lock().unwrap().clone()
    }
}

#[async_trait]
impl Gateway for Postbox {
    fn provider(&self) -> String {
        "postbox".to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        self.messages.lock().unwrap().push(message);
        let accepted = Outcome::Accepted { provider_ref: None, awaits_receipt: false };
        self.answers.lock().unwrap().pop_front().unwrap_or(accepted)
    }
}

/// The shortest hook format: the secret is in `authorization`, and the body is the number, a blank, and the
/// code.
#[derive(Clone, Copy, Debug)]
pub struct PlainFormat;

impl HookFormat for PlainFormat {
    fn fits(&self, head: &WebhookHead, _: Timestamp) -> Result<(), HookFault> {
        head.header("authorization").map(|_| ()).ok_or(HookFault::Shape)
    }

    fn shows(&self, secrets: &[WebhookSecret], head: &WebhookHead) -> Option<bool> {
        let shown = head.header("authorization");
        Some(secrets.iter().any(|secret| shown == Some(&secret.expose())))
    }

    fn proves(&self, secrets: &[WebhookSecret], call: &WebhookCall, _: Timestamp) -> bool {
        self.shows(secrets, &call.head) == Some(true)
    }

    fn read(&self, body: &[u8]) -> Result<HookMessage, HookRefusal> {
        let text = std::str::from_utf8(body).map_err(|_| HookRefusal::Unreadable)?;
        let (phone, code) = text.split_once(' ').ok_or(HookRefusal::Unreadable)?;
        let phone = phone.parse().map_err(|_| HookRefusal::InvalidPhone)?;
        let code = Code::relayed(code).map_err(|_| HookRefusal::InvalidCode)?;
        Ok(HookMessage { phone, code, is_mfa: false })
    }

    fn repeat_window(&self) -> Duration {
        Duration::from_secs(600)
    }

    fn answer(&self, outcome: Result<(), HookRefusal>) -> Option<String> {
        outcome.ok().map(|()| "{}".to_owned())
    }
}

/// Keeps events instead of posting them. An event's body names its kind and its project, but not its subject.
#[derive(Debug, Default)]
pub struct Post(Mutex<Vec<Vec<u8>>>);

impl Post {
    pub fn bodies(&self) -> Vec<Vec<u8>> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl WebhookSender for Post {
    fn body(&self, event: &Event, _: Option<String>) -> Vec<u8> {
        let (kind, at, ProjectMode { project, mode }) = (event.kind, event.at, event.project_mode);
        let at = at.to_rfc3339();
        let data = format!(r#"{{"project_id":"{project}","mode":"{mode}"}}"#);
        format!(r#"{{"type":"{kind}","timestamp":"{at}","data":{data}}}"#).into_bytes()
    }

    fn sign(&self, _: &WebhookSecret, id: &str, _: i64, _: &[u8]) -> String {
        format!("v1,{id}")
    }

    async fn post(&self, request: WebhookRequest) -> Result<u16, CallFailure> {
        self.0.lock().unwrap().push(request.body);
        Ok(204)
    }

    fn allows(&self, _: &str) -> Result<(), SendFailure> {
        Ok(())
    }
}
