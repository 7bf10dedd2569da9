use super::chunks::{ChunkedBody, Malformed};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::time::Instant;

/// Most bytes of a body that are passed on before its reader has taken earlier ones.
const WINDOW: usize = 8 * 1_024;
/// How long to keep reading from a client that was told that the connection ends (RFC 9112 section
/// 9.6). If the socket were closed on unread bytes, the answer would be lost.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(2);

/// Time limits for a client, each measured from its own start.
#[derive(Clone, Copy, Debug)]
pub struct ClientTimeouts {
    /// From the first byte of a head to its end.
    pub head: Duration,
    /// From the moment that part of an answer could not be sent until all of it was.
    pub write: Duration,
    /// Until the first byte of a head.
    pub keep_alive: Duration,
}

/// A body that its reader and its connection share.
pub(super) type Shared = Rc<RefCell<Payload>>;

/// The phase of a connection, from one request to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Head,
    /// The parser has a whole head, but has made no request of it yet.
    Parsing,
    Request,
    Answer,
    /// Incoming bytes are no longer read as requests.
    Closing,
}

/// The rest of a request's body (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    Length(u64),
    /// Everything up to the last chunk.
    Chunked(ChunkedBody),
    /// Everything until the connection ends. What follows is not HTTP.
    Endless,
}

