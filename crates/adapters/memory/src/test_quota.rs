use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{KeyMode, ProjectId, StoreError, Timestamp};
use dwar_otp::{TestQuota, TestQuotaStore, TestRecord};
use std::collections::{BTreeMap, BTreeSet};

/// Whose a record is, and its age.
type Mark = (ProjectId, KeyMode, Timestamp);

/// Which places of these records are beyond the quota and old enough to go.
fn beyond(records: impl Iterator<Item = Mark>, kept: u32, until: Timestamp) -> BTreeSet<usize> {
    let mut projects: BTreeMap<ProjectId, Vec<(Timestamp, usize)>> = BTreeMap::new();
    for (place, (project, mode, at)) in records.enumerate() {
        if mode.is_test() {
            projects.entry(project).or_default().push((at, place));
        }
    }
    let mut gone = BTreeSet::new();
    for mut own in projects.into_values() {
        own.sort_unstable();
        own.truncate(own.len().saturating_sub(kept as usize));
        gone.extend(own.into_iter().filter(|(at, _)| *at <= until).map(|(_, place)| place));
    }
    gone
}

fn drop_places<T>(rows: &mut Vec<T>, gone: &BTreeSet<usize>) -> u64 {
    let mut place = 0;
    rows.retain(|_| {
        place += 1;
        !gone.contains(&(place - 1))
    });
    gone.len() as u64
}

#[async_trait]
impl TestQuotaStore for MemoryStore {
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> Result<u64, StoreError> {
        self.step("TestQuotaStore::trim", |state| {
            let kept = quota.kept;
            let until = |record| quota.goes_until(record, now).unwrap_or(Timestamp::MAX_UTC);
            let marks = state.otps.iter().map(|otp| (otp.project, otp.mode, otp.expires_at));
            let gone = beyond(marks, kept, until(TestRecord::Request));
            let mut dropped = drop_places(&mut state.otps, &gone);
            let otps = &state.otps;
            state.inbox.retain(|(_, message)| otps.iter().any(|otp| otp.id == message.otp));

            let slots: Vec<_> = state.records.keys().copied().collect();
            let marks = slots.iter().map(|slot| {
                let record = &state.records[slot];
                (slot.project, slot.mode, record.began_at)
            });
            let gone = beyond(marks, kept, until(TestRecord::FirstAnswer));
            gone.iter().for_each(|place| drop(state.records.remove(&slots[*place])));
            dropped += gone.len() as u64;

            let marks = state.places.iter().map(|(key, _, slot)| (key.project, key.mode, slot.at));
            let gone = beyond(marks, kept, until(TestRecord::Place));
            dropped += drop_places(&mut state.places, &gone);

            let marks = state.sessions.iter().map(|s| (s.project, s.mode, s.created_at));
            let gone = beyond(marks, kept, until(TestRecord::Session));
            let gone: Vec<_> = gone.iter().map(|place| state.sessions[*place].id).collect();
            dropped += state.drop_sessions(|session| gone.contains(&session.id)).len() as u64;

            let marks =
                state.identities.iter().map(|(_, i)| (i.project, i.mode, i.last_verified_at));
            let gone = beyond(marks, kept, until(TestRecord::Identity));
            let ids: Vec<_> = gone.iter().map(|place| state.identities[*place].1.id).collect();
            dropped += drop_places(&mut state.identities, &gone);
            state.drop_sessions(|session| ids.contains(&session.identity));

            let events = state.untold();
            let gone = beyond(events.iter().map(|(_, mark)| *mark), kept, until(TestRecord::Event));
            dropped += gone.len() as u64;
            state.forget_events(gone.iter().map(|place| events[*place].0.as_str()));

            state.budgets.retain(|(_, mode, _), _| !mode.is_test());
            dropped
        })
        .await
    }
}
