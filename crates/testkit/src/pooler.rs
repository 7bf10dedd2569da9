use crate::reserved_port;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

/// A PgBouncer for one test in transaction mode, on loopback, in front of the server of a PostgreSQL URL;
/// dropping the value stops it.
#[derive(Debug)]
pub struct Pooler {
    port: u16,
    child: Child,
}

impl Pooler {
    /// Starts the program that DWAR_TEST_PGBOUNCER names and waits until it listens. It opens at most
    /// `connections` to each database and keeps its files in `folder`.
    pub fn start(server: &str, folder: &Path, connections: u32, connect_query: &str) -> Self {
        let program = std::env::var("DWAR_TEST_PGBOUNCER")
            .expect("DWAR_TEST_PGBOUNCER names a PgBouncer; scripts/test.sh finds or builds one");
        let rest = server.split_once("://").unwrap().1;
        let (user, place) = rest.rsplit_once('@').unwrap();
        let (host, port) = place.split(['/', '?']).next().unwrap().rsplit_once(':').unwrap();
        let user = user.replacen(':', " password=", 1);
        let listen = reserved_port();
        let settings = format!(
            "[databases]\n\
             * = host={host} port={port} user={user} connect_query='{connect_query}'\n\
             [pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {listen}\nunix_socket_dir =\n\
             auth_type = any\npool_mode = transaction\n\
             default_pool_size = {connections}\nmax_client_conn = 500\n\
             max_prepared_statements = 200\nignore_startup_parameters = options\n"
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new(program);
        // PgBouncer refuses to run as root.
        if Command::new("id").arg("-u").output().unwrap().stdout == b"0\n" {
            command.args(["-u", "nobody"]);
        }
        let log = std::fs::File::create(folder.join("pgbouncer.log")).unwrap();
        let child = command.arg(file).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let until = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", listen)).is_err() {
            assert!(Instant::now() < until, "PgBouncer does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { port: listen, child }
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://dwar@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
