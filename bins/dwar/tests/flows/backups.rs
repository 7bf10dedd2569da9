//! Backups while the service runs, and what a restore brings back.

use crate::common::{Database, Play, Project, Service, Vendor, World};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

on_both_databases! {
    a_restore_settles_what_would_happen_again;
    sessions_are_kept_where_that_is_asked_for;
}

/// How long the service waits for a provider's receipt before it asks the next provider.
const WINDOW: Duration = Duration::from_secs(2);
const PAGE: &str = include_str!("../../../../docs/operations/backups.md");
const DRILL: &str = include_str!("../../../../docs/operations/high-availability.md");

fn file(world: &World, name: &str) -> PathBuf {
    world.database.folder().join(name)
}

fn open(path: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(path).unwrap()
}

fn number(path: &Path, sql: &str) -> i64 {
    open(path).query_row(sql, [], |row| row.get(0)).unwrap()
}

fn refusal(world: &World, arguments: &[&str]) -> String {
    refused(&world.run(arguments))
}

fn refused(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let sentence = said.lines().find_map(|line| line.strip_prefix("dwar: "));
    sentence.unwrap_or_else(|| panic!("{said}")).to_owned()
}

/// A backup with the tools of the database, named `backup` where possible.
fn back_up(world: &World) {
    match &world.database {
        Database::Sqlite(_) => drop(world.cli(&["backup", "backup.db"])),
        _ => documented(world, "pg_dump "),
    }
}

/// Restores the backup; returns the answer of the command.
async fn restore(world: &World, options: &[&str]) -> Value {
    match &world.database {
        Database::Sqlite(_) => world.cli(&[&["restore", "backup.db"], options].concat()),
        database => {
            database.run("DROP SCHEMA public CASCADE").await;
            database.run("CREATE SCHEMA public").await;
            documented(world, "pg_restore ");
            // Like a backup that is some time old.
            database.run("UPDATE instances SET seen_at = seen_at - interval '1 minute'").await;
            let command = PAGE.lines().find_map(|line| line.strip_prefix("dwar restore --in"));
            assert_eq!(command, Some("-place"));
            world.cli(&[&["restore", "--in-place"], options].concat())
        }
    }
}

/// Runs the command of the page that begins with this, on the server of this test.
fn documented(world: &World, begin: &str) {
    let lines: Vec<&str> = PAGE
        .lines()
        .filter(|line| ["umask", "echo", begin].iter().any(|known| line.starts_with(known)))
        .collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    shell(world, &lines.join("\n"));
}

/// The drill of the page, beside the service: the backup goes into a database of its own, and is thrown away.
fn drill(world: &World) {
    let (_, block) = DRILL.split_once("<!-- run by bins/dwar/tests/flows/backups.rs -->").unwrap();
    let block = block.split("```").nth(1).unwrap().strip_prefix("sh\n").unwrap();
    let url = format!("{}_drill", world.database.url());
    let mut commands = 0;
    for line in block.lines().filter(|line| !line.starts_with("export DWAR__DATABASE__URL=")) {
        let Some(command) = line.strip_prefix("dwar ") else {
            shell(world, line);
            continue;
        };
        if commands == 0 {
            // As in a backup that is not made just now.
            let sql = "UPDATE instances SET seen_at = seen_at - interval '1 minute'";
            shell(world, &format!("psql -w {url} -c \"{sql}\""));
        }
        let arguments: Vec<&str> = command.split(' ').collect();
        let output = world.command(&arguments).env("DWAR__DATABASE__URL", &url).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stdout));
        commands += 1;
    }
    assert_eq!(commands, 3);
}

