use crate::MemoryStore;
use async_trait::async_trait;
use dwar_activity::installation::{Backlog, COUNTED, QueueStore, Queues};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use std::collections::BTreeMap;

#[async_trait]
impl QueueStore for MemoryStore {
    async fn queues(&self, now: Timestamp, endpoints: u32) -> Result<Queues, StoreError> {
        let state = &*self.step("QueueStore::queues").await?;
        let due = |since: &Timestamp| *since <= now;
        let receipts = |failed| {
            let of = state.receipts.iter().filter(move |it| it.failed() == failed);
            backlog(of.filter_map(|kept| kept.due()).filter(due))
        };
        let overdue = state.otps.iter().filter_map(|otp| otp.delivery.due_at).filter(due);
        let mut queues = Queues {
            receipts: receipts(true).and(receipts(false)),
            overdue_sends: backlog(overdue),
            open_holds: backlog(state.holds.iter().map(|hold| hold.since)),
            ..Queues::default()
        };
        let mut waits: BTreeMap<(ProjectId, EndpointId), Vec<Timestamp>> = BTreeMap::new();
        let in_use = |project| !state.is_archived(project);
        for waiting in state.waiting.iter().filter(|it| in_use(it.event.project_mode.project)) {
            let of = (waiting.event.project_mode.project, waiting.endpoint);
            waits.entry(of).or_default().push(waiting.due_at);
        }
        let mut longest: Vec<_> =
            waits.into_iter().map(|((project, _), all)| (project, all)).collect();
        longest.sort_by_key(|(_, all)| all.iter().min().copied());
        for (project, all) in longest.into_iter().take(endpoints as usize) {
            let (now_due, later): (Vec<_>, Vec<_>) = all.into_iter().partition(due);
            queues.add_events(project, backlog(now_due), backlog(later));
        }
        Ok(queues)
    }
}

fn backlog(since: impl IntoIterator<Item = Timestamp>) -> Backlog {
    let mut since: Vec<_> = since.into_iter().collect();
    since.sort();
    since.truncate(COUNTED as usize + 1);
    Backlog::of(&since)
}
