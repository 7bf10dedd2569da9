use crate::Deliver;
use dwar_event::{CallLog, EventFeed, FeedBound};
use dwar_kernel::{KeyMode, OtpId, StoreError, TRACE_BEGINS, with_causes};
use dwar_otp::idempotency::IdempotencyStore;
use dwar_otp::{
    Charge, Otp, ReceiptTarget, RefusalStore, RefusedSends, Report, TestQuota, TestQuotaStore,
};
use dwar_ratelimit::{GuardStore, RequestLimiter};
use dwar_session::SessionStore;
use dwar_wallet::OpenHold;
use futures_util::stream::{StreamExt, iter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tracing::instrument;

const BATCH: u32 = 100;
/// Concurrent pieces of work: a provider that is slow with one send must not delay the others, and all
/// together must leave connections of the store to others.
const AT_ONCE: usize = 16;

/// Finishes what a crash or a silent provider left open, and deletes expired rows: overdue sends, stale
/// holds, old rows. Does nothing while the clock is too far off, and expires nothing for time that has not
/// passed ([`crate::ClockWatch`]).
pub struct Sweep {
    /// Continues deliveries and settles money; its ports are swept, too.
    pub deliver: Arc<Deliver>,
    pub sessions: Arc<dyn SessionStore>,
    /// Drops counts of past windows, and renews leased quotas.
    pub requests: Arc<dyn RequestLimiter>,
    pub idempotency: Arc<dyn IdempotencyStore>,
    /// Deletes records of test keys beyond their quota.
    pub test_quota: Arc<dyn TestQuotaStore>,
    pub calls: Arc<dyn CallLog>,
    pub feed: Arc<dyn EventFeed>,
    pub refusals: Arc<dyn RefusalStore>,
    pub guard: Arc<dyn GuardStore>,
    pub retention: Retention,
}

/// How long rows are kept after their use.
#[derive(Clone, Copy, Debug)]
pub struct Retention {
    /// OTP requests, from their creation; their status can be queried that long.
    pub requests: Duration,
    /// Guess budgets, from the last wrong guess.
    pub guesses: Duration,
    pub sessions: Duration,
    /// Places of sends: the longest window in force.
    pub sends: Duration,
    /// First answers, from the time of the request.
    pub idempotency: Duration,
    pub calls: Duration,
    /// Events in the feed, from the time of the event.
    pub feed: Duration,
    pub feed_bound: FeedBound,
    /// A hold that is open for longer is settled by the state of its request.
    pub holds: Duration,
    /// Bounds of the records of test keys; `None` sets no bound.
    pub tests: Option<TestQuota>,
}

/// Numbers of rows that [`Sweep::tidy`] deleted, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepResult {
    pub requests: u64,
    pub sessions: u64,
    pub sends: u64,
    pub idempotency: u64,
    pub calls: u64,
    pub fed: u64,
    pub refusals: u64,
    pub levels: u64,
    pub tests: u64,
}

impl Sweep {
    /// Continues every send that is due: its receipt never came, or the process that called the provider is
    /// gone.
    ///
    /// Several instances share the work: each request goes to one of them. Returns the number of sends.
    pub async fn follow_up(&self) -> Result<u64, StoreError> {
        let Deliver { tools, otps, routes, .. } = self.deliver.as_ref();
        let mut done = 0;
        loop {
            if tools.watch.is_too_far_off() {
                return Ok(done);
            }
            let due = otps.claim_due(tools.now(), routes.live.lease, BATCH).await?;
            done += side_by_side(due.iter().map(|otp| self.follow_up_one(otp)).collect()).await?;
            // If the receipts of a provider stop, as many sends become due as are made, which may be more
            // than a batch per second.
            if due.len() < BATCH as usize {
                return Ok(done);
            }
        }
    }

    /// Settles holds whose send is no longer handled by any process; returns how many.
    pub async fn settle_stale_holds(&self) -> Result<u64, StoreError> {
        let Deliver { tools, wallets, .. } = self.deliver.as_ref();
        let (mut settled, mut after) = (0, None);
        loop {
            if tools.watch.is_too_far_off() {
                return Ok(settled);
            }
            let before = tools.now() - self.retention.holds;
            let stale = wallets.stale_holds(before, after, BATCH).await?;
            settled += side_by_side(stale.iter().map(|hold| self.settle(hold)).collect()).await?;
            // Holds that cannot be settled yet are skipped, so that they do not block later ones.
            after = stale.last().map(|hold| hold.send);
            if stale.len() < BATCH as usize {
                return Ok(settled);
            }
        }
    }

