//! Streams requests and messages as they arrive, by server-sent events (HTML Standard, section
//! 9.2). The store is asked once a second for each mode of a project, however many streams watch
//! it.

use crate::refusal::Refusal;
use actix_web::web::Bytes;
use dwar_console::{Activity, Inbox, InboxLine, Management, RequestFilter, RequestLine, SignIn};
use dwar_kernel::{KeyMode, OperatorId, OtpId, ProjectId, ProjectMode, StoreError, with_causes};
use dwar_operator::Requester;
use futures_util::stream::{Stream, unfold};
use maud::Markup;
use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, Interval, interval_at, sleep};

/// Pause between two reads of a watched list.
const ASK: Duration = Duration::from_secs(1);
/// Pause between two checks of a watcher's session and role; each check is a heartbeat.
const CHECK_EVERY: Duration = Duration::from_secs(5);
/// Most streams of one operator. A browser opens at most six connections to one host, and streams
/// stay open, so pages need some of them.
const OF_OPERATOR: usize = 4;
/// Most streams of all operators, out of the 256 connections that the dashboard accepts.
const IN_ALL: usize = 64;

/// The open streams and the lists they watch. Clones share them.
#[derive(Clone)]
pub struct Live {
    requests: Arc<Hub<Activity>>,
    messages: Arc<Hub<Inbox>>,
    streams: Arc<Streams>,
}

/// A list that can be watched: the newest lines of one mode.
trait Feed: Send + Sync + 'static {
    type Line: Clone + PartialEq + Send + Sync;

    fn lines(
        &self,
        project_mode: ProjectMode,
    ) -> impl Future<Output = Result<Vec<Self::Line>, StoreError>> + Send;

    fn may_watch(&self, by: &Requester, project: ProjectId) -> bool;
}

impl Feed for Activity {
    type Line = RequestLine;

    async fn lines(&self, project_mode: ProjectMode) -> Result<Vec<RequestLine>, StoreError> {
        self.newest(project_mode).await
    }

    fn may_watch(&self, by: &Requester, project: ProjectId) -> bool {
        self.may_watch(by, project)
    }
}

impl Feed for Inbox {
    type Line = InboxLine;

    async fn lines(&self, project_mode: ProjectMode) -> Result<Vec<InboxLine>, StoreError> {
        self.newest(project_mode.project).await
    }

    fn may_watch(&self, by: &Requester, project: ProjectId) -> bool {
        self.may_watch(by, project)
    }
}

/// The watchers of a kind of list, and the task that reads it for them.
struct Hub<F: Feed> {
    feed: F,
    project_modes: Mutex<HashMap<ProjectMode, watch::Sender<Shown<F::Line>>>>,
}

struct Streams {
    sign_in: Arc<SignIn>,
    open: Mutex<Open>,
    /// Set when the dashboard stops, because an open stream would delay the stop.
    closed: watch::Sender<bool>,
}

/// The senders that end a stream, by its number; each operator's oldest stream is the first.
#[derive(Default)]
struct Open {
    of_operator: HashMap<OperatorId, VecDeque<(u64, oneshot::Sender<()>)>>,
    begun: u64,
}

/// The newest lines of one mode, newest first; `None` before the first read.
type Shown<L> = Option<Arc<Vec<L>>>;

pub(crate) type Row = fn(ProjectId, &RequestLine) -> Markup;

/// Turns new lines into events; empty if there are none.
type Tell<L> = Box<dyn FnMut(&[L]) -> String + Send>;

/// A stream that watches a list of a project.
struct Watcher<F: Feed> {
    hub: Arc<Hub<F>>,
    tell: Tell<F::Line>,
    permit: StreamPermit,
    project_mode: ProjectMode,
    /// The session's token. The stream ends with the session.
    token: String,
    seen: watch::Receiver<Shown<F::Line>>,
    closed: watch::Receiver<bool>,
    /// Told when a newer stream of this operator replaces this one.
    replaced: oneshot::Receiver<()>,
    check: Interval,
    over: bool,
}

struct TellRequests {
    row: Row,
    project_mode: ProjectMode,
    wanted: RequestFilter,
    told: HashMap<OtpId, RequestLine>,
    newest: Option<OtpId>,
}

