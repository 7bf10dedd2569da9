use super::{Model, State};
use async_trait::async_trait;
use dwar_event::{
    Dispatch, Endpoint, Event, EventKind, EventPhone, EventStore, NewSecret, Subject,
};
use dwar_kernel::{BlindIndex, EndpointId, KeyMode, ProjectId, ReceiptId, StoreError, Timestamp};
use dwar_otp::{KeptReceipt, Otp, ReceiptStore};
use std::time::Duration;

/// An event that an endpoint has to be told.
#[derive(Clone)]
pub struct Waiting {
    endpoint: EndpointId,
    event: Event,
    failures: u32,
    due_at: Timestamp,
}

impl State {
    /// Puts an event on record for every endpoint of its project; once.
    pub fn record(&mut self, event: &Event) {
        if self.waiting.iter().any(|waiting| waiting.event.id() == event.id()) {
            return;
        }
        let own = self.endpoints.iter().filter(|endpoint| endpoint.project == event.project);
        let waiting = own.map(|endpoint| Waiting {
            endpoint: endpoint.id,
            event: event.clone(),
            failures: 0,
            due_at: event.at,
        });
        self.waiting.extend(waiting);
    }

    pub fn record_otp(&mut self, otp: &Otp, kind: EventKind, at: Timestamp) {
        let channel = otp.delivery.channel().map(|channel| channel.as_str().to_owned());
        let subject = Subject::Otp {
            otp: otp.id,
            channel,
            phone: Some(EventPhone { index: otp.phone, sealed: otp.sealed_phone.clone() }),
        };
        let (project, mode) = (otp.project, otp.mode);
        self.record(&Event { project, mode, kind, subject, at });
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

    fn endpoint(&mut self, project: ProjectId, id: EndpointId) -> Option<&mut Endpoint> {
        self.endpoints.iter_mut().find(|found| (found.project, found.id) == (project, id))
    }
}

#[async_trait]
impl EventStore for Model {
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<(), StoreError> {
        self.step(|state| state.endpoints.push(endpoint)).await
    }

    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError> {
        self.step(|state| {
            let mut own = state.endpoints.clone();
            own.retain(|endpoint| endpoint.project == project);
            own.sort_by_key(|endpoint| endpoint.created_at);
            own
        })
        .await
    }

    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.step(|state| {
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
        self.step(|state| {
            let found = state.endpoint(project, endpoint);
            found.map(|endpoint| endpoint.replace_secret(secret)).is_some()
        })
        .await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Dispatch>, StoreError> {
        self.step(|state| {
            let State { endpoints, waiting, .. } = state;
            let mut due: Vec<_> = waiting.iter_mut().filter(|w| w.due_at <= now).collect();
            due.sort_by_key(|waiting| waiting.due_at);
            due.truncate(limit as usize);
            due.iter_mut().for_each(|waiting| waiting.due_at = now + lease);
            let dispatch = |waiting: &mut Waiting| {
                let endpoint = endpoints.iter().find(|found| found.id == waiting.endpoint)?;
                let (endpoint, event) = (endpoint.clone(), waiting.event.clone());
                Some(Dispatch { endpoint, event, failures: waiting.failures })
            };
            due.into_iter().filter_map(dispatch).collect()
        })
        .await
    }

    async fn delivered(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError> {
        self.step(|state| {
            state.waiting.retain(|w| w.endpoint != endpoint || w.event.id() != event);
        })
        .await
    }

    async fn failed(
        &self,
        endpoint: EndpointId,
        event: String,
        again: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let Some(again) = again else { return self.delivered(endpoint, event).await };
        self.step(|state| {
            let mut waiting = state.waiting.iter_mut();
            let found = waiting.find(|w| w.endpoint == endpoint && w.event.id() == event);
            if let Some(found) = found {
                found.failures += 1;
                found.due_at = again;
            }
        })
        .await
    }
}

#[async_trait]
impl ReceiptStore for Model {
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError> {
        self.step(|state| {
            for kept in receipts {
                if state.receipts.iter().all(|(known, _)| known.id != kept.id) {
                    let due = kept.received_at;
                    state.receipts.push((kept, due));
                }
            }
        })
        .await
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<KeptReceipt>, StoreError> {
        self.step(|state| {
            let receipts = state.receipts.iter_mut();
            let mut due: Vec<_> = receipts.filter(|(_, due)| *due <= now).collect();
            due.sort_by_key(|(kept, _)| kept.received_at);
            due.truncate(limit as usize);
            due.iter_mut().for_each(|(_, due)| *due = now + lease);
            due.into_iter().map(|(kept, _)| kept.clone()).collect()
        })
        .await
    }

    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError> {
        self.step(|state| state.receipts.retain(|(kept, _)| kept.id != receipt)).await
    }
}
