//! The behaviour of clients: random scenes, one after another, over shared sessions and phones.

use crate::calls::{At, Calls, Tokens};
use crate::draw::Draw;
use crate::history::{Message, Outcome};
use crate::world::{Session, Spent};
use std::time::{Duration, Instant};
use tokio::join;
use tokio::time::sleep;

/// A client with its own random numbers.
pub struct Client {
    pub calls: Calls,
    pub draw: Draw,
}

#[derive(Clone, Copy)]
enum Scene {
    LogIn,
    Guess,
    Repeat,
    Ask,
    Refresh,
    Race,
    Reuse,
    LogOut,
    Delete,
    LookUp,
    Haunt,
}

/// The weight of each scene.
const SCENES: &[(u64, Scene)] = &[
    (24, Scene::LogIn),
    (5, Scene::Guess),
    (8, Scene::Repeat),
    (14, Scene::Ask),
    (8, Scene::Refresh),
    (10, Scene::Race),
    (8, Scene::Reuse),
    (9, Scene::LogOut),
    (4, Scene::Delete),
    (4, Scene::LookUp),
    (10, Scene::Haunt),
];

impl Client {
    /// Plays scenes until `until`.
    pub async fn play(mut self, until: Instant) {
        while Instant::now() < until {
            match self.draw.weighted(SCENES) {
                Some(Scene::LogIn) => self.log_in().await,
                Some(Scene::Guess) => self.guess().await,
                Some(Scene::Repeat) => self.repeat().await,
                Some(Scene::Haunt) => self.haunt().await,
                Some(Scene::LookUp) => self.look_up().await,
                Some(scene) => match self.calls.world.session(&mut self.draw) {
                    None => self.log_in().await,
                    Some(session) => self.use_session(scene, session).await,
                },
                None => return,
            }
            sleep(Duration::from_millis(self.draw.below(40))).await;
        }
    }

    async fn use_session(&mut self, scene: Scene, session: Session) {
        match scene {
            Scene::Ask => self.ask(&session).await,
            Scene::Refresh => drop(self.refresh(session).await),
            Scene::Race => self.race(session).await,
            Scene::Reuse => self.reuse(session).await,
            Scene::LogOut => self.log_out(session).await,
            _ => self.delete(session).await,
        }
    }

    /// Some instance, with the newest key.
    fn at(&mut self, project: usize) -> At {
        let instance = self.draw.place(self.calls.cluster.instances.len());
        self.calls.at(instance, project)
    }

    /// All instances in some order; always three places.
    fn everywhere(&mut self, project: usize) -> Vec<At> {
        let count = self.calls.cluster.instances.len();
        let first = self.draw.place(count);
        (0..count.max(3)).map(|step| self.calls.at((first + step) % count, project)).collect()
    }

    fn project(&mut self) -> usize {
        self.draw.place(self.calls.world.projects.len())
    }

    fn newest(&self, phone: &str, otp: Option<&str>) -> Option<Message> {
        let mut all = self.calls.recorder.messages_to(phone);
        all.retain(|message| otp.is_none_or(|otp| message.otp == otp));
        all.pop()
    }

    fn keep(&self, project: usize, tokens: Tokens, spent: Vec<Spent>) -> Session {
        let Tokens { session, identity, access, refresh } = tokens;
        let session = Session { project, id: session, identity, access, refresh, spent };
        self.calls.world.keep(session.clone());
        session
    }

    /// Send, some wrong codes, the right one: once or on several instances at once.
    async fn log_in(&mut self) {
        let project = self.project();
        let known = self.draw.percent(60);
        let phone = match known {
            true => self.calls.world.somebody(&mut self.draw),
            false => self.calls.world.fresh_phone(),
        };
        let at = self.at(project);
        let sent = match self.calls.send(&at, &phone, None).await {
            Outcome::Sent { otp, .. } => Some(otp),
            Outcome::Refused { .. } if self.draw.percent(80) => return,
            _ => None,
        };
        let Some(message) = self.newest(&phone, sent.as_deref()) else { return };
        if let Some(otp) = sent.filter(|_| self.draw.percent(30)) {
            let at = self.at(project);
            self.calls.status(&at, &otp).await;
        }
        let named = Some(message.otp.as_str()).filter(|_| self.draw.percent(70));
        for number in 0..self.draw.below(3) {
            // Too many of them would stop clients that log in all the time.
            if !known && self.draw.percent(40) {
                let at = self.at(project);
                self.calls.verify(&at, &phone, &wrong(&message.code, number), named).await;
            }
        }
        self.open(project, &message, named).await;
    }

