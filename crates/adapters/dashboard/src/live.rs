//! Requests as they come, by server-sent events (HTML Standard, section 9.2). However many watch a
//! project, the store is asked once a second.

use crate::refusal::Refusal;
use actix_web::web::Bytes;
use dwar_app::{Activity, RequestLine, SignIn};
use dwar_kernel::{KeyMode, OperatorId, OtpId, ProjectId};
use dwar_operator::By;
use futures_util::stream::{Stream, unfold};
use maud::Markup;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, interval_at, sleep};

/// How often the store is asked about a project that somebody watches.
const ASK: Duration = Duration::from_secs(1);
/// How often a watcher's session and role are checked; each check is a heartbeat.
const CHECK_EVERY: Duration = Duration::from_secs(5);
/// Streams of one operator. A browser opens six connections to one host at most, and these stay
/// open, so pages need some of them.
const OF_OPERATOR: usize = 4;
/// Streams in all, of the 256 connections that the dashboard takes.
const IN_ALL: usize = 64;

/// Watchers, and the requests that they see. Clones share them.
#[derive(Clone)]
pub struct Live(Arc<Hub>);

struct Hub {
    activity: Activity,
    sign_in: Arc<SignIn>,
    state: Mutex<State>,
    /// Set when the dashboard stops: a stream would hold that up.
    closed: watch::Sender<bool>,
}

#[derive(Default)]
struct State {
    of_operator: HashMap<OperatorId, usize>,
    in_all: usize,
    projects: HashMap<ProjectId, watch::Sender<Shown>>,
}

/// The newest requests of a project, newest first; nothing before they were asked for.
type Shown = Option<Arc<Vec<RequestLine>>>;

/// How a request is shown.
pub(crate) type Row = fn(ProjectId, &RequestLine) -> Markup;

/// Somebody who watches one mode of a project.
struct Watcher {
    row: Row,
    permit: StreamPermit,
    project: ProjectId,
    mode: KeyMode,
    /// The session's token, which counts as long as it lets in.
    token: String,
    seen: watch::Receiver<Shown>,
    closed: watch::Receiver<bool>,
    check: Interval,
    told: HashMap<OtpId, RequestLine>,
    newest: Option<OtpId>,
    over: bool,
}

/// Allows one stream; given back when dropped.
struct StreamPermit {
    hub: Arc<Hub>,
    operator: OperatorId,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        state.in_all = state.in_all.saturating_sub(1);
        if let Some(count) = state.of_operator.get_mut(&self.operator) {
            *count -= 1;
            if *count == 0 {
                state.of_operator.remove(&self.operator);
            }
        }
    }
}

impl Live {
    /// Nobody watches yet.
    pub fn new(activity: Activity, sign_in: Arc<SignIn>) -> Self {
        let (state, closed) = (Mutex::default(), watch::Sender::new(false));
        Self(Arc::new(Hub { activity, sign_in, state, closed }))
    }

    /// Ends every stream, and lets none begin.
    pub fn close(&self) {
        self.0.closed.send_replace(true);
    }

    /// The requests of a project in one mode from after `last` on, as events, for as long as the session of
    /// `token` lasts and may see them. What is on the page already comes again where it changed.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] if there are as many streams as there may be.
    pub(crate) fn watch(
        &self,
        (operator, token): (OperatorId, String),
        (project, mode): (ProjectId, KeyMode),
        last: Option<OtpId>,
        row: Row,
    ) -> Result<impl Stream<Item = Result<Bytes, Infallible>> + use<>, Refusal> {
        let permit = self.0.permit(operator)?;
        let watcher = Watcher {
            row,
            permit,
            project,
            mode,
            token,
            seen: self.0.project(project),
            closed: self.0.closed.subscribe(),
            check: interval_at(Instant::now() + CHECK_EVERY, CHECK_EVERY),
            told: HashMap::new(),
            newest: last,
            over: false,
        };
        Ok(unfold(watcher, |mut watcher| async move {
            let text = watcher.next().await?;
            Some((Ok(Bytes::from(text)), watcher))
        }))
    }
}

