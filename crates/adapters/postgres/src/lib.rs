//! Implements every store port on PostgreSQL.
//!
//! Every rule lives in the domain. A step that a request waits for reads, lets the aggregate
//! decide, and writes with one statement that does nothing if the rows have changed since
//! (docs/adr/0021). Other steps lock and load, let the aggregate decide and store the result, in
//! one transaction at READ COMMITTED.

#[macro_use]
mod connection;
#[macro_use]
mod dialect;
mod activity;
mod caller;
mod charge;
mod closing;
mod event;
mod figures_statements;
mod guard_statements;
mod idempotency;
mod instance;
mod key_use;
#[macro_use]
mod otp;
mod login;
#[path = "../../sql/ports/mod.rs"]
mod ports;
mod project;
mod quota_lease;
mod receipt;
mod search;
mod send_limiter;
mod send_log;
mod session;
mod test_quota;
mod wallet;

pub use connection::error::InvalidUrl;
pub use connection::settings::Settings;
pub use connection::url::PostgresUrl;

use caller::{KeyAndSessionLookUp, KeyLookUp};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_turns::Load;

use connection::link::{Epoch, LinkManager};
use connection::look_up::LookUps;
use connection::pool::Pool;
use connection::project_queue::ProjectQueue;
use login::{GuessStep, ReportStep, SendStep};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Implements every store port on one PostgreSQL database. Clones share the connections.
#[derive(Clone)]
pub struct PostgresStore {
    pool: Pool,
    shared: Arc<Shared>,
}

struct Shared {
    callers: LookUps<KeyLookUp>,
    seekers: LookUps<KeyAndSessionLookUp>,
    sends: ProjectQueue<SendStep>,
    reports: ProjectQueue<ReportStep>,
    guesses: ProjectQueue<GuessStep>,
    /// Number of instances at this instance's last heartbeat, including this one.
    instances: Arc<AtomicU32>,
    direct_url: String,
    /// The expected settings of each session.
    expected: Vec<(&'static str, String)>,
}

impl PostgresStore {
    /// Makes a store that connects on demand: the server need not be up yet.
    ///
    /// # Errors
    /// [`InvalidUrl`] if no connection could ever result from the settings.
    pub fn connect(settings: Settings) -> Result<Self, InvalidUrl> {
        let (url, direct_url) = (settings.connection_url()?, settings.direct()?);
        let epochs = Arc::<Epoch>::default();
        let manager = || LinkManager::new(url.clone(), Arc::clone(&epochs));
        let pool = Pool::new(&settings, manager());
        let instances = Arc::new(AtomicU32::new(1));
        let (doubts, all) = (pool.doubts(), Arc::clone(&instances));
        let patience = settings.acquire_timeout + settings.call_timeout;
        let shared = Shared {
            callers: LookUps::start(&settings, manager(), doubts, Arc::clone(&all)),
            seekers: LookUps::start(&settings, manager(), doubts, all),
            sends: ProjectQueue::new(pool.clone(), patience),
            reports: ProjectQueue::new(pool.clone(), patience),
            guesses: ProjectQueue::new(pool.clone(), patience),
            instances,
            direct_url,
            expected: settings.expected(),
        };
        Ok(Self { pool, shared: Arc::new(shared) })
    }

    /// Checks that the database answers, in bounded time.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.pool
            .run("ping", |conn| {
                diesel::sql_query("SELECT 1").execute(conn)?;
                Ok(())
            })
            .await
    }

    /// Checks that the server has disk space, with a write that leaves nothing behind. Asks the
    /// server the first time and whenever there is doubt. The result is `None`, because only the
    /// server knows its free bytes.
    ///
    /// # Errors
    /// [`StoreError::NoRoom`] if it has none, [`StoreError::Unavailable`] if it does not answer.
    pub async fn room(&self) -> Result<Option<u64>, StoreError> {
        self.pool.room().await.map(|()| None)
    }

    /// Tells whether the server, or the pooler in front of it, accepts no writes.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] if it does not answer.
    pub async fn is_read_only(&self) -> Result<bool, StoreError> {
        self.read("pool.is_read_only", |conn| {
            let told = diesel::dsl::sql::<diesel::sql_types::Bool>(
                "current_setting('transaction_read_only') = 'on'",
            );
            Ok(diesel::select(told).get_result(conn)?)
        })
        .await
    }

    /// Proves that writes work by incrementing a number in a table of its own, which is committed.
    ///
    /// # Errors
    /// [`StoreError::NoRoom`] if the server has none, [`StoreError::Unavailable`] if it is read-only or does
    /// not answer.
    pub async fn prove_writable(&self) -> Result<Option<u64>, StoreError> {
        self.pool.prove_writable().await.map(|()| None)
    }

    /// Reports how the queues and connections are used, without asking the server.
    pub fn load(&self) -> Load {
        let (connections, steps) = self.pool.load();
        let Shared { callers, seekers, sends, reports, guesses, .. } = self.shared.as_ref();
        let (callers, of_callers) = callers.load();
        let (seekers, of_seekers) = seekers.load();
        Load {
            queues: vec![
                ("connections", connections),
                ("callers", callers),
                ("sessions", seekers),
                ("sends", sends.load()),
                ("reports", reports.load()),
                ("guesses", guesses.load()),
            ],
            pools: vec![("steps", steps), ("callers", of_callers), ("sessions", of_seekers)],
        }
    }
}
