//! The state of the clients: projects and their keys, phones, sessions.

use crate::draw::Draw;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Most sessions in use; clients forget the others.
const SESSIONS: usize = 60;
/// Most ended sessions that are tried again.
const GRAVES: usize = 40;
/// Number of people who log in repeatedly.
const PEOPLE: u64 = 20;

/// Shared by all clients.
pub struct World {
    pub projects: Vec<Project>,
    phones: AtomicU64,
    sessions: Mutex<Vec<Session>>,
    graves: Mutex<Vec<Session>>,
}

/// A project and every live key that it ever had.
pub struct Project {
    pub id: String,
    keys: Mutex<Vec<String>>,
}

/// A session with the tokens that a client has of it.
#[derive(Clone)]
pub struct Session {
    pub project: usize,
    pub id: String,
    pub identity: String,
    pub access: String,
    pub refresh: String,
    /// Pairs that were exchanged, oldest first.
    pub spent: Vec<Spent>,
}

/// A pair that was replaced.
#[derive(Clone)]
pub struct Spent {
    pub access: String,
    pub refresh: String,
    pub at: Instant,
}

impl Project {
    pub fn new(id: String, key: String) -> Self {
        Self { id, keys: Mutex::new(vec![key]) }
    }

    /// The newest key and its number.
    pub fn key(&self) -> (usize, String) {
        let keys = lock(&self.keys);
        (keys.len() - 1, keys.last().cloned().unwrap_or_default())
    }

    /// A replaced key; `None` while there is none.
    pub fn old_key(&self, draw: &mut Draw) -> Option<(usize, String)> {
        let keys = lock(&self.keys);
        let old = keys.len() - 1;
        // The last replaced one is the likeliest to be cached somewhere.
        let place = if draw.percent(70) { old.checked_sub(1)? } else { draw.place(old) };
        keys.get(place).filter(|_| old > 0).map(|key| (place, key.clone()))
    }

    /// Makes a key the newest; returns its number.
    pub fn add_key(&self, key: String) -> usize {
        let mut keys = lock(&self.keys);
        keys.push(key);
        keys.len() - 1
    }
}

impl World {
    pub fn new(projects: Vec<Project>) -> Self {
        let (phones, sessions, graves) = Default::default();
        Self { projects, phones, sessions, graves }
    }

    /// A number that was not used yet.
    pub fn fresh_phone(&self) -> String {
        let count = self.phones.fetch_add(1, Ordering::Relaxed);
        // Steps that share no factor with the modulus.
        format!("98{:08}", (31_415_927 + count * 27_182_819) % 100_000_000)
    }

    /// The number of a person who logs in now and then; several clients may use it at once.
    pub fn somebody(&self, draw: &mut Draw) -> String {
        format!("97000000{:02}", draw.below(PEOPLE))
    }

    /// The number of a person whose codes are guessed for a while.
    pub fn victim(&self, draw: &mut Draw) -> String {
        let moves = self.phones.load(Ordering::Relaxed) / 30;
        format!("96{:08}", moves * 2 + draw.below(4))
    }

    /// A session that some client has begun; others may use it too.
    pub fn session(&self, draw: &mut Draw) -> Option<Session> {
        let sessions = lock(&self.sessions);
        sessions.get(draw.place(sessions.len())).cloned()
    }

    /// An ended session.
    pub fn grave(&self, draw: &mut Draw) -> Option<Session> {
        let graves = lock(&self.graves);
        graves.get(draw.place(graves.len())).cloned()
    }

    /// Stores a new session, or newer tokens of a known one.
    pub fn keep(&self, session: Session) {
        let mut sessions = lock(&self.sessions);
        sessions.retain(|known| known.id != session.id);
        if sessions.len() >= SESSIONS {
            sessions.remove(0);
        }
        sessions.push(session);
    }

    /// Records that a session has ended.
    pub fn bury(&self, session: &Session) {
        lock(&self.sessions).retain(|known| known.id != session.id);
        let mut graves = lock(&self.graves);
        if graves.len() >= GRAVES {
            graves.remove(0);
        }
        graves.push(session.clone());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
