//! A proxy between one instance and PostgreSQL that can break the traffic.

use crate::Outcome;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A proxy. It forwards connections until it is frozen or cut.
pub struct Proxy {
    pub port: u16,
    state: watch::Sender<State>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Nothing is forwarded, without closing a connection.
    frozen: bool,
    /// Incremented with each cut; earlier connections are closed.
    cuts: u64,
}

impl Proxy {
    /// Listens on a free port for connections to `server` on loopback.
    pub async fn start(server: u16) -> Outcome<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let (state, watched) = watch::channel(State::default());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server, watched.clone()));
            }
        });
        Ok(Self { port, state })
    }

    /// Breaks every open connection.
    pub fn cut(&self) {
        self.state.send_modify(|state| state.cuts += 1);
    }

    /// Holds back all traffic, or releases it.
    pub fn freeze(&self, frozen: bool) {
        self.state.send_modify(|state| state.frozen = frozen);
    }
}

async fn pass(client: TcpStream, server: u16, mut state: watch::Receiver<State>) -> Option<()> {
    let born = state.borrow().cuts;
    state.wait_for(|now| !now.frozen).await.ok()?;
    let server = TcpStream::connect(("127.0.0.1", server)).await.ok()?;
    client.set_nodelay(true).ok()?;
    server.set_nodelay(true).ok()?;
    let (client, server) = (client.into_split(), server.into_split());
    let mut cut = state.clone();
    tokio::select! {
        _ = copy(client.0, server.1, state.clone()) => {}
        _ = copy(server.0, client.1, state) => {}
        _ = cut.wait_for(|now| now.cuts != born) => {}
    }
    Some(())
}

async fn copy(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut state: watch::Receiver<State>,
) -> Option<()> {
    let mut bytes = vec![0; 16_384];
    loop {
        let count = from.read(&mut bytes).await.ok().filter(|count| *count > 0)?;
        state.wait_for(|now| !now.frozen).await.ok()?;
        to.write_all(&bytes[..count]).await.ok()?;
    }
}
