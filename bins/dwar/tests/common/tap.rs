//! A proxy to PostgreSQL that counts the traffic.

use super::Database;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// Requests before the first message: encryption by TLS or GSSAPI, and cancelling a statement.
/// <https://www.postgresql.org/docs/current/protocol-message-formats.html>
const WITHOUT_SESSION: [u32; 3] = [80_877_103, 80_877_104, 80_877_102];

/// Forwards between a client and a server, without TLS, and counts the client's messages.
pub struct Tap {
    port: u16,
    counted: Arc<Mutex<Counted>>,
    texts: Texts,
}

/// Every prepared statement, with the types of its parameters as far as the client gave them.
type Texts = Arc<Mutex<BTreeMap<String, Vec<u32>>>>;

#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Number of times that a client waited for an answer: `Sync` or a simple `Query`.
    pub trips: usize,
    /// Number of statements that the server had to prepare: `Parse`.
    pub parsed: usize,
    /// The text of every statement that ran, in order: `Execute` or a simple `Query`.
    pub ran: Vec<String>,
}

impl Tap {
    /// Forwards to the server of a PostgreSQL database; returns the URL that leads through the
    /// proxy.
    pub async fn before(database: &Database) -> (Self, String) {
        let url = database.url();
        let (user, place) = url.rsplit_once('@').unwrap();
        let (server, name) = place.split_once('/').unwrap();
        let tap = Self::at(0, server).await;
        let tapped = format!("{user}@127.0.0.1:{}/{name}?sslmode=disable", tap.port());
        (tap, tapped)
    }

    /// Passes on to `server`, which is `HOST:PORT`, from this port.
    pub async fn at(port: u16, server: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let tap = Self { port, counted: Arc::default(), texts: Arc::default() };
        let (server, counted) = (server.to_owned(), Arc::clone(&tap.counted));
        let texts = Arc::clone(&tap.texts);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, counted) = (server.clone(), Arc::clone(&counted));
                let session = Session { texts: Arc::clone(&texts), ..Session::default() };
                tokio::spawn(async move {
                    let server = TcpStream::connect(&server).await?;
                    client.set_nodelay(true)?;
                    server.set_nodelay(true)?;
                    let (from_client, mut to_client) = client.into_split();
                    let (mut from_server, to_server) = server.into_split();
                    tokio::spawn(listen(from_client, to_server, counted, session));
                    tokio::io::copy(&mut from_server, &mut to_client).await
                });
            }
        });
        tap
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Every statement that was prepared so far, with the object ids of its parameters' types.
    pub fn texts(&self) -> BTreeMap<String, Vec<u32>> {
        self.texts.lock().unwrap().clone()
    }

    /// What has passed since the last time, once nothing has for `quiet`.
    pub async fn take(&self, quiet: Duration) -> Counted {
        let mut before = usize::MAX;
        loop {
            let trips = self.counted.lock().unwrap().trips;
            if trips == before {
                return std::mem::take(&mut *self.counted.lock().unwrap());
            }
            before = trips;
            tokio::time::sleep(quiet).await;
        }
    }
}

/// Passes on what the client says, one message at a time.
async fn listen(
    mut client: OwnedReadHalf,
    mut server: OwnedWriteHalf,
    counted: Arc<Mutex<Counted>>,
    mut session: Session,
) -> io::Result<()> {
    loop {
        let request = message(&mut client, 0).await?;
        server.write_all(&request).await?;
        let kind = u32::from_be_bytes(request[4..8].try_into().unwrap());
        if !WITHOUT_SESSION.contains(&kind) {
            break;
        }
    }
    loop {
        let message = message(&mut client, 1).await?;
        session.count(message[0], &message[5..], &counted);
        server.write_all(&message).await?;
    }
}

/// Reads a message: a tag of `tag` bytes, the length, the body.
async fn message(client: &mut OwnedReadHalf, tag: usize) -> io::Result<Vec<u8>> {
    let mut message = vec![0; tag + 4];
    client.read_exact(&mut message).await?;
    let length = u32::from_be_bytes(message[tag..].try_into().unwrap());
    message.resize(tag + length as usize, 0);
    client.read_exact(&mut message[tag + 4..]).await?;
    Ok(message)
}

/// The prepared statements of one connection by name, and the text that is bound next.
#[derive(Default)]
struct Session {
    prepared: HashMap<String, String>,
    bound: String,
    texts: Texts,
}

impl Session {
    fn count(&mut self, tag: u8, body: &[u8], counted: &Mutex<Counted>) {
        let mut texts = body.split(|byte| *byte == 0);
        let mut text = || String::from_utf8_lossy(texts.next().unwrap_or_default()).into_owned();
        let mut counted = counted.lock().unwrap();
        match tag {
            b'P' => {
                counted.parsed += 1;
                let (name, sql) = (text(), text());
                // Behind both and their ends: a number of types, then these.
                let types = body[name.len() + sql.len() + 4..].chunks_exact(4);
                let types = types.map(|oid| u32::from_be_bytes(oid.try_into().unwrap()));
                self.texts.lock().unwrap().insert(sql.clone(), types.collect());
                self.prepared.insert(name, sql);
            }
            b'B' => {
                let (_portal, name) = (text(), text());
                self.bound = self.prepared.get(&name).cloned().unwrap_or_default();
            }
            b'E' => counted.ran.push(self.bound.clone()),
            b'S' => counted.trips += 1,
            b'Q' => {
                counted.trips += 1;
                counted.ran.push(text());
            }
            _ => {}
        }
    }
}
