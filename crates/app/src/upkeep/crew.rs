use async_trait::async_trait;
use dwar_kernel::{StoreError, with_causes};
use futures_util::future::{BoxFuture, Either, FutureExt, pending, select};
use futures_util::stream::{FuturesUnordered, Stream, StreamExt};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

/// Work that is claimed from a store in pieces and done concurrently.
#[async_trait]
pub trait Chores: Send + Sync {
    type Chore: Send + Sync;

    /// Claims pieces of work, no more than there is room for beside those under way.
    async fn claim(&self, under_way: &[Arc<Self::Chore>]) -> Result<Vec<Self::Chore>, StoreError>;

    /// Does one piece. A failed piece is retried after its lease.
    async fn perform(&self, chore: &Self::Chore) -> Result<(), StoreError>;
}

/// Does the work at each tick, and as soon as there is room again, so that a slow piece blocks only its own
/// place.
///
/// When the ticks end it claims no more, and returns once everything under way is done. A failure of the
/// store is logged as `trouble`; the next tick tries again.
pub async fn keep_going<W: Chores>(
    work: &W,
    ticks: impl Stream<Item = ()> + Send,
    trouble: &'static str,
) {
    let mut ticks = pin!(ticks);
    let mut crew = Crew::new(work, trouble);
    loop {
        match select(ticks.next(), crew.running.next()).await {
            Either::Left((Some(()), _)) => crew.claim(),
            Either::Left((None, _)) => break,
            Either::Right((end, _)) => {
                if end.is_some_and(|end| crew.ended(end)) {
                    crew.claim();
                }
            }
        }
    }
    while crew.is_busy() {
        if let Some(end) = crew.running.next().await {
            crew.ended(end);
        }
    }
}

enum End<C> {
    Claim(Result<Vec<C>, StoreError>),
    /// `None` if the piece panicked.
    Chore(Arc<C>, Option<Result<(), StoreError>>),
}

struct Crew<'work, W: Chores> {
    work: &'work W,
    trouble: &'static str,
    running: FuturesUnordered<BoxFuture<'work, End<W::Chore>>>,
    under_way: Vec<Arc<W::Chore>>,
    claiming: bool,
    /// Whether a piece ended during a claim that did not know of it.
    claim_again: bool,
}

impl<'work, W: Chores> Crew<'work, W> {
    fn new(work: &'work W, trouble: &'static str) -> Self {
        let running = FuturesUnordered::new();
        // A future that never ends keeps the set non-empty, so that waiting for the next end always waits.
        running.push(pending().boxed());
        let (under_way, claiming, claim_again) = (Vec::new(), false, false);
        Self { work, trouble, running, under_way, claiming, claim_again }
    }

    const fn is_busy(&self) -> bool {
        self.claiming || !self.under_way.is_empty()
    }

    fn claim(&mut self) {
        if self.claiming {
            self.claim_again = true;
            return;
        }
        self.claiming = true;
        self.claim_again = false;
        let (work, under_way) = (self.work, self.under_way.clone());
        self.running.push(async move { End::Claim(work.claim(&under_way).await) }.boxed());
    }

    fn begin(&mut self, chore: W::Chore) {
        let (work, chore) = (self.work, Arc::new(chore));
        self.under_way.push(Arc::clone(&chore));
        let perform = async move {
            // A panic must not end the other pieces, some of which are in the middle of a call.
            let done = AssertUnwindSafe(work.perform(&chore)).catch_unwind().await;
            End::Chore(chore, done.ok())
        };
        self.running.push(perform.boxed());
    }

    /// Handles an end; `true` if there may be more to claim.
    fn ended(&mut self, end: End<W::Chore>) -> bool {
        let outcome = match end {
            End::Claim(claimed) => {
                self.claiming = false;
                claimed.map(|chores| {
                    chores.into_iter().for_each(|chore| self.begin(chore));
                    self.claim_again
                })
            }
            End::Chore(chore, done) => {
                self.under_way.retain(|other| !Arc::ptr_eq(other, &chore));
                done.unwrap_or_else(|| {
                    tracing::error!("a task panicked and will be tried again when its lease ends");
                    Ok(())
                })
                .map(|()| true)
            }
        };
        outcome.unwrap_or_else(|error| {
            // A store without room logs that itself, once.
            if !matches!(error, StoreError::NoRoom) {
                tracing::warn!(error = %with_causes(&error), "{}", self.trouble);
            }
            false
        })
    }
}