/// Runs what a page says for PostgreSQL on the server of this test.
fn shell(world: &World, script: &str) {
    let url = world.database.url();
    let (access, name) = url.strip_prefix("postgres://").unwrap().split_once('/').unwrap();
    let (user, place) = access.split_once('@').unwrap();
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    let (host, port) = place.split_once(':').unwrap_or((place, "5432"));
    let given = [
        ("127.0.0.1", host),
        ("5432", port),
        (":dwar:", &format!(":{user}:")),
        ("-U dwar dwar ", &format!("-U {user} {name} ")),
        ("-U dwar -d dwar ", &format!("-U {user} -d {name} ")),
        ("-U dwar -d dwar_drill ", &format!("-U {user} -d {name}_drill ")),
        ("DATABASE dwar_drill", &format!("DATABASE {name}_drill")),
        ("OWNER dwar", &format!("OWNER {user}")),
    ];
    let script = given.iter().fold(script.to_owned(), |text, (old, new)| text.replace(old, new));
    let mut shell = Command::new("sh");
    let path = format!("{}:{}", programs(), std::env::var("PATH").unwrap());
    shell.args(["-ec", &script]).current_dir(world.database.folder()).env("PATH", path);
    shell.env("HOME", world.database.folder()).env("PASSWORD", password).env("ADMIN_URL", &url);
    let done = shell.output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

fn programs() -> String {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let folders = versions.map(|version| version.unwrap().path().join("bin").display().to_string());
    folders.collect::<Vec<_>>().join(":")
}

/// Waits until the process has ended.
fn stopped(service: Service) -> World {
    service.terminate();
    let mut service = service;
    assert!(service.wait(Duration::from_secs(20)).unwrap().success());
    service.kill()
}

/// A database with work of each kind in progress, and a backup of it.
struct Scene {
    service: Service,
    vendor: Vendor,
    project: Project,
    phone: String,
    code: String,
    kept: Value,
    ended: Value,
    send: String,
}

async fn scene(database: Database) -> Scene {
    // The first provider accepts each message and never reports on it.
    let vendor = Vendor::start(0, |_, _| Play::Accept).await;
    let window = WINDOW.as_secs().to_string();
    let world = World::new(database)
        .with("DWAR__GATEWAYS__FALLBACK_WINDOW_SECONDS", &window)
        .with("DWAR__GATEWAYS__CALL_TIMEOUT_MS", "1000")
        .with("DWAR__SECRETS__MASTER_KEY_FILE", "the.key");
    let service = Service::start_in(vendor.carry(world));
    let project = service.world.project("100");
    let key = project.test.as_str();
    let phone = service.world.phone();
    let kept = service.log_in(key, &service.world.phone()).await;
    let ended = service.log_in(key, &service.world.phone()).await;
    service.send(key, &phone).await.ok();
    let code = service.code(key, &phone).await;
    let sent = service.send(&project.live, &service.world.phone()).await.ok();
    let send = sent["otp_id"].as_str().unwrap().to_owned();
    back_up(&service.world);
    // Changes that the backup does not contain.
    service.verify(key, &phone, &code).await.ok();
    service.logout(key, &ended["access_token"]).await.ok();
    Scene { service, vendor, project, phone, code, kept, ended, send }
}

async fn a_restore_settles_what_would_happen_again(database: Database) {
    let Scene { service, vendor, project, phone, code, kept, ended, send } = scene(database).await;
    let world = stopped(service);
    let told = restore(&world, &[]).await;
    assert_eq!((&told["codes_withdrawn"], &told["sessions_ended"]), (&json!(2), &json!(2)));
    // The live one, and those of the sandbox whose receipt had not arrived.
    assert!(told["sends_ended"].as_u64().unwrap() >= 1, "{told}");
    assert!(told["newest_record"].is_string());
    world.database.check();

    let service = Service::start_in(world);
    let key = project.test.as_str();
    service.verify(key, &phone, &code).await.refused(400, "OTP_NOT_FOUND");
    for login in [&ended, &kept] {
        let checked = service.validate(key, &login["access_token"]).await;
        checked.refused(401, "INVALID_ACCESS_TOKEN");
        service.refresh(key, &login["refresh_token"]).await.refused(401, "SESSION_EXPIRED");
    }
    tokio::time::sleep(WINDOW + Duration::from_millis(1_500)).await;
    assert_eq!(vendor.taken().len(), 1, "a message went out once more");
    let status = service.get(&project.live, &format!("/v1/otp/status/{send}")).await.ok();
    assert_eq!(status["status"], "sent");
    let balance = service.world.balance(&project);
    assert_eq!((&balance["held_paise"], &balance["balance_paise"]), (&json!(0), &json!(9_980)));
    service.world.audit();
    let log = service.world.run(&["audit", "--action", "database.restored"]);
    assert_eq!(String::from_utf8(log.stdout).unwrap().lines().count(), 1);
    service.log_in(key, &phone).await;
}

/// Restores with the tools of the database, keeping sessions if asked for.
async fn sessions_are_kept_where_that_is_asked_for(database: Database) {
    let Scene { service, project, kept, ended, phone, code, .. } = scene(database).await;
    let world = stopped(service);
    let told = restore(&world, &["--keep-sessions"]).await;
    assert_eq!((&told["codes_withdrawn"], &told["sessions_ended"]), (&json!(2), &Value::Null));
    let service = Service::start_in(world);
    let key = project.test.as_str();
    for login in [&kept, &ended] {
        service.validate(key, &login["access_token"]).await.ok();
    }
    service.refresh(key, &kept["refresh_token"]).await.ok();
    service.verify(key, &phone, &code).await.refused(400, "OTP_NOT_FOUND");
}

/// On a server only the records of the instances show that one is running.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn nothing_is_settled_beside_a_running_service() {
    let service = Service::start(Database::postgres().await);
    let project = service.world.project("10");
    let login = service.log_in(&project.test, &service.world.phone()).await;
    let said = refusal(&service.world, &["restore", "--in-place"]);
    assert!(said.starts_with("the service runs on "), "{said}");
    for arguments in [&["restore", "backup.db"][..], &["backup", "backup.db"]] {
        let said = refusal(&service.world, arguments);
        assert!(said.contains("pg_dump and pg_restore"), "{said}");
    }
    documented(&service.world, "pg_dump ");
    drill(&service.world);
    service.validate(&project.test, &login["access_token"]).await.ok();
}

