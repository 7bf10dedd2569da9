//! Pooled connections that notice when the server went away in between.

use diesel::ConnectionError;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{self, HandleError, ManageConnection, R2D2Connection};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// An unused connection is trusted for this long.
const TRUSTED: Duration = Duration::from_secs(10);

/// From this use of a connection on, its plans are made anew whenever the number of its uses has doubled.
const NEW_PLANS: u32 = 64;

/// Errors that diesel has no word for are told by their text, and only a server may choose its
/// language: by its own settings, or by `GRANT SET ON PARAMETER lc_messages`. One that lets us not
/// stays as it is.
const SPEAK_ENGLISH: &str = "DO $$ BEGIN PERFORM set_config('lc_messages', 'C', false); \
                             EXCEPTION WHEN insufficient_privilege THEN NULL; END $$";

pub(crate) fn speak_english(conn: &mut PgConnection) {
    // A connection that fails at this will tell whoever uses it.
    let _ = conn.batch_execute(SPEAK_ENGLISH);
}

pub(crate) type Links = r2d2::Pool<Manager>;

/// How often a server turned out to be read-only. What was opened before the last time may lead to it and is
/// not used any more, in any pool of the process: what such a server says of keys and sessions is out of date.
#[derive(Default)]
pub(crate) struct Epoch(AtomicU64);

impl Epoch {
    fn now(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Ends it, unless somebody else has.
    fn end(&self, of: u64) {
        if self.0.compare_exchange(of, of + 1, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            tracing::warn!("PostgreSQL is read-only; every connection to it is opened again");
        }
    }
}

/// A connection, and when it was last known to work.
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

    /// Tells the pool to throw the connection away: diesel does not notice every loss by itself.
    pub(crate) const fn mark_lost(&mut self) {
        self.lost = true;
    }

    /// The server takes no writes: tells every pool of the process to throw its connections away.
    pub(crate) fn mark_read_only(&self) {
        self.epochs.end(self.epoch);
    }

    fn is_outdated(&self) -> bool {
        self.epoch != self.epochs.now()
    }
}

/// Opens connections and judges whether they still work.
///
/// Asking the server before every use would double the round trips of a read. So it is asked only
/// about connections that nobody used for a while, or that are older than the last one that broke:
/// after a restart of the server they are all dead.
pub(crate) struct Manager {
    url: String,
    epochs: Arc<Epoch>,
    last_break: Mutex<Option<Instant>>,
}

impl Manager {
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

impl ManageConnection for Manager {
    type Connection = Link;
    type Error = LinkError;

    fn connect(&self) -> Result<Link, LinkError> {
        // Read first: which server it leads to is decided afterwards.
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
        // Between indexes the server chooses by the size of the tables, which is soon out of date where a
        // service is new: its own look at them comes once a minute.
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

/// A connection could not be opened, or does not work any more. Names host and user at most.
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

/// Tells the log why there is no connection; callers learn only that there is none.
#[derive(Debug)]
pub(crate) struct LogFailures;

impl HandleError<LinkError> for LogFailures {
    fn handle_error(&self, cause: LinkError) {
        match cause {
            // Said once for all of them.
            LinkError::Outdated => tracing::debug!(%cause, "a connection is dropped"),
            cause => tracing::warn!(%cause, "no connection to PostgreSQL"),
        }
    }
}