    /// Presents the right code; afterwards it must be invalid.
    async fn open(&mut self, project: usize, message: &Message, named: Option<&str>) {
        let Message { phone, code, .. } = message;
        let places = self.everywhere(project);
        let calls = self.calls.clone();
        let one = async |place: usize| calls.verify(&places[place], phone, code, named).await.1;
        let opened = match self.draw.below(10) {
            0..5 => vec![one(0).await],
            5..9 => {
                let (first, second) = join!(one(0), one(1));
                vec![first, second]
            }
            _ => {
                let (first, second, third) = join!(one(0), one(1), one(2));
                vec![first, second, third]
            }
        };
        if self.draw.percent(15) {
            one(2).await;
        }
        for tokens in opened.into_iter().flatten() {
            self.keep(project, tokens, Vec::new());
        }
    }

    /// Guesses codes of a stranger's phone, on all instances at once.
    async fn guess(&mut self) {
        let project = self.project();
        let phone = match self.draw.percent(50) {
            true => self.calls.world.victim(&mut self.draw),
            false => self.calls.world.fresh_phone(),
        };
        let at = self.at(project);
        let sent = self.calls.send(&at, &phone, None).await;
        let Outcome::Sent { otp, .. } = sent else { return };
        let Some(message) = self.newest(&phone, Some(&otp)) else { return };
        let places = self.everywhere(project);
        for round in 0..3 {
            let guess = async |place: usize| {
                let number = round * 3 + place as u64;
                let code = wrong(&message.code, number);
                self.calls.verify(&places[place], &phone, &code, Some(&otp)).await;
            };
            join!(guess(0), guess(1), guess(2));
        }
        self.open(project, &message, Some(&otp)).await;
    }

    /// One send with an `Idempotency-Key`, repeated on other instances.
    async fn repeat(&mut self) {
        let (project, phone) = (self.project(), self.calls.world.fresh_phone());
        let once = format!("once-{:016x}", self.draw.next());
        let places = self.everywhere(project);
        let calls = self.calls.clone();
        let one = async |place: usize| calls.send(&places[place], &phone, Some(&once)).await;
        if self.draw.percent(50) {
            join!(one(0), one(1));
        }
        let (mut sent, begun) = (None, Instant::now());
        for attempt in 0..6 {
            match one(attempt % places.len()).await {
                Outcome::Sent { otp, .. } if sent.is_some() || self.draw.percent(30) => {
                    sent = Some(otp);
                    break;
                }
                Outcome::Sent { otp, .. } => sent = Some(otp),
                Outcome::Refused { code, .. } if code != "IDEMPOTENCY_CONFLICT" => break,
                _ => sleep(Duration::from_millis(200 + self.draw.below(1_500))).await,
            }
            if begun.elapsed() > Duration::from_secs(30) {
                break;
            }
        }
        let Some(message) = self.newest(&phone, sent.as_deref()) else { return };
        if self.draw.percent(50) {
            self.open(project, &message, Some(&message.otp)).await;
        }
    }

    /// Validates the current token, and one that it replaced.
    async fn ask(&mut self, session: &Session) {
        for at in self.everywhere(session.project) {
            self.calls.validate(&at, &session.access).await;
        }
        if let Some(spent) = session.spent.last() {
            let at = self.at(session.project);
            self.calls.validate(&at, &spent.access).await;
        }
    }

    async fn refresh(&mut self, session: Session) -> Option<Session> {
        let at = self.at(session.project);
        let once = self.once();
        let (outcome, tokens) = self.calls.refresh(&at, &session.refresh, once.as_deref()).await;
        let tokens = match (&outcome, &once) {
            // The answer was lost on its way: the same request again, on another instance.
            (Outcome::Lost { .. } | Outcome::Failed { .. }, Some(_)) => {
                let at = self.at(session.project);
                self.calls.refresh(&at, &session.refresh, once.as_deref()).await.1
            }
            _ => tokens,
        };
        let renewed = tokens.map(|tokens| self.renewed(&session, tokens));
        match &renewed {
            Some(renewed) => self.ask(renewed).await,
            None if matches!(outcome, Outcome::Refused { .. }) => self.over(&session).await,
            None => {}
        }
        renewed
    }

