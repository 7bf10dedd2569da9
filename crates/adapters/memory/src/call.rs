use crate::MemoryStore;
use crate::store::{State, Waiting};
use async_trait::async_trait;
use dwar_event::{CallFilter, CallLog, EndpointCall, Event, LoggedCall, Resend, ResendState};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use std::cmp::Reverse;

impl State {
    /// Drops recorded events that no call in the log refers to any more.
    pub fn drop_told(&mut self) {
        let Self { calls, told, .. } = self;
        told.retain(|id, _| calls.iter().any(|call| call.event == *id));
    }

    fn newest_calls(&self, endpoint: EndpointId) -> Vec<EndpointCall> {
        let of = self.calls.iter().filter(|call| call.endpoint == endpoint);
        let mut calls: Vec<EndpointCall> = of.cloned().collect();
        calls.sort_by_key(|call| Reverse(call.id));
        calls
    }

    fn knows(&self, project: ProjectId, endpoint: EndpointId) -> bool {
        self.endpoints.iter().any(|known| known.id == endpoint && known.project == project)
    }
}

#[async_trait]
impl CallLog for MemoryStore {
    async fn calls(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        filter: CallFilter,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, StoreError> {
        let state = &mut *self.step("CallLog::calls").await?;
        if !state.knows(project, endpoint) {
            return Ok(Vec::new());
        }
        let wanted = |call: &EndpointCall| {
            (!filter.failed || call.outcome.is_err())
                && filter.before.is_none_or(|before| call.id < before)
        };
        let calls = state.newest_calls(endpoint).into_iter().filter(wanted).take(limit as usize);
        let logged = |call: EndpointCall| {
            let on_record = state.on_record(&call.event).is_some();
            LoggedCall { call, on_record }
        };
        Ok(calls.map(logged).collect())
    }

    async fn resend(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        event: String,
        now: Timestamp,
    ) -> Result<Resend, StoreError> {
        let state = &mut *self.step("CallLog::resend").await?;
        let known = state.endpoints.iter().find(|it| it.id == endpoint && it.project == project);
        let Some(known) = known else { return Ok(Resend::Gone) };
        let off = known.disabled_at.is_some();
        let told =
            state.on_record(&event).filter(|told| told.project_mode.project == project).cloned();
        let same = |w: &Waiting| w.endpoint == endpoint && w.event.id() == event;
        let of = state.calls.iter().filter(|it| it.endpoint == endpoint && it.event == event);
        let last = of.map(|call| call.at).max();
        let due_at = state.waiting.iter().find(|w| same(w)).map(|waiting| waiting.due_at);
        let before = ResendState { off, on_record: told.is_some(), last, due_at };
        let answer = before.resend(now);
        if answer == Resend::Queued {
            match state.waiting.iter_mut().find(|w| same(w)) {
                Some(waiting) => waiting.due_at = now,
                None => state.waiting.extend(told.map(|event| Waiting {
                    endpoint,
                    event,
                    failures: 0,
                    due_at: now,
                })),
            }
        }
        Ok(answer)
    }

    async fn address(
        &self,
        event: Event,
        endpoint: EndpointId,
        due_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("CallLog::address").await?;
        let fresh = state.knows(event.project_mode.project, endpoint)
            && state.on_record(&event.id()).is_none();
        if fresh {
            state.waiting.push(Waiting { endpoint, event, failures: 0, due_at });
        }
        Ok(fresh)
    }

    async fn trim_calls(&self, endpoint: EndpointId, kept: u32) -> Result<u64, StoreError> {
        let state = &mut *self.step("CallLog::trim_calls").await?;
        let beyond = state.newest_calls(endpoint).into_iter().skip(kept as usize);
        let beyond: Vec<_> = beyond.map(|call| call.id).collect();
        state.calls.retain(|call| !beyond.contains(&call.id));
        state.drop_told();
        Ok(beyond.len() as u64)
    }

    async fn sweep_calls(&self, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("CallLog::sweep_calls").await?;
        let gone = state.calls.extract_if(.., |call| call.at < before).count();
        state.drop_told();
        Ok(gone as u64)
    }
}
