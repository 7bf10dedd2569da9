//! The master key and the database it belongs to: a wrong key changes nothing, a new one is made for a new
//! database alone, and what only reads makes nothing.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod common;

use common::{Database, Project, Service, World};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

on_both_databases! {
    a_wrong_key_changes_nothing;
    a_database_from_before_is_noted_once_its_keys_are_proved;
    what_only_reads_makes_nothing;
    a_start_that_was_killed_can_be_repeated;
}

const PATIENCE: Duration = Duration::from_secs(20);
const OTHER: &str = "T3RoZXJPdGhlck90aGVyT3RoZXJPdGhlck90aGVyT3Q=";

/// Every command that writes, for this project.
fn writing(project: &str) -> Vec<Vec<&str>> {
    let of = ["--project", project];
    let with = |command: &[&'static str], rest: &[&'static str]| [command, &of, rest].concat();
    vec![
        vec!["migrate"],
        vec!["project", "create", "--name", "Second"],
        with(&["project", "set"], &["--identity-lookup", "on"]),
        with(&["key", "regenerate"], &["--mode", "live"]),
        with(&["wallet", "credit"], &["--rupees", "5", "--reference", "inv-9"]),
        with(&["wallet", "prove"], &[]),
        vec!["signing-key", "rotate"],
        with(&["webhook", "add"], &["--url", "https://example.com/dwar"]),
        vec!["operator", "invite", "--name", "meera", "--owner"],
        vec!["admin-token", "add", "--name", "ci", "--everything"],
        with(&["hook", "add"], &["--kind", "supabase", "--mode", "live", "--expires-in", "600"]),
        vec!["serve"],
    ]
}

/// Every command that only reads.
fn reading(project: &str) -> Vec<Vec<&str>> {
    let of = ["--project", project];
    let with = |command: &[&'static str]| [command, &of].concat();
    vec![
        vec!["project", "list"],
        with(&["project", "show"]),
        with(&["wallet", "balance"]),
        with(&["wallet", "statement"]),
        vec!["wallet", "verify"],
        vec!["signing-key", "list"],
        vec!["operator", "list"],
        vec!["admin-token", "list"],
        with(&["webhook", "list"]),
        with(&["hook", "list"]),
        vec!["audit"],
        vec!["doctor"],
    ]
}

fn key_file(world: &World) -> PathBuf {
    let name = match world.database {
        Database::Sqlite(_) => "dwar.db.key",
        _ => "dwar.key",
    };
    world.database.folder().join(name)
}

/// The names of what is in the folder of a world.
fn files(world: &World) -> BTreeSet<String> {
    let entries = std::fs::read_dir(world.database.folder()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Every row of every table, as text.
async fn contents(world: &World) -> Vec<(String, String)> {
    let Database::Sqlite(folder) = &world.database else { return world.database.rows().await };
    let file = rusqlite::Connection::open(folder.path().join("dwar.db")).unwrap();
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name";
    let mut tables = file.prepare(tables).unwrap();
    let names = tables.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let rows = |table: String| {
        let mut all = file.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = all.column_count();
        let mut rows = all.query([]).unwrap();
        let mut text = String::new();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|at| row.get::<_, rusqlite::types::Value>(at).unwrap());
            text.push_str(&format!("{:?}\n", values.collect::<Vec<_>>()));
        }
        (table, text)
    };
    names.map(|name| rows(name.unwrap())).collect()
}

/// The sentence of a refusal: exit status 1, and nothing on standard output.
fn sentence(arguments: &[&str], output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {error}");
    let last = error.lines().last().unwrap_or_default().to_owned();
    assert!(last.starts_with("dwar: "), "{arguments:?}: {error}");
    last
}

/// A service that was used: with a signing key, a project and somebody who logged in.
async fn used(database: Database) -> (World, Project) {
    let mut service = Service::start(database);
    let project = service.world.project("100");
    service.log_in(&project.live, &service.world.phone()).await;
    service.terminate();
    assert!(service.wait(PATIENCE).is_some_and(|status| status.success()));
    (service.kill(), project)
}

/// Nothing is done with keys as they are now, and nothing is changed by trying.
async fn refuses_to_touch(world: &World, project: &Project, told: &str) {
    let (before, beside) = (contents(world).await, files(world));
    for arguments in writing(&project.id).iter().chain(&reading(&project.id)) {
        let output = world.run(arguments);
        if arguments[0] == "doctor" {
            assert_eq!(output.status.code(), Some(1));
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains(told), "{said}");
            continue;
        }
        let sentence = sentence(arguments, &output);
        assert!(sentence.contains(told), "{arguments:?}: {sentence}");
    }
    assert!(contents(world).await == before, "{told}: the database was changed");
    let made: Vec<_> = files(world).difference(&beside).cloned().collect();
    assert!(made.iter().all(|name| name.ends_with("-wal") || name.ends_with("-shm")), "{made:?}");
}

async fn a_wrong_key_changes_nothing(database: Database) {
    let (mut world, project) = used(database).await;
    let (path, kept) = (key_file(&world), world.database.folder().join("kept"));
    std::fs::rename(&path, &kept).unwrap();
    refuses_to_touch(&world, &project, "its master key file").await;
    assert!(!path.exists());

    std::fs::write(&path, OTHER).unwrap();
    refuses_to_touch(&world, &project, "the master key is not the one of this database").await;
    std::fs::rename(&kept, &path).unwrap();

    world.settings.push(("DWAR__SECRETS__LOOKUP_KEY".to_owned(), OTHER.to_owned()));
    refuses_to_touch(&world, &project, "the lookup key is not the one of this database").await;
    world.settings.pop();

    let service = Service::start_in(world);
    service.log_in(&project.live, &service.world.phone()).await;
}

