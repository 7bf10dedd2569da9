use crate::store::{MemoryStore, State, Waiting};
use async_trait::async_trait;
use dwar_event::{
    CALL_LEASE, ClaimCapacity, DisablePolicy, Dispatch, Endpoint, EndpointCall, Event, EventStore,
    NewSecret, Subject, WaitingEndpoint, latest_due,
};
use dwar_kernel::{BlindIndex, EndpointId, ProjectId, ProjectMode, StoreError, Timestamp};
use std::collections::HashMap;
use std::time::Duration;

impl State {
    /// Records events for every endpoint of their project and for its feed. A repeated event is
    /// recorded once.
    pub fn record(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            if self.on_record(&event.id()).is_some() {
                continue;
            }
            self.feed(&event);
            let on = self.endpoints.iter().filter(|endpoint| endpoint.disabled_at.is_none());
            self.waiting.extend(on.filter(|on| on.project == event.project_mode.project).map(
                |on| Waiting {
                    endpoint: on.id,
                    event: event.clone(),
                    failures: 0,
                    due_at: event.at,
                },
            ));
        }
    }

    /// Removes a phone's number from every event that is still to be delivered.
    pub fn forget_phone(&mut self, line: (ProjectMode, BlindIndex)) {
        let waiting = self.waiting.iter_mut().map(|waiting| &mut waiting.event);
        let fed = self.fed.iter_mut().map(|fed| &mut fed.event);
        for event in waiting.chain(self.told.values_mut()).chain(fed) {
            let project_mode = event.project_mode;
            if let Subject::Otp { phone, .. } = &mut event.subject {
                phone.take_if(|phone| (project_mode, phone.index) == line);
            }
        }
    }

    /// An event that an endpoint waits for, that has a recorded call, or that is in a feed.
    pub fn on_record(&self, id: &str) -> Option<&Event> {
        let waiting = self.waiting.iter().map(|waiting| &waiting.event);
        let fed = self.fed.iter().map(|fed| &fed.event);
        waiting.chain(self.told.values()).chain(fed).find(|event| event.id() == id)
    }

    /// Records the last call of a series: the endpoint no longer gets the event.
    fn over(&mut self, call: EndpointCall) {
        self.log(&call);
        self.waiting.retain(|w| w.endpoint != call.endpoint || w.event.id() != call.event);
        if self.calls.iter().all(|known| known.id != call.id) {
            self.calls.push(call);
        }
    }

    fn log(&mut self, call: &EndpointCall) {
        if let Some(event) = self.on_record(&call.event).cloned() {
            self.told.insert(call.event.clone(), event);
        }
    }

    /// The endpoints of projects that are not archived.
    fn endpoints_in_use(&self) -> Vec<Endpoint> {
        let in_use = self.endpoints.iter().filter(|it| !self.is_archived(it.project));
        in_use.cloned().collect()
    }

    fn endpoint(&mut self, id: EndpointId) -> Option<&mut Endpoint> {
        self.endpoints.iter_mut().find(|found| found.id == id)
    }

    fn endpoint_of(&mut self, project: ProjectId, id: EndpointId) -> Option<&mut Endpoint> {
        self.endpoint(id).filter(|found| found.project == project)
    }
}

