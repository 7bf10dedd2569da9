use dwar_wallet::ProofRun;
use futures_util::stream::{Stream, poll_fn};
use futures_util::task::AtomicWaker;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;

/// From which entry on a proof reads the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofScope {
    /// After the last sound proof, since entries are only ever added.
    Newer,
    /// At the first entry.
    Everything,
}

const MOST: usize = 100;

/// Proofs begun in this process that wait to be made, oldest first. If the process dies, their leases expire,
/// and the proofs can be begun again.
#[derive(Debug, Default)]
pub struct BegunProofs {
    waiting: Mutex<VecDeque<(ProofRun, ProofScope)>>,
    maker: AtomicWaker,
}

impl BegunProofs {
    /// Whether no more proofs can be begun at present.
    pub(super) fn is_full(&self) -> bool {
        self.waiting().len() >= MOST
    }

    pub(super) fn push(&self, run: ProofRun, scope: ProofScope) {
        self.waiting().push_back((run, scope));
        self.maker.wake();
    }

    /// Yields each proof as soon as it is begun. Supports only one listener at a time.
    pub(super) fn stream(&self) -> impl Stream<Item = (ProofRun, ProofScope)> + Send {
        poll_fn(|context| {
            self.maker.register(context.waker());
            self.waiting().pop_front().map_or(Poll::Pending, |begun| Poll::Ready(Some(begun)))
        })
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<(ProofRun, ProofScope)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