/// A backup contains every login that was answered before it began, whatever is written meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_under_load_is_whole() {
    let service = Arc::new(Service::start(Database::sqlite()));
    let project = service.world.project("1000");
    let (done, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
    let logins = (0..8).map(|_| {
        let (service, key) = (Arc::clone(&service), project.live.clone());
        let (done, answered) = (Arc::clone(&done), Arc::clone(&answered));
        tokio::spawn(async move {
            while !done.load(Ordering::Relaxed) {
                service.log_in(&key, &service.world.phone()).await;
                answered.fetch_add(1, Ordering::Relaxed);
            }
        })
    });
    let logins: Vec<_> = logins.collect();
    for round in 1..=4 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        let before = answered.load(Ordering::Relaxed);
        let name = format!("backup-{round}.db");
        let told = service.world.cli(&["backup", &name]);
        let path = file(&service.world, &name);
        let found = path.metadata().unwrap();
        assert_eq!(found.permissions().mode() & 0o777, 0o600);
        assert_eq!(
            (told["file"].as_str(), told["bytes"].as_u64()),
            (path.to_str(), Some(found.len()))
        );
        assert!(told["master_key_file"].as_str().unwrap().ends_with("dwar.db.key"));
        assert_eq!(sound(&path), "ok");
        let sessions = number(&path, "SELECT count(*) FROM sessions");
        assert!(sessions >= i64::from(before), "{sessions} of {before}");
        assert_eq!(sessions, number(&path, "SELECT count(*) FROM otps WHERE state = 'used'"));
        let booked =
            "SELECT (SELECT balance FROM wallets) - (SELECT sum(amount) FROM ledger_entries)";
        assert_eq!(number(&path, booked), 0);
        let held = "SELECT (SELECT held FROM wallets) - (SELECT coalesce(sum(amount), 0) FROM wallet_holds)";
        assert_eq!(number(&path, held), 0);
    }
    done.store(true, Ordering::Relaxed);
    for one in logins {
        one.await.unwrap();
    }
    assert!(answered.load(Ordering::Relaxed) > 20);
    // Nothing is overwritten, and no file is left beside.
    let first = std::fs::read(file(&service.world, "backup-1.db")).unwrap();
    assert!(refusal(&service.world, &["backup", "backup-1.db"]).contains("nothing is overwritten"));
    assert_eq!(std::fs::read(file(&service.world, "backup-1.db")).unwrap(), first);
    let missing = refusal(&service.world, &["backup", "no/such/folder.db"]);
    assert!(missing.contains("no/such"), "{missing}");
    assert_eq!(beside(&service.world, "backup-"), 4);
    // A file that a killed backup or another program has left is not written to.
    std::os::unix::fs::symlink("backup-1.db", file(&service.world, "late.db.part")).unwrap();
    assert!(refusal(&service.world, &["backup", "late.db"]).contains("another backup"));
    assert_eq!(std::fs::read(file(&service.world, "backup-1.db")).unwrap(), first);
}