/// A database of an earlier version has no check values yet.
async fn a_database_from_before_is_noted_once_its_keys_are_proved(database: Database) {
    let (mut world, project) = used(database).await;
    for sql in [
        "DROP TABLE key_checks",
        "DELETE FROM __diesel_schema_migrations WHERE version >= '20261126060000'",
    ] {
        world.database.run(sql).await;
    }
    let path = key_file(&world);
    let key = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, OTHER).unwrap();
    let refused = sentence(&["migrate"], &world.run(&["migrate"]));
    assert!(refused.contains("the master key is not"), "{refused}");
    std::fs::write(&path, key).unwrap();
    world.settings.push(("DWAR__SECRETS__LOOKUP_KEY".to_owned(), OTHER.to_owned()));
    let refused = sentence(&["migrate"], &world.run(&["migrate"]));
    assert!(refused.contains("the lookup key is not"), "{refused}");
    world.settings.pop();
    assert_eq!(world.cli(&["migrate"])["applied"].as_array().unwrap().len(), 1);
    assert_eq!(world.database.number("SELECT count(*) FROM key_checks").await, 2);
    let service = Service::start_in(world);
    service.log_in(&project.live, &service.world.phone()).await;
}

async fn what_only_reads_makes_nothing(database: Database) {
    let world = World::new(database);
    let project = "01890000-0000-7000-8000-000000000000";
    for arguments in reading(project) {
        let output = world.run(&arguments);
        if arguments[0] == "doctor" {
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        } else {
            let told = sentence(&arguments, &output);
            assert!(told.contains("run `dwar migrate`"), "{arguments:?}: {told}");
        }
        assert_eq!(files(&world), BTreeSet::new(), "{arguments:?}");
    }
    if let Database::Postgres { .. } = world.database {
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
        assert_eq!(world.database.number(tables).await, 0);
    }
}

async fn a_start_that_was_killed_can_be_repeated(database: Database) {
    let mut world = World::new(database);
    for after in [0, 4, 8, 12, 16, 20, 30, 40, 60, 80] {
        let mut child = world.command(&["migrate"]).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    world.cli(&["migrate"]);
    // As if it had been killed before the database had noted its key, and the key was lost with the machine.
    world.database.run("DELETE FROM key_checks").await;
    std::fs::remove_file(key_file(&world)).unwrap();
    world.cli(&["migrate"]);
    // As if only the file of the database had been made.
    if let Database::Sqlite(_) = world.database {
        world = World::new(Database::sqlite());
        std::fs::write(world.database.folder().join("dwar.db"), "").unwrap();
    }
    let service = Service::start_in(world);
    let project = service.world.project("10");
    service.log_in(&project.live, &service.world.phone()).await;
}

/// Two machines, each without a key, start on one new database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn of_two_first_starts_one_makes_the_key() {
    for _ in 0..3 {
        let (here, there) = (World::new(Database::postgres().await), tempfile::tempdir().unwrap());
        let start = |elsewhere: bool| {
            let mut command = here.command(&["migrate"]);
            if elsewhere {
                command.current_dir(there.path());
            }
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let (one, other) = (start(false), start(true));
        let outputs = [one.wait_with_output().unwrap(), other.wait_with_output().unwrap()];
        let (won, lost): (Vec<_>, Vec<_>) =
            outputs.iter().partition(|output| output.status.success());
        assert_eq!((won.len(), lost.len()), (1, 1), "{outputs:?}");
        let told = sentence(&["migrate"], lost[0]);
        assert!(told.contains("which may be on another machine"), "{told}");
        let made = [key_file(&here), there.path().join("dwar.key")];
        assert_eq!(made.iter().filter(|path| path.exists()).count(), 1);
        let masters = "SELECT count(*) FROM key_checks WHERE kind = 'master'";
        assert_eq!(here.database.number(masters).await, 1);
    }
}

/// Nobody knows whether a database that does not answer is a new one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn no_key_is_made_while_the_database_is_out_of_reach() {
    let world = World::new(Database::postgres().await);
    world.database.shut().await;
    let project = "01890000-0000-7000-8000-000000000000";
    for arguments in writing(project).iter().chain(&reading(project)) {
        let output = world.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        if arguments[0] != "doctor" {
            let told = sentence(arguments, &output);
            assert!(told.contains("reach"), "{arguments:?}: {told}");
        }
        assert_eq!(files(&world), BTreeSet::new(), "{arguments:?}");
    }
    world.database.reopen().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_wrong_key_is_found_when_a_late_database_answers() {
    let (world, _) = used(Database::postgres().await).await;
    let before = contents(&world).await;
    world.database.shut().await;
    let world = world.with("DWAR__SECRETS__MASTER_KEY", OTHER);
    let mut service = Service::start_unprepared(world);
    let ready = |service: &Service| service.client.get(format!("{}/readyz", service.base)).send();
    assert_eq!(ready(&service).await.unwrap().status().as_u16(), 503);
    service.world.database.reopen().await;
    assert_eq!(service.wait(PATIENCE).and_then(|status| status.code()), Some(1));
    let told = service.stderr().join("\n");
    assert!(told.contains("dwar: the master key is not the one of this database"), "{told}");
    assert!(!told.contains("Dwar is ready"), "{told}");
    assert!(contents(&service.world).await == before);
}
