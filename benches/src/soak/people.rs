//! People who log in at a given rate and use their session, however slowly the service answers.

use crate::Outcome;
use crate::dialect::{Dialect, Session, e164};
use crate::http::Message;
use crate::load::Client;
use crate::provider::Provider;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time between the answer to a send and the entry of the code, if it has arrived by then.
const TYPING: Duration = Duration::from_secs(2);
/// Pause between two checks whether the code has arrived.
const LOOKS: Duration = Duration::from_millis(100);
/// Pause between two requests of a person.
const PAUSE: Duration = Duration::from_millis(200);
/// Number of validations of a session.
const VALIDATES: u32 = 5;
/// One login in this many belongs to the second project.
const SECOND_PROJECT: u64 = 10;
/// One code in this many is entered wrong at first; one session in this many is ended.
const WRONG: u64 = 10;
const LOGOUT: u64 = 10;

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Send,
    WrongCode,
    Verify,
    Validate,
    Refresh,
    Logout,
}

impl Kind {
    pub const ALL: [Self; 6] =
        [Self::Send, Self::WrongCode, Self::Verify, Self::Validate, Self::Refresh, Self::Logout];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "send",
            Self::WrongCode => "verify, wrong code",
            Self::Verify => "verify, right code",
            Self::Validate => "validate",
            Self::Refresh => "refresh",
            Self::Logout => "logout",
        }
    }
}

/// The next request of a person.
enum Step {
    Send,
    /// With the code, once it is known.
    Guess(Option<String>),
    Validate(Session, u32),
    Refresh(Session),
    Logout(Session),
}

/// A person, by the number of the login, and their request at `due`.
struct Task {
    due: Instant,
    number: u64,
    step: Step,
}

impl PartialEq for Task {
    fn eq(&self, other: &Self) -> bool {
        (self.due, self.number) == (other.due, other.number)
    }
}
impl Eq for Task {}
impl PartialOrd for Task {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Task {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}

#[derive(Default)]
pub struct Answers {
    /// Durations by [`Kind`] in microseconds, measured from the time at which the request was due.
    pub micros: [Vec<u32>; Kind::ALL.len()],
    pub errors: u64,
    /// The text of the first error.
    pub first_error: Option<String>,
}

/// The logins and what belongs to each.
pub struct Plan {
    /// Of each project.
    pub dialects: [Dialect; 2],
    pub provider: Provider,
    /// Pause between two logins.
    pub every: Duration,
    /// Whether people do more than log in.
    pub uses_sessions: bool,
    /// Delay of requests behind their plan, in milliseconds.
    pub late_ms: Arc<AtomicU64>,
}

/// All people.
pub struct People {
    plan: Plan,
    next_login: Instant,
    logins: u64,
    tasks: BinaryHeap<Reverse<Task>>,
    answers: Answers,
}

impl People {
    /// The people from this login number on.
    pub fn new(plan: Plan, logins: u64) -> Self {
        let (next_login, tasks, answers) = (Instant::now(), BinaryHeap::new(), Answers::default());
        Self { plan, next_login, logins, tasks, answers }
    }

    /// The answers, and the number of the next login.
    pub fn over(self) -> (Answers, u64) {
        (self.answers, self.logins)
    }

    /// When a person makes the next request. A person who waits for a code does so later.
    fn next_due(&mut self) -> Instant {
        let now = Instant::now();
        loop {
            let waits = |task: &Task| {
                let missing = matches!(task.step, Step::Guess(None));
                task.due <= now
                    && missing
                    && !self.plan.provider.has_code(&e164(&phone(task.number)))
            };
            match self.tasks.peek() {
                Some(Reverse(task)) if waits(task) => {
                    if let Some(Reverse(task)) = self.tasks.pop() {
                        self.tasks.push(Reverse(Task { due: now + LOOKS, ..task }));
                    }
                }
                Some(Reverse(task)) => return task.due.min(self.next_login),
                None => return self.next_login,
            }
        }
    }