    /// Deletes rows whose retention is over; returns the numbers by kind.
    pub async fn tidy(&self) -> Result<SweepResult, StoreError> {
        let Deliver { tools, otps, sends, .. } = self.deliver.as_ref();
        if tools.watch.is_too_far_off() {
            return Ok(SweepResult::default());
        }
        let now = tools.watch.for_sweeps();
        let keep = &self.retention;
        self.requests.sweep(now).await?;
        Ok(SweepResult {
            requests: otps.sweep(now - keep.requests, now - keep.guesses).await?,
            sessions: self.sessions.sweep(now - keep.sessions).await?,
            sends: sends.sweep(now - keep.sends).await?,
            idempotency: self.idempotency.sweep(now - keep.idempotency).await?,
            calls: self.calls.sweep_calls(now - keep.calls).await?,
            fed: self.feed.trim_feeds(keep.feed_bound, now - keep.feed).await?,
            refusals: self.refusals.sweep(now - RefusedSends::KEPT).await?,
            levels: self.guard.sweep_levels(now).await?,
            tests: match keep.tests {
                Some(quota) => self.test_quota.trim(quota, now).await?,
                None => 0,
            },
        })
    }

    /// Renews leased shares of quotas, and returns unused ones.
    pub async fn tend_quotas(&self) -> Result<(), StoreError> {
        self.requests.renew_leases(self.deliver.tools.now()).await
    }

    /// Returns all leased shares of quotas, because this process stops.
    pub async fn leave_quotas(&self) -> Result<(), StoreError> {
        self.requests.leave(self.deliver.tools.now()).await
    }

    #[instrument(name = "follow_up_send", target = TRACE_BEGINS, level = "error", skip_all)]
    async fn follow_up_one(&self, otp: &Otp) -> Result<bool, StoreError> {
        let Some(last) = otp.delivery.attempts.last() else { return Ok(true) };
        tracing::warn!(otp = %otp.id, attempt = %last.id, status = last.status.as_str(),
            provider = %last.provider, "overdue: no receipt, or the outcome of the call is unknown");
        let overdue = Report::Overdue { seen: last.status };
        let (project_mode, otp, attempt) = (otp.project_mode, otp.id, last.id);
        let about = ReceiptTarget { project_mode, otp, attempt };
        let reported = self.deliver.report(about, overdue).await.map(|_| true);
        go_on(reported, "an overdue send", about.otp)
    }

    /// Only live sends have holds. A request whose delivery is under way is skipped.
    #[instrument(name = "settle_stale_hold", target = TRACE_BEGINS, level = "error", skip_all)]
    async fn settle(&self, hold: &OpenHold) -> Result<bool, StoreError> {
        go_on(self.settle_one(hold).await, "a stale hold", hold.send)
    }

    async fn settle_one(&self, hold: &OpenHold) -> Result<bool, StoreError> {
        let Some(project) = self.deliver.projects.find(hold.project).await? else {
            return Ok(false);
        };
        let otp = self.deliver.otps.find(hold.project.in_mode(KeyMode::Live), hold.send).await?;
        let charge = otp.as_ref().map_or(Some(Charge::Nothing), |otp| otp.delivery.charge());
        let Some(charge) = charge else {
            return Ok(false);
        };
        match &otp {
            Some(otp) => self.deliver.conclude(&project, otp, charge).await?,
            None => self.deliver.settle(&project, KeyMode::Live, hold.send, charge).await?,
        }
        tracing::warn!(otp = %hold.send, ?charge, "stale hold settled");
        Ok(true)
    }
}

/// Runs all futures, several at a time, and returns how many had something to do. Once the store is
/// unreachable, it begins no more and lets those under way finish.
async fn side_by_side<W>(work: Vec<W>) -> Result<u64, StoreError>
where
    W: Future<Output = Result<bool, StoreError>> + Send,
{
    let out_of_reach = &AtomicBool::new(false);
    let within_reach = async |work: W| {
        if out_of_reach.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let end = work.await;
        out_of_reach.fetch_or(end.is_err(), Ordering::Relaxed);
        end
    };
    let ends: Vec<_> = iter(work).map(within_reach).buffer_unordered(AT_ONCE).collect().await;
    ends.into_iter().try_fold(0, |done, end| Ok(done + u64::from(end?)))
}

/// One row that cannot be handled must not block later rows; an unreachable store ends the work.
fn go_on(done: Result<bool, StoreError>, what: &str, send: OtpId) -> Result<bool, StoreError> {
    match done {
        Err(cause) if !cause.is_transient() => {
            tracing::error!(otp = %send, error = %with_causes(&cause), "{what} cannot be handled");
            Ok(false)
        }
        done => done,
    }
}
