use super::chunks::{Chunks, Malformed};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::time::Instant;

/// How many bytes of a body are handed on before the earlier ones have been read.
const WINDOW: usize = 8 * 1_024;
/// How long to go on reading from a client that was told that the connection ends (RFC 9112 section
/// 9.6): the answer would be lost if the socket were closed on unread bytes.
pub(super) const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long to wait for a client.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For a whole head, from its first byte.
    pub head: Duration,
    /// For all of an answer to be taken, from the moment that some of it was not.
    pub write: Duration,
    /// For the first byte of a head.
    pub keep_alive: Duration,
}

/// A body that its reader and its connection both hold.
pub(super) type Shared = Rc<RefCell<Payload>>;

/// The phase of a connection between two of its requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Head,
    /// The parser has a whole head, and no request has come of it so far.
    Parsing,
    Request,
    Answer,
    /// Nothing that comes is read as a request any more.
    Closing,
}

/// What is still to come of a request's body (RFC 9112 section 6.3).
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    Length(u64),
    /// Everything to its last chunk.
    Chunked(Chunks),
    /// All until the connection ends: what follows is not HTTP.
    Endless,
}

/// What is known of one connection: shared by the stream under the parser, by the middleware above
/// it, and by the future around both.
pub struct Connection {
    patience: Patience,
    phase: Cell<Phase>,
    since: Cell<Instant>,
    /// Since when the peer has not taken all that was written to it.
    blocked: Cell<Option<Instant>>,
    body: Cell<Body>,
    /// The body of the present request, whether or not somebody still reads it.
    held: RefCell<Option<Shared>>,
    /// Bytes of the body that came with the head.
    early: Cell<u64>,
    /// Bytes handed on since the reader of the body last had everything.
    untaken: Cell<usize>,
    /// The reader of the body has everything that came, and waits for more.
    starved: Cell<bool>,
    /// More has come than was handed on, and no wake-up will come for it.
    waiting: Cell<bool>,
    refusal: Cell<Option<StatusCode>>,
    dropped: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Connection {
    pub(super) fn new(patience: Patience) -> Self {
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

    pub(super) fn patience(&self) -> Patience {
        self.patience
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase.get()
    }

    /// Enters `phase`; going on in the same one does not make it younger.
    pub(super) fn enter(&self, phase: Phase) {
        if self.phase.replace(phase) != phase {
            self.since.set(Instant::now());
        }
    }

    /// A whole head goes to the parser, with this many bytes of its body.
    pub(super) fn hand_over(&self, early: u64) {
        self.early.set(early);
        self.enter(Phase::Parsing);
    }

    /// A request begins, with this body. One that begins without a head that was handed over has
    /// slipped through in what was taken for a body; its connection is given up.
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

    /// The request has its answer, which now goes out.
    pub fn answer(&self) {
        self.starved.set(false);
        self.phase.set(Phase::Answer);
    }

    /// The reader of the body has everything that came, and waits for more.
    pub(crate) fn starve(&self, context: &Context<'_>) {
        self.starved.set(true);
        if self.untaken.take() >= WINDOW || self.waiting.take() {
            context.waker().wake_by_ref();
        }
    }

    pub(crate) fn feed(&self) {
        self.starved.set(false);
    }

    /// Whether more has come than was handed on, so that no wake-up comes for it by itself.
    pub(super) fn wait(&self, waiting: bool) {
        self.waiting.set(waiting);
    }

    /// Whether a part of the body is still to come, and may be handed on.
    pub(super) fn wants_body(&self) -> bool {
        match self.body.get() {
            Body::Length(0) | Body::Chunked(Chunks::Done) | Body::Endless => false,
            Body::Length(_) | Body::Chunked(_) => self.untaken.get() < WINDOW,
        }
    }

    /// How many of these bytes belong to the body; they are handed on now.
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

    /// The peer does not take what is written to it.
    pub(super) fn block(&self) {
        if self.blocked.get().is_none() {
            self.blocked.set(Some(Instant::now()));
        }
    }

    pub(super) fn is_blocked(&self) -> bool {
        self.blocked.get().is_some()
    }

    /// The peer has taken everything. Tells whether the next request may be read.
    pub(super) fn flushed(&self) -> bool {
        self.blocked.set(None);
        if self.phase.get() != Phase::Answer {
            return false;
        }
        let whole = matches!(self.body.get(), Body::Length(0) | Body::Chunked(Chunks::Done));
        if whole {
            self.held.take();
        }
        self.enter(if whole { Phase::Idle } else { Phase::Closing });
        whole
    }

    /// Has the gate answer with `status` and end the connection, as soon as it is read from.
    /// Tells whether this is news.
    pub(super) fn refuse(&self, status: StatusCode) -> bool {
        self.refusal.replace(Some(status)).is_none()
    }

    pub(super) fn take_refusal(&self) -> Option<StatusCode> {
        self.refusal.take()
    }

    /// When patience ends, if anything is waited for.
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

    /// Since when it holds a place without a whole request in progress, if it does.
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
