//! The people that the requests are about.

use super::asking::ask_all;
use super::endpoint::Endpoint;
use super::fill::{identities, requests};
use crate::Outcome;
use crate::contestant::{Contestant, Running};
use crate::dialect::{Dialect, Session, e164};
use crate::provider::Provider;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

/// One in this many codes is for a person from before the fill.
const KNOWN: usize = 8;

/// A person with a session.
#[derive(Clone)]
struct Person {
    phone: String,
    identity: String,
    session: Session,
}

/// The people of one database that requests are about.
pub struct Crowd {
    dialect: Dialect,
    provider: Provider,
    phones: AtomicU32,
    /// People from before the fill, whose sessions are scattered among those of the fill.
    people: Vec<Person>,
    /// People who signed up since, with the last codes.
    new: Vec<Person>,
    /// Phones to which codes were sent, with the next guess for each.
    guesses: Vec<(String, String)>,
    /// Ids of requests and of identities, from all parts of the database.
    requests: Vec<String>,
    identities: Vec<String>,
    /// Identities that are to be deleted.
    leaving: Vec<String>,
    /// Whether those are people who logged out, instead of some of the fill.
    loses_its_own: bool,
    /// How often each list was used, so that turns take different parts.
    turn: usize,
    /// Number of concurrent connections.
    connections: usize,
}

impl Crowd {
    pub fn new(dialect: Dialect, provider: Provider, connections: usize) -> Self {
        Self {
            dialect,
            provider,
            phones: AtomicU32::default(),
            people: Vec::new(),
            new: Vec::new(),
            guesses: Vec::new(),
            requests: Vec::new(),
            identities: Vec::new(),
            leaving: Vec::new(),
            loses_its_own: true,
            turn: 0,
            connections,
        }
    }

    /// Makes this many people get a code, get another one, and log in with it.
    pub fn sign_up(&mut self, running: &Running<'_>, count: usize) -> Outcome<()> {
        let phones: Vec<String> = (0..count).map(|_| self.phone()).collect();
        let sends: Vec<_> = phones.iter().map(|phone| self.dialect.send(phone)).collect();
        for _ in 0..2 {
            ask_all(running, &sends, &["200"], self.connections)?;
        }
        self.guesses = self.codes(phones)?;
        self.log_in(running)?;
        self.people = shuffled(std::mem::take(&mut self.new));
        Ok(())
    }

    /// Reads ids of the fill: enough for this many requests of each kind.
    pub fn meet_many(&mut self, side: &Contestant, count: usize) -> Outcome<()> {
        self.requests = shuffled(requests(side, count)?);
        let mut found = shuffled(identities(side, 2 * count)?);
        found.retain(|id| self.people.iter().all(|person| person.identity != *id));
        self.leaving = found.split_off(found.len() / 2);
        self.identities = found;
        self.loses_its_own = false;
        Ok(())
    }

    /// Reads the remaining ids in a database without a fill.
    pub fn meet_few(&mut self, side: &Contestant, count: usize) -> Outcome<()> {
        if self.loses_its_own {
            self.requests = shuffled(requests(side, count)?);
            self.identities = self.people.iter().map(|person| person.identity.clone()).collect();
        }
        Ok(())
    }

    /// An unused number.
    pub fn phone(&self) -> String {
        format!("98{:08}", self.phones.fetch_add(1, Ordering::Relaxed))
    }

    /// A request for a code.
    pub fn send(&self) -> Vec<u8> {
        self.dialect.send(&self.phone())
    }

    /// Requests that validate each session from before the fill.
    pub fn validations(&self) -> Vec<Vec<u8>> {
        let sessions = self.people.iter().map(|person| &person.session.access);
        sessions.map(|access| self.dialect.validate(access)).collect()
    }

    /// Calls one endpoint this often, and returns the duration of each request in microseconds.
    pub fn ask(
        &mut self,
        running: &Running<'_>,
        endpoint: Endpoint,
        count: usize,
    ) -> Outcome<Vec<u32>> {
        self.turn += 1;
        match endpoint {
            Endpoint::Send => self.send_all(running, count),
            Endpoint::WrongCode => self.guess_wrong(running),
            Endpoint::RightCode => self.log_in(running),
            Endpoint::Status => {
                let asked = part(&self.requests, self.turn, count);
                let status = |id: &String| format!("GET /v1/otp/status/{id}");
                // Some were deleted with their identities in earlier turns.
                self.plain(running, asked.map(status), &["200", "404"])
            }
            Endpoint::Validate => {
                let all = self.validations();
                let asked: Vec<_> =
                    all.iter().cycle().take(count.max(all.len())).cloned().collect();
                self.list(running, &asked)
            }
            Endpoint::Refresh => self.refresh(running, count),
            Endpoint::Logout => self.log_out(running, count),
            Endpoint::Identity => {
                let asked = part(&self.identities, self.turn, count);
                let get = |id: &String| format!("GET /v1/identity/{id}");
                self.plain(running, asked.map(get), &["200"])
            }
            Endpoint::Delete => {
                let rest = self.leaving.len().saturating_sub(count);
                let gone = self.leaving.split_off(rest);
                let delete = |id: &String| format!("DELETE /v1/identity/{id}");
                self.plain(running, gone.iter().map(delete), &["200"])
            }
        }
    }

