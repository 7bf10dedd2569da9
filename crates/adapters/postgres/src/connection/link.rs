//! Pooled connections that detect a server that went away.

use diesel::ConnectionError;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{self, HandleError, ManageConnection, R2D2Connection};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A connection that was used within this time is not tested again.
const TRUSTED: Duration = Duration::from_secs(10);

/// Number of uses at which a connection first discards its plans. It discards them again each time
/// the number of uses has doubled.
const NEW_PLANS: u32 = 64;

/// diesel does not classify some errors, so their text decides, and only the server sets its
/// language: by its own settings, or by `GRANT SET ON PARAMETER lc_messages`. A server that does
/// not let us set the language keeps its own.
const SPEAK_ENGLISH: &str = "DO $$ BEGIN PERFORM set_config('lc_messages', 'C', false); \
                             EXCEPTION WHEN insufficient_privilege THEN NULL; END $$";

pub(crate) fn speak_english(conn: &mut PgConnection) {
    // If this fails, the next statement on the connection reports the error.
    let _ = conn.batch_execute(SPEAK_ENGLISH);
}

pub(crate) type Links = r2d2::Pool<LinkManager>;

/// Number of times that a server turned out to be read-only. A connection that was opened in an
/// earlier epoch may lead to that server, and no pool of the process uses it any more: its keys and
/// sessions are out of date.
#[derive(Default)]
pub(crate) struct Epoch(AtomicU64);

impl Epoch {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Ends this epoch, unless another connection already ended it.
    fn end(&self, of: u64) {
        if self.0.compare_exchange(of, of + 1, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            tracing::warn!("PostgreSQL is read-only; every connection to it is opened again");
        }
    }
}

/// A connection, and the time at which it last worked.
pub(crate) struct Link {
    conn: PgConnection,
    epoch: u64,
    epochs: Arc<Epoch>,
    proved_at: Instant,
    uses: u32,
    lost: bool,
}

impl Link {
    pub(crate) const fn connection(&mut self) -> &mut PgConnection {
        &mut self.conn
    }

    /// Tells the pool to drop the connection. diesel does not notice every loss by itself.
    pub(crate) const fn mark_lost(&mut self) {
        self.lost = true;
    }

    /// Tells every pool of the process to drop its connections, because the server accepts no
    /// writes.
    pub(crate) fn mark_read_only(&self) {
        self.epochs.end(self.epoch);
    }

    fn is_outdated(&self) -> bool {
        self.epoch != self.epochs.now()
    }
}

/// Opens connections and judges whether they still work.
///
/// Asking the server before every use would double the round trips of a read. So only connections
/// that were idle for a while, or are older than the last one that broke, are tested: after a
/// restart of the server all of them are dead.
pub(crate) struct LinkManager {
    url: String,
    epochs: Arc<Epoch>,
    last_break: Mutex<Option<Instant>>,
}

impl LinkManager {
    pub(crate) const fn new(url: String, epochs: Arc<Epoch>) -> Self {
        Self { url, epochs, last_break: Mutex::new(None) }
    }

    fn note_break(&self) {
        let mut last = self.last_break.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Some(Instant::now());
    }

    fn trusts(&self, link: &Link) -> bool {
        let last_break = *self.last_break.lock().unwrap_or_else(PoisonError::into_inner);
        link.proved_at.elapsed() < TRUSTED && last_break.is_none_or(|at| link.proved_at > at)
    }
}

impl ManageConnection for LinkManager {
    type Connection = Link;
    type Error = LinkError;

    fn connect(&self) -> Result<Link, LinkError> {
        // Read the epoch before connecting, because the choice of the server happens during the
        // connect.
        let (epoch, epochs) = (self.epochs.now(), Arc::clone(&self.epochs));
        let mut conn = PgConnection::establish(&self.url).map_err(LinkError::Connect)?;
        speak_english(&mut conn);
        Ok(Link { conn, epoch, epochs, proved_at: Instant::now(), uses: 0, lost: false })
    }

    fn is_valid(&self, link: &mut Link) -> Result<(), LinkError> {
        if link.is_outdated() {
            return Err(LinkError::Outdated);
        }
        if !self.trusts(link) {
            link.conn.ping().map_err(|cause| {
                self.note_break();
                LinkError::Ping(cause)
            })?;
            link.proved_at = Instant::now();
        }
        link.uses = link.uses.saturating_add(1);
        // The server chooses between indexes by the size of the tables. In a new service that
        // estimate is soon out of date, since the server updates it only once a minute.
        if link.uses >= NEW_PLANS && link.uses.is_power_of_two() {
            link.conn.batch_execute("DISCARD PLANS").map_err(LinkError::Ping)?;
        }
        Ok(())
    }

    fn has_broken(&self, link: &mut Link) -> bool {
        let broken = link.lost || std::thread::panicking() || link.conn.is_broken();
        if broken {
            self.note_break();
        } else {
            link.proved_at = Instant::now();
        }
        broken || link.is_outdated()
    }
}

/// A connection could not be opened, or no longer works. The message names host and user at most.
#[derive(Debug)]
pub(crate) enum LinkError {
    Outdated,
    Connect(ConnectionError),
    Ping(diesel::result::Error),
}

impl fmt::Display for LinkError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outdated => out.write_str("the server that it leads to may be read-only"),
            Self::Connect(cause) => cause.fmt(out),
            Self::Ping(cause) => cause.fmt(out),
        }
    }
}

impl std::error::Error for LinkError {}

/// How long the same reason why a pool has no connection is not logged again.
const LOGGED: Duration = Duration::from_secs(30);

/// Logs why there is no connection. Callers learn only that there is none.
#[derive(Debug, Default)]
pub(crate) struct LogFailures {
    last: Mutex<Option<(Instant, String)>>,
}

impl LogFailures {
    /// Whether this reason was logged a moment ago: a pool tries again and again.
    fn was_logged(&self, cause: &LinkError) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let text = cause.to_string();
        let logged = last.as_ref().is_some_and(|(at, told)| at.elapsed() < LOGGED && *told == text);
        if !logged {
            *last = Some((Instant::now(), text));
        }
        logged
    }
}

impl HandleError<LinkError> for LogFailures {
    fn handle_error(&self, cause: LinkError) {
        match cause {
            // [`Epoch::end`] logs this once for all connections.
            LinkError::Outdated => tracing::debug!(%cause, "a connection is dropped"),
            cause if self.was_logged(&cause) => {
                tracing::debug!(%cause, "still no connection to PostgreSQL");
            }
            cause => tracing::warn!(%cause, "no connection to PostgreSQL"),
        }
    }
}
