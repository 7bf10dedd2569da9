//! The messages for a person when something around the service is broken: the usual cause in words,
//! every known cause, advice, and no secret.

use super::error_of;
use crate::common::{Database, World};
use dwar_testkit::reserved_port;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;

on_both_databases! {
    tables_of_somebody_else_are_named_by_migrate_and_doctor;
    a_reader_that_has_seen_enough_ends_a_command_without_a_word;
}

const PASSWORD: &str = "kX7pQ2wZ";
const MASTER_KEY: &str = "q2PDHzIRjHzmUoFHWvSXPzC6tXjyEdDSQjUSLmK0TYE=";

/// The messages of `serve`, of commands that write, of commands that read, and of `doctor`.
fn told_by_all(world: &World) -> Vec<(&'static str, String)> {
    let commands = [
        ("serve", &["serve"][..]),
        ("create", &["project", "create", "--name", "Acme"]),
        ("migrate", &["migrate"]),
        ("list", &["project", "list"]),
        ("doctor", &["doctor"]),
    ];
    let told = |(name, arguments): (&'static str, &[&str])| {
        let output = world.run(arguments);
        let told = [&output.stdout[..], &output.stderr[..]].concat();
        let told = String::from_utf8_lossy(&told).into_owned();
        assert_eq!(output.status.code(), Some(1), "{name}: {told}");
        assert!(!told.contains(PASSWORD), "{name}: {told}");
        (name, told)
    };
    commands.into_iter().map(told).collect()
}

fn all_say(world: &World, parts: &[&str]) {
    for (name, told) in told_by_all(world) {
        for part in parts {
            assert!(told.contains(part), "{name} does not say {part:?}: {told}");
        }
    }
}

async fn tables_of_somebody_else_are_named_by_migrate_and_doctor(database: Database) {
    // With a configured key, because none is created beside an existing file.
    let world = World::new(database).with("DWAR__SECRETS__MASTER_KEY", MASTER_KEY);
    world.database.run("CREATE TABLE projects (name text)").await;
    let advice = "use an empty database, or an empty schema of its own";
    for command in [&["serve"][..], &["migrate"], &["project", "create", "--name", "Acme"]] {
        let (status, told) = error_of(&world.run(command));
        assert_eq!(status, Some(1), "{told}");
        for part in ["_foundation", "already exists", "exists already", advice] {
            assert!(told.contains(part), "{command:?} does not say {part:?}: {told}");
        }
    }
    let report = world.run(&["doctor"]);
    let told = String::from_utf8_lossy(&report.stdout).into_owned();
    assert_eq!(report.status.code(), Some(1), "{told}");
    assert!(told.contains("tables exist already: projects"), "{told}");
    assert!(told.contains(advice) && !told.contains("disk space"), "{told}");
    let tables = "SELECT count(*) FROM ";
    let all = match world.database {
        Database::Sqlite(_) => {
            "sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_\\_%' ESCAPE '\\'"
        }
        _ => "pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '\\_\\_%'",
    };
    assert_eq!(world.database.number(&format!("{tables}{all}")).await, 1, "nothing is left of it");
}

