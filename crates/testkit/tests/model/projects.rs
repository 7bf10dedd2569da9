use super::{Model, drop_old};
use async_trait::async_trait;
use dwar_idempotency::{Beginning, IdempotencyStore, Lifetimes, Record, Slot};
use dwar_kernel::{Digest, KeyMode, OtpId, ProjectId, Sealed, StoreError, Timestamp};
use dwar_project::{Caller, KeyRecord, NewProject, Project, ProjectChange, ProjectStore};
use dwar_ratelimit::{SendAdmission, SendKey, SendLimiter, SendLog, SendQuota, SendSlot};

#[async_trait]
impl ProjectStore for Model {
    async fn create(
        &self,
        project: NewProject,
        mut keys: [KeyRecord; 2],
    ) -> Result<(), StoreError> {
        keys.sort_by_key(|key| key.mode);
        self.step(|state| state.projects.push((project.into_project(), keys))).await
    }

    async fn create_first(
        &self,
        project: NewProject,
        keys: [KeyRecord; 2],
    ) -> Result<bool, StoreError> {
        self.step(|state| {
            let first = state.projects.is_empty();
            if first {
                state.projects.push((project.into_project(), keys));
            }
            first
        })
        .await
    }

    async fn caller(&self, digest: Digest) -> Result<Option<Caller>, StoreError> {
        self.step(|state| {
            state.projects.iter().find_map(|(project, keys)| {
                let key = keys.iter().find(|key| key.digest == digest)?;
                Some(Caller { project: project.clone(), mode: key.mode, key: key.id })
            })
        })
        .await
    }

    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError> {
        self.step(|state| {
            let found = state.projects.iter_mut().find(|(found, _)| found.id == project);
            let place = found.map(|(_, keys)| &mut keys[usize::from(key.mode == KeyMode::Test)]);
            place.map(|place| *place = key).is_some()
        })
        .await
    }

    async fn change(
        &self,
        project: ProjectId,
        change: ProjectChange,
    ) -> Result<Option<Project>, StoreError> {
        self.step(|state| {
            let (found, _) = state.projects.iter_mut().find(|(found, _)| found.id == project)?;
            found.apply(change);
            Some(found.clone())
        })
        .await
    }

    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError> {
        let list = ProjectStore::list(self).await?;
        Ok(list.into_iter().find(|found| found.id == project))
    }

    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError> {
        self.step(|state| {
            let found = state.projects.iter().find(|(found, _)| found.id == project);
            found.map(|(_, keys)| keys.to_vec()).unwrap_or_default()
        })
        .await
    }

    async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.step(|state| {
            let mut list: Vec<_> = state.projects.iter().map(|(found, _)| found.clone()).collect();
            list.sort_by_key(|project| project.created_at);
            list
        })
        .await
    }
}

#[async_trait]
impl SendLimiter for Model {
    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        quota: SendQuota,
        now: Timestamp,
    ) -> Result<SendAdmission, StoreError> {
        self.step(|state| {
            let taken = state.places.iter().filter(|(taken, ..)| *taken == key);
            let mut log: SendLog = taken.map(|(.., slot)| *slot).collect();
            let admission = log.admit(&quota, now);
            if admission.counted.admitted {
                state.places.push((key, send, SendSlot { at: now, forgiven: false }));
            }
            admission
        })
        .await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.step(|state| {
            let own = state.places.iter_mut().filter(|(k, s, _)| (*k, *s) == (key, send));
            own.for_each(|(.., slot)| slot.forgiven = true);
        })
        .await
    }

    async fn withdraw(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.step(|state| state.places.retain(|(k, s, _)| (*k, *s) != (key, send))).await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.step(|state| drop_old(&mut state.places, |(.., slot)| slot.at < before)).await
    }
}

#[async_trait]
impl IdempotencyStore for Model {
    async fn begin(
        &self,
        slot: Slot,
        record: Record,
        lifetimes: Lifetimes,
    ) -> Result<Beginning, StoreError> {
        self.step(|state| {
            let held = state.records.get(&slot);
            let judged =
                held.and_then(|held| held.judge(record.fingerprint, lifetimes, record.began_at));
            judged.unwrap_or_else(|| {
                state.records.insert(slot, record);
                Beginning::Fresh
            })
        })
        .await
    }

    async fn complete(
        &self,
        slot: Slot,
        began_at: Timestamp,
        answer: Sealed,
    ) -> Result<(), StoreError> {
        self.step(|state| {
            let held = state.records.get_mut(&slot).filter(|held| held.began_at == began_at);
            if let Some(held) = held {
                held.answer = Some(answer);
            }
        })
        .await
    }

    async fn abandon(&self, slot: Slot, began_at: Timestamp) -> Result<(), StoreError> {
        self.step(|state| {
            state.records.retain(|at, held| {
                *at != slot || held.began_at != began_at || held.answer.is_some()
            });
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.step(|state| {
            let held = state.records.len();
            state.records.retain(|_, record| record.began_at >= before);
            (held - state.records.len()) as u64
        })
        .await
    }
}
