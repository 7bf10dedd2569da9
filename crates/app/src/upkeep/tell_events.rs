use crate::CommonPorts;
use dwar_event::{
    CALL_LEASE, CALLS_KEPT, CallFailure, CallLog, ClaimCapacity, DisablePolicy, Dispatch, Endpoint,
    EndpointCall, Event, EventKind, EventStore, SendFailure, Subject, WebhookRequest,
    WebhookSecret, WebhookSender, rest_of, wait_after,
};
use dwar_kernel::{CallId, EndpointId, Purpose, Sealed, StoreError, TRACE_BEGINS, Timestamp};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tracing::field::Empty;
use tracing::{Span, instrument};

/// Delivers events to endpoints (Standard Webhooks), each at least once.
pub struct TellEvents {
    pub tools: CommonPorts,
    pub events: Arc<dyn EventStore>,
    pub calls: Arc<dyn CallLog>,
    pub sender: Arc<dyn WebhookSender>,
    /// When to disable an endpoint that keeps failing; `None` means never.
    pub disable_policy: Option<DisablePolicy>,
    /// Endpoints that asked this process for a pause.
    pub resting: EndpointPauses,
}

pub(crate) struct FinishedCall {
    pub(crate) call: EndpointCall,
    /// Whether the call disabled its endpoint. An accepted call is not recorded yet.
    pub(crate) written: Result<bool, StoreError>,
}

/// Endpoints that asked for a pause (`Retry-After`), with its end.
#[derive(Debug, Default)]
pub struct EndpointPauses(Mutex<HashMap<EndpointId, Timestamp>>);

impl EndpointPauses {
    /// Records the pause that an endpoint asked for at `now`.
    fn note(&self, endpoint: EndpointId, asked: Option<Duration>, now: Timestamp) {
        let rest = rest_of(asked);
        if !rest.is_zero() {
            let mut resting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            resting.insert(endpoint, now + rest);
        }
    }

    /// Endpoints whose pause lasts at `now`; ended pauses are dropped.
    pub(crate) fn at(&self, now: Timestamp) -> HashSet<EndpointId> {
        let mut resting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // After the clock was set back, no pause lasts longer than an endpoint may ask for.
        let longest = now + rest_of(Some(Duration::MAX));
        resting.retain(|_, until| now < *until && *until <= longest);
        resting.keys().copied().collect()
    }
}

impl TellEvents {
    /// Deletes undelivered events of disabled endpoints; returns the number of deliveries.
    pub async fn drop_undelivered(&self) -> Result<u64, StoreError> {
        self.events.drop_undelivered().await
    }

    /// Claims due deliveries: no more than there is room for, and none to endpoints that asked for a pause.
    pub async fn claim(&self, room: ClaimCapacity) -> Result<Vec<Dispatch>, StoreError> {
        if room.total == 0 || self.tools.watch.is_too_far_off() {
            return Ok(Vec::new());
        }
        let now = self.tools.now();
        let room = ClaimCapacity { resting: self.resting.at(now), ..room };
        self.events.claim_due(now, CALL_LEASE, room).await
    }

    /// Makes one call, records it, and returns it.
    pub async fn tell(&self, dispatch: &Dispatch) -> Result<EndpointCall, StoreError> {
        let FinishedCall { call, written } = self.call(dispatch).await;
        if call.outcome.is_ok() {
            self.delivered(vec![call.clone()]).await?;
        }
        written?;
        self.trim([&call]).await?;
        Ok(call)
    }