impl Hub {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn permit(self: &Arc<Self>, operator: OperatorId) -> Result<StreamPermit, Refusal> {
        let mut state = self.state();
        let own = state.of_operator.get(&operator).copied().unwrap_or_default();
        if own >= OF_OPERATOR || state.in_all >= IN_ALL {
            return Err(Refusal::TooMany);
        }
        state.in_all += 1;
        *state.of_operator.entry(operator).or_default() += 1;
        Ok(StreamPermit { hub: Arc::clone(self), operator })
    }

    /// What is seen of a project; whoever comes first has somebody ask for it.
    fn project(self: &Arc<Self>, project: ProjectId) -> watch::Receiver<Shown> {
        let mut state = self.state();
        if let Some(known) = state.projects.get(&project) {
            let mut receiver = known.subscribe();
            // What came between the page and its stream was seen by the others alone.
            receiver.mark_changed();
            return receiver;
        }
        let (sender, receiver) = watch::channel(None);
        state.projects.insert(project, sender.clone());
        tokio::spawn(Arc::clone(self).ask(project, sender));
        receiver
    }

    /// Asks until nobody watches any more.
    async fn ask(self: Arc<Self>, project: ProjectId, sender: watch::Sender<Shown>) {
        loop {
            match self.activity.newest(project).await {
                Ok(lines) => {
                    sender.send_if_modified(|seen| {
                        let is_new = seen.as_ref().is_none_or(|seen| **seen != lines);
                        if is_new {
                            *seen = Some(Arc::new(lines));
                        }
                        is_new
                    });
                }
                Err(cause) => tracing::warn!(%cause, "the live list cannot be read"),
            }
            sleep(ASK).await;
            let mut state = self.state();
            if sender.receiver_count() == 0 {
                state.projects.remove(&project);
                return;
            }
        }
    }
}

impl Watcher {
    /// What to tell next; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        if self.over || *self.closed.borrow() {
            return None;
        }
        // A page that waits for its first request learns at once that it is heard.
        loop {
            tokio::select! {
                changed = self.seen.changed() => {
                    changed.ok()?;
                    let text = self.news();
                    if !text.is_empty() {
                        return Some(text);
                    }
                }
                _ = self.check.tick() => {
                    if self.may_stay().await {
                        return Some(": still here\n\n".to_owned());
                    }
                    self.over = true;
                    return Some("event: over\ndata: {}\n\n".to_owned());
                }
                _ = self.closed.changed() => return None,
            }
        }
    }

    /// Whether the session counts and its operator may see the project, right now.
    async fn may_stay(&self) -> bool {
        let present = self.permit.hub.sign_in.present(&self.token).await;
        let Ok(Some(present)) = present else { return false };
        self.permit.hub.activity.may_watch(&By::operator(&present.operator, None), self.project)
    }

    /// What is new or has changed, oldest first.
    fn news(&mut self) -> String {
        let Some(lines) = self.seen.borrow_and_update().clone() else { return String::new() };
        let mut text = String::new();
        let beyond = |last: OtpId| lines.last().is_some_and(|oldest| last < oldest.otp);
        if self.told.is_empty() && self.newest.is_some_and(beyond) {
            text.push_str("event: gap\ndata: {}\n\n");
        }
        for line in lines.iter().rev() {
            if self.told.get(&line.otp) == Some(line) {
                continue;
            }
            self.newest = self.newest.max(Some(line.otp));
            if line.mode != self.mode {
                continue;
            }
            text.push_str(&self.event(line));
        }
        self.told = lines.iter().map(|line| (line.otp, line.clone())).collect();
        text
    }

    /// A row of the list, as an event; the newest request so far is where to go on after a break.
    fn event(&self, line: &RequestLine) -> String {
        let html = (self.row)(self.project, line).into_string();
        let data = serde_json::json!({ "id": line.otp.to_string(), "html": html });
        let id = self.newest.unwrap_or(line.otp);
        format!("id: {id}\nevent: row\ndata: {data}\n\n")
    }
}
