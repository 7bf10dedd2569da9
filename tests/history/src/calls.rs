//! Makes one call of the HTTP API and records it.

use crate::cluster::Cluster;
use crate::history::{Action, Lost, Op, Outcome, Pair};
use crate::recorder::Recorder;
use crate::world::World;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

/// Longer than the service may take; a longer call counts as a violation.
const PATIENCE: Duration = Duration::from_secs(40);

/// A client of the service.
#[derive(Clone)]
pub struct Calls {
    pub client: u64,
    pub cluster: Arc<Cluster>,
    pub world: Arc<World>,
    pub recorder: Arc<Recorder>,
    pub http: reqwest::Client,
}

/// The instance and the key of a call.
#[derive(Clone, Debug)]
pub struct At {
    pub instance: usize,
    pub project: usize,
    pub key: (usize, String),
}

/// Tokens as they were issued; the history has only their digests.
#[derive(Clone)]
pub struct Tokens {
    pub session: String,
    pub identity: String,
    pub access: String,
    pub refresh: String,
}

impl Calls {
    /// Calls an instance with the newest key of a project.
    pub fn at(&self, instance: usize, project: usize) -> At {
        At { instance, project, key: self.world.projects[project].key() }
    }

    pub async fn send(&self, at: &At, phone: &str, once: Option<&str>) -> Outcome {
        let action = Action::Send { phone: phone.to_owned(), once: once.map(str::to_owned) };
        let mut call = self.post(at, "/v1/otp/send", &json!({ "phone": phone }));
        if let Some(once) = once {
            call = call.header("Idempotency-Key", once);
        }
        self.ask(at, action, call, |body, replayed| {
            Some(Outcome::Sent { otp: text(body, "otp_id")?, replayed })
        })
        .await
        .0
    }

    /// Verifies a code, with or without the name `otp`.
    pub async fn verify(
        &self,
        at: &At,
        phone: &str,
        code: &str,
        otp: Option<&str>,
    ) -> (Outcome, Option<Tokens>) {
        let mut body = json!({ "phone": phone, "code": code });
        if let Some(otp) = otp {
            body["otp_id"] = otp.into();
        }
        let call = self.post(at, "/v1/otp/verify", &body);
        let (phone, code) = (phone.to_owned(), code.to_owned());
        let action = Action::Verify { phone, code, otp: otp.map(str::to_owned) };
        let (outcome, body) = self.ask(at, action, call, pair).await;
        (outcome, tokens(&body))
    }

    pub async fn validate(&self, at: &At, access: &str) -> Outcome {
        let call = self.post(at, "/v1/session/validate", &json!({ "access_token": access }));
        let action = Action::Validate { access: digest("at", access) };
        self.ask(at, action, call, |body, _| {
            let (session, identity) = (text(body, "session_id")?, text(body, "identity_id")?);
            (body["valid"] == true).then_some(Outcome::Valid { session, identity })
        })
        .await
        .0
    }

    pub async fn refresh(
        &self,
        at: &At,
        refresh: &str,
        once: Option<&str>,
    ) -> (Outcome, Option<Tokens>) {
        let mut call = self.post(at, "/v1/session/refresh", &json!({ "refresh_token": refresh }));
        if let Some(once) = once {
            call = call.header("Idempotency-Key", once);
        }
        let once = once.map(str::to_owned);
        let action = Action::Refresh { refresh: digest("rt", refresh), once };
        let (outcome, body) = self.ask(at, action, call, pair).await;
        (outcome, tokens(&body))
    }

    pub async fn logout(&self, at: &At, access: &str) -> Outcome {
        let call = self.post(at, "/v1/session/logout", &json!({ "access_token": access }));
        let action = Action::Logout { access: digest("at", access) };
        self.ask(at, action, call, |_, _| Some(Outcome::Done)).await.0
    }

    pub async fn delete(&self, at: &At, identity: &str) -> Outcome {
        let call = self.call(at, Method::DELETE, &format!("/v1/identity/{identity}"));
        let action = Action::Delete { identity: identity.to_owned() };
        self.ask(at, action, call, |_, _| Some(Outcome::Done)).await.0
    }

