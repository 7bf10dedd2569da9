//! Remembers look-ups of sessions while nothing is written.

use crate::connection::command::data_version;
use diesel::SqliteConnection;
use dwar_kernel::{Digest, SessionId};
use dwar_session::KeyAndSession;
use quick_cache::sync::Cache;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Most look-ups that are remembered: some 400 bytes each.
const MOST: usize = 50_000;
/// Length of the WAL-index header, of which SQLite keeps two copies (sqlite.org/walformat.html,
/// 2.1).
const HEADER: usize = 48;

/// The remembered answers that a write may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutdatedLookUps {
    Anything,
    /// This session; no key.
    Session(SessionId),
    /// No key and no existing session.
    NoLookUp,
}

/// Identifies the content of the database at the time of reading. It differs after each commit of
/// any process, before that commit is acknowledged.
///
/// This is the header by which SQLite itself tells a new reader what it may see. It is in the
/// `-shm` file, which every process maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileSnapshot([u8; HEADER]);

/// Answers look-ups from memory, if the database would give the same answer now.
///
/// An answer is valid while the database is in the state of the look-up, or only writes of this
/// process followed, none of which [`OutdatedLookUps`] it. A write of another process, such as the command
/// line, invalidates every answer.
pub(crate) struct LookUpCache {
    /// Never closed: SQLite's locks on this file belong to the process, and closing any descriptor
    /// of the file would drop the locks of connections that are still open (fcntl(2), record
    /// locks).
    index: ManuallyDrop<File>,
    state: RwLock<State>,
    known: Cache<SessionId, Arc<CachedLookUp>>,
}

#[derive(Default)]
struct State {
    /// The state of the database for which the remembered answers are valid.
    snapshot: Option<FileSnapshot>,
    /// Incremented to invalidate all answers of earlier ages.
    age: u64,
    /// Whether this process's writer has a transaction open or is about to report its changes.
    writing: bool,
    /// The writer's [`data_version`] at its last report.
    version: Option<i32>,
}

struct CachedLookUp {
    key: Digest,
    age: u64,
    caller: KeyAndSession,
}

impl LookUpCache {
    /// Watches a database in WAL mode that this process has open and has read; `None` if its
    /// WAL-index cannot be read from outside, so that every look-up has to query.
    pub(crate) fn of(database: &Path) -> Option<Self> {
        let mut path = database.canonicalize().ok()?.into_os_string();
        path.push("-shm");
        let index = ManuallyDrop::new(File::open(path).ok()?);
        let remembered = Self { index, state: RwLock::default(), known: Cache::new(MOST) };
        remembered.snapshot().map(|_| remembered)
    }

    /// The state of the database; `None` while it changes.
    fn snapshot(&self) -> Option<FileSnapshot> {
        let mut copies = [0; 2 * HEADER];
        self.index.read_exact_at(&mut copies, 0).ok()?;
        let (first, second) = copies.split_at(HEADER);
        let is_initialised = first[12] == 1;
        (is_initialised && first == second)
            .then(|| first.try_into().ok().map(FileSnapshot))
            .flatten()
    }

    /// The remembered answer, or else the state of the database before the look-up.
    pub(crate) fn find(
        &self,
        key: Digest,
        session: SessionId,
    ) -> Result<KeyAndSession, Option<FileSnapshot>> {
        let Some(snapshot) = self.snapshot() else { return Err(None) };
        let (known_snapshot, age) = {
            let state = self.read();
            (state.snapshot, state.age)
        };
        if known_snapshot != Some(snapshot) {
            self.move_on();
            return Err(Some(snapshot));
        }
        let known = self.known.get(&session);
        let known = known.filter(|known| known.age == age && known.key == key);
        known.map(|known| known.caller.clone()).ok_or(Some(snapshot))
    }

    /// Remembers an answer that was read after `snapshot`, if the database is still in that state.
    pub(crate) fn keep(&self, snapshot: Option<FileSnapshot>, key: Digest, caller: &KeyAndSession) {
        let Some(session) = &caller.session else { return };
        // The lock is held until the answer is stored, so that none of our writes comes between.
        let state = self.read();
        if snapshot.is_some() && state.snapshot == snapshot {
            let known = CachedLookUp { key, age: state.age, caller: caller.clone() };
            self.known.insert(session.id, Arc::new(known));
        }
    }

    /// The writer is about to write; [`Self::end`] will report what.
    pub(crate) fn begin(&self) {
        self.write().writing = true;
    }

    /// The writer has committed these `changes` and has answered none of its callers yet.
    ///
    /// Keeps the unchanged answers if no other process has written since the last call.
    pub(crate) fn end(
        &self,
        connection: &mut SqliteConnection,
        changes: impl IntoIterator<Item = OutdatedLookUps>,
    ) {
        // A write of another process after the snapshot was read shows in this version or in the
        // next.
        let snapshot = self.snapshot();
        let version = (!self.known.is_empty()).then(|| data_version(connection).ok()).flatten();
        let mut state = self.write();
        let alone = version.is_some() && state.version == version;
        state.version = version;
        state.writing = false;
        if !alone || snapshot.is_none() {
            // A write between the two readings would show in neither of them later.
            return state.move_to(self.snapshot());
        }
        if state.snapshot == snapshot {
            return;
        }
        for changes in changes {
            match changes {
                OutdatedLookUps::Anything => state.age += 1,
                OutdatedLookUps::Session(session) => drop(self.known.remove(&session)),
                OutdatedLookUps::NoLookUp => {}
            }
        }
        state.snapshot = snapshot;
    }

    pub(crate) fn forget(&self) {
        let mut state = self.write();
        (state.writing, state.version) = (false, None);
        state.move_to(None);
    }

    /// The database is in another state: another process has written, or our writer, which will
    /// report its changes.
    fn move_on(&self) {
        let mut state = self.write();
        if !state.writing {
            // Read again, because the state only advances under the lock.
            state.move_to(self.snapshot());
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Remembered answers are valid only for the state in which they were read.
    fn move_to(&mut self, snapshot: Option<FileSnapshot>) {
        if self.snapshot.is_none() || self.snapshot != snapshot {
            self.snapshot = snapshot;
            self.age += 1;
        }
    }
}

#[cfg(test)]
impl LookUpCache {
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
#[path = "look_up_cache_tests.rs"]
mod tests;
