use dwar_testkit::reserved_port;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Two PostgreSQL servers on loopback for one test, the second initially a standby of the first.
/// They are removed when this is dropped.
pub struct Servers {
    folder: TempDir,
    programs: PathBuf,
    ports: [u16; 2],
}

/// The first server, which is initially the primary.
pub const FIRST: usize = 0;
pub const SECOND: usize = 1;

impl Servers {
    /// Starts both; `None` if the programs are not installed.
    pub fn start() -> Option<Self> {
        let programs = programs()?;
        let folder = tempfile::tempdir().unwrap();
        // Another user needs access.
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        let servers = Self { folder, programs, ports: [reserved_port(), reserved_port()] };
        servers.run("initdb", FIRST, &["-U", "dwar", "-A", "trust", "--no-sync"]);
        servers.up(FIRST);
        let primary = servers.url(&[FIRST], "postgres");
        let copy = ["-d", &primary, "-R", "-X", "stream", "-c", "fast", "--no-sync"];
        servers.run("pg_basebackup", SECOND, &copy);
        servers.up(SECOND);
        Some(servers)
    }

    /// The URL of a database with these servers, in this order.
    pub fn url(&self, servers: &[usize], database: &str) -> String {
        let hosts = servers.iter().map(|server| format!("127.0.0.1:{}", self.ports[*server]));
        format!("postgres://dwar@{}/{database}", hosts.collect::<Vec<_>>().join(","))
    }

    pub fn up(&self, server: usize) {
        let (port, folder) = (self.ports[server], self.folder.path().display());
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        );
        let log = self.folder.path().join(format!("{server}.log"));
        let log = log.to_str().unwrap();
        self.run("pg_ctl", server, &["-w", "-t", "60", "-l", log, "-o", &options, "start"]);
    }

    /// Stops the server without a shutdown, as a crash would.
    pub fn down(&self, server: usize) {
        self.run("pg_ctl", server, &["-m", "immediate", "stop"]);
    }

    pub fn promote(&self, server: usize) {
        self.run("pg_ctl", server, &["-w", "promote"]);
    }

    /// Makes the server a standby without a primary, from its next start on.
    pub fn demote(&self, server: usize) {
        std::fs::write(self.data(server).join("standby.signal"), "").unwrap();
    }

    fn data(&self, server: usize) -> PathBuf {
        self.folder.path().join(format!("data-{server}"))
    }

    fn run(&self, program: &str, server: usize, arguments: &[&str]) {
        assert!(self.ran(program, server, arguments), "{program} {arguments:?} failed");
    }

    /// PostgreSQL refuses to run as root; its package creates a user of its own.
    fn ran(&self, program: &str, server: usize, arguments: &[&str]) -> bool {
        let program = self.programs.join(program);
        let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let mut command = match is_root {
            false => Command::new(program),
            true => {
                let mut other = Command::new("runuser");
                other.args(["-u", "postgres", "--"]).arg(program);
                other
            }
        };
        command.arg("-D").arg(self.data(server)).args(arguments).current_dir("/");
        // A server keeps the files open that it was started with.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        for server in [FIRST, SECOND] {
            let _is_down_already = self.ran("pg_ctl", server, &["-m", "immediate", "stop"]);
        }
    }
}

/// The folder of the installed programs, on the path or where Debian has them.
fn programs() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin"));
    let has_them = |folder: &PathBuf| is_file(folder, "initdb") && is_file(folder, "pg_basebackup");
    std::env::split_paths(&path).chain(debian).find(has_them)
}

fn is_file(folder: &Path, name: &str) -> bool {
    folder.join(name).is_file()
}
