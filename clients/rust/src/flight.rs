use std::future::Future;

use tokio::sync::watch;

use crate::{Code, Error, Result};

/// A piece of work that several callers wait for. It goes on when they give up.
#[derive(Clone)]
pub(crate) struct Flight<T>(watch::Receiver<Option<Result<T>>>);

impl<T: Clone + Send + Sync + 'static> Flight<T> {
    pub fn take_off(work: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        let (sender, receiver) = watch::channel(None);
        tokio::spawn(async move { sender.send_replace(Some(work.await)) });
        Self(receiver)
    }

    pub fn is_over(&self) -> bool {
        self.0.borrow().is_some() || self.0.has_changed().is_err()
    }

    pub async fn wait(mut self) -> Result<T> {
        // The sender is gone without a result if the work panicked or its runtime was shut down.
        let landed = self.0.wait_for(Option::is_some).await.ok().and_then(|result| result.clone());
        landed.unwrap_or_else(|| {
            Err(Error::new(Code::NetworkError, "the work that was waited for did not end"))
        })
    }
}
