//! The master key and the database it belongs to: a wrong key changes nothing, a new key is created
//! only for a new database, and commands that read create nothing.

use crate::common::{Database, Project, Service, World, answer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

on_both_databases! {
    a_wrong_key_changes_nothing;
    a_database_whose_keys_nobody_noted_is_left_as_it_is;
    what_only_reads_makes_nothing;
    a_start_that_was_killed_can_be_repeated;
    many_first_starts_in_one_folder_agree_on_a_key;
    what_may_only_be_read_is_read_and_nothing_else;
    what_root_makes_belongs_to_the_owner_of_the_folder;
    a_master_key_is_replaced_in_two_steps_under_two_instances;
}

const PATIENCE: Duration = Duration::from_secs(20);
const OTHER: &str = "T3RoZXJPdGhlck90aGVyT3RoZXJPdGhlck90aGVyT3Q=";

const SOMEBODY: u32 = 65_534;
/// `openssl rand -base64 32`, once for each.
const OLD: &str = "3k0mD4RpJ7m1WmyCHv1KTY3lZ9pQ8nUeX2c6sV5gB0E=";
const NEW: &str = "qL8vXn2TzS5wYb7JdR1cKf4HgU6mP9oEaI3tC0xVh2M=";

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
        vec!["operator", "remove", "meera"],
        vec!["admin-token", "add", "--name", "ci", "--everything"],
        with(&["hook", "add"], &["--kind", "supabase", "--mode", "live", "--expires-in", "600"]),
        vec!["serve"],
    ]
}

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
        with(&["activity"]),
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

