//! Pooled connections that notice when the server went away in between.

use diesel::ConnectionError;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::r2d2::{self, HandleError, ManageConnection, R2D2Connection};
use std::fmt;
use std::sync::{Mutex, PoisonError};
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

pub(crate) type Links = r2d2::Pool<Manager>;

/// A connection, and when it was last known to work.
pub(crate) struct Link {
    conn: PgConnection,
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
}

/// Opens connections and judges whether they still work.
///
/// Asking the server before every use would double the round trips of a read. So it is asked only
/// about connections that nobody used for a while, or that are older than the last one that broke:
/// after a restart of the server they are all dead.
pub(crate) struct Manager {
    url: String,
    last_break: Mutex<Option<Instant>>,
}

impl Manager {
    pub(crate) const fn new(url: String) -> Self {
        Self { url, last_break: Mutex::new(None) }
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
        let mut conn = PgConnection::establish(&self.url).map_err(LinkError::Connect)?;
        // A connection that fails at this will tell whoever uses it.
        let _ = conn.batch_execute(SPEAK_ENGLISH);
        Ok(Link { conn, proved_at: Instant::now(), uses: 0, lost: false })
    }

    fn is_valid(&self, link: &mut Link) -> Result<(), LinkError> {
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
        broken
    }
}

/// A connection could not be opened, or does not work any more. Names host and user at most.
#[derive(Debug)]
pub(crate) enum LinkError {
    Connect(ConnectionError),
    Ping(diesel::result::Error),
}

impl fmt::Display for LinkError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
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
        tracing::warn!(%cause, "no connection to PostgreSQL");
    }
}
