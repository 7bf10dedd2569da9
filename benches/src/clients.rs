//! The clients of each phase.

use crate::Outcome;
use crate::dialect::{Dialect, Session, e164};
use crate::http::Message;
use crate::load::Client;
use crate::provider::Provider;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state that the clients of one contestant share, over all rounds.
pub struct Users {
    dialect: Dialect,
    provider: Provider,
    /// Number of used phones, so that each is used once.
    phones: AtomicU32,
    /// Phones with a code that was not entered yet.
    sent: Mutex<Vec<String>>,
    sessions: Mutex<Vec<Session>>,
}

impl Users {
    pub fn new(dialect: Dialect, provider: Provider) -> Self {
        let (sent, sessions) = (Mutex::default(), Mutex::default());
        Self { dialect, provider, phones: AtomicU32::default(), sent, sessions }
    }

    /// The API of the service.
    pub const fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// A phone that was never seen before. One after the other belongs to another series, as those of people do: the
    /// guard would take phones in sequence for a flood.
    fn phone(&self) -> String {
        let number = format!("{:08}", self.phones.fetch_add(1, Ordering::Relaxed));
        format!("98{}", number.chars().rev().collect::<String>())
    }

    /// A request about an existing session, for a server that imitates the service.
    pub fn example(&self) -> Outcome<Vec<u8>> {
        let sessions = lock(&self.sessions);
        let session = sessions.first().ok_or("nobody is logged in")?;
        Ok(self.dialect.validate(&session.access))
    }

    /// The request for the public keys, if the service has them.
    pub fn key_set(&self) -> Option<Vec<u8>> {
        self.dialect.key_set()
    }

    /// The number of sessions.
    pub fn logged_in(&self) -> usize {
        lock(&self.sessions).len()
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

fn expect(wanted: bool, answer: &Message<'_>) -> Outcome<()> {
    if wanted { Ok(()) } else { Err(answer.complaint().into()) }
}

/// Sends codes, each to a new phone.
pub struct Senders(Arc<Users>, String);

impl Senders {
    pub fn new(users: &Arc<Users>) -> Self {
        Self(Arc::clone(users), String::new())
    }
}

impl Client for Senders {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        self.1 = self.0.phone();
        request.extend(self.0.dialect.send(&self.1));
        Ok(true)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        expect(answer.status() == "200", answer)?;
        lock(&self.0.sent).push(self.1.clone());
        Ok(())
    }
}

/// Enters the codes that senders had sent, until there are none left.
pub struct Verifiers(pub Arc<Users>);

impl Client for Verifiers {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        let Some(phone) = lock(&self.0.sent).pop() else { return Ok(false) };
        let code = self.0.provider.code(&e164(&phone))?;
        request.extend(self.0.dialect.verify(&phone, &code));
        Ok(true)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        expect(answer.status() == "200", answer)?;
        let session = self.0.dialect.session(answer)?;
        lock(&self.0.sessions).push(session);
        Ok(())
    }
}

/// Logs in with new phones: sends a code, then enters it.
pub struct LogIns {
    users: Arc<Users>,
    phone: String,
    /// Whether the next step is to enter the code.
    sent: bool,
    /// The clients stop at this number of sessions.
    most: usize,
}

impl LogIns {
    pub fn new(users: &Arc<Users>, most: usize) -> Self {
        Self { users: Arc::clone(users), phone: String::new(), sent: false, most }
    }
}

impl Client for LogIns {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        let Users { dialect, provider, .. } = self.users.as_ref();
        if self.sent {
            let code = provider.code(&e164(&self.phone))?;
            request.extend(dialect.verify(&self.phone, &code));
            return Ok(true);
        }
        self.phone = self.users.phone();
        request.extend(dialect.send(&self.phone));
        Ok(self.users.logged_in() < self.most)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        expect(answer.status() == "200", answer)?;
        if self.sent {
            let session = self.users.dialect.session(answer)?;
            lock(&self.users.sessions).push(session);
        }
        self.sent = !self.sent;
        Ok(())
    }
}

/// Validates sessions: one in a hundred is invalid.
pub struct Validators {
    users: Arc<Users>,
    /// Requests, and whether the answer to each is to be yes.
    requests: Arc<Vec<(Vec<u8>, bool)>>,
    next: usize,
    /// Whether the service answers, or the floor, which always says yes.
    real: bool,
}

impl Validators {
    /// This many clients, which validate at most `most` sessions, each beginning with another one.
    pub fn new(users: &Arc<Users>, most: usize, count: usize, real: bool) -> Vec<Self> {
        let sessions = lock(&users.sessions);
        let asked = sessions.iter().take(most).cycle().take(sessions.len().clamp(1, most).max(100));
        let requests = asked.enumerate().map(|(place, session)| match place % 100 {
            99 => (users.dialect.validate(&spoilt(&session.access)), false),
            _ => (users.dialect.validate(&session.access), true),
        });
        let requests = Arc::new(requests.collect::<Vec<_>>());
        let one = |place: usize| {
            let (users, requests) = (Arc::clone(users), Arc::clone(&requests));
            Self { users, next: place * requests.len() / count, requests, real }
        };
        (0..count).map(one).collect()
    }
}

/// Changes a character within the signature, which is at the end for both services.
fn spoilt(token: &str) -> String {
    let mut token = token.as_bytes().to_vec();
    let place = token.len().saturating_sub(20);
    if let Some(byte) = token.get_mut(place) {
        *byte = if *byte == b'A' { b'B' } else { b'A' };
    }
    String::from_utf8_lossy(&token).into_owned()
}

impl Client for Validators {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        self.next = (self.next + 1) % self.requests.len();
        request.extend_from_slice(&self.requests[self.next].0);
        Ok(true)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        let wanted = self.requests[self.next].1;
        expect(!self.real || self.users.dialect.is_valid(answer) == wanted, answer)
    }
}

/// Exchanges one token pair after another.
pub struct Refreshers {
    users: Arc<Users>,
    session: Session,
}

impl Refreshers {
    /// At most this many clients, each with a session that nobody else uses from here on.
    pub fn new(users: &Arc<Users>, count: usize) -> Vec<Self> {
        let mut sessions = lock(&users.sessions);
        let rest = sessions.len().saturating_sub(count);
        let own = sessions.split_off(rest);
        own.into_iter().map(|session| Self { users: Arc::clone(users), session }).collect()
    }
}

impl Client for Refreshers {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        let asked = self.users.dialect.refresh(&self.session);
        request.extend(asked.ok_or("nothing to refresh")?);
        Ok(true)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        expect(answer.status() == "200", answer)?;
        self.session = self.users.dialect.session(answer)?;
        Ok(())
    }
}

/// Ends the newest sessions, until `left` remain.
pub struct LogOuts {
    users: Arc<Users>,
    left: usize,
}

impl LogOuts {
    pub fn new(users: &Arc<Users>, left: usize) -> Self {
        Self { users: Arc::clone(users), left }
    }
}

impl Client for LogOuts {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        let mut sessions = lock(&self.users.sessions);
        let newest = if sessions.len() > self.left { sessions.pop() } else { None };
        let Some(session) = newest else { return Ok(false) };
        request.extend(self.users.dialect.logout(&session.access));
        Ok(true)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        expect(answer.status() == "200", answer)
    }
}

/// Reads the public keys.
pub struct Readers(pub Vec<u8>);

impl Client for Readers {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        request.extend_from_slice(&self.0);
        Ok(true)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        expect(answer.status() == "200", answer)
    }
}