/// The service has to be stopped. The command detects at once whether it is, also after a crash.
/// The log belongs only to the former database.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_restore_takes_no_log_of_the_former_database_over() {
    let service = Service::start(Database::sqlite());
    let project = service.world.project("10");
    service.world.cli(&["backup", "backup.db"]);
    let phone = service.world.phone();
    service.log_in(&project.test, &phone).await;
    let said = refusal(&service.world, &["restore", "backup.db"]);
    assert!(said.contains("is in use: stop the service"), "{said}");
    let said = refusal(&service.world, &["restore", "--in-place"]);
    assert!(said.contains("is in use: stop the service"), "{said}");
    service.log_in(&project.test, &phone).await;
    let world = service.kill();
    assert!(file(&world, "dwar.db-wal").metadata().unwrap().len() > 0);

    let told = world.cli(&["restore", "backup.db"]);
    let (database, former) = (file(&world, "dwar.db"), told["former_database"].as_str().unwrap());
    assert_eq!((sound(&database), sound(Path::new(former))), ("ok".to_owned(), "ok".to_owned()));
    let sessions = "SELECT count(*) FROM sessions";
    assert_eq!((number(&database, sessions), number(Path::new(former), sessions)), (0, 2));
    for path in [&database, Path::new(former)] {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(beside(&world, "dwar.db"), 3, "the database, the former one, and the key");
    let service = Service::start_in(world);
    service.log_in(&project.test, &phone).await;
    service.world.audit();
    let world = stopped(service);
    // The same if there is no database at all.
    std::fs::remove_file(file(&world, "dwar.db")).unwrap();
    assert_eq!(world.cli(&["restore", "backup.db"])["former_database"], Value::Null);
    assert_eq!(sound(&file(&world, "dwar.db")), "ok");
}

/// A restore that is impossible is refused in a sentence, and the database stays unchanged.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_cannot_be_restored_changes_nothing() {
    let world = World::new(Database::sqlite());
    world.project("10");
    world.cli(&["backup", "good.db"]);
    let other = stopped(Service::start(Database::sqlite()));
    other.cli(&["backup", "other.db"]);
    std::fs::copy(file(&other, "other.db"), file(&world, "other.db")).unwrap();

    let copy = |name: &str| {
        std::fs::copy(file(&world, "good.db"), file(&world, name)).unwrap();
        file(&world, name)
    };
    let damaged = copy("damaged.db");
    let bytes = std::fs::read(&damaged).unwrap();
    let middle = bytes.len() / 2;
    std::fs::write(&damaged, [&bytes[..middle], &[0xa5; 9_000], &bytes[middle + 9_000..]].concat())
        .unwrap();
    let cut = copy("cut.db");
    std::fs::write(&cut, &bytes[..middle]).unwrap();
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('20990101000000')";
    open(&copy("newer.db")).execute(newer, []).unwrap();
    open(&file(&world, "alien.db")).execute("CREATE TABLE notes (text text)", []).unwrap();
    std::fs::write(file(&world, "text.db"), "a text and not a database".repeat(99)).unwrap();
    std::fs::write(file(&world, "empty.db"), "").unwrap();

    let before = std::fs::read(file(&world, "dwar.db")).unwrap();
    let known = beside(&world, "");
    for (name, wanted) in [
        ("damaged.db", "is damaged"),
        ("cut.db", "is damaged"),
        ("newer.db", "a newer version has brought the database to migration 20990101000000"),
        ("alien.db", "is not a database of Dwar"),
        ("text.db", "is damaged: file is not a database"),
        ("empty.db", "is not a database of Dwar"),
        ("other.db", "master key"),
        ("dwar.db", "is the database itself"),
        ("missing.db", "cannot be read"),
    ] {
        let said = refusal(&world, &["restore", name]);
        assert!(said.contains(wanted), "{name}: {said}");
        assert_eq!(std::fs::read(file(&world, "dwar.db")).unwrap(), before, "{name}");
        assert_eq!(beside(&world, ""), known, "{name} left something");
    }
    for arguments in [&["restore"][..], &["restore", "good.db", "--in-place"]] {
        assert_eq!(world.run(arguments).status.code(), Some(2));
    }
    // Nothing is written if the disk has too little space.
    for arguments in [&["backup", "much.db"][..], &["restore", "good.db"]] {
        let mut command = world.command(arguments);
        let said =
            refused(&command.env("DWAR__DATABASE__MIN_FREE_MB", "10000000").output().unwrap());
        assert!(said.contains("MiB free"), "{said}");
        assert_eq!(beside(&world, ""), known, "{arguments:?} left something");
    }
    world.cli(&["restore", "good.db"]);
}