    /// The same refresh token on two instances at once.
    async fn race(&mut self, session: Session) {
        let places = self.everywhere(session.project);
        let once = self.once();
        let other = if self.draw.percent(50) { once.clone() } else { self.once() };
        let one = self.calls.refresh(&places[0], &session.refresh, once.as_deref());
        let two = self.calls.refresh(&places[1], &session.refresh, other.as_deref());
        let ((_, one), (_, two)) = join!(one, two);
        for tokens in [one, two].into_iter().flatten() {
            let renewed = self.renewed(&session, tokens);
            self.ask(&renewed).await;
        }
    }

    /// A spent refresh token is presented again: too soon to be theft, or late.
    async fn reuse(&mut self, session: Session) {
        let session = match session.spent.is_empty() {
            true => match self.refresh(session).await {
                Some(session) => session,
                None => return,
            },
            false => session,
        };
        let Some(spent) = session.spent.get(self.draw.place(session.spent.len())).cloned() else {
            return;
        };
        if self.draw.percent(70) {
            // After the leeway, with a margin for a slow machine.
            let due = spent.at + Duration::from_millis(3_200);
            sleep(due.saturating_duration_since(Instant::now())).await;
        }
        let at = self.at(session.project);
        self.calls.refresh(&at, &spent.refresh, None).await;
        self.ask(&session).await;
        if self.draw.percent(50) {
            self.over(&session).await;
        }
    }

    /// Every instance has just found it valid when one of them ends it.
    async fn log_out(&mut self, session: Session) {
        self.ask(&session).await;
        let at = self.at(session.project);
        let ended = self.calls.logout(&at, &session.access).await;
        self.ask(&session).await;
        if !matches!(ended, Outcome::Refused { .. }) {
            self.over(&session).await;
        }
    }

    async fn delete(&mut self, session: Session) {
        self.ask(&session).await;
        let at = self.at(session.project);
        let deleted = self.calls.delete(&at, &session.identity).await;
        for at in self.everywhere(session.project) {
            self.calls.look_up(&at, &session.identity).await;
        }
        self.ask(&session).await;
        if !matches!(deleted, Outcome::Refused { .. }) {
            self.over(&session).await;
        }
    }

    async fn look_up(&mut self) {
        let Some(session) = self.calls.world.session(&mut self.draw) else { return };
        for at in self.everywhere(session.project) {
            self.calls.look_up(&at, &session.identity).await;
        }
    }

    /// Uses ended things: sessions, and replaced keys.
    async fn haunt(&mut self) {
        if let Some(gone) = self.calls.world.grave(&mut self.draw) {
            let at = self.at(gone.project);
            match self.draw.below(4) {
                0 => drop(self.calls.refresh(&at, &gone.refresh, None).await),
                1 => drop(self.calls.logout(&at, &gone.access).await),
                _ => drop(self.calls.validate(&at, &gone.access).await),
            }
        }
        let Some(session) = self.calls.world.session(&mut self.draw) else { return };
        let project = &self.calls.world.projects[session.project];
        let Some(key) = project.old_key(&mut self.draw) else { return };
        for at in self.everywhere(session.project) {
            self.calls.validate(&At { key: key.clone(), ..at }, &session.access).await;
        }
    }

    /// No token of an ended session may work on any instance.
    async fn over(&mut self, session: &Session) {
        self.calls.world.bury(session);
        let places = self.everywhere(session.project);
        join!(
            self.calls.validate(&places[0], &session.access),
            self.calls.validate(&places[1], &session.access),
            self.calls.refresh(&places[2], &session.refresh, None),
        );
    }

    fn renewed(&self, session: &Session, tokens: Tokens) -> Session {
        let Session { access, refresh, mut spent, .. } = session.clone();
        spent.push(Spent { access, refresh, at: Instant::now() });
        self.keep(session.project, tokens, spent)
    }

    /// Sometimes an `Idempotency-Key` for a refresh.
    fn once(&mut self) -> Option<String> {
        self.draw.percent(40).then(|| format!("turn-{:016x}", self.draw.next()))
    }
}

/// Six digits that are not `code`, different ones for each number.
fn wrong(code: &str, number: u64) -> String {
    let code: u64 = code.parse().unwrap_or_default();
    format!("{:06}", (code + 1 + number) % 1_000_000)
}
