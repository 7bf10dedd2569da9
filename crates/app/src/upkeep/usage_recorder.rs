use crate::CommonPorts;
use dwar_kernel::{ApiKeyId, BlindIndex, ProjectMode, RecorderId, StoreError, Timestamp};
use dwar_otp::{Refusal, RefusalStore, RefusedSends};
use dwar_project::{KeyUsage, KeyUse, KeyUseStore};
use std::collections::HashMap;
use std::mem::take;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Collects what requests leave behind for operators without a write per request: refused sends, and the last
/// use of each key. The counts are kept in memory and written by [`UsageRecorder::write`] every second, so a process
/// that is killed loses up to a second of them.
///
/// Bounds: 100 refusals of different phones and reasons per project, mode and minute, and 10,000 in all.
/// Those beyond are counted without their phone. 10,000 keys.
pub struct UsageRecorder {
    tools: CommonPorts,
    refusals: Arc<dyn RefusalStore>,
    key_uses: Arc<dyn KeyUseStore>,
    /// Separates the counts of this process from those of others.
    id: RecorderId,
    kept: Mutex<PendingCounts>,
}

/// Most counts with a phone, per project, mode and minute. This bounds the table: about 144,000 rows a day
/// per project, mode and process, even under attack.
pub const PHONES: u32 = 100;
/// Most counts in memory, about 150 bytes each; also the most keys.
pub const MOST: usize = 10_000;
/// Counts without a phone may exceed [`MOST`]: there are few of them, one per project, mode, reason and
/// minute.
const MOST_OF_ALL: usize = 2 * MOST;

#[derive(Default)]
struct PendingCounts {
    refused: HashMap<RefusalKey, RefusalCount>,
    phones: HashMap<(ProjectMode, Timestamp), u32>,
    /// Refusals since the last write that could not be counted at all.
    lost: u64,
    uses: HashMap<ApiKeyId, RecordedUse>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RefusalKey {
    project_mode: ProjectMode,
    phone: Option<BlindIndex>,
    reason: Refusal,
    minute: Timestamp,
}

#[derive(Clone, Copy, Default)]
struct RefusalCount {
    count: u32,
    written: u32,
}

#[derive(Clone, Copy)]
struct RecordedUse {
    used: KeyUsage,
    written: bool,
}

impl UsageRecorder {
    /// An empty recorder with an id of its own.
    pub fn new(
        tools: CommonPorts,
        refusals: Arc<dyn RefusalStore>,
        key_uses: Arc<dyn KeyUseStore>,
    ) -> Self {
        let id = RecorderId::new(tools.now(), tools.entropy.as_ref());
        Self { tools, refusals, key_uses, id, kept: Mutex::default() }
    }

    /// Counts a refused send; `phone` is `None` if the phone is not known.
    pub fn refused(&self, project_mode: ProjectMode, phone: Option<BlindIndex>, reason: Refusal) {
        let minute = RefusedSends::minute_of(self.tools.now());
        self.kept().count(RefusalKey { project_mode, phone, reason, minute });
    }

    /// Records the use of a key, at most once a minute.
    pub fn used(&self, key: ApiKeyId, from: Option<IpAddr>) {
        let at = self.tools.now();
        let mut kept = self.kept();
        let fresh = RecordedUse { used: KeyUsage { at, from }, written: false };
        let has_room = kept.uses.len() < MOST;
        match kept.uses.get_mut(&key) {
            Some(noted) if at < noted.used.at + KeyUse::NOTED_EVERY => {}
            Some(noted) => *noted = fresh,
            None if has_room => drop(kept.uses.insert(key, fresh)),
            None => {}
        }
    }

    /// Writes new counts to the store, and drops old ones. Counts that could not be written are written next
    /// time.
    pub async fn write(&self) -> Result<(), StoreError> {
        let now = self.tools.now();
        let (counts, uses, lost) = {
            let mut kept = self.kept();
            kept.drop_old(now);
            (kept.new_counts(), kept.new_uses(), take(&mut kept.lost))
        };
        if lost > 0 {
            tracing::warn!(lost, "refused sends could not be counted: there were too many");
        }
        if !counts.is_empty() {
            self.refusals.count(self.id, counts.clone()).await?;
            self.kept().are_written(&counts);
        }
        if !uses.is_empty() {
            self.key_uses.note(uses.clone()).await?;
            self.kept().are_noted(&uses);
        }
        Ok(())
    }

    /// Nothing panics while the lock is held; if it did, the counts would still be valid.
    fn kept(&self) -> MutexGuard<'_, PendingCounts> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingCounts {
    fn count(&mut self, mut key: RefusalKey) {
        let of_minute = (key.project_mode, key.minute);
        if key.phone.is_some() && !self.refused.contains_key(&key) {
            let phones = self.phones.entry(of_minute).or_default();
            if *phones >= PHONES || self.refused.len() >= MOST {
                key.phone = None;
            } else {
                *phones += 1;
            }
        }
        if self.refused.len() >= MOST_OF_ALL && !self.refused.contains_key(&key) {
            self.lost += 1;
            return;
        }
        let count = &mut self.refused.entry(key).or_default().count;
        *count = count.saturating_add(1);
    }

    fn new_counts(&self) -> Vec<RefusedSends> {
        let fresh = self.refused.iter().filter(|(_, it)| it.count > it.written);
        let sends = |(key, it): (&RefusalKey, &RefusalCount)| {
            let RefusalKey { project_mode, phone, reason, minute } = *key;
            RefusedSends { project_mode, phone, reason, minute, count: it.count }
        };
        fresh.map(sends).collect()
    }

    fn new_uses(&self) -> Vec<KeyUse> {
        let fresh = self.uses.iter().filter(|(_, noted)| !noted.written);
        fresh.map(|(key, noted)| KeyUse { key: *key, used: noted.used }).collect()
    }

    fn are_written(&mut self, counts: &[RefusedSends]) {
        for it in counts {
            let RefusedSends { project_mode, phone, reason, minute, count } = *it;
            if let Some(known) =
                self.refused.get_mut(&RefusalKey { project_mode, phone, reason, minute })
            {
                known.written = count;
            }
        }
    }

    fn are_noted(&mut self, uses: &[KeyUse]) {
        for it in uses {
            if let Some(noted) = self.uses.get_mut(&it.key) {
                noted.written = noted.used == it.used;
            }
        }
    }

    /// Drops past minutes that were written, and minutes that the store no longer keeps.
    fn drop_old(&mut self, now: Timestamp) {
        let (present, kept) = (RefusedSends::minute_of(now), now - RefusedSends::KEPT);
        self.refused
            .retain(|key, it| key.minute >= present || it.count > it.written && key.minute >= kept);
        self.phones.retain(|(.., minute), _| *minute >= present);
        self.uses.retain(|_, it| !it.written || now < it.used.at + KeyUse::NOTED_EVERY);
    }
}