    pub async fn look_up(&self, at: &At, identity: &str) -> Outcome {
        let call = self.call(at, Method::GET, &format!("/v1/identity/{identity}"));
        let action = Action::LookUp { identity: identity.to_owned() };
        self.ask(at, action, call, |_, _| Some(Outcome::Done)).await.0
    }

    pub async fn status(&self, at: &At, otp: &str) -> Outcome {
        let call = self.call(at, Method::GET, &format!("/v1/otp/status/{otp}"));
        let action = Action::Status { otp: otp.to_owned() };
        self.ask(at, action, call, |_, _| Some(Outcome::Done)).await.0
    }

    fn call(&self, at: &At, method: Method, path: &str) -> RequestBuilder {
        let port = self.cluster.instances[at.instance].way.clients;
        let url = format!("http://127.0.0.1:{port}{path}");
        self.http.request(method, url).header("X-Api-Key", &at.key.1).timeout(PATIENCE)
    }

    fn post(&self, at: &At, path: &str, body: &Value) -> RequestBuilder {
        self.call(at, Method::POST, path).json(body)
    }

    /// Makes the call; `good` parses the body of a 200, and whether it is a repeated first answer.
    async fn ask(
        &self,
        at: &At,
        action: Action,
        call: RequestBuilder,
        good: impl Fn(&Value, bool) -> Option<Outcome>,
    ) -> (Outcome, Value) {
        let began = self.recorder.now();
        let (outcome, body) = match answer(call).await {
            Err(why) => (Outcome::Lost { why }, Value::Null),
            Ok((status, replayed, body)) => {
                let code = text(&body, "code").unwrap_or_default();
                let outcome = match status {
                    200 => good(&body, replayed)
                        .unwrap_or(Outcome::Failed { status, code: "UNREADABLE".to_owned() }),
                    // The only 500 with a definite result.
                    500 if code == "SMS_FAILED" => Outcome::Refused { status, code },
                    500.. => Outcome::Failed { status, code },
                    _ => Outcome::Refused { status, code },
                };
                (outcome, body)
            }
        };
        let ended = self.recorder.now();
        let (instance, project, key) = (Some(at.instance), at.project, at.key.0);
        let (client, told) = (self.client, outcome.clone());
        self.recorder.op(Op { client, instance, project, key, began, ended, action, outcome });
        (told, body)
    }
}

async fn answer(call: RequestBuilder) -> Result<(u16, bool, Value), Lost> {
    let lost = |cause: reqwest::Error| if cause.is_timeout() { Lost::TimedOut } else { Lost::Cut };
    let response = call.send().await.map_err(lost)?;
    let status = response.status().as_u16();
    let replayed = response.headers().contains_key("idempotent-replayed");
    let bytes = response.bytes().await.map_err(lost)?;
    Ok((status, replayed, serde_json::from_slice(&bytes).unwrap_or_default()))
}

fn pair(body: &Value, _: bool) -> Option<Outcome> {
    let Tokens { session, identity, access, refresh } = tokens(body)?;
    let (access, refresh) = (digest("at", &access), digest("rt", &refresh));
    Some(Outcome::Pair(Pair { session, identity, access, refresh }))
}

fn tokens(body: &Value) -> Option<Tokens> {
    Some(Tokens {
        session: text(body, "session_id")?,
        identity: text(body, "identity_id")?,
        access: text(body, "access_token")?,
        refresh: text(body, "refresh_token")?,
    })
}

fn text(body: &Value, field: &str) -> Option<String> {
    body.get(field)?.as_str().map(str::to_owned)
}

/// A digest that stands for a token in the history: equal for equal tokens, and of no use as a
/// token.
fn digest(kind: &str, token: &str) -> String {
    let mut hasher = DefaultHasher::new();
    token.hash(&mut hasher);
    format!("{kind}-{:016x}", hasher.finish())
}