    fn take(&mut self) -> Outcome<Task> {
        let due = self.next_due();
        let late = due.elapsed().as_millis();
        self.plan.late_ms.store(u64::try_from(late)?, Ordering::Relaxed);
        if due < self.next_login {
            return Ok(self.tasks.pop().ok_or("no client is left")?.0);
        }
        self.next_login += self.plan.every;
        self.logins += 1;
        Ok(Task { due, number: self.logins, step: Step::Send })
    }

    fn request(&self, task: &mut Task) -> Outcome<(Kind, Vec<u8>)> {
        let project = usize::from(task.number.is_multiple_of(SECOND_PROJECT));
        let (dialect, phone) = (&self.plan.dialects[project], phone(task.number));
        Ok(match &mut task.step {
            Step::Send => (Kind::Send, dialect.send(&phone)),
            Step::Guess(known) => {
                let errs = known.is_none() && task.number % WRONG == 3;
                let code = match known.take() {
                    Some(code) => code,
                    None => self.plan.provider.code(&e164(&phone))?,
                };
                if errs && self.plan.uses_sessions {
                    let first = if code.starts_with('1') { "2" } else { "1" };
                    let wrong = format!("{first}{}", &code[1..]);
                    *known = Some(code);
                    (Kind::WrongCode, dialect.verify(&phone, &wrong))
                } else {
                    (Kind::Verify, dialect.verify(&phone, &code))
                }
            }
            Step::Validate(session, _) => (Kind::Validate, dialect.validate(&session.access)),
            Step::Refresh(session) => {
                (Kind::Refresh, dialect.refresh(session).ok_or("nothing to refresh")?)
            }
            Step::Logout(session) => (Kind::Logout, dialect.logout(&session.access)),
        })
    }

    fn answered(&mut self, task: Task, kind: Kind, answer: &Message<'_>) -> Outcome<()> {
        let Task { due, number, step } = task;
        self.answers.micros[kind as usize].push(u32::try_from(due.elapsed().as_micros())?);
        let wanted = if kind == Kind::WrongCode { "400" } else { "200" };
        if answer.status() != wanted {
            self.answers.errors += 1;
            self.answers.first_error.get_or_insert_with(|| answer.complaint());
            return Ok(());
        }
        let dialect = &self.plan.dialects[0];
        let (pause, next) = match step {
            Step::Send => (TYPING, Step::Guess(None)),
            Step::Guess(Some(code)) => (PAUSE, Step::Guess(Some(code))),
            Step::Guess(None) if !self.plan.uses_sessions => return Ok(()),
            Step::Guess(None) => (PAUSE, Step::Validate(dialect.session(answer)?, VALIDATES)),
            Step::Validate(session, 1) => (PAUSE, Step::Refresh(session)),
            Step::Validate(session, left) => (PAUSE, Step::Validate(session, left - 1)),
            Step::Refresh(_) if number % LOGOUT == 5 => {
                (PAUSE, Step::Logout(dialect.session(answer)?))
            }
            Step::Refresh(_) | Step::Logout(_) => return Ok(()),
        };
        self.tasks.push(Reverse(Task { due: Instant::now() + pause, number, step: next }));
        Ok(())
    }
}

/// The phone of a login: one in four belongs to a person who has logged in before.
pub fn phone(number: u64) -> String {
    let number = if number % 4 == 3 { number / 4 } else { number };
    format!("98{number:08}")
}

/// A connection that sends the next due request.
pub struct Connection {
    people: Rc<RefCell<People>>,
    asked: Option<(Kind, Task)>,
}

impl Connection {
    pub fn new(people: &Rc<RefCell<People>>) -> Self {
        Self { people: Rc::clone(people), asked: None }
    }
}

impl Client for Connection {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        let mut people = self.people.borrow_mut();
        let mut task = people.take()?;
        let (kind, bytes) = people.request(&mut task)?;
        request.extend(bytes);
        self.asked = Some((kind, task));
        Ok(true)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        let (kind, task) = self.asked.take().ok_or("nothing was asked")?;
        self.people.borrow_mut().answered(task, kind, answer)
    }

    fn idle_until(&self) -> Option<Instant> {
        Some(self.people.borrow_mut().next_due())
    }
}
