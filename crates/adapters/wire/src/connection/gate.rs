use super::head::{self, HeadSearch};
use super::state::{Connection, Phase};
use actix_web::http::StatusCode;
use actix_web::web::{Buf, BytesMut};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A stream that can report readable data without reading it.
pub(crate) trait Readable: AsyncRead + AsyncWrite + Unpin {
    /// Becomes ready when there is data to read, or when the peer has closed the stream.
    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>>;
}

impl Readable for TcpStream {
    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_read_ready(context)
    }
}

/// Most bytes that are read from a client after it was refused: more than the longest legitimate
/// body. If the connection were closed on unread bytes, the client would not see the answer (RFC
/// 9112 section 9.6).
const MOST_DISCARDED: usize = 4 * 1_024 * 1_024;

/// Tells whether further bytes have arrived, as far as the socket reported it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StreamState {
    /// Not known, and the task is not woken when bytes arrive.
    Deaf,
    /// The task is woken when bytes arrive.
    Listening,
    /// Bytes have arrived, or the peer has closed the stream.
    Called,
}

/// The stream below the HTTP parser. It passes on one request at a time: a whole head, then its
/// body, then nothing until the peer has received the answer.
///
/// So a connection can queue only one request, one answer, and one read of early bytes. A head, and
/// a body that arrived with it, pass without being copied.
pub(crate) struct Gate<T> {
    stream: T,
    connection: Rc<Connection>,
    /// Makes the complete answer to a request that is refused with this status.
    word: Rc<dyn Fn(StatusCode) -> Vec<u8>>,
    search: HeadSearch,
    /// Bytes that were read and not yet passed on.
    held: BytesMut,
    /// Number of bytes at the start of `held` that belong to a complete head and were not yet passed on.
    head: usize,
    /// Number of bytes that were read and discarded after a refusal.
    discarded: usize,
    ear: StreamState,
}

impl<T: Readable> Gate<T> {
    pub(crate) fn new(
        stream: T,
        connection: Rc<Connection>,
        word: Rc<dyn Fn(StatusCode) -> Vec<u8>>,
    ) -> Self {
        let (search, held, ear) = (HeadSearch::default(), BytesMut::new(), StreamState::Deaf);
        Self { stream, connection, word, search, held, head: 0, discarded: 0, ear }
    }

    pub(crate) fn connection(&self) -> &Rc<Connection> {
        &self.connection
    }

    /// Reads into the space after the content of `buffer` and returns the number of bytes, zero at
    /// the end of the stream.
    fn poll_some(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        let before = buffer.filled().len();
        self.ear = StreamState::Listening;
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.ear = StreamState::Deaf;
        Poll::Ready(Ok(buffer.filled().len() - before))
    }

    /// Passes on a whole head, and nothing before it is complete.
    fn poll_head(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            if self.head > 0 {
                return self.hand_head(buffer);
            }
            match self.search.end(&self.held) {
                Some(end) if end <= head::LONGEST => self.head = end,
                None if self.held.len() < head::LONGEST => {
                    if !self.held.is_empty() {
                        self.connection.enter(Phase::Head);
                    }
                    if ready!(self.poll_more_of_head(context, buffer))? {
                        return Poll::Ready(Ok(()));
                    }
                }
                _ => {
                    self.refuse(context, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
                    return self.poll_nothing(context, buffer);
                }
            }
        }
    }

    fn hand_head(&mut self, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let part = self.head.min(buffer.remaining());
        buffer.put_slice(&self.held[..part]);
        self.let_go(part);
        self.head -= part;
        if self.head == 0 {
            self.search = HeadSearch::default();
            self.connection.hand_over(0);
        }
        Poll::Ready(Ok(()))
    }

