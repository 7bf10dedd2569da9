use dwar_activity::{
    FigureChunk, FiguresBuilder, FiguresStore, Grain, Interval, KEEP_HOURS, KEEP_MINUTES,
    SETTLED_AFTER, fresh,
};
use dwar_app::CommonPorts;
use dwar_kernel::{KeeperId, StoreError, Timestamp};
use std::sync::Arc;
use std::time::Duration;

/// Lease of the keeper of the figures.
const LEASE: Duration = Duration::from_secs(60);
const PAGE: u32 = 1_000;
/// Chunks that one run settles; after a long outage the rest is left to later runs.
const CHUNKS: usize = 200;
const RENEW: usize = 10;

/// Computes the figures of pages from the records.
pub struct KeepFigures {
    pub tools: CommonPorts,
    pub store: Arc<dyn FiguresStore>,
    pub keeper: KeeperId,
}

impl KeepFigures {
    /// Counts what is due: the newest minutes first, then minutes to be settled, oldest first. Only one
    /// instance works; `false` from the others, and from one whose clock is too far off.
    pub async fn run(&self) -> Result<bool, StoreError> {
        if self.tools.watch.is_too_far_off() {
            return Ok(false);
        }
        let now = self.tools.now();
        let Some(progress) = self.store.acquire_lease(self.keeper, now, LEASE).await? else {
            return Ok(false);
        };
        for window in fresh(progress.as_of, now) {
            if !self.recount(window).await? {
                return Ok(false);
            }
        }
        if !self.store.refreshed(self.keeper, now).await? {
            return Ok(false);
        }
        // Settled minutes are never counted again, so a clock that was set forward must not settle them.
        let until = Grain::Minute.begin(self.tools.watch.for_sweeps() - SETTLED_AFTER);
        let from = match progress.settled {
            Some(settled) => settled,
            None => {
                let from = self.beginning(until).await?;
                let nothing =
                    FigureChunk { window: Interval { from, until: from }, minutes: Vec::new() };
                if !self.store.settle(self.keeper, nothing).await? {
                    return Ok(false);
                }
                from
            }
        };
        self.settle(Interval { from, until }).await
    }

    async fn recount(&self, window: Interval) -> Result<bool, StoreError> {
        let mut rest = window;
        for turn in 1.. {
            if rest.from >= rest.until {
                break;
            }
            let chunk = self.gather(rest).await?;
            rest.from = chunk.window.until;
            if !self.renewed(turn).await? || !self.store.replace(self.keeper, chunk).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn settle(&self, window: Interval) -> Result<bool, StoreError> {
        let mut rest = window;
        for turn in 1..=CHUNKS {
            if rest.from >= rest.until {
                break;
            }
            let chunk = self.gather(rest).await?;
            rest.from = chunk.window.until;
            if !self.renewed(turn).await? || !self.store.settle(self.keeper, chunk).await? {
                return Ok(false);
            }
        }
        if Grain::Hour.begin(window.from) != Grain::Hour.begin(rest.from) {
            self.sweep(rest.from).await?;
        }
        Ok(true)
    }

    /// The minute of the first request on record that is not too old to be counted.
    async fn beginning(&self, until: Timestamp) -> Result<Timestamp, StoreError> {
        let from = Grain::Day.begin(until - KEEP_HOURS) + Grain::Day.length();
        let first = self.store.sent(Interval { from, until }, None, 1).await?;
        Ok(first.first().map_or(until, |first| Grain::Minute.begin(first.at)))
    }

    async fn gather(&self, window: Interval) -> Result<FigureChunk, StoreError> {
        let (mut gathering, mut last) = (FiguresBuilder::of(window), None);
        loop {
            let page = self.store.sent(window, last, PAGE).await?;
            let ended = page.iter().try_for_each(|sent| gathering.push(sent)).is_break();
            let is_last = page.len() < usize::try_from(PAGE).unwrap_or(usize::MAX);
            last = page.last().map(|sent| sent.id);
            if ended || is_last {
                gathering.refused(&self.store.refused(gathering.window()).await?);
                return Ok(gathering.chunk());
            }
        }
    }

    /// Renews the lease after some chunks; `false` if it was lost.
    async fn renewed(&self, turn: usize) -> Result<bool, StoreError> {
        if !turn.is_multiple_of(RENEW) {
            return Ok(true);
        }
        let led = self.store.acquire_lease(self.keeper, self.tools.now(), LEASE).await?;
        Ok(led.is_some())
    }

    /// Minutes are kept until their hour is complete.
    async fn sweep(&self, settled: Timestamp) -> Result<(), StoreError> {
        let now = self.tools.watch.for_sweeps();
        let minutes = (now - KEEP_MINUTES).min(Grain::Hour.begin(settled));
        let gone = self.store.sweep(minutes, now - KEEP_HOURS).await?;
        tracing::debug!(gone, "old figures dropped");
        Ok(())
    }
}
