//! The jobs of the writer, which run one at a time, and their answers.

use crate::connection::error::{Failure, unavailable, unreachable};
use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::open_files::misplaced;
use diesel::SqliteConnection;
use dwar_kernel::StoreError;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::oneshot;
use tracing::Span;

pub(crate) trait Work<T>:
    FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static
{
}

impl<T, W> Work<T> for W where
    W: FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static
{
}

pub(crate) trait Job: Send {
    /// Does the work; `false` means that its writes have to be undone.
    fn run(&mut self, connection: &mut SqliteConnection) -> bool;

    /// Tells whether its answer means that the write is on disk.
    fn on_disk(&self) -> bool;

    fn changes(&self) -> OutdatedLookUps;

    fn was_reached(&self) -> bool;

    fn lacked_room(&self) -> bool;

    /// Answers the caller, if the caller still waits.
    fn answer(self: Box<Self>, lost: Option<LostJob>);
}

pub(crate) struct Task<T, F> {
    pub(crate) work: Option<F>,
    pub(crate) outcome: Option<Result<T, StoreError>>,
    pub(crate) on_disk: bool,
    pub(crate) changes: OutdatedLookUps,
    pub(crate) reply: oneshot::Sender<Result<T, StoreError>>,
    pub(crate) span: Span,
}

impl<T, F> Job for Task<T, F>
where
    T: Send,
    F: Work<T>,
{
    fn run(&mut self, connection: &mut SqliteConnection) -> bool {
        let Some(work) = self.work.take() else { return true };
        let _entered = self.span.enter();
        let outcome = catch_unwind(AssertUnwindSafe(|| work(connection)));
        let outcome = outcome.unwrap_or_else(|panic| Err(Failure::Store(panicked(panic))));
        let kept = outcome.is_ok();
        self.outcome = Some(outcome.map_err(StoreError::from));
        kept
    }

    fn on_disk(&self) -> bool {
        self.on_disk
    }

    fn changes(&self) -> OutdatedLookUps {
        self.changes
    }

    fn was_reached(&self) -> bool {
        self.work.is_none()
    }

    fn lacked_room(&self) -> bool {
        matches!(self.outcome, Some(Err(StoreError::NoRoom)))
    }

    fn answer(self: Box<Self>, lost: Option<LostJob>) {
        let answer = match (self.outcome, lost) {
            (Some(Err(cause)), _) => Err(cause),
            (Some(Ok(value)), None) => Ok(value),
            (_, lost) => {
                let lost = lost.unwrap_or_else(|| LostJob::Unknown("it was not begun".into()));
                Err(lost.into())
            }
        };
        // The caller may have given up; the write is kept all the same.
        let _ = self.reply.send(answer);
    }
}

fn panicked(panic: Box<dyn Any + Send>) -> StoreError {
    let said = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let text = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    StoreError::Failed(format!("a write panicked: {text}").into())
}

/// Why a job was lost through no fault of its own.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum LostJob {
    NoPlace,
    NoRoom,
    /// The file is no longer at its path.
    Misplaced,
    Unknown(Arc<str>),
}

impl From<LostJob> for StoreError {
    fn from(loss: LostJob) -> Self {
        match loss {
            LostJob::NoPlace => unavailable("too many writes are waiting"),
            LostJob::NoRoom => Self::NoRoom,
            LostJob::Misplaced => misplaced(),
            LostJob::Unknown(cause) => unreachable("the write could not be committed", &*cause),
        }
    }
}
