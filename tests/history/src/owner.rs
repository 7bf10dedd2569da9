//! The owner of the projects: switches, new keys, top-ups and limits, by the command line.

use crate::calls::Calls;
use crate::draw::Draw;
use crate::history::{Action, Op, Outcome, Switch};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The rupees of each top-up: the first project is rich, the second one often has no money.
const TOP_UPS: [u64; 2] = [50, 1];
/// The project whose spend of a day is limited, and the rupees of the first limit and of each step up.
const LIMITED: usize = 2;
const STEP: u64 = 3;

/// Works alone: no two commands of a project run at once.
pub struct Owner {
    pub calls: Calls,
    pub draw: Draw,
    /// The newest limit, in rupees.
    pub limit: u64,
}

#[derive(Clone, Copy)]
enum OwnerAction {
    NewKey,
    Turn,
    TopUp,
    RaiseLimit,
}

const ACTIONS: &[(u64, OwnerAction)] = &[
    (3, OwnerAction::NewKey),
    (4, OwnerAction::Turn),
    (4, OwnerAction::TopUp),
    (2, OwnerAction::RaiseLimit),
];

impl Owner {
    /// Runs commands until `until`; leaves every project with a known key.
    pub async fn work(mut self, until: Instant) {
        while Instant::now() < until {
            let project = self.draw.place(self.calls.world.projects.len());
            match self.draw.weighted(ACTIONS) {
                Some(OwnerAction::NewKey) => self.replace_key(project).await,
                Some(OwnerAction::Turn) => self.turn(project).await,
                Some(OwnerAction::RaiseLimit) => self.raise_limit().await,
                _ => self.top_up(project).await,
            }
            sleep(Duration::from_millis(200 + self.draw.below(1_800))).await;
        }
    }

    /// A failed command may have replaced the key; then only another one helps.
    async fn replace_key(&mut self, project: usize) {
        for _ in 0..30 {
            let id = &self.calls.world.projects[project].id;
            let began = self.calls.recorder.now();
            let arguments = ["key", "regenerate", "--project", id, "--mode", "live"];
            let answer = self.calls.cluster.cli(&arguments).await;
            let ended = self.calls.recorder.now();
            let key = answer.ok().and_then(|answer| Some(answer["key"].as_str()?.to_owned()));
            let number = key.map(|key| self.calls.world.projects[project].add_key(key));
            let outcome = number.map_or_else(failed, Outcome::Key);
            self.record(project, (began, ended), Action::NewKey, outcome);
            if number.is_some() {
                return;
            }
            sleep(Duration::from_millis(500)).await;
        }
    }

    /// Deletion stays on in the first project, so that much is deleted.
    async fn turn(&mut self, project: usize) {
        let (switch, name) = match project == 0 || self.draw.percent(50) {
            true => (Switch::LookUp, "--identity-lookup"),
            false => (Switch::Delete, "--identity-delete"),
        };
        let on = self.draw.percent(60);
        self.set(project, switch, name, on).await;
    }

    async fn set(&self, project: usize, switch: Switch, name: &str, on: bool) {
        let id = &self.calls.world.projects[project].id;
        let word = if on { "on" } else { "off" };
        let arguments = ["project", "set", "--project", id, name, word];
        self.command(project, Action::Turn { switch, on }, &arguments).await;
    }

    async fn raise_limit(&mut self) {
        self.limit += STEP;
        let (id, rupees) = (&self.calls.world.projects[LIMITED].id, self.limit.to_string());
        let arguments = ["project", "set", "--project", id, "--daily-spend-rupees", &rupees];
        let paise = i64::try_from(self.limit * 100).unwrap_or_default();
        self.command(LIMITED, Action::Limit { paise }, &arguments).await;
    }

    /// Turns both switches on, as the clients expect at first, and sets the first limit.
    pub async fn prepare(&mut self) {
        self.raise_limit().await;
        for project in 0..self.calls.world.projects.len() {
            self.set(project, Switch::LookUp, "--identity-lookup", true).await;
            self.set(project, Switch::Delete, "--identity-delete", true).await;
        }
    }

    /// The same reference twice pays once.
    async fn top_up(&mut self, project: usize) {
        let rupees = TOP_UPS[project % TOP_UPS.len()];
        let id = &self.calls.world.projects[project].id;
        let reference = format!("paid-{:016x}", self.draw.next());
        let paise = i64::try_from(rupees * 100).unwrap_or_default();
        let rupees = rupees.to_string();
        let arguments =
            ["wallet", "credit", "--project", id, "--rupees", &rupees, "--reference", &reference];
        let times = if self.draw.percent(30) { 2 } else { 1 };
        for _ in 0..times {
            let action = Action::TopUp { reference: reference.clone(), paise };
            self.command(project, action, &arguments).await;
        }
    }

    async fn command(&self, project: usize, action: Action, arguments: &[&str]) {
        let began = self.calls.recorder.now();
        let answer = self.calls.cluster.cli(arguments).await;
        let ended = self.calls.recorder.now();
        let outcome = answer.map_or_else(|_| failed(), |_| Outcome::Done);
        self.record(project, (began, ended), action, outcome);
    }

    fn record(&self, project: usize, (began, ended): (u64, u64), action: Action, outcome: Outcome) {
        let (client, instance, key) = (self.calls.client, None, 0);
        let op = Op { client, instance, project, key, began, ended, action, outcome };
        self.calls.recorder.op(op);
    }
}

fn failed() -> Outcome {
    Outcome::Failed { status: 503, code: "COMMAND".to_owned() }
}
