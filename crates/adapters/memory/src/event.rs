use crate::store::{MemoryStore, State, drop_old};
use async_trait::async_trait;
use dwar_event::{
    Dispatch, Endpoint, Event, EventStore, FailedCall, NewSecret, Room, Subject, WaitingEndpoint,
};
use dwar_kernel::{BlindIndex, EndpointId, KeyMode, ProjectId, StoreError, Timestamp};
use std::time::Duration;

/// An event that an endpoint has to be told.
#[derive(Clone, Debug)]
pub struct Waiting {
    endpoint: EndpointId,
    event: Event,
    failures: u32,
    due_at: Timestamp,
}

impl Waiting {
    fn dispatch(&self, endpoint: &Endpoint) -> Dispatch {
        let (endpoint, event) = (endpoint.clone(), self.event.clone());
        Dispatch { endpoint, event, failures: self.failures }
    }
}

impl State {
    /// Puts an event on record for every endpoint of its project; once.
    pub fn record(&mut self, event: &Event) {
        if self.waiting.iter().any(|waiting| waiting.event.id() == event.id()) {
            return;
        }
        let on = |endpoint: &&Endpoint| endpoint.disabled_at.is_none();
        let own = self.endpoints.iter().filter(on).filter(|known| known.project == event.project);
        let waiting = own.map(|endpoint| Waiting {
            endpoint: endpoint.id,
            event: event.clone(),
            failures: 0,
            due_at: event.at,
        });
        self.waiting.extend(waiting);
    }

    /// Takes the phone of a line out of everything that is still to be told.
    pub fn forget_phone(&mut self, line: (ProjectId, KeyMode, BlindIndex)) {
        for Waiting { event, .. } in &mut self.waiting {
            let (project, mode) = (event.project, event.mode);
            if let Subject::Otp { phone, .. } = &mut event.subject
                && phone.as_ref().is_some_and(|phone| (project, mode, phone.index) == line)
            {
                *phone = None;
            }
        }
    }

    fn strike(&mut self, endpoint: EndpointId, event: &str) {
        self.waiting.retain(|w| w.endpoint != endpoint || w.event.id() != event);
    }

    /// The id of each event that is still to be told, whose it is, and when it happened.
    pub fn untold(&self) -> Vec<(String, (ProjectId, KeyMode, Timestamp))> {
        let events = self.waiting.iter().map(|waiting| &waiting.event);
        let mut all: Vec<_> =
            events.map(|event| (event.id(), (event.project, event.mode, event.at))).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Drops events, whoever has not been told of them.
    pub fn forget_events<'a>(&mut self, gone: impl Iterator<Item = &'a str>) {
        let gone: Vec<_> = gone.collect();
        self.waiting.retain(|waiting| !gone.contains(&waiting.event.id().as_str()));
    }

    fn endpoint(&mut self, project: ProjectId, id: EndpointId) -> Option<&mut Endpoint> {
        self.endpoints.iter_mut().find(|found| (found.project, found.id) == (project, id))
    }
}

