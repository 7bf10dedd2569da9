//! Tests of the gate, the time limits and the edge, over a socket made of two queues.

use super::chunks::ChunkedBody;
use super::gate::{Gate, Readable};
use super::state::{Body, Connection, Phase};
use super::{ClientTimeouts, Edge, head};
use actix_web::http::StatusCode;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep};

const HEAD: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const NONE: Body = Body::Length(0);
const CHUNKED: Body = Body::Chunked(ChunkedBody::Size);
const SECOND: Duration = Duration::from_secs(1);
const PATIENCE: ClientTimeouts = ClientTimeouts {
    head: Duration::from_secs(5),
    write: Duration::from_secs(10),
    keep_alive: Duration::from_secs(30),
};

#[derive(Default)]
struct Peer {
    sends: VecDeque<Vec<u8>>,
    ended: bool,
    received: Vec<u8>,
    /// Bytes that the socket takes before it blocks.
    takes: usize,
    waker: Option<Waker>,
}

#[derive(Clone, Default)]
struct Socket(Rc<RefCell<Peer>>);

impl Socket {
    fn send(&self, bytes: impl AsRef<[u8]>) {
        let mut peer = self.0.borrow_mut();
        peer.sends.push_back(bytes.as_ref().to_vec());
        peer.waker.take().inspect(Waker::wake_by_ref);
    }

    fn take(&self, count: usize) {
        let mut peer = self.0.borrow_mut();
        peer.takes += count;
        peer.waker.take().inspect(Waker::wake_by_ref);
    }

