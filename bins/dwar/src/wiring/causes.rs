//! The usual causes why the service cannot use its database, its files or its addresses, with
//! advice.

use super::error::WiringError;
use dwar_kernel::{StoreError, with_causes};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::iter::successors;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    pub what: &'static str,
    pub advice: &'static str,
}

const fn cause(what: &'static str, advice: &'static str) -> Cause {
    Cause { what, advice }
}

const NO_ROOM: Cause = cause(
    "the disk of the database is full",
    "free disk space for the database; writes fail or will fail soon (database.min_free_mb)",
);
pub const FOREIGN: Cause = cause(
    "an object of this name exists already, so the schema belongs to another program",
    "use an empty database, or an empty schema of its own (database.url with \
     ?options=-c%20search_path%3DNAME)",
);

/// Finds the usual cause of an error, if it has one.
///
/// Uses the error's code where there is one. libpq and SQLite pass no code on, so their English
/// messages decide. The message of a server in another language is quoted without advice.
pub fn usual(error: &(dyn Error + 'static)) -> Option<Cause> {
    if let Some(WiringError::Listen { cause, .. }) = error.downcast_ref() {
        return of_address(cause.kind());
    }
    let chain = || successors(Some(error), |&error| error.source());
    if chain().any(|it| matches!(it.downcast_ref(), Some(StoreError::NoRoom))) {
        return Some(NO_ROOM);
    }
    let by_code = chain().find_map(|it| of_file(it.downcast_ref::<io::Error>()?.kind()));
    by_code.or_else(|| {
        let text = with_causes(error).to_lowercase();
        by_text(&text).or_else(|| of_file(code_in(&text)?))
    })
}

fn of_address(kind: ErrorKind) -> Option<Cause> {
    Some(match kind {
        ErrorKind::AddrInUse => cause(
            "another program listens there",
            "stop it, or choose another address: http.address, dashboard.address, metrics.address",
        ),
        ErrorKind::AddrNotAvailable => cause(
            "this machine has no such address",
            "use one that it has, or 127.0.0.1: http.address, dashboard.address, metrics.address",
        ),
        ErrorKind::PermissionDenied => cause(
            "ports below 1024 need a privilege",
            "use a higher one, or allow it with CAP_NET_BIND_SERVICE",
        ),
        _ => return None,
    })
}

fn of_file(kind: ErrorKind) -> Option<Cause> {
    Some(match kind {
        ErrorKind::NotFound => cause(
            "a folder is missing",
            "create the folder, owned by the user that the service runs as",
        ),
        ErrorKind::PermissionDenied => cause(
            "this user may not use the file",
            "run this as the user of the service, or make this user the owner of file and folder",
        ),
        ErrorKind::ReadOnlyFilesystem => cause(
            "the file system can only be read",
            "mount it for writing, or put the file elsewhere",
        ),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => NO_ROOM,
        ErrorKind::IsADirectory | ErrorKind::NotADirectory => cause(
            "a folder is where a file should be, or a file where a folder should",
            "correct the path",
        ),
        _ => return None,
    })
}

/// The system's error code that a message quotes: `Permission denied (os error 13)`.
fn code_in(text: &str) -> Option<ErrorKind> {
    let (_, rest) = text.rsplit_once("(os error ")?;
    let code = rest.split_once(')')?.0.parse().ok()?;
    Some(io::Error::from_raw_os_error(code).kind())
}

fn by_text(text: &str) -> Option<Cause> {
    let row = TEXTS.iter().find(|(parts, _)| parts.iter().all(|part| text.contains(part)));
    row.map(|(_, cause)| *cause)
}

const CREDENTIALS: Cause = cause(
    "the server refuses user or password",
    "check both in database.url, percent-encoded; the server's log says which it is",
);
const TLS_REFUSED: Cause = cause(
    "the server has no TLS, and sslmode asks for it",
    "turn it on in the server (ssl = on), or on a private network set sslmode=disable in database.url",
);
const CERTIFICATE: Cause = cause(
    "the server's certificate is not trusted",
    "set sslrootcert in database.url to the file of its certificate authority, and use the \
     host name of the certificate",
);
const NO_ROLE: Cause = cause(
    "the server has no such user",
    "create it (CREATE ROLE … LOGIN PASSWORD …), or correct database.url",
);
const NO_DATABASE: Cause = cause(
    "the server has no such database",
    "create it (CREATE DATABASE … OWNER …), or correct database.url",
);
const CROWDED: Cause = cause(
    "the server accepts no more connections",
    "lower database.connections of all instances together, or raise max_connections of the server; \
     some of its places are for superusers alone",
);
const CHANGED: Cause = cause(
    "the schema lacks something that its migrations made",
    "another program changed it: restore a backup, or begin with an empty database",
);
const READ_ONLY: Cause = cause(
    "the server can only be read: it is a standby, or was set so",
    "point database.url to the primary, or name all hosts with target_session_attrs=read-write",
);
const UNKNOWN_HOST: Cause = cause(
    "the server's host name cannot be resolved",
    "correct the host in database.url, or the name service of this machine",
);
const LOCKED: Cause = cause(
    "another process keeps the database file locked",
    "stop the program that keeps writing to it: a backup, a shell of SQLite, a second service",
);
const BY_FOLDER: &str = "make the user that the service runs as the owner of the file, its \
                         folder and the files beside it (-wal, -shm), on a file system that \
                         can be written";
const SILENT: Cause = cause(
    "the server did not answer in time",
    "check host and port in database.url, firewalls on the way, and how busy the server is",
);

/// The texts in lower case that a message must all contain, and their cause.
type Row = (&'static [&'static str], Cause);

