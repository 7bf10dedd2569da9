//! Ids are 16 bytes, and so are those that were text before a migration made them so.

#![allow(clippy::unwrap_used, reason = "the helpers run inside tests")]

#[path = "../common/mod.rs"]
mod common;

use common::{columns_of_ids, connect, count, ids_otherwise_stored};
use diesel::SqliteConnection;
use diesel::connection::SimpleConnection;
use diesel::dsl::sql;
use diesel::query_dsl::RunQueryDsl;
use diesel::result::QueryResult;
use diesel::sql_types::Text;
use dwar_event::{CallFilter, CallLog, EventStore};
use dwar_identity::IdentityStore;
use dwar_kernel::{BlindIndex, Digest, KeyMode, ProjectId};
use dwar_operator::{AuditFilter, AuditStore};
use dwar_otp::{OtpStore, RefusalStore};
use dwar_project::ProjectStore;
use dwar_session::SessionStore;
use dwar_sqlite::{Settings, SqliteStore};
use dwar_wallet::{Paise, WalletStore};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../migrations/sqlite");
const LEVEL: &str = "2026-11-28-000000_ids_as_bytes";
const ROWS: &str = include_str!("rows.sql");

const PROJECT: &str = "01a1fd34-3304-7014-9d09-3734cb4c189c";
const IDENTITY: &str = "01a1fd34-5001-7abc-8def-000000000001";
const SESSION: &str = "01a1fd34-6001-7abc-8def-000000000001";
const OTP: &str = "01a1fd34-43e0-77fb-99f9-de0905f2c75e";
const ENDPOINT: &str = "01a1fd34-b001-7abc-8def-000000000001";

/// A database of the level before, with rows in it.
fn old(path: &Path) -> SqliteConnection {
    let mut connection = connect(path);
    let folders = fs::read_dir(MIGRATIONS).unwrap().map(|folder| folder.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.collect();
    folders.sort();
    let ran = "CREATE TABLE __diesel_schema_migrations (
                   version VARCHAR(50) PRIMARY KEY NOT NULL,
                   run_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
               )";
    connection.batch_execute(ran).unwrap();
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap();
        if name >= LEVEL {
            break;
        }
        let up = fs::read_to_string(folder.join("up.sql")).unwrap();
        let version = name.split('_').next().unwrap().replace('-', "");
        let ran = format!("INSERT INTO __diesel_schema_migrations (version) VALUES ('{version}')");
        connection.batch_execute(&format!("{up};{ran}")).unwrap();
    }
    connection.batch_execute(ROWS).unwrap();
    connection
}

/// Runs a half of the migration as the store would.
fn run(connection: &mut SqliteConnection, half: &str) -> QueryResult<()> {
    let steps = fs::read_to_string(format!("{MIGRATIONS}/{LEVEL}/{half}.sql")).unwrap();
    connection.immediate_transaction(|connection| connection.batch_execute(&steps))?;
    let orphans = "pragma_foreign_key_check()";
    assert_eq!((count(connection, orphans), said(connection, "PRAGMA integrity_check")), (0, ok()));
    Ok(())
}

fn ok() -> Vec<String> {
    vec!["ok".to_owned()]
}

fn said(connection: &mut SqliteConnection, query: &str) -> Vec<String> {
    sql::<Text>(query).load(connection).unwrap()
}

/// Tables, indexes and triggers as they were made, but for spaces, quotes and remarks.
fn schema(connection: &mut SqliteConnection) -> Vec<String> {
    let made = "SELECT type || ' ' || name || ' ' || sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let lean = |made: String| -> String {
        let lines = made.lines().filter_map(|line| line.split("--").next());
        lines.collect::<String>().replace(['"', ' '], "")
    };
    let mut made: Vec<String> = said(connection, made).into_iter().map(lean).collect();
    made.sort();
    made
}

/// Every row of every table, as SQL would write it; ids that are text as the bytes they stand for,
/// if this is asked for.
fn rows(connection: &mut SqliteConnection, as_bytes: bool) -> BTreeMap<String, Vec<String>> {
    let ids = columns_of_ids(connection);
    let tables =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '$_$_%' ESCAPE '$'";
    let mut found = BTreeMap::new();
    for table in said(connection, tables) {
        let columns = said(connection, &format!("SELECT name FROM pragma_table_info('{table}')"));
        let value = |column: &String| match ids.contains(&(table.as_str(), column.as_str())) {
            true if as_bytes => format!("quote(unhex(replace({column}, '-', '')))"),
            _ => format!("quote({column})"),
        };
        let values: Vec<String> = columns.iter().map(value).collect();
        let row = values.join(" || ', ' || ");
        found.insert(
            table.clone(),
            said(connection, &format!("SELECT {row} FROM {table} ORDER BY 1")),
        );
    }
    found
}