/// Whenever the command is killed, either the former or the new database is in place, and the
/// command can be repeated.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_restore_leaves_one_or_the_other() {
    const ROUNDS: u32 = 25;
    let world = World::new(Database::sqlite());
    world.project("10");
    world.cli(&["backup", "backup.db"]);
    let service = Service::start_in(world);
    service.world.project("10");
    // With a log of its own, which each round begins with.
    let world = service.kill();
    let ours = ["dwar.db", "dwar.db-wal"];
    let kept = ours.map(|name| std::fs::read(file(&world, name)).unwrap());
    assert!(!kept[1].is_empty());
    let began = Instant::now();
    world.cli(&["restore", "backup.db"]);
    let whole = began.elapsed();
    let mut seen = BTreeSet::new();
    for round in 0..=ROUNDS {
        let database = file(&world, "dwar.db");
        for (name, bytes) in ours.iter().zip(&kept) {
            std::fs::write(file(&world, name), bytes).unwrap();
        }
        let mut restoring = world.command(&["restore", "backup.db"]);
        let mut restoring = restoring.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole * round / ROUNDS);
        restoring.kill().unwrap();
        restoring.wait().unwrap();
        assert_eq!(sound(&database), "ok", "round {round}");
        let projects = number(&database, "SELECT count(*) FROM projects");
        assert!([1, 2].contains(&projects), "{projects}");
        seen.insert(projects);
    }
    assert!(seen.contains(&2), "it was never killed early enough");
    world.cli(&["restore", "backup.db"]);
    assert_eq!(number(&file(&world, "dwar.db"), "SELECT count(*) FROM projects"), 1);
    assert_eq!(beside(&world, "dwar.db.restoring"), 0);
}

/// A formerly documented way: a copy over a database whose log is left in place.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_damaged_file_is_found() {
    let service = Service::start(Database::sqlite());
    let project = service.world.project("10");
    let phone = service.world.phone();
    service.world.cli(&["backup", "backup.db"]);
    for _ in 0..40 {
        service.log_in(&project.test, &service.world.phone()).await;
    }
    service.log_in(&project.test, &phone).await;
    let world = service.kill();
    // The exit status of doctor, and the failed checks.
    let doctor = |world: &World| {
        let output = world.run(&["doctor", "--json"]);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let failed = told["checks"].as_array().unwrap().iter().find(|it| it["status"] == "failed");
        let failed = failed.map(|check| check["name"].as_str().unwrap().to_owned());
        (output.status.code().unwrap(), failed)
    };
    let log = std::fs::read(file(&world, "dwar.db-wal")).unwrap();
    assert!(!log.is_empty());
    assert_eq!(doctor(&world), (0, None));
    world.audit();

    std::fs::copy(file(&world, "backup.db"), file(&world, "dwar.db")).unwrap();
    std::fs::write(file(&world, "dwar.db-wal"), &log).unwrap();
    let (status, failed) = doctor(&world);
    assert!(status == 1 && failed.is_some());
    let said = refusal(&world, &["wallet", "verify"]);
    assert!(said.contains("damaged") || said.contains("malformed"), "{said}");
    world.cli(&["restore", "backup.db"]);
    assert_eq!(doctor(&world), (0, None));
    world.audit();

    // If the file can still be opened, it is read to its end.
    let whole = std::fs::read(file(&world, "dwar.db")).unwrap();
    let middle = whole.len() / 8192 * 4096;
    let hole = [&whole[..middle], &[0xa5; 12_288], &whole[middle + 12_288..]].concat();
    std::fs::write(file(&world, "dwar.db"), hole).unwrap();
    assert_eq!(doctor(&world), (1, Some("database".to_owned())));
    assert!(refusal(&world, &["wallet", "verify"]).contains("is damaged"));
    world.cli(&["restore", "backup.db"]);
    assert_eq!(doctor(&world), (0, None));
}

fn sound(path: &Path) -> String {
    let found = open(path).query_row("PRAGMA integrity_check", [], |row| row.get(0));
    found.unwrap_or_else(|cause| cause.to_string())
}

/// The number of files in the world's folder with this prefix.
fn beside(world: &World, begin: &str) -> usize {
    let names =
        std::fs::read_dir(world.database.folder()).unwrap().map(|it| it.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with(begin)).count()
}
