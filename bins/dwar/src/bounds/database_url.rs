//! Parses `database.url` in one place for all its readers.

use dwar_kernel::is_this_machine;
use dwar_postgres::PostgresUrl;

/// The address of a database that exists only in the memory of the process.
pub const MEMORY: &str = "memory:";

pub enum DatabaseUrl<'a> {
    Sqlite(&'a str),
    Postgres,
    Memory,
}

/// Parses the setting.
///
/// # Errors
/// The reason why no database can be opened there, as the end of a sentence that never contains the
/// URL.
pub fn read(url: &str) -> Result<DatabaseUrl<'_>, String> {
    if url == MEMORY {
        return Ok(DatabaseUrl::Memory);
    }
    match url.strip_prefix("sqlite://") {
        Some(":memory:") => Err("names no file; without one it is memory:".to_owned()),
        Some(path) if path.contains('?') => Err("takes no options behind its path".to_owned()),
        Some(path) if !path.is_empty() => Ok(DatabaseUrl::Sqlite(path)),
        None if url.starts_with("postgres") => read_server(url).map(|_| DatabaseUrl::Postgres),
        _ => Err("is sqlite://PATH, postgres://… or memory:".to_owned()),
    }
}

/// Parses the URL of a PostgreSQL server.
///
/// # Errors
/// The reason why no server can be reached there, as the end of a sentence that never contains the
/// URL.
pub fn read_server(url: &str) -> Result<PostgresUrl, String> {
    url.parse().map_err(|cause: dwar_postgres::InvalidUrl| cause.to_string())
}

/// How a third party could read or forge the traffic to a remote server; `None` if it cannot.
pub fn problem(url: &str) -> Option<String> {
    let server = read_server(url).ok()?;
    if crate::strength::is_well_known(server.password()) {
        return Some("the password is a well-known one from manuals".to_owned());
    }
    match server.sslmode() {
        _ if is_here(&server) => None,
        Some("verify-full" | "verify-ca" | "require" | "disable") => None,
        _ => Some(
            "names a server on another machine and no sslmode, or one that falls back to plain \
             text: add ?sslmode=verify-full (and sslrootcert=FILE), or, on a network that is yours \
             alone, ?sslmode=disable"
                .to_owned(),
        ),
    }
}

/// What production allows on explicit request but may still surprise: traffic that a third party
/// can read or forge, and data that is not kept.
pub fn remark(url: &str) -> Option<String> {
    if url == MEMORY {
        return Some("database.url: memory: keeps nothing: all is gone when this stops".to_owned());
    }
    let server = read_server(url).ok().filter(|server| !is_here(server))?;
    match server.sslmode() {
        Some("disable") => Some(
            "database.url: sslmode=disable sends the password's proof and all data in plain text"
                .to_owned(),
        ),
        Some("require") => Some(
            "database.url: sslmode=require encrypts but does not check who answers; \
             verify-full does"
                .to_owned(),
        ),
        _ => None,
    }
}

fn is_here(server: &PostgresUrl) -> bool {
    server
        .hosts()
        .iter()
        .all(|host| host.is_empty() || host.starts_with('/') || is_this_machine(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_elsewhere_is_called_over_tls_or_plainly_said_otherwise() {
        for (url, refused, remarked) in [
            ("sqlite://dwar.db", false, false),
            ("postgres://dwar@127.0.0.1:5432/dwar", false, false),
            ("postgresql://dwar@localhost/dwar?sslmode=prefer", false, false),
            ("postgres://dwar@[::1]:5432/dwar", false, false),
            ("postgres:///dwar", false, false),
            ("postgres://dwar@%2Frun%2Fpostgresql/dwar", false, false),
            ("postgres:///dwar?host=/run/postgresql", false, false),
            ("postgres://dwar@db/dwar", true, false),
            ("postgres://dwar@10.0.0.2/dwar", true, false),
            ("postgres://dwar@localhost,db:5433/dwar", true, false),
            ("postgres://dwar@localhost/dwar?host=db", true, false),
            ("postgres://dwar@localhost/dwar?hostaddr=10.0.0.2", true, false),
            ("postgres://dwar@%31%30.0.0.2/dwar", true, false),
            ("postgres://dwar@db/dwar?sslmode=prefer", true, false),
            ("postgres://dwar@db/dwar?sslmode=allow", true, false),
            ("postgres://dwar@db/dwar?sslmode=verify-full&sslmode=prefer", true, false),
            ("postgres://dwar@db/dwar?sslmode=disable", false, true),
            ("postgres://dwar@db/dwar?sslmode=require", false, true),
            ("postgres://dwar@db/dwar?sslmode=verify-full&sslrootcert=/ca.pem", false, false),
        ] {
            assert_eq!(problem(url).is_some(), refused, "{url}");
            assert_eq!(remark(url).is_some(), remarked, "{url}");
        }
    }

    #[test]
    fn an_example_is_no_password() {
        assert!(problem("postgres://dwar:change-me@127.0.0.1/dwar").is_some());
        assert!(problem("postgres://dwar@127.0.0.1/dwar?password=change-me").is_some());
        assert!(problem("postgres://dwar:0cc175b9c0f1b6a8@127.0.0.1/dwar").is_none());
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        for (url, right) in [
            ("memory:", true),
            ("sqlite://dwar.db", true),
            ("sqlite:///tmp/a@b@c %.db", true),
            ("postgres://dwar:p%40w@db/dwar?sslmode=disable", true),
            ("postgresql:///dwar?host=/run/postgresql", true),
            ("", false),
            ("dwar.db", false),
            ("sqlite:dwar.db", false),
            ("sqlite://", false),
            ("sqlite://:memory:", false),
            ("sqlite:///var/lib/dwar/dwar.db?mode=rwc", false),
            ("mysql://dwar@db/dwar", false),
            ("host=db user=dwar", false),
            ("postgres:dwar", false),
            ("postgres://dwar:p@w@db/dwar", false),
        ] {
            assert_eq!(read(url).is_ok(), right, "{url}");
        }
    }
}
