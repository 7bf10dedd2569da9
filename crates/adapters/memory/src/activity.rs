use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, OtpId, ProjectId, ProjectMode, RecorderId, StoreError, Timestamp};
use dwar_otp::{DeliveryStatus, Otp, OtpHistory, RefusalStore, RefusedSends};
use std::cmp::Reverse;

fn newest(mut otps: Vec<Otp>, limit: u32) -> Vec<Otp> {
    otps.sort_by_key(|otp| Reverse(otp.id));
    otps.truncate(limit as usize);
    otps
}

#[async_trait]
impl OtpHistory for MemoryStore {
    async fn newest(
        &self,
        project_mode: ProjectMode,
        failed: bool,
        before: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        let state = &*self.step("OtpHistory::newest").await?;
        let own = state.otps.iter().filter(|otp| otp.project_mode == project_mode);
        let own = own.filter(|otp| !failed || otp.delivery.status == DeliveryStatus::Failed);
        let older = own.filter(|otp| before.is_none_or(|before| otp.id < before));
        Ok(newest(older.cloned().collect(), limit))
    }

    async fn of_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError> {
        let state = &*self.step("OtpHistory::of_phone").await?;
        let line = (project_mode, phone);
        let own = state.otps.iter().filter(|otp| (otp.project_mode, otp.phone) == line);
        Ok(newest(own.cloned().collect(), limit))
    }
}

#[async_trait]
impl RefusalStore for MemoryStore {
    async fn count(
        &self,
        recorder: RecorderId,
        counts: Vec<RefusedSends>,
    ) -> Result<(), StoreError> {
        let state = &mut *self.step("RefusalStore::count").await?;
        for fresh in counts {
            let same = |(by, old): &&mut (RecorderId, RefusedSends)| {
                *by == recorder && RefusedSends { count: fresh.count, ..old.clone() } == fresh
            };
            match state.refused.iter_mut().find(same) {
                Some((_, known)) => known.count = known.count.max(fresh.count),
                None => state.refused.push((recorder, fresh)),
            }
        }
        Ok(())
    }

    async fn of_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<RefusedSends>, StoreError> {
        let state = &*self.step("RefusalStore::of_phone").await?;
        let of_phone = state
            .refused
            .iter()
            .map(|(_, counted)| counted)
            .filter(|it| (it.project_mode, it.phone) == (project_mode, Some(phone)));
        let mut counts = RefusedSends::added_up(of_phone.cloned().collect());
        counts.truncate(limit as usize);
        Ok(counts)
    }

    async fn of_project(
        &self,
        project: ProjectId,
        since: Timestamp,
        until: Option<Timestamp>,
        most: u32,
    ) -> Result<Vec<RefusedSends>, StoreError> {
        let state = &*self.step("RefusalStore::of_project").await?;
        let own = state.refused.iter().map(|(_, counted)| counted);
        let own = own.filter(|it| it.project_mode.project == project && it.minute >= since);
        let own = own.filter(|it| until.is_none_or(|until| it.minute < until));
        let mut counts = RefusedSends::without_phones(own.cloned().collect());
        counts.truncate(most as usize);
        Ok(counts)
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("RefusalStore::sweep").await?;
        Ok(state.refused.extract_if(.., |(_, it)| it.minute < before).count() as u64)
    }
}
