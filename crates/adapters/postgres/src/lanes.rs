//! Who may wait for one hot row at a time.

use crate::error::unavailable;
use dwar_kernel::{ProjectId, StoreError};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// One has the row, and one is there already when it is let go.
const WIDTH: usize = 2;
/// Projects share a lane where their ids fall on the same one.
const LANES: usize = 1024;

/// Lets two at a time go to the row of a project.
///
/// More would wait for it in the database, each with a connection that others need, and each wait and
/// wake-up there has its price (docs/adr/0041-what-a-write-pays-for.md). They queue here instead, in order.
pub(crate) struct Lanes {
    lanes: Vec<Arc<Semaphore>>,
    hasher: RandomState,
    patience: Duration,
}

impl Lanes {
    /// Lanes in which nobody waits longer than this.
    pub(crate) fn new(patience: Duration) -> Self {
        let lanes = (0..LANES).map(|_| Arc::new(Semaphore::new(WIDTH))).collect();
        Self { lanes, hasher: RandomState::new(), patience }
    }

    /// A place in the project's lane, until it is dropped.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if none is free in time.
    pub(crate) async fn enter(
        &self,
        project: ProjectId,
    ) -> Result<OwnedSemaphorePermit, StoreError> {
        let lane = usize::try_from(self.hasher.hash_one(project)).unwrap_or(usize::MAX) % LANES;
        let Some(lane) = self.lanes.get(lane) else { return Err(unavailable("no lane")) };
        match tokio::time::timeout(self.patience, Arc::clone(lane).acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(unavailable("too many wait for one wallet")),
        }
    }
}