struct StreamPermit {
    streams: Arc<Streams>,
    operator: OperatorId,
    number: u64,
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = locked(&self.streams.open);
        if let Some(own) = open.of_operator.get_mut(&self.operator) {
            own.retain(|(number, _)| *number != self.number);
            if own.is_empty() {
                open.of_operator.remove(&self.operator);
            }
        }
    }
}

impl Live {
    /// Makes the lists without any watcher, so nothing is read from the store yet.
    pub fn new(manage: &Management, sign_in: Arc<SignIn>) -> Self {
        let (open, closed) = (Mutex::default(), watch::Sender::new(false));
        Self {
            requests: Arc::new(Hub::new(manage.activity.clone())),
            messages: Arc::new(Hub::new(manage.inbox.clone())),
            streams: Arc::new(Streams { sign_in, open, closed }),
        }
    }

    /// Ends every stream and refuses new ones, so that the server can stop.
    pub fn close(&self) {
        self.streams.closed.send_replace(true);
    }

    /// Streams the requests of a project in one mode after `last` as events, while the session of
    /// `token` lasts and may see them. A request that the page shows already is sent again if it
    /// changes.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] if other operators have all streams.
    pub(crate) fn requests(
        &self,
        watcher: (OperatorId, String),
        (project_mode, wanted): (ProjectMode, RequestFilter),
        last: Option<OtpId>,
        row: Row,
    ) -> Result<impl Stream<Item = Result<Bytes, Infallible>> + use<>, Refusal> {
        let mut tell =
            TellRequests { row, project_mode, wanted, told: HashMap::new(), newest: last };
        self.watch(&self.requests, watcher, project_mode, Box::new(move |lines| tell.news(lines)))
    }

    /// Streams an event at first and whenever the messages of a project's test keys change, while
    /// the session of `token` lasts and may see them.
    ///
    /// # Errors
    /// [`Refusal::TooMany`] if other operators have all streams.
    pub(crate) fn messages(
        &self,
        watcher: (OperatorId, String),
        project: ProjectId,
    ) -> Result<impl Stream<Item = Result<Bytes, Infallible>> + use<>, Refusal> {
        // Says only that messages changed. The page then asks for those that it searches for.
        let tell = |_: &[InboxLine]| "event: news\ndata: {}\n\n".to_owned();
        self.watch(&self.messages, watcher, project.in_mode(KeyMode::Test), Box::new(tell))
    }

    fn watch<F: Feed>(
        &self,
        hub: &Arc<Hub<F>>,
        (operator, token): (OperatorId, String),
        project_mode: ProjectMode,
        tell: Tell<F::Line>,
    ) -> Result<impl Stream<Item = Result<Bytes, Infallible>> + use<F>, Refusal> {
        let (permit, replaced) = self.streams.permit(operator)?;
        let watcher = Watcher {
            hub: Arc::clone(hub),
            tell,
            permit,
            project_mode,
            token,
            seen: hub.newest(project_mode),
            closed: self.streams.closed.subscribe(),
            replaced,
            check: interval_at(Instant::now() + CHECK_EVERY, CHECK_EVERY),
            over: false,
        };
        Ok(unfold(watcher, |mut watcher| async move {
            let text = watcher.next().await?;
            Some((Ok(Bytes::from(text)), watcher))
        }))
    }
}

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Streams {
    /// Reserves a place for a stream, with a receiver that is told when a newer stream takes the
    /// place. If the operator has all of their streams, the oldest ends. Its page may be closed
    /// already, which is noticed only when something is sent to it.
    fn permit(
        self: &Arc<Self>,
        operator: OperatorId,
    ) -> Result<(StreamPermit, oneshot::Receiver<()>), Refusal> {
        let mut open = locked(&self.open);
        let in_all: usize = open.of_operator.values().map(VecDeque::len).sum();
        let number = open.begun;
        let own = open.of_operator.entry(operator).or_default();
        if own.len() >= OF_OPERATOR {
            if let Some((_, oldest)) = own.pop_front() {
                // Fails if the stream has just ended by itself.
                let _ = oldest.send(());
            }
        } else if in_all >= IN_ALL {
            return Err(Refusal::TooMany);
        }
        let (replace, replaced) = oneshot::channel();
        own.push_back((number, replace));
        open.begun += 1;
        Ok((StreamPermit { streams: Arc::clone(self), operator, number }, replaced))
    }
}

