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
const POLL_EVERY: Duration = Duration::from_secs(1);
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
    requests: Arc<WatchedLists<Activity>>,
    messages: Arc<WatchedLists<Inbox>>,
    streams: Arc<StreamRegistry>,
}

/// A list that can be watched: the newest lines of one mode.
trait LiveList: Send + Sync + 'static {
    type Line: Clone + PartialEq + Send + Sync;

    fn lines(
        &self,
        project_mode: ProjectMode,
    ) -> impl Future<Output = Result<Vec<Self::Line>, StoreError>> + Send;

    fn may_watch(&self, by: &Requester, project: ProjectId) -> bool;
}

impl LiveList for Activity {
    type Line = RequestLine;

    async fn lines(&self, project_mode: ProjectMode) -> Result<Vec<RequestLine>, StoreError> {
        self.newest(project_mode).await
    }

    fn may_watch(&self, by: &Requester, project: ProjectId) -> bool {
        self.may_watch(by, project)
    }
}

impl LiveList for Inbox {
    type Line = InboxLine;

    async fn lines(&self, project_mode: ProjectMode) -> Result<Vec<InboxLine>, StoreError> {
        self.newest(project_mode.project).await
    }

    fn may_watch(&self, by: &Requester, project: ProjectId) -> bool {
        self.may_watch(by, project)
    }
}

/// The watchers of a kind of list, and the task that reads it for them.
struct WatchedLists<F: LiveList> {
    source: F,
    project_modes: Mutex<HashMap<ProjectMode, watch::Sender<NewestLines<F::Line>>>>,
}

struct StreamRegistry {
    sign_in: Arc<SignIn>,
    open: Mutex<OpenStreams>,
    /// Set when the dashboard stops, because an open stream would delay the stop.
    closed: watch::Sender<bool>,
}

/// The senders that end a stream, by its number; each operator's oldest stream is the first.
#[derive(Default)]
struct OpenStreams {
    of_operator: HashMap<OperatorId, VecDeque<(u64, oneshot::Sender<()>)>>,
    begun: u64,
}

/// The newest lines of one mode, newest first; `None` before the first read.
type NewestLines<L> = Option<Arc<Vec<L>>>;

pub(crate) type RenderRow = fn(ProjectId, &RequestLine) -> Markup;

/// Turns new lines into events; empty if there are none.
type RenderEvents<L> = Box<dyn FnMut(&[L]) -> String + Send>;

/// A stream that watches a list of a project.
struct Watcher<F: LiveList> {
    lists: Arc<WatchedLists<F>>,
    render: RenderEvents<F::Line>,
    permit: StreamPermit,
    project_mode: ProjectMode,
    /// The session's token. The stream ends with the session.
    token: String,
    seen: watch::Receiver<NewestLines<F::Line>>,
    closed: watch::Receiver<bool>,
    /// Told when a newer stream of this operator replaces this one.
    replaced: oneshot::Receiver<()>,
    check: Interval,
    ended: bool,
}

struct RequestEvents {
    row: RenderRow,
    project_mode: ProjectMode,
    wanted: RequestFilter,
    sent: HashMap<OtpId, RequestLine>,
    newest: Option<OtpId>,
}

