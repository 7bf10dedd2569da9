//! Look-ups of sessions that need not be repeated while nothing was written.

use crate::connection::command::data_version;
use diesel::SqliteConnection;
use dwar_kernel::{Digest, SessionId};
use dwar_session::Sought;
use quick_cache::sync::Cache;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// How many look-ups are remembered at most: some 400 bytes each.
const MOST: usize = 50_000;
/// The header of the WAL-index, of which SQLite keeps two copies (sqlite.org/walformat.html, 2.1).
const HEADER: usize = 48;

/// What a write may change about an answer that is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Changes {
    Anything,
    /// This session, and no key.
    Session(SessionId),
    /// No key, and no session that was there before.
    NoLookUp,
}

/// What the database held when this was read: it is another one after each commit of whatever
/// process, before anybody is told of that commit.
///
/// This is the header by which SQLite itself tells a new reader what it may see. It lies in the
/// `-shm` file, which every process maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileSnapshot([u8; HEADER]);

/// Answers from memory what the database would answer now, or not at all.
///
/// An answer is given for as long as the database stands as it did when the answer was looked up,
/// or when only writes of this process came since, none of which [`Changes`] it. A write of another
/// process, such as the command line's, makes all be looked up again.
pub(crate) struct Remembered {
    /// Never closed: SQLite's locks on this file belong to the process, and closing any descriptor
    /// of it would drop those of connections that are still open (fcntl(2), record locks).
    index: ManuallyDrop<File>,
    state: RwLock<State>,
    known: Cache<SessionId, Arc<Known>>,
}

#[derive(Default)]
struct State {
    /// How the database stands while what is remembered is true.
    snapshot: Option<FileSnapshot>,
    /// What was remembered in an earlier age is forgotten.
    age: u64,
    /// Whether this process's writer has a transaction open or is about to tell what it wrote.
    writing: bool,
    /// The writer's [`data_version`] when it last told.
    version: Option<i32>,
}

struct Known {
    key: Digest,
    age: u64,
    sought: Sought,
}

impl Remembered {
    /// For a database in WAL mode that this process has open and read; `None` if its WAL-index
    /// cannot be read from outside, so that every look-up has to ask.
    pub(crate) fn of(database: &Path) -> Option<Self> {
        let mut path = database.canonicalize().ok()?.into_os_string();
        path.push("-shm");
        let index = ManuallyDrop::new(File::open(path).ok()?);
        let remembered = Self { index, state: RwLock::default(), known: Cache::new(MOST) };
        remembered.snapshot().map(|_| remembered)
    }

    /// How the database stands; `None` while that changes.
    fn snapshot(&self) -> Option<FileSnapshot> {
        let mut copies = [0; 2 * HEADER];
        self.index.read_exact_at(&mut copies, 0).ok()?;
        let (first, second) = copies.split_at(HEADER);
        let is_initialised = first[12] == 1;
        (is_initialised && first == second)
            .then(|| first.try_into().ok().map(FileSnapshot))
            .flatten()
    }

    /// What is remembered of this look-up, and else how the database stands before it is made.
    pub(crate) fn find(
        &self,
        key: Digest,
        session: SessionId,
    ) -> Result<Sought, Option<FileSnapshot>> {
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
        known.map(|known| known.sought.clone()).ok_or(Some(snapshot))
    }

    /// Remembers what was looked up after the database stood at `snapshot`, if it still does.
    pub(crate) fn keep(&self, snapshot: Option<FileSnapshot>, key: Digest, sought: &Sought) {
        let Some(session) = &sought.session else { return };
        // Held on to, so that no write of ours comes between.
        let state = self.read();
        if snapshot.is_some() && state.snapshot == snapshot {
            let known = Known { key, age: state.age, sought: sought.clone() };
            self.known.insert(session.id, Arc::new(known));
        }
    }

    /// The writer is about to write, and will tell what.
    pub(crate) fn begin(&self) {
        self.write().writing = true;
    }

    /// The writer has committed what `changes` this, and has told nobody yet.
    ///
    /// Keeps what is not changed if no other process has written since this was called last.
    pub(crate) fn end(
        &self,
        connection: &mut SqliteConnection,
        changes: impl IntoIterator<Item = Changes>,
    ) {
        // What comes from elsewhere after the stand was read shows in this version or in the next.
        let snapshot = self.snapshot();
        let version = (!self.known.is_empty()).then(|| data_version(connection).ok()).flatten();
        let mut state = self.write();
        let alone = version.is_some() && state.version == version;
        state.version = version;
        state.writing = false;
        if !alone || snapshot.is_none() {
            // What came between the two readings would show in neither later.
            return state.move_to(self.snapshot());
        }
        if state.snapshot == snapshot {
            return;
        }
        for changes in changes {
            match changes {
                Changes::Anything => state.age += 1,
                Changes::Session(session) => drop(self.known.remove(&session)),
                Changes::NoLookUp => {}
            }
        }
        state.snapshot = snapshot;
    }

    pub(crate) fn forget(&self) {
        let mut state = self.write();
        (state.writing, state.version) = (false, None);
        state.move_to(None);
    }

    /// The database stands elsewhere: another process has written, unless it was our writer, which
    /// will tell more.
    fn move_on(&self) {
        let mut state = self.write();
        if !state.writing {
            // Read again, since it only goes forward for whoever has the lock.
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
    /// What is remembered counts for where the database stood alone.
    fn move_to(&mut self, snapshot: Option<FileSnapshot>) {
        if self.snapshot.is_none() || self.snapshot != snapshot {
            self.snapshot = snapshot;
            self.age += 1;
        }
    }
}

#[cfg(test)]
impl Remembered {
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
#[path = "remembered_tests.rs"]
mod tests;