    fn received(&self) -> String {
        String::from_utf8(self.0.borrow().received.clone()).unwrap()
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut peer = self.0.borrow_mut();
        match peer.sends.pop_front() {
            Some(mut bytes) => {
                let rest = bytes.split_off(bytes.len().min(buffer.remaining()));
                if !rest.is_empty() {
                    peer.sends.push_front(rest);
                }
                buffer.put_slice(&bytes);
                Poll::Ready(Ok(()))
            }
            None if peer.ended => Poll::Ready(Ok(())),
            None => {
                peer.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut peer = self.0.borrow_mut();
        let count = bytes.len().min(peer.takes);
        if count == 0 {
            peer.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        peer.takes -= count;
        peer.received.extend_from_slice(&bytes[..count]);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Readable for Socket {
    fn poll_readable(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut peer = self.0.borrow_mut();
        if peer.ended || !peer.sends.is_empty() {
            return Poll::Ready(Ok(()));
        }
        peer.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A gate with a test double for the parser.
struct Parser {
    socket: Socket,
    connection: Rc<Connection>,
    gate: Gate<Socket>,
    wakes: Arc<Wakes>,
}

impl Parser {
    fn new() -> Self {
        let (socket, connection) = (Socket::default(), Rc::new(Connection::new(PATIENCE)));
        socket.take(1_000_000);
        let gate = gate(&socket, &connection);
        Self { socket, connection, gate, wakes: Arc::default() }
    }

    /// The result of one read with space for 8 KiB; `None` if there is nothing yet.
    fn read(&mut self) -> Option<String> {
        self.read_into(8_192)
    }

    fn read_into(&mut self, room: usize) -> Option<String> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        let mut bytes = vec![0; room];
        let mut buffer = ReadBuf::new(&mut bytes);
        let mut context = Context::from_waker(&waker);
        match Pin::new(&mut self.gate).poll_read(&mut context, &mut buffer) {
            Poll::Ready(read) => {
                read.unwrap();
                Some(String::from_utf8(buffer.filled().to_vec()).unwrap())
            }
            Poll::Pending => None,
        }
    }

    fn write(&mut self, text: &str) -> Option<usize> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        match Pin::new(&mut self.gate).poll_write(&mut Context::from_waker(&waker), text.as_bytes())
        {
            Poll::Ready(count) => Some(count.unwrap()),
            Poll::Pending => None,
        }
    }

    fn flush(&mut self) {
        let waker = Waker::from(Arc::clone(&self.wakes));
        let flushed = Pin::new(&mut self.gate).poll_flush(&mut Context::from_waker(&waker));
        assert!(flushed.is_ready());
    }

    /// Answers the current request; tells whether the task is woken for the next.
    fn answer(&mut self) -> bool {
        self.connection.answer();
        self.write("answer;").unwrap();
        let before = self.wakes.0.load(Ordering::Relaxed);
        self.flush();
        self.wakes.0.load(Ordering::Relaxed) > before
    }
}

fn gate(socket: &Socket, connection: &Rc<Connection>) -> Gate<Socket> {
    let word = |status: StatusCode| format!("refused {}", status.as_u16()).into_bytes();
    Gate::new(socket.clone(), Rc::clone(connection), Rc::new(word))
}

#[test]
fn an_honest_request_goes_through_at_once_and_wakes_nobody() {
    let mut parser = Parser::new();
    let post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n{}\r\n";
    for (request, framing) in [(HEAD, NONE), (post, Body::Length(4))] {
        parser.socket.send(request);
        assert_eq!(parser.read().as_deref(), Some(request));
        assert_eq!(parser.read(), None);
        parser.connection.begin(framing);
        assert!(!parser.answer(), "a wake too many");
        assert_eq!(parser.connection.phase(), Phase::Idle);
    }
    assert!(!parser.connection.is_dropped());
}

#[test]
fn of_pipelined_heads_each_waits_for_the_answer_before() {
    let mut parser = Parser::new();
    parser.socket.send(HEAD.repeat(3) + "GET");
    for _ in 0..3 {
        assert_eq!(parser.read().as_deref(), Some(HEAD));
        assert_eq!(parser.read(), None);
        parser.connection.begin(NONE);
        assert_eq!(parser.read(), None);
        assert!(parser.answer(), "nobody comes for the next");
    }
    assert_eq!(parser.read(), None);
    assert_eq!(parser.connection.phase(), Phase::Head);
}

#[test]
fn a_head_that_came_while_a_request_was_worked_on_is_not_forgotten() {
    let mut parser = Parser::new();
    parser.socket.send(HEAD);
    assert!(parser.read().is_some() && parser.read().is_none());
    parser.connection.begin(NONE);
    parser.socket.send(HEAD);
    assert_eq!(parser.read(), None);
    assert!(parser.answer());
    assert_eq!(parser.read().as_deref(), Some(HEAD));
}

#[test]
fn however_it_is_cut_each_request_arrives_whole() {
    let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let sized = "POST / HTTP/1.1\r\nContent-Length: 8\r\n\r\n";
    let (chunks, bytes) = ("4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n\n\n\r\n");
    let stream = format!("{HEAD}{chunked}{chunks}{sized}{bytes}{HEAD}");
    let parts = [
        (HEAD, "", NONE),
        (chunked, chunks, CHUNKED),
        (sized, bytes, Body::Length(8)),
        (HEAD, "", NONE),
    ];
    for cut in 0..stream.len() {
        for room in [8_192, 7] {
            let mut parser = Parser::new();
            let (first, second) = stream.split_at(cut);
            parser.socket.send(first);
            parser.socket.send(second);
            parser.socket.0.borrow_mut().sends.retain(|part| !part.is_empty());
            for (head, body, framing) in parts {
                let mut got = String::new();
                while got.len() < head.len() {
                    got += &parser.read_into(room).unwrap();
                }
                // A body may arrive with its head, if both came in the same piece.
                assert!(got.starts_with(head), "{cut}: {got:?}");
                parser.connection.begin(framing);
                while got.len() < head.len() + body.len() {
                    got += &parser.read_into(room).unwrap();
                }
                assert_eq!(got, format!("{head}{body}"), "cut at {cut}");
                assert_eq!(parser.read(), None);
                parser.answer();
            }
            assert!(!parser.connection.is_dropped());
        }
    }
}

#[test]
fn a_head_has_a_longest_length() {
    let head = |length: usize| {
        let start = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
        format!("{start}{}\r\n\r\n", "x".repeat(length - start.len() - 4))
    };
    for piece in [100, 8_000, 100_000] {
        let sent = |length: usize| {
            let mut parser = Parser::new();
            head(length).as_bytes().chunks(piece).for_each(|piece| parser.socket.send(piece));
            let read = (0..3).filter_map(|_| parser.read_into(10_000)).collect::<String>();
            (read.len(), parser.socket.received())
        };
        assert_eq!(sent(head::LONGEST), (head::LONGEST, String::new()), "{piece}");
        assert_eq!(sent(head::LONGEST + 1), (0, "refused 431".to_owned()), "{piece}");
    }
    let mut parser = Parser::new();
    parser.socket.send("\r\n".repeat(head::LONGEST));
    while parser.connection.phase() != Phase::Closing {
        assert_eq!(parser.read(), None);
    }
    assert_eq!(parser.socket.received(), "refused 431");
}

#[test]
fn while_the_peer_does_not_take_an_answer_it_is_not_read() {
    let mut parser = Parser::new();
    parser.socket.send(HEAD.repeat(2));
    parser.read().unwrap();
    parser.connection.begin(NONE);
    parser.connection.answer();
    parser.socket.0.borrow_mut().takes = 3;
    assert_eq!(parser.write("answer"), Some(3));
    assert_eq!(parser.write("wer"), None);
    assert_eq!(parser.read(), None);
    assert!(parser.connection.dawdles_since().is_some(), "holds a place for ever");
    parser.socket.take(3);
    assert_eq!(parser.write("wer"), Some(3));
    parser.flush();
    assert_eq!(parser.read().as_deref(), Some(HEAD));
    assert_eq!(parser.socket.received(), "answer");
}

#[test]
fn nor_is_the_rest_of_a_body_that_was_answered_early() {
    let mut parser = Parser::new();
    parser.socket.send("POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n");
    parser.read().unwrap();
    parser.connection.begin(Body::Length(100));
    parser.socket.send("x".repeat(100));
    parser.connection.answer();
    parser.socket.0.borrow_mut().takes = 0;
    assert_eq!(parser.write("answer"), None);
    assert_eq!(parser.read(), None);
}

#[test]
fn what_the_parser_refuses_is_refused_in_our_words() {
    let mut parser = Parser::new();
    parser.socket.send("nonsense\r\n\r\n");
    parser.read().unwrap();
    let short = "HTTP/1.1 431 Request Header Fields Too Large\r\n\r\n";
    assert_eq!(parser.write(short), Some(short.len()));
    assert_eq!(parser.socket.received(), "refused 431");
    parser.socket.send(HEAD);
    assert_eq!(parser.read(), None, "reads on");
}

#[test]
fn a_body_comes_no_faster_than_it_is_taken() {
    let mut parser = Parser::new();
    parser.socket.send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
    parser.read().unwrap();
    parser.connection.begin(Body::Length(1_000_000));
    parser.socket.send("x".repeat(100_000));
    let waker = Waker::from(Arc::clone(&parser.wakes));
    for _ in 0..4 {
        let handed: usize = std::iter::from_fn(|| parser.read()).map(|part| part.len()).sum();
        assert_eq!(handed, 8_192);
        let before = parser.wakes.0.load(Ordering::Relaxed);
        parser.connection.starve(&Context::from_waker(&waker));
        assert!(parser.wakes.0.load(Ordering::Relaxed) > before, "nobody reads on");
    }
}

#[test]
fn who_reads_a_body_that_came_before_its_time_is_woken_for_it() {
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for pieces in [[format!("{head}0\r\n\r\n"), String::new()], [head.into(), "0\r\n\r\n".into()]] {
        let mut parser = Parser::new();
        pieces.iter().filter(|piece| !piece.is_empty()).for_each(|piece| parser.socket.send(piece));
        assert_eq!(parser.read().as_deref(), Some(head));
        assert_eq!(parser.read(), None);
        parser.connection.begin(CHUNKED);
        let waker = Waker::from(Arc::clone(&parser.wakes));
        parser.connection.starve(&Context::from_waker(&waker));
        assert_eq!(parser.wakes.0.load(Ordering::Relaxed), 1, "the body is never read");
        assert_eq!(parser.read().as_deref(), Some("0\r\n\r\n"));
    }
}

#[test]
fn a_malformed_chunk_reads_as_the_end() {
    let mut parser = Parser::new();
    parser.socket.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    parser.read().unwrap();
    parser.connection.begin(CHUNKED);
    parser.socket.send(format!("x\r\n{HEAD}"));
    assert_eq!(parser.read().as_deref(), Some(""));
    parser.answer();
    assert_eq!(parser.connection.phase(), Phase::Closing);
    assert_eq!(parser.read(), None, "a request was smuggled");
}

#[test]
fn a_request_nobody_handed_over_costs_the_connection() {
    let mut parser = Parser::new();
    parser.socket.send(HEAD);
    parser.read().unwrap();
    parser.connection.begin(NONE);
    assert!(!parser.connection.is_dropped());
    parser.connection.begin(NONE);
    assert!(parser.connection.is_dropped());
    // A body that arrived with the head must be the one that the parser sees.
    let post = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}";
    for (seen, dropped) in
        [(Body::Length(2), false), (Body::Length(1), true), (NONE, true), (CHUNKED, true)]
    {
        let mut parser = Parser::new();
        parser.socket.send(post);
        parser.read().unwrap();
        parser.connection.begin(seen);
        assert_eq!(parser.connection.is_dropped(), dropped, "{seen:?}");
    }
}

/// A connection served in the background that reads everything and answers nothing.
fn visit(edge: &Rc<Edge>) -> (Socket, Rc<Connection>, tokio::task::JoinHandle<()>) {
    let (socket, visit) = (Socket::default(), edge.admit());
    socket.take(100_000);
    let connection = visit.connection();
    let mut gate = gate(&socket, &connection);
    let reads = poll_fn(move |context| {
        let mut bytes = [0; 8_192];
        while let Poll::Ready(read) =
            Pin::new(&mut gate).poll_read(context, &mut ReadBuf::new(&mut bytes))
        {
            read.unwrap();
        }
        Poll::<()>::Pending
    });
    (socket, connection, tokio::task::spawn_local(visit.serve(reads)))
}

/// Runs on one thread, with a clock that jumps to the next deadline.
async fn locally(test: impl Future<Output = ()>) {
    tokio::task::LocalSet::new().run_until(test).await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed_without_a_word() {
    locally(async {
        let (began, edge) = (Instant::now(), Edge::new(PATIENCE, 10));
        let (socket, _, served) = visit(&edge);
        served.await.unwrap();
        assert_eq!(began.elapsed().as_secs(), 30);
        assert_eq!(socket.received(), "");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn every_head_has_its_time_from_its_first_byte() {
    locally(async {
        let edge = Edge::new(PATIENCE, 10);
        let (socket, connection, served) = visit(&edge);
        sleep(20 * SECOND).await;
        socket.send(HEAD);
        sleep(SECOND).await;
        connection.begin(NONE);
        connection.answer();
        connection.flushed();
        sleep(20 * SECOND).await;
        let began = Instant::now();
        while !served.is_finished() && socket.received().is_empty() {
            socket.send("G");
            sleep(SECOND / 4).await;
        }
        assert_eq!(socket.received(), "refused 408");
        assert_eq!(began.elapsed().as_secs(), 5);
        served.await.unwrap();
        assert!(began.elapsed() < 8 * SECOND);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_taken_bit_by_bit_has_its_time_too() {
    locally(async {
        let edge = Edge::new(PATIENCE, 10);
        let (socket, connection, served) = visit(&edge);
        socket.send(HEAD);
        sleep(SECOND).await;
        connection.begin(NONE);
        connection.answer();
        let began = Instant::now();
        while !served.is_finished() && began.elapsed() < 60 * SECOND {
            connection.block();
            socket.send("x");
            sleep(SECOND / 4).await;
        }
        assert!((9..=11).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn work_has_no_deadline_here() {
    locally(async {
        let edge = Edge::new(PATIENCE, 10);
        let (socket, connection, served) = visit(&edge);
        socket.send(HEAD);
        sleep(SECOND).await;
        connection.begin(NONE);
        sleep(1_000 * SECOND).await;
        assert!(!served.is_finished());
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn at_a_full_edge_the_longest_dawdler_goes_and_nobody_at_work() {
    locally(async {
        let edge = Edge::new(PATIENCE, 4);
        let (busy_socket, busy, busy_served) = visit(&edge);
        busy_socket.send(HEAD);
        sleep(SECOND).await;
        busy.begin(NONE);
        let (half, _, half_served) = visit(&edge);
        sleep(SECOND).await;
        let (_, _, idle_served) = visit(&edge);
        sleep(SECOND).await;
        half.send("G");
        sleep(SECOND).await;
        let finished = |served: &tokio::task::JoinHandle<()>| served.is_finished();
        assert!(!finished(&half_served) && !finished(&idle_served));
        // Three are in, and the fourth takes the last place. The idle one has waited longest, since
        // the other began a head after it arrived.
        let (_, _, newest_served) = visit(&edge);
        sleep(SECOND).await;
        assert!(finished(&idle_served) && !finished(&half_served) && !finished(&newest_served));
        let (_, _, another_served) = visit(&edge);
        sleep(SECOND / 2).await;
        assert!(finished(&half_served) && !finished(&newest_served));
        assert!(!finished(&busy_served) && !finished(&another_served));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn whoever_left_takes_no_place() {
    let edge = Edge::new(PATIENCE, 3);
    let stays = edge.admit();
    for _ in 0..5 {
        drop(edge.admit());
    }
    let _comes = edge.admit();
    assert!(!stays.connection().is_dropped());
}

#[tokio::test(start_paused = true)]
async fn if_all_are_at_work_the_first_that_is_done_makes_room() {
    locally(async {
        let edge = Edge::new(PATIENCE, 2);
        let mut guests = Vec::new();
        for _ in 0..2 {
            let (socket, connection, served) = visit(&edge);
            socket.send(HEAD);
            sleep(SECOND).await;
            connection.begin(NONE);
            // The next request arrives early, which makes the task check.
            socket.send(HEAD);
            sleep(SECOND).await;
            guests.push((socket, connection, served));
        }
        sleep(SECOND).await;
        assert!(guests.iter().all(|(_, _, served)| !served.is_finished()));
        let (socket, connection, served) = &guests[0];
        connection.answer();
        connection.flushed();
        socket.take(1);
        sleep(SECOND).await;
        assert!(served.is_finished() && !guests[1].2.is_finished());
    })
    .await;
}