#[test]
fn nothing_is_lost_on_the_way_there_and_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = old(&folder.path().join("dwar.db"));
    let (text, bytes) = (rows(&mut file, false), rows(&mut file, true));
    let schema_before = schema(&mut file);
    for (table, id) in columns_of_ids(&mut file) {
        assert!(count(&mut file, &format!("{table} WHERE {id} IS NOT NULL")) > 0, "{table}.{id}");
    }
    assert!(!ids_otherwise_stored(&mut file).is_empty());
    run(&mut file, "up").unwrap();
    assert_eq!(rows(&mut file, false), bytes);
    assert_eq!(ids_otherwise_stored(&mut file), [""; 0]);
    let schema_after = schema(&mut file);
    run(&mut file, "down").unwrap();
    assert_eq!(rows(&mut file, false), text);
    assert_eq!(schema(&mut file), schema_before);
    run(&mut file, "up").unwrap();
    assert_eq!(rows(&mut file, false), bytes);
    assert_eq!(schema(&mut file), schema_after);
}

#[test]
fn text_that_is_no_id_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = old(&folder.path().join("dwar.db"));
    file.batch_execute("INSERT INTO operator_standings VALUES ('nobody', 1, 2, 3)").unwrap();
    let before = (rows(&mut file, false), schema(&mut file));
    let refused = run(&mut file, "up").unwrap_err();
    assert!(refused.to_string().contains("operator_standings.operator_id"), "{refused}");
    assert_eq!((rows(&mut file, false), schema(&mut file)), before);
}

#[tokio::test]
async fn what_was_on_record_is_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dwar.db");
    drop(old(&path));
    let store = SqliteStore::open(Settings::new(&path)).unwrap();
    assert_eq!(store.migrate().await.unwrap()[0], LEVEL);
    let project: ProjectId = PROJECT.parse().unwrap();
    let (mode, phone) = (KeyMode::Live, BlindIndex([0; 32]));
    assert_eq!(ProjectStore::find(&store, project).await.unwrap().unwrap().name, "Chai & Co");
    assert_eq!(store.keys(project).await.unwrap().len(), 2);
    let otp = OtpStore::find(&store, project, mode, OTP.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((otp.wrong, otp.delivery.attempts.len()), (1, 2));
    let sent = store.find_attempt("msg91".to_owned(), "their-7".to_owned()).await.unwrap();
    assert_eq!(sent.unwrap().otp, otp.id);
    let sought =
        store.seek(Digest([0; 32]), Some(SESSION.parse().unwrap())).await.unwrap().unwrap();
    let identity = store.find_by_phone(project, mode, phone).await.unwrap().unwrap();
    assert_eq!(identity.id, IDENTITY.parse().unwrap());
    assert_eq!(sought.session.unwrap().identity, identity.id);
    let statement = store.statement(project, 9).await.unwrap();
    assert_eq!((statement[0].reference.as_str(), statement.len()), (OTP, 2));
    assert_eq!(store.audit().await.unwrap().difference, Paise::ZERO);
    let endpoints = store.endpoints(project).await.unwrap();
    assert_eq!(endpoints[0].id, ENDPOINT.parse().unwrap());
    let calls = store.calls(project, endpoints[0].id, CallFilter::default(), 9).await.unwrap();
    assert_eq!(calls.len(), 1);
    assert_eq!(store.page(AuditFilter::default(), None, 9).await.unwrap().len(), 2);
    let refused = RefusalStore::of_phone(&store, project, mode, phone, 9).await.unwrap();
    assert_eq!(refused[0].count, 3);
}

#[test]
fn what_the_schema_saw_to_it_still_sees_to() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = old(&folder.path().join("dwar.db"));
    run(&mut file, "up").unwrap();
    for (forbidden, why) in [
        ("UPDATE ledger_entries SET amount = 1", "ledger entries are only ever added"),
        ("DELETE FROM ledger_entries", "ledger entries are only ever added"),
        ("UPDATE audit_entries SET subject = ''", "the audit log is never changed"),
        ("DELETE FROM projects", "FOREIGN KEY constraint failed"),
        ("UPDATE wallets SET held = -1", "CHECK constraint failed: held >= 0 AND balance >= held"),
    ] {
        assert_eq!(file.batch_execute(forbidden).unwrap_err().to_string(), why, "{forbidden}");
    }
    let wake = "UPDATE otp_attempts SET provider_ref = 'their-8' WHERE position = 1";
    file.batch_execute(wake).unwrap();
    assert_eq!(count(&mut file, "receipts WHERE known AND due_at = received_at"), 1);
    let message = "INSERT INTO sandbox_messages (project_id, otp_id, phone_index, channel, content, \
                       landed_at) SELECT project_id, id, x'', 'sms', x'', 70 FROM otps LIMIT 1";
    file.batch_execute(message).unwrap();
    assert_eq!(count(&mut file, "sandbox_messages WHERE id = 8"), 1, "an id came twice");
    for (parent, children) in [
        ("identities", &["sessions", "refused_sends"][..]),
        ("otps", &["otp_attempts", "sandbox_messages"]),
        ("events", &["event_deliveries"]),
        ("webhook_endpoints", &["webhook_calls"]),
        ("operators", &["operator_links", "operator_sessions", "operator_passkeys"]),
    ] {
        assert!(children.iter().all(|child| count(&mut file, child) > 0), "{children:?}");
        file.batch_execute(&format!("DELETE FROM {parent}")).unwrap();
        for child in children {
            assert_eq!(count(&mut file, child), 0, "{child} outlives {parent}");
        }
    }
}
