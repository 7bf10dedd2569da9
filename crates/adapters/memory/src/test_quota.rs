use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{Event, ProjectId, ProjectMode, StoreError, Timestamp};
use dwar_otp::{TestQuota, TestQuotaStore, TestRecord};
use std::collections::HashMap;

type RecordedAt = (ProjectMode, Timestamp);

/// Drops the oldest test records of each project beyond `kept`, if they are old enough.
fn drop_beyond<T>(
    rows: &mut Vec<T>,
    kept: u32,
    until: Option<Timestamp>,
    mark: impl Fn(&T) -> RecordedAt,
) -> Vec<T> {
    rows.sort_by_key(|row| mark(row).1);
    let mut beyond: HashMap<ProjectId, i64> = HashMap::new();
    for (project_mode, _) in
        rows.iter().map(&mark).filter(|(project_mode, _)| project_mode.mode.is_test())
    {
        *beyond.entry(project_mode.project).or_insert(-i64::from(kept)) += 1;
    }
    let goes = |row: &mut T| {
        let (project_mode, at) = mark(row);
        let old = project_mode.mode.is_test() && until.is_none_or(|until| at <= until);
        let left = beyond.get_mut(&project_mode.project).filter(|left| old && **left > 0);
        left.map(|left| *left -= 1).is_some()
    };
    rows.extract_if(.., goes).collect()
}

#[async_trait]
impl TestQuotaStore for MemoryStore {
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("TestQuotaStore::trim").await?;
        let kept = quota.kept;
        let until = |record| quota.goes_until(record, now);
        let otps = drop_beyond(&mut state.otps, kept, until(TestRecord::Request), |otp| {
            (otp.project_mode, otp.expires_at)
        });
        state.drop_stray_messages();
        let answers = until(TestRecord::FirstAnswer);
        let answers = drop_beyond(&mut state.records, kept, answers, |(slot, record)| {
            (slot.project_mode, record.began_at)
        });
        let places = until(TestRecord::Place);
        let places = drop_beyond(&mut state.places, kept, places, |(key, _, slot)| {
            (key.project_mode, slot.at)
        });
        let sessions = drop_beyond(&mut state.sessions, kept, until(TestRecord::Session), |s| {
            (s.project_mode, s.created_at)
        });
        let identities = until(TestRecord::Identity);
        let identities = drop_beyond(&mut state.identities, kept, identities, |(_, identity)| {
            (identity.project_mode, identity.last_verified_at)
        });
        state.sessions.retain(|session| identities.iter().all(|(_, i)| i.id != session.identity));
        let mut events: Vec<_> = state.waiting.iter().map(|w| w.event.clone()).collect();
        events.extend(state.told.values().cloned());
        events.sort_by_cached_key(Event::id);
        events.dedup_by_key(|event| event.id());
        events.retain(|event| state.fed.iter().all(|fed| fed.event != *event));
        let events = drop_beyond(&mut events, kept, until(TestRecord::Event), |event| {
            (event.project_mode, event.at)
        });
        state.waiting.retain(|waiting| !events.contains(&waiting.event));
        state.told.retain(|_, event| !events.contains(event));
        state.budgets.retain(|(project_mode, _), _| !project_mode.mode.is_test());
        let dropped = [otps.len(), answers.len(), places.len(), sessions.len(), identities.len()];
        Ok((dropped.into_iter().sum::<usize>() + events.len()) as u64)
    }
}