impl<F: Feed> Hub<F> {
    fn new(feed: F) -> Self {
        Self { feed, project_modes: Mutex::default() }
    }

    /// The newest lines of one mode. The first watcher starts the task that reads them.
    fn newest(self: &Arc<Self>, project_mode: ProjectMode) -> watch::Receiver<Shown<F::Line>> {
        let mut project_modes = locked(&self.project_modes);
        if let Some(known) = project_modes.get(&project_mode) {
            let mut receiver = known.subscribe();
            // Only the other watchers saw the lines between the page and its stream.
            receiver.mark_changed();
            return receiver;
        }
        let (sender, receiver) = watch::channel(None);
        project_modes.insert(project_mode, sender.clone());
        tokio::spawn(Arc::clone(self).ask(project_mode, sender));
        receiver
    }

    /// Reads the list until nobody watches it.
    async fn ask(
        self: Arc<Self>,
        project_mode: ProjectMode,
        sender: watch::Sender<Shown<F::Line>>,
    ) {
        loop {
            match self.feed.lines(project_mode).await {
                Ok(lines) => {
                    sender.send_if_modified(|seen| {
                        let is_new = seen.as_ref().is_none_or(|seen| **seen != lines);
                        if is_new {
                            *seen = Some(Arc::new(lines));
                        }
                        is_new
                    });
                }
                Err(cause) => {
                    tracing::warn!(cause = %with_causes(&cause), "the live list cannot be read");
                }
            }
            sleep(ASK).await;
            let mut project_modes = locked(&self.project_modes);
            if sender.receiver_count() == 0 {
                project_modes.remove(&project_mode);
                return;
            }
        }
    }
}

impl<F: Feed> Watcher<F> {
    /// The next event; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        if self.over || *self.closed.borrow() {
            return None;
        }
        // A page without any request learns at once that its stream is open.
        loop {
            tokio::select! {
                changed = self.seen.changed() => {
                    changed.ok()?;
                    let lines = self.seen.borrow_and_update().clone();
                    let text = lines.map(|lines| (self.tell)(&lines)).unwrap_or_default();
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
                _ = &mut self.replaced => {
                    self.over = true;
                    return Some("event: replaced\ndata: {}\n\n".to_owned());
                }
            }
        }
    }

    /// Tells whether the session is active and its operator may see the project.
    async fn may_stay(&self) -> bool {
        let present = self.permit.streams.sign_in.present(&self.token).await;
        let Ok(Some(present)) = present else { return false };
        self.hub
            .feed
            .may_watch(&Requester::operator(&present.operator, None), self.project_mode.project)
    }
}

impl TellRequests {
    /// The new and changed lines, oldest first.
    fn news(&mut self, lines: &[RequestLine]) -> String {
        let mut text = String::new();
        let beyond = |last: OtpId| lines.last().is_some_and(|oldest| last < oldest.otp);
        if self.told.is_empty() && self.newest.is_some_and(beyond) {
            text.push_str("event: gap\ndata: {}\n\n");
        }
        for line in lines.iter().rev() {
            let before = self.told.get(&line.otp);
            self.newest = self.newest.max(Some(line.otp));
            // A line that no longer matches the filter stays on the page with its current state.
            let is_shown = before.is_some_and(|before| self.wanted.wants(before));
            if before == Some(line) || !(is_shown || self.wanted.wants(line)) {
                continue;
            }
            text.push_str(&self.event(line));
        }
        self.told = lines.iter().map(|line| (line.otp, line.clone())).collect();
        text
    }

    /// A row of the list as an event. The id of the newest request is where a reconnect continues.
    fn event(&self, line: &RequestLine) -> String {
        let html = (self.row)(self.project_mode.project, line).into_string();
        let data = serde_json::json!({ "id": line.otp.to_string(), "html": html });
        let id = self.newest.unwrap_or(line.otp);
        format!("id: {id}\nevent: row\ndata: {data}\n\n")
    }
}