/// The state of one connection. The stream below the parser, the middleware above it and the future
/// around both share it.
pub struct Connection {
    patience: ClientTimeouts,
    phase: Cell<Phase>,
    since: Cell<Instant>,
    /// Since when the peer has not received all written bytes.
    blocked: Cell<Option<Instant>>,
    body: Cell<Body>,
    /// The body of the current request, whether or not anything still reads it.
    held: RefCell<Option<Shared>>,
    /// Bytes of the body that arrived with the head.
    early: Cell<u64>,
    /// Bytes passed on since the reader of the body last had taken everything.
    untaken: Cell<usize>,
    /// Whether the reader of the body has taken every byte and waits for more.
    starved: Cell<bool>,
    /// Whether bytes arrived that were not passed on, and no wake-up will follow for them.
    waiting: Cell<bool>,
    refusal: Cell<Option<StatusCode>>,
    dropped: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Connection {
    pub(super) fn new(patience: ClientTimeouts) -> Self {
        Self {
            patience,
            phase: Cell::new(Phase::Idle),
            since: Cell::new(Instant::now()),
            blocked: Cell::default(),
            body: Cell::new(Body::Length(0)),
            held: RefCell::default(),
            early: Cell::default(),
            untaken: Cell::default(),
            starved: Cell::default(),
            waiting: Cell::default(),
            refusal: Cell::default(),
            dropped: Cell::default(),
            waker: RefCell::default(),
        }
    }

    pub(super) fn patience(&self) -> ClientTimeouts {
        self.patience
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Enters `phase`. Entering the current phase again does not restart its time.
    pub(super) fn enter(&self, phase: Phase) {
        if self.phase.replace(phase) != phase {
            self.since.set(Instant::now());
        }
    }

    /// Passes a whole head to the parser, with `early` bytes of its body.
    pub(super) fn hand_over(&self, early: u64) {
        self.early.set(early);
        self.enter(Phase::Parsing);
    }

    /// Begins a request with this body. A request without a passed-on head was smuggled in what was
    /// taken for a body, so its connection is closed.
    pub(super) fn begin(&self, body: Body) {
        let early = self.early.take();
        let body = match body {
            Body::Length(length) => length.checked_sub(early).map(Body::Length),
            Body::Chunked(_) if early > 0 => None,
            body => Some(body),
        };
        let expected = self.phase.replace(Phase::Request) == Phase::Parsing;
        match body {
            Some(body) if expected => self.body.set(body),
            _ => self.drop_it(),
        }
        self.held.take();
        self.untaken.set(usize::try_from(early).unwrap_or(usize::MAX));
    }

    pub(super) fn hold(&self, body: Shared) {
        self.held.replace(Some(body));
    }

    /// The request has its answer, which is sent from now on.
    pub fn answer(&self) {
        self.starved.set(false);
        self.phase.set(Phase::Answer);
    }

    /// The reader of the body has taken every byte and waits for more.
    pub(crate) fn starve(&self, context: &Context<'_>) {
        self.starved.set(true);
        if self.untaken.take() >= WINDOW || self.waiting.take() {
            context.waker().wake_by_ref();
        }
    }

    pub(crate) fn feed(&self) {
        self.starved.set(false);
    }

    /// Sets whether bytes arrived that were not passed on, so that no wake-up follows by itself.
    pub(super) fn wait(&self, waiting: bool) {
        self.waiting.set(waiting);
    }

    /// Tells whether more of the body is expected and may be passed on.
    pub(super) fn wants_body(&self) -> bool {
        match self.body.get() {
            Body::Length(0) | Body::Chunked(ChunkedBody::Done) | Body::Endless => false,
            Body::Length(_) | Body::Chunked(_) => self.untaken.get() < WINDOW,
        }
    }

    /// Returns how many of these bytes belong to the body; they count as passed on.
    pub(super) fn take_body(&self, bytes: &[u8]) -> Result<usize, Malformed> {
        let mut body = self.body.get();
        let taken = match &mut body {
            Body::Length(left) => {
                let here = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= here as u64;
                here
            }
            Body::Chunked(chunks) => chunks.follow(bytes)?,
            Body::Endless => 0,
        };
        self.body.set(body);
        self.untaken.set(self.untaken.get().saturating_add(taken));
        Ok(taken)
    }

    pub(super) fn block(&self) {
        if self.blocked.get().is_none() {
            self.blocked.set(Some(Instant::now()));
        }
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.get().is_some()
    }

    /// The peer has taken everything. Returns whether the next request may be read.
    pub(super) fn flushed(&self) -> bool {
        self.blocked.set(None);
        if self.phase.get() != Phase::Answer {
            return false;
        }
        let whole = matches!(self.body.get(), Body::Length(0) | Body::Chunked(ChunkedBody::Done));
        if whole {
            self.held.take();
        }
        self.enter(if whole { Phase::Idle } else { Phase::Closing });
        whole
    }

    /// Makes the gate answer with `status` at the next read and end the connection. Returns `false`
    /// if a refusal is already pending.
    pub(super) fn refuse(&self, status: StatusCode) -> bool {
        self.refusal.replace(Some(status)).is_none()
    }

    pub(super) fn take_refusal(&self) -> Option<StatusCode> {
        self.refusal.take()
    }

    /// When the current time limit ends, if there is one.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let since = self.since.get();
        let phase = match self.phase.get() {
            Phase::Idle => Some(since + self.patience.keep_alive),
            Phase::Head | Phase::Parsing => Some(since + self.patience.head),
            Phase::Closing => Some(since + LAST_WORDS),
            Phase::Request | Phase::Answer => None,
        };
        let write = self.blocked.get().map(|since| since + self.patience.write);
        [phase, write].into_iter().flatten().min()
    }

    /// Since when the connection has occupied a place without a whole request in progress, if it
    /// has.
    pub(super) fn dawdles_since(&self) -> Option<Instant> {
        match self.phase.get() {
            _ if self.dropped.get() => None,
            Phase::Request if !self.starved.get() => None,
            Phase::Answer => self.blocked.get(),
            _ => Some(self.since.get()),
        }
    }

    pub(super) fn drop_it(&self) {
        self.dropped.set(true);
        if let Some(waker) = self.waker.borrow().as_ref() {
            waker.wake_by_ref();
        }
    }

    pub(super) fn is_dropped(&self) -> bool {
        self.dropped.get()
    }

    pub(super) fn woken_by(&self, waker: &Waker) {
        let mut known = self.waker.borrow_mut();
        if known.as_ref().is_none_or(|known| !known.will_wake(waker)) {
            *known = Some(waker.clone());
        }
    }
}
