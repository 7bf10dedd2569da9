use super::*;

/// Messages of real databases, and a word of the expected answer.
const SAID: &[(&str, &str)] = &[
    (
        "connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  password authentication \
         failed for user \"dwar\"",
        "user or password",
    ),
    (
        "connection to server at \"db\" (10.0.0.1), port 5432 failed: fe_sendauth: no password supplied",
        "user or password",
    ),
    ("FATAL:  Peer authentication failed for user \"dwar\"", "from the system user"),
    ("FATAL:  role \"dwar\" does not exist", "no such user"),
    ("FATAL:  database \"dwar\" does not exist", "no such database"),
    ("FATAL:  no such database: dwar", "no such database"),
    (
        "FATAL:  permission denied for database \"dwar\"\nDETAIL:  User does not have CONNECT privilege.",
        "may not connect",
    ),
    ("failed: server does not support SSL, but SSL was required", "has no TLS"),
    (
        "FATAL:  no pg_hba.conf entry for host \"10.0.0.2\", user \"dwar\", database \"dwar\", no encryption",
        "without TLS",
    ),
    (
        "FATAL:  pg_hba.conf rejects connection for host \"10.0.0.2\", user \"dwar\", database \"dwar\"",
        "does not accept this user from",
    ),
    ("SSL error: certificate verify failed", "not trusted"),
    (
        "root certificate file \"/root/.postgresql/root.crt\" does not exist\nEither provide the file, use \
         the system's trusted roots with sslrootcert=system, or change sslmode to disable server \
         certificate verification.",
        "not trusted",
    ),
    ("server certificate for \"db\" does not match host name \"10.0.0.1\"", "not trusted"),
    ("FATAL:  connection requires a valid client certificate", "certificate of the client"),
    ("SSL error: tlsv1 alert protocol version", "TLS with the server failed"),
    // PgBouncer 1.24, older ones, and without max_prepared_statements.
    ("FATAL:  unsupported startup parameter in options: lock_timeout", "pooler refuses"),
    ("FATAL:  unsupported startup parameter: options", "pooler refuses"),
    ("prepared statement \"__diesel_stmt_3\" does not exist", "pooler mixes up"),
    ("FATAL:  unrecognized configuration parameter \"plan_cache_mode\"", "too old"),
    ("FATAL:  sorry, too many clients already", "no more connections"),
    (
        "FATAL:  remaining connection slots are reserved for non-replication superuser connections",
        "no more connections",
    ),
    ("FATAL:  too many connections for role \"dwar\"", "no more connections"),
    ("FATAL:  the database system is starting up", "starting"),
    ("permission denied for schema public", "lacks a right"),
    ("must be owner of table projects", "another user"),
    ("no schema has been selected to create in", "search_path"),
    (
        "Failed to run 2026-11-26-100000_foundation with: relation \"projects\" already exists",
        "belongs to another program",
    ),
    (
        "Failed to run 2026-11-26-100000_foundation with: table projects already exists",
        "belongs to another program",
    ),
    ("relation \"projects\" does not exist", "lacks something"),
    ("no such table: projects", "lacks something"),
    ("cannot execute INSERT in a read-only transaction", "standby"),
    (
        "could not translate host name \"db.invalid\" to address: Name or service not known",
        "name cannot be resolved",
    ),
    (
        "connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the server running \
         on that host and accepting TCP/IP connections?",
        "no server listens",
    ),
    (
        "connection to server on socket \"/run/pg/.s.PGSQL.5432\" failed: No such file or directory\n\tIs \
         the server running locally and accepting connections on that socket?",
        "socket",
    ),
    ("connection to server at \"10.9.9.9\", port 5432 failed: timeout expired", "in time"),
    ("could not extend file \"base/1/2\": No space left on device", "is full"),
    ("file is not a database", "not an SQLite database"),
    ("database disk image is malformed", "damaged"),
    ("attempt to write a readonly database", "only be read"),
    ("unable to open database file: /srv/dwar.db", "cannot open"),
    ("database is locked", "locked"),
    ("database or disk is full", "is full"),
];

#[test]
fn each_usual_text_has_its_own_cause() {
    for (said, expected) in SAID {
        let error = StoreError::Failed((*said).into());
        let told = usual(&error).map(|cause| cause.what);
        assert!(told.is_some_and(|told| told.contains(expected)), "{said}: {told:?}");
    }
    assert_eq!(usual(&StoreError::Failed("something nobody has seen".into())), None);
}

#[test]
fn a_code_counts_before_a_text() {
    let of = |kind: ErrorKind| {
        let path = std::path::PathBuf::from("/srv/connection refused/dwar.db");
        let cause = io::Error::from(kind);
        let error = WiringError::Sqlite(dwar_sqlite::OpenError::File { path, cause });
        usual(&error).map(|cause| cause.what)
    };
    assert_eq!(of(ErrorKind::NotFound), Some("a folder is missing"));
    assert_eq!(of(ErrorKind::StorageFull), Some(NO_ROOM.what));
    let cause = io::Error::from(ErrorKind::AddrInUse);
    let taken = WiringError::Listen { address: "127.0.0.1:80".to_owned(), cause };
    assert_eq!(usual(&taken).map(|cause| cause.what), Some("another program listens there"));
    assert_eq!(usual(&StoreError::NoRoom), Some(NO_ROOM));
}