/// The URL of a database with other credentials.
fn url_as(database: &Database, user: &str) -> String {
    let url = database.url();
    let (_, place) = url.rsplit_once('@').unwrap();
    format!("postgres://{user}:{PASSWORD}@{place}")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn what_postgresql_refuses_is_said_by_every_command() {
    let database = Database::postgres().await;
    let role = format!("stranger_{}", std::process::id());
    database.run(&format!("CREATE ROLE {role} LOGIN PASSWORD '{PASSWORD}'")).await;
    // PostgreSQL before 15 let everybody create tables there.
    database.run("REVOKE CREATE ON SCHEMA public FROM PUBLIC").await;
    let world = World::new(database).with("DWAR__DATABASE__TIMEOUT_MS", "500");
    let mut world = world.with("DWAR__SECRETS__MASTER_KEY", MASTER_KEY);
    let settings = world.settings.len();
    let url = url_as(&world.database, &role);
    world = world.with("DWAR__DATABASE__URL", &url);
    all_say(
        &world,
        &[
            "the database user lacks a right",
            "permission denied for schema public",
            "GRANT USAGE, CREATE ON SCHEMA",
        ],
    );
    world.settings.truncate(settings);
    world.database.run(&format!("DROP ROLE {role}")).await;
}

/// Servers that refuse every connection, with the message of each.
#[test]
fn what_keeps_a_connection_from_coming_is_said() {
    let port = reserved_port();
    let url = format!("postgres://dwar:{PASSWORD}@127.0.0.1:{port}/dwar?sslmode=disable");
    let world = |url: &str| {
        World::new(Database::sqlite())
            .with("DWAR__DATABASE__URL", url)
            .with("DWAR__DATABASE__TIMEOUT_MS", "300")
            .with("DWAR__SECRETS__MASTER_KEY", MASTER_KEY)
    };
    // The service itself would wait for it.
    let say = |world: &World, parts: &[&str]| {
        for command in [&["migrate"][..], &["project", "list"], &["doctor"]] {
            let output = world.run(command);
            let told = [&output.stdout[..], &output.stderr[..]].concat();
            let told = String::from_utf8_lossy(&told).into_owned();
            assert_eq!(output.status.code(), Some(1), "{command:?}: {told}");
            assert!(!told.contains(PASSWORD), "{command:?}: {told}");
            for part in parts {
                assert!(told.contains(part), "{command:?} does not say {part:?}: {told}");
            }
        }
    };
    say(&world(&url), &["no server listens at the address of the database", "Connection refused"]);
    for (code, said, told) in [
        ("28P01", "password authentication failed for user \"dwar\"", "refuses user or password"),
        ("3D000", "database \"dwar\" does not exist", "no such database"),
        ("28000", "role \"dwar\" does not exist", "no such user"),
        ("53300", "sorry, too many clients already", "accepts no more connections"),
        ("08P01", "unsupported startup parameter: options", "ignore_startup_parameters = options"),
        ("42704", "unrecognized configuration parameter \"plan_cache_mode\"", "too old"),
    ] {
        let url = url.replace(&port.to_string(), &refusing(code, said).to_string());
        say(&world(&url), &[told, said]);
    }
    let url = url.replace(&port.to_string(), &refusing("", "").to_string());
    say(
        &world(&url.replace("disable", "require")),
        &["the server has no TLS", "does not support SSL"],
    );
}

/// A server without TLS that refuses every connection with this error; returns its port.
fn refusing(code: &str, said: &str) -> u16 {
    /// Requests for TLS and for GSSAPI (postgresql.org/docs/15/protocol-message-formats.html).
    const ASKS: [u32; 2] = [80_877_103, 80_877_104];
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let fields = format!("SFATAL\0VFATAL\0C{code}\0M{said}\0\0");
    let length = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
    let refusal = [b"E", &length[..], fields.as_bytes()].concat();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 8];
            while stream.read_exact(&mut head).is_ok() {
                let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
                if !ASKS.contains(&word(4)) {
                    let mut rest = vec![0; word(0) as usize - head.len()];
                    let _gone = stream.read_exact(&mut rest);
                    let _gone = stream.write_all(&refusal);
                    break;
                }
                let _gone = stream.write_all(b"N");
            }
        }
    });
    port
}

/// In another folder than that of the service, a command would otherwise make a second database and
/// say that it has no such project.
#[test]
fn a_database_that_is_missing_is_named_and_not_made() {
    let world = World::new(Database::sqlite()).with("DWAR__SECRETS__MASTER_KEY", MASTER_KEY);
    let file = world.database.folder().join("dwar.db");
    for command in [
        &["webhook", "add", "--project", "Demo", "--url", "https://example.org/events"][..],
        &["key", "regenerate", "--project", "Demo", "--mode", "test", "--yes"],
        &["wallet", "credit", "--project", "Demo", "--rupees", "5", "--reference", "inv-1"],
        &["project", "archive", "--project", "Demo", "--yes"],
        &["signing-key", "rotate"],
        &["operator", "remove", "--name", "asha", "--yes"],
        &["admin-token", "list"],
        &["project", "list"],
    ] {
        let (status, told) = error_of(&world.run(command));
        assert_eq!(status, Some(1), "{command:?}: {told}");
        for part in ["there is no database", "dwar.db", "`dwar serve` makes a new one"] {
            assert!(told.contains(part), "{command:?}: {told}");
        }
        assert!(!file.exists(), "{command:?} made a database");
    }
}

