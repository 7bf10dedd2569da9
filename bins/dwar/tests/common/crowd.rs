//! Crowds of raw connections, and a client with normal requests meanwhile.

use super::Service;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Lets this process open as many sockets as the system allows.
pub fn raise_descriptors() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limits = getrlimit(Resource::Nofile);
    limits.current = limits.maximum;
    setrlimit(Resource::Nofile, limits).unwrap();
}

/// Resident memory of a process in MiB, as the kernel counts it.
#[derive(Clone, Copy, Debug)]
pub struct Resident {
    pub now: u64,
    pub peak: u64,
}

impl Resident {
    pub fn of(service: &Service) -> Self {
        let status = std::fs::read_to_string(format!("/proc/{}/status", service.pid())).unwrap();
        let field = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1_024
        };
        Self { now: field("VmRSS:"), peak: field("VmHWM:") }
    }
}

/// A client that requests `/healthz`, each time on a new connection, until it is stopped.
pub struct Bystander {
    stop: Arc<AtomicBool>,
    waits: JoinHandle<Vec<Duration>>,
}

impl Bystander {
    pub fn of(service: &Service) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let address = address(service);
        let stopped = Arc::clone(&stop);
        let waits = tokio::spawn(async move {
            let mut waits = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let began = Instant::now();
                let answer = get_health(&address).await;
                assert!(answer.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")));
                waits.push(began.elapsed());
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            waits
        });
        Self { stop, waits }
    }

    /// Stops, and returns the 99th percentile of the wait. Fails the test if any request was not
    /// answered.
    pub async fn p99(self) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        let mut waits = self.waits.await.unwrap();
        waits.sort_unstable();
        waits[waits.len() * 99 / 100]
    }
}

async fn get_health(address: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}

fn address(service: &Service) -> String {
    service.base.trim_start_matches("http://").to_owned()
}

/// A connection that sends `start`, then sends `again` once every `pause` and, if `reads`, reads
/// what it gets, until the server closes it. Returns how long that took, and what was read.
pub fn attacker(
    service: &Service,
    start: impl Into<Vec<u8>>,
    again: impl Into<Vec<u8>>,
    pause: Duration,
    reads: bool,
) -> JoinHandle<(Duration, String)> {
    let (address, start, again) = (address(service), start.into(), again.into());
    tokio::spawn(async move {
        let stream = TcpStream::connect(&address).await.unwrap();
        let began = Instant::now();
        let (mut read, mut write) = stream.into_split();
        let writes = async {
            write.write_all(&start).await?;
            loop {
                tokio::time::sleep(pause).await;
                write.write_all(&again).await?;
            }
        };
        let mut taken = Vec::new();
        if reads {
            let takes = async {
                let mut part = [0; 4_096];
                while let Ok(count @ 1..) = read.read(&mut part).await {
                    taken.extend_from_slice(&part[..count]);
                }
            };
            // A client without further answers still waits for the end.
            let writes = async {
                let _refused: io::Result<()> = writes.await;
                std::future::pending::<()>().await;
            };
            tokio::select! { () = takes => {}, () = writes => {} }
        } else {
            let _refused: io::Result<()> = writes.await;
        }
        (began.elapsed(), String::from_utf8_lossy(&taken).into_owned())
    })
}