struct StreamPermit {
    streams: Arc<StreamRegistry>,
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
            requests: Arc::new(WatchedLists::new(manage.activity.clone())),
            messages: Arc::new(WatchedLists::new(manage.inbox.clone())),
            streams: Arc::new(StreamRegistry { sign_in, open, closed }),
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
        row: RenderRow,
    ) -> Result<impl Stream<Item = Result<Bytes, Infallible>> + use<>, Refusal> {
        let mut render =
            RequestEvents { row, project_mode, wanted, sent: HashMap::new(), newest: last };
        self.watch(&self.requests, watcher, project_mode, Box::new(move |lines| render.news(lines)))
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
        let render = |_: &[InboxLine]| "event: news\ndata: {}\n\n".to_owned();
        self.watch(&self.messages, watcher, project.in_mode(KeyMode::Test), Box::new(render))
    }

    fn watch<F: LiveList>(
        &self,
        lists: &Arc<WatchedLists<F>>,
        (operator, token): (OperatorId, String),
        project_mode: ProjectMode,
        render: RenderEvents<F::Line>,
    ) -> Result<impl Stream<Item = Result<Bytes, Infallible>> + use<F>, Refusal> {
        let (permit, replaced) = self.streams.permit(operator)?;
        let watcher = Watcher {
            lists: Arc::clone(lists),
            render,
            permit,
            project_mode,
            token,
            seen: lists.newest(project_mode),
            closed: self.streams.closed.subscribe(),
            replaced,
            check: interval_at(Instant::now() + CHECK_EVERY, CHECK_EVERY),
            ended: false,
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

impl StreamRegistry {
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

impl<F: LiveList> WatchedLists<F> {
    fn new(source: F) -> Self {
        Self { source, project_modes: Mutex::default() }
    }

    /// The newest lines of one mode. The first watcher starts the task that reads them.
    fn newest(
        self: &Arc<Self>,
        project_mode: ProjectMode,
    ) -> watch::Receiver<NewestLines<F::Line>> {
        let mut project_modes = locked(&self.project_modes);
        if let Some(known) = project_modes.get(&project_mode) {
            let mut receiver = known.subscribe();
            // Only the other watchers saw the lines between the page and its stream.
            receiver.mark_changed();
            return receiver;
        }
        let (sender, receiver) = watch::channel(None);
        project_modes.insert(project_mode, sender.clone());
        tokio::spawn(Arc::clone(self).poll(project_mode, sender));
        receiver
    }

    /// Reads the list until nobody watches it.
    async fn poll(
        self: Arc<Self>,
        project_mode: ProjectMode,
        sender: watch::Sender<NewestLines<F::Line>>,
    ) {
        loop {
            match self.source.lines(project_mode).await {
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
            sleep(POLL_EVERY).await;
            let mut project_modes = locked(&self.project_modes);
            if sender.receiver_count() == 0 {
                project_modes.remove(&project_mode);
                return;
            }
        }
    }
}

impl<F: LiveList> Watcher<F> {
    /// The next event; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        if self.ended || *self.closed.borrow() {
            return None;
        }
        // A page without any request learns at once that its stream is open.
        loop {
            tokio::select! {
                changed = self.seen.changed() => {
                    changed.ok()?;
                    let lines = self.seen.borrow_and_update().clone();
                    let text = lines.map(|lines| (self.render)(&lines)).unwrap_or_default();
                    if !text.is_empty() {
                        return Some(text);
                    }
                }
                _ = self.check.tick() => {
                    if self.may_stay().await {
                        return Some(": still here\n\n".to_owned());
                    }
                    self.ended = true;
                    return Some("event: over\ndata: {}\n\n".to_owned());
                }
                _ = self.closed.changed() => return None,
                _ = &mut self.replaced => {
                    self.ended = true;
                    return Some("event: replaced\ndata: {}\n\n".to_owned());
                }
            }
        }
    }

    /// Tells whether the session is active and its operator may see the project.
    async fn may_stay(&self) -> bool {
        let present = self.permit.streams.sign_in.present(&self.token).await;
        let Ok(Some(present)) = present else { return false };
        self.lists
            .source
            .may_watch(&Requester::operator(&present.operator, None), self.project_mode.project)
    }
}

impl RequestEvents {
    /// The new and changed lines, oldest first.
    fn news(&mut self, lines: &[RequestLine]) -> String {
        let mut text = String::new();
        let beyond = |last: OtpId| lines.last().is_some_and(|oldest| last < oldest.otp);
        if self.sent.is_empty() && self.newest.is_some_and(beyond) {
            text.push_str("event: gap\ndata: {}\n\n");
        }
        for line in lines.iter().rev() {
            let before = self.sent.get(&line.otp);
            self.newest = self.newest.max(Some(line.otp));
            // A line that no longer matches the filter stays on the page with its current state.
            let is_shown = before.is_some_and(|before| self.wanted.wants(before));
            if before == Some(line) || !(is_shown || self.wanted.wants(line)) {
                continue;
            }
            text.push_str(&self.event(line));
        }
        self.sent = lines.iter().map(|line| (line.otp, line.clone())).collect();
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
