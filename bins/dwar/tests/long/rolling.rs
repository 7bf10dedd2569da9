//! Two versions on one PostgreSQL: the newer schema serves the statements of the older version, and
//! its migrations remove nothing.
//!
//! `released/` contains the released schema version and its statements. With RECORD set the tests
//! write it, as part of a release.

use crate::common::{Database, Service, Tap, World};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::NoTls;
use tokio_postgres::types::Type;

/// Statements that break version N when version N + 1 runs them.
const TAKEN_AWAY: [&str; 8] = [
    "drop table",
    "drop column",
    "drop function",
    "drop view",
    "rename ",
    "set not null",
    "alter column",
    "drop default",
];

fn released(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/released").join(file)
}

fn migrations() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../migrations/postgres");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(folder.join("up.sql")).unwrap())
    };
    entries.map(read).collect()
}

/// Why a migration cannot be applied while the previous version runs.
fn objection(sql: &str) -> Option<String> {
    let code = sql.lines().map(|line| line.split("--").next().unwrap());
    let code = code.collect::<Vec<_>>().join(" ").to_lowercase();
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some(taken) = TAKEN_AWAY.iter().find(|taken| code.contains(*taken)) {
        return Some((*taken).to_owned());
    }
    let mut added = code.split("add column").skip(1).map(|it| it.split([',', ';']).next().unwrap());
    let refuses = |column: &&str| column.contains("not null") && !column.contains("default");
    added.find(refuses).map(|column| format!("add column{column}"))
}

#[test]
fn migrations_since_the_release_take_nothing_away() {
    let all = migrations();
    if std::env::var_os("RECORD").is_some() {
        std::fs::write(released("level"), format!("{}\n", all.keys().next_back().unwrap()))
            .unwrap();
    }
    let level = std::fs::read_to_string(released("level")).unwrap();
    assert!(all.contains_key(level.trim()), "the released migration {level} is gone");
    for (name, sql) in all.range(level.trim().to_owned()..).skip(1) {
        assert_eq!(objection(sql), None, "{name}");
    }
}

#[test]
fn what_takes_something_away_is_seen() {
    for (sql, refused) in [
        ("CREATE TABLE later (id uuid PRIMARY KEY, name text NOT NULL);", false),
        ("ALTER TABLE otps\n    ADD COLUMN later text;", false),
        ("ALTER TABLE otps ADD COLUMN later text NOT NULL DEFAULT '', ADD COLUMN b text", false),
        ("ALTER TABLE otps DROP CONSTRAINT otps_check; -- DROP TABLE otps", false),
        ("ALTER TABLE otps ADD COLUMN a text, ADD COLUMN later text NOT NULL;", true),
        ("ALTER TABLE otps DROP   COLUMN state;", true),
        ("ALTER TABLE otps\n    RENAME COLUMN state TO condition;", true),
        ("DROP TABLE otps;", true),
        ("ALTER TABLE otps ALTER COLUMN state SET NOT NULL;", true),
    ] {
        assert_eq!(objection(sql).is_some(), refused, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn the_statements_of_the_release_run_on_the_schema_of_today() {
    if std::env::var_os("RECORD").is_some() {
        let statements = statements().await;
        let text = serde_json::to_string_pretty(&statements).unwrap();
        std::fs::write(released("statements.json"), format!("{text}\n")).unwrap();
    }
    let text = std::fs::read_to_string(released("statements.json")).unwrap();
    let statements: Vec<(String, Vec<u32>)> = serde_json::from_str(&text).unwrap();
    assert!(statements.len() > 60, "{} say little", statements.len());
    let world = World::new(Database::postgres().await);
    world.cli(&["migrate"]);
    let (client, connection) = tokio_postgres::connect(&world.database.url(), NoTls).await.unwrap();
    let driving = tokio::spawn(connection);
    for (sql, types) in statements {
        let types: Vec<Type> =
            types.into_iter().map(|oid| Type::from_oid(oid).unwrap_or(Type::UNKNOWN)).collect();
        if let Err(refused) = client.prepare_typed(&sql, &types).await {
            panic!("{refused:?}: {sql}");
        }
    }
    driving.abort();
}

/// The next version has migrated, and this one still runs and starts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn this_version_serves_a_schema_that_is_newer() {
    let running = Service::start(Database::postgres().await);
    let database = &running.world.database;
    for sql in [
        "CREATE TABLE later (id uuid PRIMARY KEY)",
        "ALTER TABLE otps ADD COLUMN later text",
        "ALTER TABLE sessions ADD COLUMN later integer NOT NULL DEFAULT 0",
        "ALTER TABLE identities ADD COLUMN later text",
        "ALTER TABLE projects ADD COLUMN later jsonb NOT NULL DEFAULT '{}'",
        "INSERT INTO __diesel_schema_migrations (version) VALUES ('99991231000000')",
    ] {
        database.run(sql).await;
    }
    use_everything(&running).await;
    let applied = running.world.cli(&["migrate"]);
    assert_eq!(applied["applied"], json!([]), "{applied}");
    let again = Service::start_in(running.kill());
    use_everything(&again).await;
}

/// The statements of this version, from every endpoint and from the loops meanwhile.
async fn statements() -> Vec<(String, Vec<u32>)> {
    let database = Database::postgres().await;
    let (tap, tapped) = Tap::before(&database).await;
    let service = Service::start_in(World::new(database).with("DWAR__DATABASE__URL", &tapped));
    use_everything(&service).await;
    tokio::time::sleep(Duration::from_secs(25)).await;
    // The probe of the engine makes a table of its own first.
    tap.texts().into_iter().filter(|(sql, _)| !sql.contains("pg_temp")).collect()
}

async fn use_everything(service: &Service) {
    let project = service.world.project("1000");
    let switches = ["--identity-lookup", "on", "--identity-delete", "on"];
    service.world.cli(&[&["project", "set", "--project", &project.id][..], &switches[..]].concat());
    for key in [&project.live, &project.test] {
        let phone = service.world.phone();
        let sent = service.send(key, &phone).await.ok();
        service
            .get(key, &format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap()))
            .await
            .ok();
        service.verify(key, &phone, "000000").await.refused(400, "INVALID_OTP");
        let pair: Value = service.log_in(key, &phone).await;
        assert_eq!(service.validate(key, &pair["access_token"]).await.ok()["valid"], true);
        let pair = service.refresh(key, &pair["refresh_token"]).await.ok();
        let identity = format!("/v1/identity/{}", pair["identity_id"].as_str().unwrap());
        service.get(key, &identity).await.ok();
        service.logout(key, &pair["access_token"]).await.ok();
        let again = service.call(key, "/v1/otp/send", &json!({ "phone": service.world.phone() }));
        crate::common::answer(again.header("Idempotency-Key", "again")).await.ok();
        service.delete(key, &identity).await.ok();
    }
    service.world.audit();
}