#[async_trait]
impl EventStore for MemoryStore {
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<(), StoreError> {
        self.step("EventStore::add_endpoint", |state| state.endpoints.push(endpoint)).await
    }

    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError> {
        self.step("EventStore::endpoints", |state| {
            let mut own = state.endpoints.clone();
            own.retain(|endpoint| endpoint.project == project);
            own.sort_by_key(|endpoint| (endpoint.created_at, endpoint.id));
            own
        })
        .await
    }

    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.step("EventStore::remove_endpoint", |state| {
            let known = state.endpoint(project, endpoint).is_some();
            if known {
                state.endpoints.retain(|found| found.id != endpoint);
                state.waiting.retain(|waiting| waiting.endpoint != endpoint);
            }
            known
        })
        .await
    }

    async fn replace_secret(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        secret: NewSecret,
    ) -> Result<bool, StoreError> {
        self.step("EventStore::replace_secret", |state| {
            let found = state.endpoint(project, endpoint);
            found.map(|endpoint| endpoint.replace_secret(secret)).is_some()
        })
        .await
    }

    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.step("EventStore::enable_endpoint", |state| {
            state.endpoint(project, endpoint).map(Endpoint::enable).is_some()
        })
        .await
    }

    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        self.step("EventStore::disabled_endpoints", |state| {
            let mut off = state.endpoints.clone();
            off.retain(|endpoint| endpoint.disabled_at.is_some());
            off.sort_by_key(|endpoint| (endpoint.disabled_at, endpoint.id));
            off.truncate(limit as usize);
            off
        })
        .await
    }

    async fn record(&self, event: Event) -> Result<(), StoreError> {
        self.step("EventStore::record", |state| state.record(&event)).await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: Room,
    ) -> Result<Vec<Dispatch>, StoreError> {
        self.step("EventStore::claim_due", |state| {
            let State { endpoints, waiting, .. } = state;
            waiting.sort_by_key(|waiting| waiting.due_at);
            let on = endpoints.iter().filter(|endpoint| endpoint.disabled_at.is_none());
            let first = on.filter_map(|endpoint| {
                let first = waiting.iter().find(|waiting| waiting.endpoint == endpoint.id)?;
                let (failing, due_at) = (endpoint.failing.is_some(), first.due_at);
                Some(WaitingEndpoint { endpoint: endpoint.id, failing, due_at })
            });
            let due = first.filter(|first| first.due_at <= now).collect();
            let mut claimed = Vec::new();
            for (endpoint, places) in room.share(due) {
                let known = endpoints.iter().find(|known| known.id == endpoint);
                let due = waiting.iter_mut().filter(|w| w.endpoint == endpoint && w.due_at <= now);
                for (waiting, endpoint) in
                    due.take(places as usize).zip(std::iter::repeat(known).flatten())
                {
                    claimed.push((waiting.due_at, waiting.dispatch(endpoint)));
                    waiting.due_at = now + lease;
                }
            }
            claimed.sort_by_key(|(due_at, _)| *due_at);
            claimed.into_iter().map(|(_, dispatch)| dispatch).collect()
        })
        .await
    }

    async fn delivered(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError> {
        self.step("EventStore::delivered", |state| {
            let known = state.endpoints.iter_mut().find(|known| known.id == endpoint);
            known.into_iter().for_each(Endpoint::after_success);
            state.strike(endpoint, &event);
        })
        .await
    }

    async fn failed(
        &self,
        endpoint: EndpointId,
        event: String,
        call: FailedCall,
    ) -> Result<Option<Endpoint>, StoreError> {
        self.step("EventStore::failed", |state| {
            let known = state.endpoints.iter_mut().find(|known| known.id == endpoint)?;
            let told = known.after_failure(call.switch_off, call.at);
            let off = told.is_some().then(|| known.clone());
            told.iter().for_each(|told| state.record(told));
            let Some(again) = call.again else {
                state.strike(endpoint, &event);
                return off;
            };
            let mut waiting = state.waiting.iter_mut();
            let found = waiting.find(|w| w.endpoint == endpoint && w.event.id() == event);
            if let Some(found) = found {
                found.failures += 1;
                found.due_at = again;
            }
            off
        })
        .await
    }

    async fn give_up(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError> {
        self.step("EventStore::give_up", |state| state.strike(endpoint, &event)).await
    }

    async fn drop_untold(&self) -> Result<u64, StoreError> {
        self.step("EventStore::drop_untold", |state| {
            let State { endpoints, waiting, .. } = state;
            let off = |waiting: &Waiting| {
                let mut endpoints = endpoints.iter();
                endpoints.any(|known| known.id == waiting.endpoint && known.disabled_at.is_some())
            };
            drop_old(waiting, off)
        })
        .await
    }
}