    fn send_all(&mut self, running: &Running<'_>, count: usize) -> Outcome<Vec<u32>> {
        let known = part(&self.people, self.turn, count / KNOWN).map(|one| one.phone.clone());
        let mut phones: Vec<String> = known.collect();
        phones.extend((phones.len()..count).map(|_| self.phone()));
        let phones = shuffled(phones);
        let sends: Vec<_> = phones.iter().map(|phone| self.dialect.send(phone)).collect();
        let micros = self.list(running, &sends)?;
        self.guesses = self.codes(phones)?;
        Ok(micros)
    }

    fn codes(&self, phones: Vec<String>) -> Outcome<Vec<(String, String)>> {
        let code = |phone: String| Ok((phone.clone(), self.provider.code(&e164(&phone))?));
        phones.into_iter().map(code).collect()
    }

    fn guess_wrong(&self, running: &Running<'_>) -> Outcome<Vec<u32>> {
        let wrong = |(phone, code): &(String, String)| {
            let first = if code.starts_with('1') { "2" } else { "1" };
            self.dialect.verify(phone, &format!("{first}{}", &code[1..]))
        };
        let guesses: Vec<_> = self.guesses.iter().map(wrong).collect();
        Ok(ask_all(running, &guesses, &["400"], self.connections)?.0)
    }

    fn log_in(&mut self, running: &Running<'_>) -> Outcome<Vec<u32>> {
        let right = |(phone, code): &(String, String)| self.dialect.verify(phone, code);
        let guesses: Vec<_> = self.guesses.iter().map(right).collect();
        let (micros, answers) = ask_all(running, &guesses, &["200"], self.connections)?;
        let shown = std::mem::take(&mut self.guesses);
        let came = shown.into_iter().zip(&answers).map(|((phone, _), answer)| {
            let identity = text(answer, "identity_id")?;
            Ok(Person { phone, identity, session: session(answer)? })
        });
        let known = |one: &Person| self.people.iter().any(|person| person.phone == one.phone);
        let came = came.filter(|one| !one.as_ref().is_ok_and(known));
        self.new = came.collect::<Outcome<_>>()?;
        Ok(micros)
    }

    fn refresh(&mut self, running: &Running<'_>, count: usize) -> Outcome<Vec<u32>> {
        let all: Vec<usize> = (0..self.people.len()).collect();
        let places: Vec<usize> = part(&all, self.turn, count.min(all.len())).copied().collect();
        let swap = |place: &usize| self.dialect.refresh(&self.people[*place].session);
        let requests = places.iter().filter_map(swap).collect::<Vec<_>>();
        let (micros, answers) = ask_all(running, &requests, &["200"], self.connections)?;
        for (place, answer) in places.into_iter().zip(&answers) {
            self.people[place].session = session(answer)?;
        }
        Ok(micros)
    }

    /// Some of them are from before the fill, the others signed up with the last codes.
    fn log_out(&mut self, running: &Running<'_>, count: usize) -> Outcome<Vec<u32>> {
        let new = std::mem::take(&mut self.new);
        let rest = self.people.len().saturating_sub(count.saturating_sub(new.len()));
        let mut gone = self.people.split_off(rest);
        gone.extend(new);
        let gone = shuffled(gone);
        let lines = gone.iter().map(|person| {
            let body = json!({ "access_token": person.session.access }).to_string();
            ("POST /v1/session/logout".to_owned(), body)
        });
        let requests = self.ours(lines)?;
        if self.loses_its_own {
            self.leaving.extend(gone.iter().map(|person| person.identity.clone()));
            self.identities = self.people.iter().map(|person| person.identity.clone()).collect();
        }
        self.list(running, &requests)
    }

    fn plain(
        &self,
        running: &Running<'_>,
        lines: impl Iterator<Item = String>,
        wanted: &[&str],
    ) -> Outcome<Vec<u32>> {
        let requests = self.ours(lines.map(|line| (line, String::new())))?;
        Ok(ask_all(running, &requests, wanted, self.connections)?.0)
    }

    fn ours(&self, lines: impl Iterator<Item = (String, String)>) -> Outcome<Vec<Vec<u8>>> {
        lines.map(|(line, body)| self.dialect.ours(&line, &body)).collect()
    }

    fn list(&self, running: &Running<'_>, requests: &[Vec<u8>]) -> Outcome<Vec<u32>> {
        Ok(ask_all(running, requests, &["200"], self.connections)?.0)
    }
}

/// This many elements of a list, from another place on in each turn.
fn part<T>(list: &[T], turn: usize, count: usize) -> impl Iterator<Item = &T> {
    let start = (turn * count).checked_rem(list.len()).unwrap_or_default();
    list.iter().cycle().skip(start).take(count)
}

/// In a shuffled order, the same in every run.
fn shuffled<T>(mut list: Vec<T>) -> Vec<T> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for last in (1..list.len()).rev() {
        // Marsaglia's xorshift, because nothing here has to be unpredictable.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        list.swap(last, usize::try_from(state % (last as u64 + 1)).unwrap_or_default());
    }
    list
}

fn text(answer: &[u8], field: &str) -> Outcome<String> {
    let body: Value = serde_json::from_slice(answer)?;
    Ok(body[field].as_str().ok_or_else(|| format!("no {field} in {body}"))?.to_owned())
}

fn session(answer: &[u8]) -> Outcome<Session> {
    let refresh = Some(text(answer, "refresh_token")?);
    Ok(Session { access: text(answer, "access_token")?, refresh })
}
