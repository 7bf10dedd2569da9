//! Metrics that only the database knows, read in the background.

use super::super::stores::Database;
use dwar_activity::installation::{Backlog, QueueStore, Queues};
use dwar_app::CommonPorts;
use dwar_kernel::{StoreError, Timestamp};
use dwar_metrics::Database as Shown;
use dwar_session::{SigningKey, SigningKeyStore};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// Longest time of a read. A slower read fails, and the previous values stay.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most endpoints whose events are counted, the longest-waiting first.
const ENDPOINTS: u32 = 1_000;
const BACKLOGS: [&str; 5] = ["receipts", "events", "overdue_sends", "open_holds", "feed"];

/// Reads the database periodically, so that a scrape does not query it.
pub struct DatabaseFigures {
    tools: CommonPorts,
    keys: Arc<dyn SigningKeyStore>,
    queues: Arc<dyn QueueStore>,
    database: Arc<dyn Database>,
    known: Mutex<Known>,
}

/// The values, as of `at`.
struct Known {
    at: Timestamp,
    queues: Queues,
    signs_since: Option<Timestamp>,
    has_room: bool,
    free: Option<u64>,
    failures: u64,
}

impl DatabaseFigures {
    pub fn new(
        tools: CommonPorts,
        keys: Arc<dyn SigningKeyStore>,
        queues: Arc<dyn QueueStore>,
        database: Arc<dyn Database>,
    ) -> Self {
        let known = Known {
            at: tools.now(),
            queues: Queues::default(),
            signs_since: None,
            has_room: true,
            free: None,
            failures: 0,
        };
        Self { tools, keys, queues, database, known: Mutex::new(known) }
    }

    pub async fn read(&self) -> Result<(), StoreError> {
        let read = timeout(PATIENCE, self.ask()).await;
        let late = || StoreError::Unavailable("it took too long".into());
        let read = read.unwrap_or_else(|_| Err(late()));
        read.inspect_err(|_| self.known().failures += 1)
    }

    async fn ask(&self) -> Result<(), StoreError> {
        let now = self.tools.now();
        let queues = self.queues.queues(now, ENDPOINTS).await?;
        let keys = self.keys.keys(now).await?;
        let (has_room, free) = match self.database.room().await {
            Ok(free) => (true, free),
            Err(StoreError::NoRoom) => (false, None),
            Err(cause) => return Err(cause),
        };
        let signs_since = SigningKey::active(&keys, now).map(|key| key.signs_from);
        let mut known = self.known();
        *known = Known { at: now, queues, signs_since, has_room, free, failures: known.failures };
        Ok(())
    }

    /// The last values that were read. Ages are counted to the present.
    pub fn shown(&self) -> Shown {
        let now = self.tools.now();
        let since = |instant: Timestamp| (now - instant).to_std().unwrap_or_default();
        let known = self.known();
        let events = known.queues.events.values().copied();
        let all = [
            known.queues.receipts,
            events.fold(Backlog::default(), Backlog::and),
            known.queues.overdue_sends,
            known.queues.open_holds,
            known.queues.feed,
        ];
        let backlogs = BACKLOGS.into_iter().zip(all).map(|(name, backlog)| {
            (name, backlog.count, backlog.oldest.map(since).unwrap_or_default())
        });
        Shown {
            backlogs: backlogs.collect(),
            signing_key_age: known.signs_since.map(since),
            free_bytes: known.free,
            has_room: known.has_room,
            age: since(known.at),
            failures: known.failures,
        }
    }

    /// This code does not panic; if it did, the last values would still be valid.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
