//! A Redis that instances count requests with, and a proxy to it for each of them.

use crate::Outcome;
use crate::process::{self, free_port};
use crate::proxy::Proxy;
use rustix::process::Signal;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

const START: Duration = Duration::from_secs(20);

/// A server that keeps nothing on disk.
pub struct Redis {
    program: PathBuf,
    port: u16,
    child: Mutex<Child>,
    pub proxies: Vec<Proxy>,
}

impl Redis {
    /// Starts one on a free port, for so many instances.
    pub async fn start(program: PathBuf, instances: usize) -> Outcome<Self> {
        let port = free_port()?;
        let child = Mutex::new(spawn(&program, port).await?);
        let mut proxies = Vec::new();
        for _ in 0..instances {
            proxies.push(Proxy::start(port).await?);
        }
        Ok(Self { program, port, child, proxies })
    }

    /// Ends it at once and starts it anew: what it knew is lost.
    pub async fn restart(&self) -> Outcome<()> {
        let mut child = self.child.lock().await;
        child.kill().await?;
        *child = spawn(&self.program, self.port).await?;
        Ok(())
    }

    /// Sends it a signal.
    pub async fn signal(&self, signal: Signal) {
        process::signal(&*self.child.lock().await, signal);
    }
}

async fn spawn(program: &PathBuf, port: u16) -> Outcome<Child> {
    let port_word = port.to_string();
    let child = Command::new(program)
        .args(["--bind", "127.0.0.1", "--port", &port_word, "--save", "", "--appendonly", "no"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let until = Instant::now() + START;
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        if Instant::now() > until {
            return Err("Redis does not start".into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    Ok(child)
}