#[async_trait]
impl EventStore for MemoryStore {
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<bool, StoreError> {
        let state = &mut *self.step("EventStore::add_endpoint").await?;
        let own = state.endpoints.iter().filter(|known| known.project == endpoint.project);
        let fits = own.count() < Endpoint::MOST;
        if fits {
            state.endpoints.push(endpoint);
        }
        Ok(fits)
    }

    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError> {
        let mut own = self.step("EventStore::endpoints").await?.endpoints.clone();
        own.retain(|endpoint| endpoint.project == project);
        own.sort_by_key(|endpoint| (endpoint.created_at, endpoint.id));
        Ok(own)
    }

    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("EventStore::remove_endpoint").await?;
        let known = state.endpoint_of(project, endpoint).is_some();
        if known {
            state.endpoints.retain(|found| found.id != endpoint);
            state.waiting.retain(|waiting| waiting.endpoint != endpoint);
            state.calls.retain(|call| call.endpoint != endpoint);
            state.drop_told();
        }
        Ok(known)
    }

    async fn replace_secret(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        secret: NewSecret,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("EventStore::replace_secret").await?;
        let found = state.endpoint_of(project, endpoint);
        Ok(found.map(|endpoint| endpoint.secret.replace(secret)).is_some())
    }

    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("EventStore::enable_endpoint").await?;
        Ok(state.endpoint_of(project, endpoint).map(Endpoint::enable).is_some())
    }

    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        let state = &*self.step("EventStore::disabled_endpoints").await?;
        let mut off = state.endpoints_in_use();
        off.retain(|endpoint| endpoint.disabled_at.is_some());
        off.sort_by_key(|endpoint| (endpoint.disabled_at, endpoint.id));
        off.truncate(limit as usize);
        Ok(off)
    }

    async fn failing_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        let state = &*self.step("EventStore::failing_endpoints").await?;
        let mut failing = state.endpoints_in_use();
        failing.retain(|endpoint| endpoint.disabled_at.is_none() && endpoint.failing.is_some());
        failing.sort_by_key(|endpoint| (endpoint.failing.map(|it| it.since), endpoint.id));
        failing.truncate(limit as usize);
        Ok(failing)
    }

    async fn record(&self, event: Event) -> Result<(), StoreError> {
        self.step("EventStore::record").await?.record([event]);
        Ok(())
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: ClaimCapacity,
    ) -> Result<Vec<Dispatch>, StoreError> {
        let State { endpoints, waiting, .. } = &mut *self.step("EventStore::claim_due").await?;
        waiting.sort_by_key(|waiting| waiting.due_at);
        let on = endpoints.iter().filter(|endpoint| endpoint.disabled_at.is_none());
        let due = on.filter_map(|known| {
            let (endpoint, failing) = (known.id, known.failing.is_some());
            let mut due = waiting.iter().filter(|w| w.endpoint == endpoint && w.due_at <= now);
            due.next().map(|first| WaitingEndpoint { endpoint, failing, due_at: first.due_at })
        });
        let mut places: HashMap<_, _> = room.share(due.collect()).into_iter().collect();
        let mut claimed = Vec::new();
        for waiting in waiting.iter_mut().filter(|waiting| waiting.due_at <= now) {
            let places = places.get_mut(&waiting.endpoint).filter(|places| **places > 0);
            let endpoint = endpoints.iter().find(|known| known.id == waiting.endpoint);
            let (Some(places), Some(endpoint)) = (places, endpoint) else { continue };
            *places -= 1;
            waiting.due_at = now + lease;
            let (endpoint, event) = (endpoint.clone(), waiting.event.clone());
            claimed.push(Dispatch { endpoint, event, failures: waiting.failures });
        }
        Ok(claimed)
    }

    async fn bring_forward(&self, now: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("EventStore::bring_forward").await?;
        let late = |w: &&mut Waiting| w.due_at > latest_due(w.failures > 0, now);
        let late = state.waiting.iter_mut().filter(late);
        Ok(late.map(|waiting| waiting.due_at = now + CALL_LEASE).count() as u64)
    }

    async fn delivered(&self, calls: Vec<EndpointCall>) -> Result<(), StoreError> {
        let state = &mut *self.step("EventStore::delivered").await?;
        for call in calls {
            if state.endpoint(call.endpoint).map(Endpoint::after_success).is_some() {
                state.over(call);
            }
        }
        Ok(())
    }

    async fn failed(
        &self,
        call: EndpointCall,
        disable_policy: Option<DisablePolicy>,
    ) -> Result<Option<Endpoint>, StoreError> {
        let state = &mut *self.step("EventStore::failed").await?;
        let Some(known) = state.endpoint(call.endpoint) else { return Ok(None) };
        let told = known.after_failure(&call, disable_policy);
        let off = told.is_some().then(|| known.clone());
        state.record(told);
        let Some(again) = call.again else {
            state.over(call);
            return Ok(off);
        };
        state.log(&call);
        let mut waiting = state.waiting.iter_mut();
        let same = |w: &&mut Waiting| w.endpoint == call.endpoint && w.event.id() == call.event;
        if let Some(found) = waiting.find(same) {
            found.failures += 1;
            found.due_at = again;
        }
        state.calls.push(call);
        Ok(off)
    }

    async fn give_up(&self, call: EndpointCall) -> Result<(), StoreError> {
        let state = &mut *self.step("EventStore::give_up").await?;
        if state.endpoint(call.endpoint).is_some() {
            state.over(call);
        }
        Ok(())
    }

    async fn drop_undelivered(&self) -> Result<u64, StoreError> {
        let State { endpoints, waiting, .. } =
            &mut *self.step("EventStore::drop_undelivered").await?;
        let off = endpoints.iter().filter(|known| known.disabled_at.is_some());
        let off: Vec<_> = off.map(|known| known.id).collect();
        Ok(waiting.extract_if(.., |waiting| off.contains(&waiting.endpoint)).count() as u64)
    }
}
