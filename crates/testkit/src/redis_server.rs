use crate::reserved_port;
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

/// A Redis server of one test, on loopback, that keeps nothing on disk and goes with this value.
#[derive(Debug)]
pub struct RedisServer {
    port: u16,
    child: Child,
}

impl RedisServer {
    /// Starts one and waits until it listens; `redis-server` and `redis-cli` have to be installed.
    pub fn start() -> Self {
        let port = reserved_port();
        Self { port, child: spawn(port) }
    }

    /// Its address with `user` in front, which is nothing or `USER:PASSWORD@`.
    pub fn url(&self, user: &str) -> String {
        format!("redis://{user}127.0.0.1:{}", self.port)
    }

    /// What it answers to a command from outside.
    pub fn command(&self, words: &[&str]) -> String {
        let port = self.port.to_string();
        let told = Command::new("redis-cli").args(["-p", &port]).args(words).output().unwrap();
        String::from_utf8(told.stdout).unwrap()
    }

    /// Lets it hold every connection and answer none.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Undoes [`RedisServer::freeze`].
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    /// Ends it at once; what it knew is lost.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it anew at the same address.
    pub fn restart(&mut self) {
        self.child = spawn(self.port);
    }

    fn signal(&self, signal: &str) {
        let done = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(done.unwrap().success());
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}

fn spawn(port: u16) -> Child {
    let child = Command::new("redis-server")
        .args(["--bind", "127.0.0.1", "--port", &port.to_string()])
        .args(["--save", "", "--appendonly", "no"])
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is installed; scripts/test.sh does that");
    let until = Instant::now() + PATIENCE;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "redis-server does not listen");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}