    #[instrument(
        name = "event",
        target = TRACE_BEGINS,
        level = "error",
        skip_all,
        fields(
            otel.kind = "client",
            otel.name = dispatch.event.kind.as_str(),
            http.response.status_code = Empty,
            error.r#type = Empty,
            dwar.project = %dispatch.event.project_mode.project,
        )
    )]
    /// Makes one call, and records it if it was not accepted. Its span is not part of the trace in which the
    /// event happened.
    pub(crate) async fn call(&self, dispatch: &Dispatch) -> FinishedCall {
        let Dispatch { endpoint, event, failures } = dispatch;
        let at = self.tools.now();
        let answer = match self.request(endpoint, event) {
            Ok(request) => self.sender.post(request).await,
            Err(cause) => {
                tracing::error!(endpoint = %endpoint.id, error = %cause, "an event cannot be delivered");
                Err(SendFailure::Unsigned.into())
            }
        };
        let asked = answer.err().and_then(|not_taken| not_taken.retry_after);
        let outcome = answer.map_err(|not_taken| not_taken.cause);
        note(outcome);
        let (ended, number) = (self.tools.now(), failures.saturating_add(1));
        let call = EndpointCall {
            id: CallId::new(at, self.tools.entropy.as_ref()),
            endpoint: endpoint.id,
            event: event.id(),
            kind: event.kind,
            number,
            at,
            took: (ended - at).to_std().unwrap_or_default(),
            outcome,
            again: next_try(event.kind, answer, number, ended),
        };
        self.tools.observer.told(call.outcome, call.took);
        let written = self.not_delivered(call.clone(), asked).await;
        FinishedCall { call, written }
    }

    /// Records accepted calls. If they cannot be written together, each is written separately, so
    /// that one unwritable call does not cause the others to be repeated.
    pub(crate) async fn delivered(&self, calls: Vec<EndpointCall>) -> Result<(), StoreError> {
        match self.events.delivered(calls.clone()).await {
            Err(error) if calls.len() > 1 && !error.is_transient() => {
                let mut outcome = Ok(());
                for call in calls {
                    outcome = outcome.and(self.events.delivered(vec![call]).await);
                }
                outcome
            }
            outcome => outcome,
        }
    }

    /// Records a call that was not accepted; `true` if its endpoint is now disabled.
    async fn not_delivered(
        &self,
        call: EndpointCall,
        asked: Option<Duration>,
    ) -> Result<bool, StoreError> {
        let Err(cause) = call.outcome else { return Ok(false) };
        if cause == SendFailure::Unsigned {
            self.events.give_up(call).await?;
            return Ok(false);
        }
        let (endpoint, ended) = (call.endpoint, call.ended());
        let off = self.not_taken(call, cause).await?;
        self.resting.note(endpoint, asked, ended);
        Ok(off)
    }

    /// Trims the logs of the endpoints of those calls that ask for it.
    pub(crate) async fn trim(
        &self,
        calls: impl IntoIterator<Item = &EndpointCall> + Send,
    ) -> Result<(), StoreError> {
        let asking = calls.into_iter().filter(|call| call.asks_for_a_trim());
        let endpoints: HashSet<EndpointId> = asking.map(|call| call.endpoint).collect();
        for endpoint in endpoints {
            self.calls.trim_calls(endpoint, CALLS_KEPT).await?;
        }
        Ok(())
    }

    async fn not_taken(&self, call: EndpointCall, cause: SendFailure) -> Result<bool, StoreError> {
        let wait = call.again.map(|again| (again - call.ended()).num_seconds());
        tracing::warn!(endpoint = %call.endpoint, event = call.event, %cause,
            again_in_seconds = wait, "an endpoint did not accept an event");
        let Some(off) = self.events.failed(call, self.disable_policy).await? else {
            return Ok(false);
        };
        let failures = off.failing.map(|failing| failing.failures);
        let why = if cause.is_gone() { "is gone (410)" } else { "kept failing" };
        tracing::error!(endpoint = %off.id, project = %off.project, failures,
            failing_since = off.failing.map(|failing| failing.since.to_rfc3339()),
            "an endpoint {why} and is disabled: see `dwar webhook enable`");
        self.drop_undelivered().await?;
        Ok(true)
    }

    fn request(&self, endpoint: &Endpoint, event: &Event) -> Result<WebhookRequest, StoreError> {
        let now = self.tools.now();
        let (id, timestamp) = (event.id(), now.timestamp());
        let body = self.sender.body(event, self.phone(endpoint, event)?);
        let secrets = self.secrets(endpoint, now)?;
        let sign = |secret| self.sender.sign(secret, &id, timestamp, &body);
        let signature = secrets.iter().map(sign).collect::<Vec<_>>().join(" ");
        Ok(WebhookRequest { url: endpoint.url.clone(), id, timestamp, signature, body })
    }

    fn secrets(
        &self,
        endpoint: &Endpoint,
        now: Timestamp,
    ) -> Result<Vec<WebhookSecret>, StoreError> {
        endpoint.secret.at(now).into_iter().map(|sealed| self.secret(endpoint, sealed)).collect()
    }

    fn secret(&self, endpoint: &Endpoint, sealed: &Sealed) -> Result<WebhookSecret, StoreError> {
        let (vault, owner) = (self.tools.vault.as_ref(), endpoint.id.uuid());
        Ok(WebhookSecret::open(vault, Purpose::WebhookSecret, owner, sealed)?)
    }

    /// The phone of an event: masked, unless the endpoint gets full numbers; `None` once it is erased.
    fn phone(&self, endpoint: &Endpoint, event: &Event) -> Result<Option<String>, StoreError> {
        let Subject::Otp { phone: Some(phone), .. } = &event.subject else {
            return Ok(None);
        };
        let phone = self.tools.vault.open_phone(event.project_mode.project, &phone.sealed)?;
        Ok(Some(if endpoint.full_phone { phone.e164() } else { phone.to_string() }))
    }
}

/// Records the outcome of a call in its span.
fn note(outcome: Result<u16, SendFailure>) {
    let (word, status) = match outcome.map_err(SendFailure::word) {
        Ok(status) => (None, Some(status)),
        Err((word, status)) => (Some(word), status),
    };
    Span::current().record("http.response.status_code", status).record("error.type", word);
}

/// When an event is tried again after the `number`th call, which ended at `ended`; `None` for never. An
/// address that is not allowed will not become allowed, an endpoint that is gone gets nothing more, and a
/// test is one call.
fn next_try(
    kind: EventKind,
    answer: Result<u16, CallFailure>,
    number: u32,
    ended: Timestamp,
) -> Option<Timestamp> {
    let CallFailure { cause, retry_after } = answer.err()?;
    match cause {
        SendFailure::AddressNotAllowed | SendFailure::Unsigned => None,
        _ if cause.is_gone() => None,
        _ if kind == EventKind::WebhookTest => None,
        _ => wait_after(number, retry_after).map(|wait| ended + wait),
    }
}