/// The names of the files in a world's folder.
fn files(world: &World) -> BTreeSet<String> {
    let entries = std::fs::read_dir(world.database.folder()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

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
    let told = error.lines().find(|line| line.starts_with("dwar: "));
    told.unwrap_or_else(|| panic!("{arguments:?}: {error}")).to_owned()
}

/// A used service: with a signing key, a project and a login.
async fn used(database: Database) -> (World, Project) {
    let mut service = Service::start(database);
    let project = service.world.project("100");
    service.log_in(&project.live, &service.world.phone()).await;
    service.terminate();
    assert!(service.wait(PATIENCE).is_some_and(|status| status.success()));
    (service.kill(), project)
}

/// Nothing works with the current keys, and trying changes nothing.
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

async fn a_database_whose_keys_nobody_noted_is_left_as_it_is(database: Database) {
    let (world, project) = used(database).await;
    world.database.run("DELETE FROM key_checks").await;
    refuses_to_touch(&world, &project, "the master key is not the one of this database").await;
}

async fn what_only_reads_makes_nothing(database: Database) {
    let world = World::new(database);
    let project = "01890000-0000-7000-8000-000000000000";
    let lacks = match world.database {
        Database::Sqlite(_) => "there is no database",
        _ => "run `dwar migrate`",
    };
    for arguments in reading(project) {
        let output = world.run(&arguments);
        if arguments[0] == "doctor" {
            assert_eq!(output.status.code(), Some(0), "{output:?}");
        } else {
            let told = sentence(&arguments, &output);
            assert!(told.contains(lacks), "{arguments:?}: {told}");
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
    // As if it had been killed before the database recorded its key, and the key was lost with the
    // machine.
    world.database.run("DELETE FROM key_checks").await;
    std::fs::remove_file(key_file(&world)).unwrap();
    world.cli(&["migrate"]);
    // As if only the file of the database had been created.
    if let Database::Sqlite(_) = world.database {
        world = World::new(Database::sqlite());
        std::fs::write(world.database.folder().join("dwar.db"), "").unwrap();
    }
    let service = Service::start_in(world);
    let project = service.world.project("10");
    service.log_in(&project.live, &service.world.phone()).await;
}

async fn many_first_starts_in_one_folder_agree_on_a_key(database: Database) {
    let world = World::new(database);
    let start = |_| {
        let mut command = world.command(&["migrate"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let started: Vec<_> = (0..4).map(start).collect();
    for child in started {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let project = world.project("10");
    let service = Service::start_in(world);
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

/// An unreachable database may be a new one or not.
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

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Removes the right to change this: from us, or as root from the user that we become.
fn freeze(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_key = path.extension().is_some_and(|extension| extension == "key");
        if is_root() && is_key {
            chown(&path, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
        }
        let mode = if is_key { 0o400 } else { 0o444 };
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    }
    if is_root() {
        chown(folder, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    }
    std::fs::set_permissions(folder, Permissions::from_mode(0o555)).unwrap();
}

/// A role of the server that may only read this database.
async fn reader_of(database: &Database) -> String {
    let url = database.url();
    let (base, name) = url.rsplit_once('/').unwrap();
    let role = format!("{name}_reader");
    for sql in [
        format!("CREATE ROLE {role} LOGIN PASSWORD 'only-reads-4711'"),
        format!("GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}"),
    ] {
        database.run(&sql).await;
    }
    let host = base.rsplit_once('@').unwrap().1;
    format!("postgres://{role}:only-reads-4711@{host}/{name}")
}

async fn what_may_only_be_read_is_read_and_nothing_else(database: Database) {
    let (world, project) = used(database).await;
    only_reads(&world, &project).await;
    if let Database::Sqlite(_) = world.database {
        // With the files that a killed service has left.
        let service = Service::start(Database::sqlite());
        let project = service.world.project("100");
        service.log_in(&project.live, &service.world.phone()).await;
        only_reads(&service.kill(), &project).await;
    }
}

async fn only_reads(world: &World, project: &Project) {
    let mut role = None;
    let reader = match &world.database {
        Database::Postgres { .. } => {
            let url = reader_of(&world.database).await;
            role = Some(url.split(['/', ':']).nth(3).unwrap().to_owned());
            let reader = World::new(Database::None).with("DWAR__DATABASE__URL", &url);
            let key = key_file(world);
            reader.with("DWAR__SECRETS__MASTER_KEY_FILE", key.to_str().unwrap())
        }
        _ => {
            let folder = world.database.folder();
            freeze(folder);
            let url = format!("sqlite://{}/dwar.db", folder.display());
            World::new(Database::None).with("DWAR__DATABASE__URL", &url)
        }
    };
    let before = files(world);
    for arguments in reading(&project.id) {
        let output = reader.run(&arguments);
        if arguments[0] == "doctor" {
            // It may report that nothing can be written.
            let report = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(report.contains("matches the stored data"), "{report}");
        } else {
            assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        }
        assert_eq!(files(world), before, "{arguments:?}");
    }
    let listed = reader.cli(&["project", "list"]);
    assert_eq!(listed["items"][0]["project_id"], json!(project.id));
    for arguments in writing(&project.id) {
        // With nothing to apply or to record, nothing has to be written.
        if arguments[0] == "migrate" || arguments[0] == "serve" {
            continue;
        }
        sentence(&arguments, &reader.run(&arguments));
        assert_eq!(files(world), before, "{arguments:?}");
    }
    std::fs::set_permissions(world.database.folder(), Permissions::from_mode(0o755)).unwrap();
    if let Some(role) = role {
        world.database.run(&format!("DROP OWNED BY {role}")).await;
        world.database.run(&format!("DROP ROLE {role}")).await;
    }
}

async fn what_root_makes_belongs_to_the_owner_of_the_folder(database: Database) {
    if !is_root() {
        return;
    }
    let world = World::new(database);
    let folder = world.database.folder().to_path_buf();
    chown(&folder, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    world.cli(&["doctor"]);
    world.cli(&["migrate"]);
    let project = world.project("10");
    let service = Service::start_in(world);
    service.log_in(&project.live, &service.world.phone()).await;
    let made = files(&service.world);
    assert!(!made.is_empty());
    for name in made {
        let found = std::fs::metadata(folder.join(&name)).unwrap();
        assert_eq!((found.uid(), found.mode() & 0o777), (SOMEBODY, 0o600), "{name}");
    }
    let world = service.kill();
    // A file of another owner is not overwritten.
    let (theirs, before) = (key_file(&world), contents(&world).await);
    chown(&theirs, Some(0), Some(0)).unwrap();
    for arguments in [vec!["project", "list"], vec!["signing-key", "rotate"], vec!["serve"]] {
        let told = sentence(&arguments, &world.run(&arguments));
        assert!(told.contains("cannot use the master key file"), "{told}");
    }
    assert!(contents(&world).await == before);
}

/// An instance on the database at this URL, with these keys.
fn keyed(url: &str, master: &str, older: &str, lookup: &str) -> World {
    World::new(Database::None)
        .with("DWAR__DATABASE__URL", url)
        .with("DWAR__SECRETS__MASTER_KEY", master)
        .with("DWAR__SECRETS__OLDER_MASTER_KEYS", older)
        .with("DWAR__SECRETS__LOOKUP_KEY", lookup)
}

/// One instance continues the work of the other.
async fn go_together(one: &Service, other: &Service, project: &Project, phone: &str) {
    let key = &project.live;
    let send = |service: &Service| {
        let call = service.call(key, "/v1/otp/send", &json!({ "phone": phone }));
        answer(call.header("Idempotency-Key", format!("send-{phone}")))
    };
    let sent = send(one).await.ok();
    assert_eq!(send(other).await.ok(), sent, "a repeated send");
    let code = one.code(key, phone).await;
    let login = other.verify(key, phone, &code).await.ok();
    let found = one.get(key, &format!("/v1/identity?phone={phone}")).await.ok();
    let again = other.get(key, &format!("/v1/identity?phone={phone}")).await.ok();
    assert_eq!(found, again);
    let refresh = |service: &Service| {
        let body = json!({ "refresh_token": login["refresh_token"] });
        let call = service.call(key, "/v1/session/refresh", &body);
        answer(call.header("Idempotency-Key", format!("refresh-{phone}")))
    };
    let (fresh, again) = (refresh(one).await.ok(), refresh(other).await.ok());
    for token in ["access_token", "refresh_token"] {
        assert_eq!(fresh[token], again[token], "a repeated refresh");
    }
}

fn told_of_key(world: &World) -> String {
    let output = world.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap().clone();
    let check = checks.into_iter().find(|check| check["name"] == "master key").unwrap();
    check["detail"].as_str().unwrap().to_owned()
}

async fn a_master_key_is_replaced_in_two_steps_under_two_instances(database: Database) {
    let url = database.url();
    let start = |master: &str, older: &str, lookup: &str| {
        Service::start_in(keyed(&url, master, older, lookup))
    };
    let (mut one, mut other) = (start(OLD, "", ""), start(OLD, "", ""));
    let project = one.world.project("1000");
    one.world.cli(&["project", "set", "--project", &project.id, "--identity-lookup", "on"]);
    let mut phones = (0..).map(|n| format!("98765{n:05}"));
    let mut both_ways = async |one: &Service, other: &Service| {
        go_together(one, other, &project, &phones.next().unwrap()).await;
        go_together(other, one, &project, &phones.next().unwrap()).await;
    };
    both_ways(&one, &other).await;

    // Without `lookup_key` the next master key would be used instead.
    let hasty = keyed(&url, OLD, NEW, "");
    let told = sentence(&["serve"], &hasty.run(&["serve"]));
    assert!(told.contains("the lookup key is not the one"), "{told}");

    let steps = [(OLD, NEW, "step 1", "step 1"), (NEW, OLD, "step 2", "matches")];
    for (master, older, before, after) in steps {
        let told = told_of_key(&keyed(&url, master, older, OLD));
        assert!(told.contains(before), "{told}");
        one = start(master, older, OLD);
        both_ways(&one, &other).await;
        other = start(master, older, OLD);
        both_ways(&one, &other).await;
        let told = told_of_key(&one.world);
        assert!(told.contains(after), "{told}");
    }

    // An instance with outdated keys gets an error, and does no harm.
    for (master, older) in [(OLD, ""), (OTHER, OLD)] {
        let behind = keyed(&url, master, older, OLD);
        let told = sentence(&["serve"], &behind.run(&["serve"]));
        assert!(told.contains("the master key is not the one"), "{told}");
    }
    one.world.cli(&["signing-key", "rotate"]);
    let dropped = told_of_key(&keyed(&url, NEW, "", OLD));
    assert!(dropped.contains("cannot be read"), "{dropped}");
    both_ways(&one, &other).await;
    drop(database);
}
