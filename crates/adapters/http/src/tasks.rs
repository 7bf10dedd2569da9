use crate::error::{ApiError, ErrorCode};
use std::future::Future;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinError;
use tracing::Instrument;

/// Runs work that continues when its client disconnects, and for which a shutdown waits.
///
/// The work runs on a runtime that outlives the workers, whose own runtimes end with their
/// connections. A panic becomes `INTERNAL_ERROR` and does not affect other tasks.
pub(crate) struct Tasks {
    runtime: Handle,
    running: watch::Sender<()>,
}

impl Tasks {
    pub(crate) fn new(runtime: Handle) -> Self {
        Self { runtime, running: watch::Sender::new(()) }
    }

    /// Runs `work` to its end, even if this future is dropped earlier.
    pub(crate) async fn finish<T, E>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, ApiError>
    where
        T: Send + 'static,
        E: Into<ApiError> + Send + 'static,
    {
        let running = self.running.subscribe();
        let work = async move {
            let outcome = work.await;
            drop(running);
            outcome
        };
        outcome(self.runtime.spawn(work.in_current_span()).await)
    }

    /// Runs work that occupies a processor for milliseconds on a thread where no other request
    /// waits for it.
    pub(crate) async fn compute<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, ApiError>
    where
        T: Send + 'static,
        E: Into<ApiError> + Send + 'static,
    {
        let span = tracing::Span::current();
        outcome(self.runtime.spawn_blocking(move || span.in_scope(work)).await)
    }

    /// Waits until no work is left.
    pub(crate) async fn idle(&self) {
        self.running.closed().await;
    }
}

fn outcome<T, E: Into<ApiError>>(end: Result<Result<T, E>, JoinError>) -> Result<T, ApiError> {
    let end = end.map_err(|cause| {
        tracing::error!(panicked = cause.is_panic(), "a task did not finish");
        ErrorCode::InternalError
    })?;
    end.map_err(Into::into)
}
