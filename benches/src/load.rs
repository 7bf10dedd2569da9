//! The load generator: many connections on one thread, each of which sends one request after
//! another.

use crate::Outcome;
use crate::http::Message;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// The source of requests on one connection.
pub trait Client {
    /// Writes the next whole request; `false` if there are no more.
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool>;

    /// Takes the answer to it.
    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()>;

    /// Until when there is nothing to ask; `None` asks at once.
    fn idle_until(&self) -> Option<Instant> {
        None
    }
}

/// Longest sleep of connections that have nothing to ask.
const NAP: Duration = Duration::from_millis(20);
/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The result of one measurement.
#[derive(Default)]
pub struct Sample {
    /// The duration of each request, in microseconds, in no particular order.
    pub micros: Vec<u32>,
    /// The duration of the whole measurement.
    pub took: Duration,
}

struct Connection<C> {
    stream: TcpStream,
    client: C,
    request: Vec<u8>,
    written: usize,
    answer: Vec<u8>,
    asked: Instant,
    /// Has nothing to ask yet.
    idle: bool,
    over: bool,
}

/// Lets every client send requests, each on a connection to one of `addresses` in turn, until
/// `time` is over or no client has further requests.
pub fn drive<C: Client>(
    addresses: &[String],
    clients: Vec<C>,
    time: Duration,
) -> Outcome<(Sample, Vec<C>)> {
    let mut poll = Poll::new()?;
    let mut events = Events::with_capacity(256);
    let mut connections = Vec::new();
    for (place, client) in clients.into_iter().enumerate() {
        let address = addresses.get(place % addresses.len()).ok_or("nobody to ask")?;
        connections.push(Connection::open(address, client, &poll, Token(place))?);
    }
    let (begun, mut sample) = (Instant::now(), Sample::default());
    for connection in &mut connections {
        connection.ask()?;
    }
    let mut answered = begun;
    while connections.iter().any(|connection| !connection.over) {
        let idle = connections.iter().any(|connection| connection.idle && !connection.over);
        match poll.poll(&mut events, Some(if idle { nap(&connections) } else { PATIENCE })) {
            // A process that was stopped and continued gets this error.
            Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        let late = begun.elapsed() >= time;
        if !events.is_empty() || connections.iter().all(|one| one.idle || one.over) {
            answered = Instant::now();
        } else if answered.elapsed() >= PATIENCE {
            return Err("no answer for a minute".into());
        }
        for event in &events {
            let connection = connections.get_mut(event.token().0).ok_or("no such connection")?;
            connection.go_on(&mut sample.micros, late)?;
        }
        // Begins with another connection each time, so that none is idle until the service closes
        // it.
        let count = connections.len();
        for place in (0..count).map(|place| (place + sample.micros.len()) % count) {
            let connection = &mut connections[place];
            if connection.idle && !connection.over {
                connection.wake(late)?;
            }
        }
    }
    sample.took = begun.elapsed();
    Ok((sample, connections.into_iter().map(|connection| connection.client).collect()))
}

/// How long until an idle client has something to ask.
fn nap<C: Client>(connections: &[Connection<C>]) -> Duration {
    let idle = connections.iter().filter(|connection| connection.idle && !connection.over);
    let next = idle.filter_map(|connection| connection.client.idle_until()).min();
    next.map_or(NAP, |next| next.saturating_duration_since(Instant::now()).min(NAP))
}

impl<C: Client> Connection<C> {
    fn open(address: &str, client: C, poll: &Poll, token: Token) -> Outcome<Self> {
        let stream = std::net::TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let (request, answer, asked) = (Vec::new(), Vec::new(), Instant::now());
        let (idle, over) = (false, false);
        Ok(Self { stream, client, request, written: 0, answer, asked, idle, over })
    }

    /// Sends a request if it is time, or ends the client if it is late.
    fn wake(&mut self, late: bool) -> Outcome<()> {
        if late {
            self.over = true;
            return Ok(());
        }
        self.ask()
    }

    fn ask(&mut self) -> Outcome<()> {
        self.idle = self.client.idle_until().is_some_and(|until| until > Instant::now());
        if self.idle {
            return Ok(());
        }
        self.request.clear();
        self.written = 0;
        self.over = !self.client.ask(&mut self.request)?;
        self.asked = Instant::now();
        self.write()
    }

    fn write(&mut self) -> Outcome<()> {
        while let Some(rest) = self.request.get(self.written..).filter(|rest| !rest.is_empty()) {
            match self.stream.write(rest) {
                Ok(count) => self.written += count,
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(())
    }

    /// Writes and reads as much as possible, and sends a new request after each answer.
    fn go_on(&mut self, micros: &mut Vec<u32>, late: bool) -> Outcome<()> {
        self.write()?;
        let mut more = [0; 8_192];
        while !self.over && !self.idle {
            match self.stream.read(&mut more) {
                Ok(0) => return Err("the service hung up".into()),
                Ok(count) => self.answer.extend_from_slice(&more[..count]),
                Err(cause) if cause.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(cause) => return Err(cause.into()),
            }
            let Some((message, length)) = Message::first(&self.answer)? else { continue };
            micros.push(u32::try_from(self.asked.elapsed().as_micros())?);
            self.client.answered(&message)?;
            self.answer.drain(..length);
            if late {
                self.over = true;
            } else {
                self.ask()?;
            }
        }
        Ok(())
    }
}
