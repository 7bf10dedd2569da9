use std::future::Future;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::{Code, Error, Result};

/// A piece of work that several callers wait for. It goes on when they give up.
#[derive(Clone)]
pub(crate) struct Flight<T> {
    since: Instant,
    result: watch::Receiver<Option<Result<T>>>,
}

impl<T: Clone + Send + Sync + 'static> Flight<T> {
    pub fn take_off(work: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        let (sender, result) = watch::channel(None);
        tokio::spawn(async move { sender.send_replace(Some(work.await)) });
        Self { since: Instant::now(), result }
    }

    pub fn is_over(&self) -> bool {
        self.result.borrow().is_some() || self.result.has_changed().is_err()
    }

    pub async fn wait(mut self) -> Result<T> {
        // The sender is gone without a result if the work panicked or its runtime was shut down.
        let landed =
            self.result.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
        landed.unwrap_or_else(|| {
            Err(Error::new(Code::NetworkError, "the work that was waited for did not end"))
        })
    }
    /// Like `wait`, but returns nothing after this time, while the work continues.
    pub async fn wait_for(self, patience: Duration) -> Result<Option<T>> {
        match timeout_at(self.since + patience, self.wait()).await {
            Ok(result) => result.map(Some),
            Err(_) => Ok(None),
        }
    }
}