#[test]
fn what_is_wrong_with_the_file_of_sqlite_is_said() {
    let world = World::new(Database::sqlite()).with("DWAR__SECRETS__MASTER_KEY", MASTER_KEY);
    let file = world.database.folder().join("dwar.db");
    std::fs::write(
        &file,
        "this is a letter to my grandmother, and no database at all. ".repeat(99),
    )
    .unwrap();
    all_say(&world, &["this file is not an SQLite database", "file is not a database"]);
    std::fs::remove_file(&file).unwrap();

    let missing = format!("sqlite://{}/missing/dwar.db", world.database.folder().display());
    let elsewhere = World::new(Database::sqlite()).with("DWAR__DATABASE__URL", &missing);
    all_say(&elsewhere, &["a folder is missing", "create the folder", "missing/dwar.db"]);

    let world = world.with("DWAR__DATABASE__TIMEOUT_MS", "100");
    world.cli(&["migrate"]);
    let other = rusqlite::Connection::open(&file).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (status, told) = error_of(&world.run(&["project", "create", "--name", "Acme"]));
    assert_eq!(status, Some(1));
    for part in ["another process keeps the database file locked", "database is locked"] {
        assert!(told.contains(part), "{told}");
    }
}

async fn a_reader_that_has_seen_enough_ends_a_command_without_a_word(database: Database) {
    let world = World::new(database);
    world.project("1");
    for arguments in [
        &["audit"][..],
        &["audit", "--json"],
        &["project", "list"],
        &["doctor", "--json"],
        &["try"],
        &["try", "--json"],
    ] {
        let mut command = world.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        // As a shell reports a tool that SIGPIPE ended.
        assert_eq!(error_of(&output), (Some(141), String::new()), "{arguments:?}");
    }
}

#[test]
fn doctor_remarks_on_the_default_issuer_and_names_no_empty_channel() {
    let production = World::new(Database::sqlite())
        .with("DWAR__ENVIRONMENT", "production")
        .with("DWAR__GATEWAYS__WHATSAPP", "")
        .with("DWAR__GATEWAYS__SMS", "");
    let finding = |world: &World, name: &str| {
        let report: Value =
            serde_json::from_slice(&world.run(&["doctor", "--json"]).stdout).unwrap();
        report["checks"].as_array().unwrap().iter().find(|it| it["name"] == name).unwrap().clone()
    };
    let told = finding(&production, "production");
    assert_eq!(told["status"], "warning");
    assert!(told["detail"].as_str().unwrap().starts_with("tokens.issuer: \"dwar\""), "{told}");
    let named = production.with("DWAR__TOKENS__ISSUER", "https://otp.example.com");
    assert_eq!(finding(&named, "production")["status"], "ok");
    let texts = World::new(Database::sqlite()).with("DWAR__GATEWAYS__WHATSAPP", "");
    assert_eq!(finding(&texts, "gateways")["detail"], "WhatsApp: none; SMS: console");
}

#[test]
fn nobody_is_invited_where_there_is_no_dashboard() {
    let world = World::new(Database::sqlite());
    world.cli(&["migrate"]);
    for command in
        [&["invite", "--name", "Asha", "--owner"][..], &["renew", "Asha"], &["reset", "Asha"]]
    {
        let output = world.run(&[&["operator"], command].concat());
        let (status, told) = error_of(&output);
        assert_eq!((status, output.stdout.len()), (Some(1), 0), "{command:?}");
        assert!(
            told.contains("there is no dashboard") && told.contains("dashboard.address"),
            "{told}"
        );
    }
    assert_eq!(world.cli(&["operator", "list"])["items"].as_array().unwrap().len(), 0);
    let world = world.with("DWAR__DASHBOARD__PUBLIC_URL", "https://dwar.example.com");
    let made = world.cli(&["operator", "invite", "--name", "Asha", "--owner"]);
    assert!(made["link"].as_str().unwrap().starts_with("https://dwar.example.com/invite#"));
}
