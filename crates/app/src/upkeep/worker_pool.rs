use async_trait::async_trait;
use dwar_kernel::{StoreError, with_causes};
use futures_util::future::{BoxFuture, Either, FutureExt, pending, select};
use futures_util::stream::{FuturesUnordered, Stream, StreamExt};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

/// Work that is claimed from a store in pieces and done concurrently.
#[async_trait]
pub trait ClaimedWork: Send + Sync {
    type Piece: Send + Sync;

    /// Claims pieces of work, no more than there is room for beside those under way.
    async fn claim(&self, under_way: &[Arc<Self::Piece>]) -> Result<Vec<Self::Piece>, StoreError>;

    /// Does one piece. A failed piece is retried after its lease.
    async fn perform(&self, piece: &Self::Piece) -> Result<(), StoreError>;
}

/// Does the work at each tick, and as soon as there is room again, so that a slow piece blocks only its own
/// place.
///
/// When the ticks end it claims no more, and returns once everything under way is done. A failure of the
/// store is logged as `trouble`; the next tick tries again.
pub async fn keep_going<W: ClaimedWork>(
    work: &W,
    ticks: impl Stream<Item = ()> + Send,
    trouble: &'static str,
) {
    let mut ticks = pin!(ticks);
    let mut pool = WorkerPool::new(work, trouble);
    loop {
        match select(ticks.next(), pool.running.next()).await {
            Either::Left((Some(()), _)) => pool.claim(),
            Either::Left((None, _)) => break,
            Either::Right((end, _)) => {
                if end.is_some_and(|end| pool.ended(end)) {
                    pool.claim();
                }
            }
        }
    }
    while pool.is_busy() {
        if let Some(end) = pool.running.next().await {
            pool.ended(end);
        }
    }
}

enum Finished<C> {
    Claim(Result<Vec<C>, StoreError>),
    /// `None` if the piece panicked.
    Piece(Arc<C>, Option<Result<(), StoreError>>),
}

struct WorkerPool<'work, W: ClaimedWork> {
    work: &'work W,
    trouble: &'static str,
    running: FuturesUnordered<BoxFuture<'work, Finished<W::Piece>>>,
    under_way: Vec<Arc<W::Piece>>,
    claiming: bool,
    /// Whether a piece ended during a claim that did not know of it.
    claim_again: bool,
}

impl<'work, W: ClaimedWork> WorkerPool<'work, W> {
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
        self.running.push(async move { Finished::Claim(work.claim(&under_way).await) }.boxed());
    }

    fn begin(&mut self, piece: W::Piece) {
        let (work, piece) = (self.work, Arc::new(piece));
        self.under_way.push(Arc::clone(&piece));
        let perform = async move {
            // A panic must not end the other pieces, some of which are in the middle of a call.
            let done = AssertUnwindSafe(work.perform(&piece)).catch_unwind().await;
            Finished::Piece(piece, done.ok())
        };
        self.running.push(perform.boxed());
    }

    /// Handles an end; `true` if there may be more to claim.
    fn ended(&mut self, end: Finished<W::Piece>) -> bool {
        let outcome = match end {
            Finished::Claim(claimed) => {
                self.claiming = false;
                claimed.map(|chores| {
                    chores.into_iter().for_each(|piece| self.begin(piece));
                    self.claim_again
                })
            }
            Finished::Piece(piece, done) => {
                self.under_way.retain(|other| !Arc::ptr_eq(other, &piece));
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