    /// Reads more bytes. Returns true if `buffer` may go to the parser as it is: it has exactly one request, or
    /// the stream has ended. Otherwise the bytes move to `held`.
    fn poll_more_of_head(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<bool>> {
        let before = buffer.filled().len();
        if ready!(self.poll_some(context, buffer))? == 0 {
            return Poll::Ready(Ok(true));
        }
        let read = &buffer.filled()[before..];
        if self.held.is_empty() {
            match HeadSearch::default().end(read) {
                Some(end) if end <= head::LONGEST && comes_alone(read, end) => {
                    self.connection.hand_over((read.len() - end) as u64);
                    return Poll::Ready(Ok(true));
                }
                _ => self.search = HeadSearch::default(),
            }
        }
        self.held.extend_from_slice(read);
        buffer.set_filled(before);
        Poll::Ready(Ok(false))
    }

    /// Passes on the bytes of the body, as fast as its reader takes them.
    fn poll_body(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        self.connection.wait(false);
        if self.held.is_empty() {
            if ready!(self.poll_some(context, buffer))? == 0 {
                return Poll::Ready(Ok(()));
            }
        } else {
            let part = self.held.len().min(buffer.remaining());
            buffer.put_slice(&self.held[..part]);
            self.let_go(part);
        }
        // If the body is malformed, its reader sees it break off here.
        let taken = self.connection.take_body(&buffer.filled()[before..]).unwrap_or(0);
        let rest = &buffer.filled()[before + taken..];
        if !rest.is_empty() {
            let mut held = BytesMut::with_capacity(rest.len() + self.held.len());
            held.extend_from_slice(rest);
            held.extend_from_slice(&self.held);
            self.held = held;
        }
        buffer.set_filled(before + taken);
        Poll::Ready(Ok(()))
    }

    /// Reads nothing, but wakes the task when there is something to read.
    fn poll_later(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.ear != StreamState::Called {
            let readable = self.stream.poll_readable(context)?.is_ready();
            self.ear = if readable { StreamState::Called } else { StreamState::Listening };
        }
        self.connection.wait(self.ear == StreamState::Called || !self.held.is_empty());
        Poll::Pending
    }

    /// Reads and discards further bytes of a refused client, and closes the connection if the
    /// client does not stop.
    fn poll_nothing(
        &mut self,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        loop {
            let read = ready!(self.poll_some(context, buffer))?;
            buffer.set_filled(before);
            self.discarded += read;
            if read == 0 || self.discarded > MOST_DISCARDED {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Answers instead of the parser and ends the connection. Bytes that cannot be written are
    /// lost.
    fn refuse(&mut self, context: &mut Context<'_>, status: StatusCode) {
        let answer = (self.word)(status);
        let _lost = Pin::new(&mut self.stream).poll_write(context, &answer);
        let _lost = Pin::new(&mut self.stream).poll_shutdown(context);
        self.connection.enter(Phase::Closing);
        self.held = BytesMut::new();
    }

    fn let_go(&mut self, count: usize) {
        self.held.advance(count);
        if self.held.is_empty() {
            // Most connections are idle, and an idle one keeps no buffer.
            self.held = BytesMut::new();
        }
    }
}

/// Tells whether the bytes after the head, which ends at `end`, belong to the body that it declares. If not,
/// they may begin another request.
fn comes_alone(bytes: &[u8], end: usize) -> bool {
    let (head, rest) = bytes.split_at(end);
    rest.is_empty() || head::declared_length(head).is_some_and(|length| rest.len() as u64 <= length)
}

impl<T: Readable> AsyncRead for Gate<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(status) = self.connection.take_refusal() {
            self.refuse(context, status);
        }
        match self.connection.phase() {
            Phase::Closing => self.poll_nothing(context, buffer),
            _ if self.connection.is_blocked() => Poll::Pending,
            Phase::Idle | Phase::Head => self.poll_head(context, buffer),
            Phase::Request | Phase::Answer if self.connection.wants_body() => {
                self.poll_body(context, buffer)
            }
            Phase::Parsing | Phase::Request | Phase::Answer => self.poll_later(context),
        }
    }
}

impl<T: Readable> AsyncWrite for Gate<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.connection.phase() {
            // The parser refused the head. Its answer says less than ours, which replaces it.
            Phase::Parsing => {
                self.refuse(context, status(bytes));
                Poll::Ready(Ok(bytes.len()))
            }
            Phase::Closing => Poll::Ready(Ok(bytes.len())),
            _ => {
                let written = Pin::new(&mut self.stream).poll_write(context, bytes);
                if written.is_pending() {
                    self.connection.block();
                }
                written
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        let was_blocked = self.connection.is_blocked();
        let next = self.connection.flushed();
        let waits = self.ear == StreamState::Listening && self.held.is_empty();
        if was_blocked || (next && !waits) {
            context.waker().wake_by_ref();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.connection.enter(Phase::Closing);
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The status of an answer that the parser wrote.
fn status(answer: &[u8]) -> StatusCode {
    let digits = answer.get("HTTP/1.1 ".len()..).and_then(|rest| rest.get(..3));
    digits.and_then(|digits| StatusCode::from_bytes(digits).ok()).unwrap_or(StatusCode::BAD_REQUEST)
}