const fn row(parts: &'static [&'static str], what: &'static str, advice: &'static str) -> Row {
    (parts, cause(what, advice))
}

const TEXTS: &[Row] = &[
    row(
        &["unsupported startup parameter"],
        "a pooler refuses the settings of a session",
        "set ignore_startup_parameters = options in PgBouncer; see docs/operations/postgresql.md",
    ),
    row(
        &["prepared statement \"", "exist"],
        "a pooler mixes up the statements of its clients",
        "use PgBouncer 1.21 or newer with max_prepared_statements; see docs/operations/postgresql.md",
    ),
    (&["password authentication failed"], CREDENTIALS),
    (&["sasl authentication failed"], CREDENTIALS),
    (&["no password supplied"], CREDENTIALS),
    row(
        &["peer authentication failed"],
        "the server accepts this user only from the system user of the same name",
        "name a host in database.url (127.0.0.1) and a password, or run the service as that user",
    ),
    (&["does not support ssl"], TLS_REFUSED),
    row(
        &["no pg_hba.conf entry", "no encryption"],
        "the server accepts no connection from this machine, or none without TLS",
        "set sslmode=verify-full in database.url, or add host, user and database to pg_hba.conf",
    ),
    row(
        &["pg_hba.conf"],
        "the server does not accept this user from this machine",
        "add host, user and database to pg_hba.conf, and reload the server",
    ),
    (&["certificate verify failed"], CERTIFICATE),
    (&["root certificate file"], CERTIFICATE),
    (&["server certificate for"], CERTIFICATE),
    row(
        &["client certificate"],
        "the server asks for a certificate of the client",
        "name it with sslcert and sslkey in database.url",
    ),
    row(
        &["ssl error"],
        "TLS with the server failed",
        "check sslmode, sslrootcert, sslcert and sslkey in database.url, and the server's log",
    ),
    (&["role \"", "\" does not exist"], NO_ROLE),
    (&["no such user"], NO_ROLE),
    row(
        &["is not permitted to log in"],
        "this user of the server may not log in",
        "allow it: ALTER ROLE … LOGIN",
    ),
    (&["database \"", "\" does not exist"], NO_DATABASE),
    (&["no such database"], NO_DATABASE),
    row(
        &["not currently accepting connections"],
        "the database accepts no connections",
        "allow them: ALTER DATABASE … ALLOW_CONNECTIONS true",
    ),
    row(
        &["permission denied for database"],
        "the database user may not connect to the database",
        "allow it: GRANT CONNECT ON DATABASE … TO …, or make it the owner of the database",
    ),
    (&["too many clients"], CROWDED),
    (&["remaining connection slots"], CROWDED),
    (&["too many connections for"], CROWDED),
    (&["no more connections allowed"], CROWDED),
    row(
        &["the database system is"],
        "the server is starting, stopping or recovering",
        "wait; if that lasts, see the server's log",
    ),
    row(
        &["unrecognized configuration parameter"],
        "the server does not know a setting that Dwar uses; it may be too old",
        "use PostgreSQL 15 or newer, and check the options of database.url",
    ),
    row(
        &["permission denied for"],
        "the database user lacks a right",
        "make it the owner of its database, or GRANT USAGE, CREATE ON SCHEMA … TO it; see \
         docs/operations/postgresql.md",
    ),
    row(
        &["must be owner of"],
        "the tables belong to another user",
        "use the user that created them, or REASSIGN OWNED BY … TO …",
    ),
    row(
        &["no schema has been selected"],
        "search_path names no schema that exists",
        "create the schema, or correct the options of database.url or of the user",
    ),
    (&["read-only transaction"], READ_ONLY),
    (&["during recovery"], READ_ONLY),
    (&["postgresql is read-only"], READ_ONLY),
    (&["could not translate host name"], UNKNOWN_HOST),
    row(
        &["connection refused"],
        "no server listens at the address of the database",
        "check host and port in database.url, and that the server runs and listens for this network",
    ),
    row(
        &["server on socket", "no such file"],
        "no server has a socket in this folder",
        "check the folder of the socket in database.url, and that the server runs",
    ),
    (&["no route to host"], SILENT),
    (&["network is unreachable"], SILENT),
    (&["timeout expired"], SILENT),
    (&["connection timed out"], SILENT),
    row(
        &["closed the connection unexpectedly"],
        "the server ended the connection",
        "see its log, and that of a pooler or proxy on the way",
    ),
    (&["no space left on device"], NO_ROOM),
    (&["could not extend file"], NO_ROOM),
    (&["database or disk is full"], NO_ROOM),
    (&["\" already exists"], FOREIGN),
    (&["table ", " already exists"], FOREIGN),
    (&["index ", " already exists"], FOREIGN),
    (&["relation \"", "\" does not exist"], CHANGED),
    (&["function ", " does not exist"], CHANGED),
    (&["column ", " does not exist"], CHANGED),
    (&["no such table"], CHANGED),
    (&["no such column"], CHANGED),
    row(
        &["file of the database is not where it was"],
        "a file of the database was moved, replaced or removed while it is in use",
        "put it back, or stop everything that uses it and start again",
    ),
    row(
        &["file is not a database"],
        "this file is not an SQLite database",
        "correct database.url, or restore the database from a backup",
    ),
    row(
        &["disk image is malformed"],
        "the database file is damaged",
        "restore a backup; see docs/operations/backups.md",
    ),
    row(&["readonly database"], "the database file can only be read", BY_FOLDER),
    row(&["unable to open database file"], "SQLite cannot open the database file", BY_FOLDER),
    (&["database is locked"], LOCKED),
    (&["database table is locked"], LOCKED),
    row(
        &["disk i/o error"],
        "the disk of the database has failed",
        "see the log of the system; keep a copy of the file before anything else",
    ),
    (&["did not answer in time"], SILENT),
    (&["timed out waiting for connection"], SILENT),
];

#[cfg(test)]
#[path = "causes_tests.rs"]
mod tests;
