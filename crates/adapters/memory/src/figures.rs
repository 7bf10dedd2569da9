use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_activity::{
    AttemptFacts, Counts, Figure, FigureChunk, FigureSpan, FiguresStore, Grain, GuardCounts,
    Interval, Key, Progress, RefusalFigure, RequestFacts, Traffic,
};
use dwar_kernel::{KeeperId, KeyMode, OtpId, Paise, ProjectId, ProjectMode, StoreError, Timestamp};
use dwar_otp::{AttemptStatus, DeliveryStatus, Otp, OtpState, Reason, RefusedSends};
use dwar_wallet::{EntryKind, Reference};
use std::collections::BTreeMap;
use std::time::Duration;

#[async_trait]
impl FiguresStore for MemoryStore {
    async fn acquire_lease(
        &self,
        keeper: KeeperId,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Progress>, StoreError> {
        let state = &mut *self.step("FiguresStore::acquire_lease").await?;
        Ok(state.figures_lease.acquire_lease(keeper, now, lease))
    }

    async fn sent(
        &self,
        window: Interval,
        last: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<RequestFacts>, StoreError> {
        let state = &*self.step("FiguresStore::sent").await?;
        let within = |otp: &&Otp| window.from <= otp.created_at && otp.created_at < window.until;
        let after = |otp: &&Otp| last.is_none_or(|last| last < otp.id);
        let mut found: Vec<_> = state.otps.iter().filter(within).filter(after).collect();
        found.sort_unstable_by_key(|otp| otp.id);
        Ok(found.into_iter().take(limit as usize).map(|otp| state.sent(otp)).collect())
    }

    async fn refused(&self, window: Interval) -> Result<Vec<RefusalFigure>, StoreError> {
        let state = &*self.step("FiguresStore::refused").await?;
        let all = state.refused.iter().map(|(_, counted)| counted);
        let within = |it: &&RefusedSends| window.from <= it.minute && it.minute < window.until;
        let Some(first) = all.clone().filter(within).map(|it| it.minute).min() else {
            return Ok(Vec::new());
        };
        let hour_ends = Grain::Hour.begin(first) + Grain::Hour.length();
        let mut sums: BTreeMap<_, u64> = BTreeMap::new();
        for it in all.filter(within).filter(|it| it.minute < hour_ends) {
            *sums.entry((it.project_mode, it.minute, it.reason)).or_default() +=
                u64::from(it.count);
        }
        let refused = |((project_mode, minute, reason), count)| RefusalFigure {
            project_mode,
            minute,
            reason,
            count,
        };
        Ok(sums.into_iter().map(refused).collect())
    }

    async fn replace(&self, keeper: KeeperId, chunk: FigureChunk) -> Result<bool, StoreError> {
        let state = &mut *self.step("FiguresStore::replace").await?;
        let replaces = state.figures_lease.may_replace(keeper, chunk.window);
        if replaces {
            state.put(chunk);
        }
        Ok(replaces)
    }

    async fn settle(&self, keeper: KeeperId, chunk: FigureChunk) -> Result<bool, StoreError> {
        let state = &mut *self.step("FiguresStore::settle").await?;
        let settles = state.figures_lease.settle(keeper, chunk.window);
        if settles {
            let parents = chunk.parents();
            let present = state.all(|grain, began, _| parents.contains(&(grain, began)));
            let rolled = chunk.rolled_up(present).into_iter();
            state.figures.extend(rolled.map(entry));
            state.put(chunk);
        }
        Ok(settles)
    }

    async fn refreshed(&self, keeper: KeeperId, as_of: Timestamp) -> Result<bool, StoreError> {
        let state = &mut *self.step("FiguresStore::refreshed").await?;
        Ok(state.figures_lease.refresh(keeper, as_of))
    }

    async fn progress(&self) -> Result<Progress, StoreError> {
        let state = &*self.step("FiguresStore::progress").await?;
        Ok(state.figures_lease.progress)
    }

    async fn figures(
        &self,
        project_mode: ProjectMode,
        spans: Vec<FigureSpan>,
    ) -> Result<Vec<Figure>, StoreError> {
        let state = &*self.step("FiguresStore::figures").await?;
        Ok(state.all(|grain, began, key| {
            key.project_mode == project_mode && are_in(&spans, grain, began)
        }))
    }

    async fn traffic(
        &self,
        projects: Vec<ProjectId>,
        mode: KeyMode,
        spans: Vec<FigureSpan>,
    ) -> Result<BTreeMap<ProjectId, Traffic>, StoreError> {
        let state = &*self.step("FiguresStore::traffic").await?;
        let mut sums: BTreeMap<ProjectId, Traffic> = BTreeMap::new();
        let figures = state.all(|grain, began, key| {
            let wanted =
                projects.contains(&key.project_mode.project) && key.project_mode.mode == mode;
            wanted && are_in(&spans, grain, began)
        });
        for Figure { key, counts, .. } in figures {
            let Counts { requests, relays, verified, spent, guard, .. } = counts;
            let GuardCounts { trusted, trusted_verified, .. } = guard;
            let sum = sums.entry(key.project_mode.project).or_default();
            sum.add(&Traffic { requests, relays, verified, spent, trusted, trusted_verified });
        }
        Ok(sums)
    }

    async fn sweep(&self, minutes: Timestamp, hours: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("FiguresStore::sweep").await?;
        let before = state.figures.len();
        state.figures.retain(|(grain, began, _), _| match grain {
            Grain::Minute => *began >= minutes,
            Grain::Hour | Grain::Day => *began >= hours,
        });
        Ok((before - state.figures.len()) as u64)
    }
}

fn are_in(spans: &[FigureSpan], grain: Grain, began: Timestamp) -> bool {
    spans.iter().any(|FigureSpan { grain: own, window }| {
        grain == *own && window.from <= began && began < window.until
    })
}

fn entry(figure: Figure) -> ((Grain, Timestamp, Key), Counts) {
    let Figure { key, grain, began, counts } = figure;
    ((grain, began, key), counts)
}

impl State {
    /// Replaces the stored figures of the chunk's minutes.
    fn put(&mut self, chunk: FigureChunk) {
        let Interval { from, until } = chunk.window;
        self.figures.retain(|(grain, began, _), _| {
            *grain != Grain::Minute || *began < from || until <= *began
        });
        self.figures.extend(chunk.minutes.into_iter().map(entry));
    }

    fn all(&self, wanted: impl Fn(Grain, Timestamp, &Key) -> bool) -> Vec<Figure> {
        let all = self.figures.iter();
        let found = all.filter(|((grain, began, key), _)| wanted(*grain, *began, key));
        let figure = found.map(|((grain, began, key), counts)| Figure {
            key: key.clone(),
            grain: *grain,
            began: *began,
            counts: counts.clone(),
        });
        figure.collect()
    }

    fn sent(&self, otp: &Otp) -> RequestFacts {
        let delivery = &otp.delivery;
        let statuses: Vec<_> = delivery.attempts.iter().map(|attempt| attempt.status).collect();
        let carrier = AttemptStatus::carrier(&statuses);
        let tried = delivery.attempts.iter().enumerate().map(|(place, attempt)| AttemptFacts {
            channel: attempt.channel,
            provider: attempt.provider.clone(),
            accepted: attempt.accepted,
            arrived: (attempt.status == AttemptStatus::Delivered).then_some(attempt.at),
            failed: (attempt.status == AttemptStatus::Failed)
                .then(|| attempt.reason.unwrap_or(Reason::Unknown)),
            carried: carrier == Some(place),
        });
        RequestFacts {
            id: otp.id,
            project_mode: otp.project_mode,
            at: otp.created_at,
            relayed: otp.is_relayed(),
            delivered: delivery.status == DeliveryStatus::Delivered,
            verified: otp.state == OtpState::Used,
            guard: otp.guard,
            verified_at: otp.verified_at(),
            spent: self.spent(otp),
            tried: tried.collect(),
        }
    }

    /// The charge of a request, minus its refund.
    fn spent(&self, otp: &Otp) -> Paise {
        let reference = Reference::from(otp.id);
        let moved = self.ledger.iter().filter(|(project, line)| {
            let is_about =
                *project == otp.project_mode.project && line.entry.reference == reference;
            is_about && matches!(line.entry.kind, EntryKind::Capture | EntryKind::Refund)
        });
        Paise(-moved.map(|(_, line)| line.entry.amount.0).sum::<i64>())
    }
}
