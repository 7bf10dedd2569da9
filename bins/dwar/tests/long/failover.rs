//! Ready means able to write: the service when its database server becomes read-only, is frozen or
//! is replaced, and when its file is moved.

use crate::common::{Database, FIRST, SECOND, Servers, Service, World, at_once, tally};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const KEY: &str = "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE=";
/// How soon a service is ready after a failover.
const SOON: Duration = Duration::from_secs(10);

fn lines(service: &Service, text: &str) -> usize {
    service.stderr().iter().filter(|line| line.contains(text)).count()
}

fn service_at(url: &str) -> Service {
    let world = World::new(Database::None)
        .with("DWAR__SECRETS__MASTER_KEY", KEY)
        .with("DWAR__DATABASE__URL", url)
        .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", "10000");
    Service::start_in(world)
}

async fn execute(url: &str, sql: &str) {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await.unwrap();
    let driving = tokio::spawn(connection);
    for statement in sql.split(';') {
        client.batch_execute(statement).await.unwrap();
    }
    driving.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn after_a_failover_the_server_that_writes_is_used_and_no_other_is_believed() {
    let Some(servers) = Servers::start() else {
        eprintln!("!!! LEFT OUT: it needs the programs initdb and pg_basebackup of PostgreSQL !!!");
        return;
    };
    execute(&servers.url(&[FIRST], "postgres"), "CREATE DATABASE dwar").await;
    let service = service_at(&servers.url(&[FIRST, SECOND], "dwar"));
    let project = service.world.project("100");
    let (ended, kept) = sessions(&service, &project.test).await;
    service.becomes(200).await;

    // The old primary is fenced, and its connections stay open; a session is ended on the new one.
    let fence = "ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()";
    caught_up(&servers).await;
    execute(&servers.url(&[FIRST], "postgres"), fence).await;
    servers.promote(SECOND);
    let other = service_at(&servers.url(&[SECOND], "dwar"));
    other.logout(&project.test, &ended).await.ok();
    let promoted = Instant::now();
    never_valid(&service, &project.test, &ended).await;
    service.becomes(200).await;
    assert!(promoted.elapsed() < SOON);
    serves(&service, &project.test, &kept).await;
    assert!(lines(&service, "PostgreSQL is read-only; every connection") >= 1);

    // It comes back as a standby, first in the list, and the new primary is restarted.
    servers.down(FIRST);
    servers.demote(FIRST);
    servers.up(FIRST);
    servers.down(SECOND);
    service.becomes(503).await;
    never_valid(&service, &project.test, &ended).await;
    servers.up(SECOND);
    let up = Instant::now();
    service.becomes(200).await;
    assert!(up.elapsed() < SOON);
    serves(&service, &project.test, &kept).await;
    never_valid(&service, &project.test, &ended).await;

    // Commands find it too, and fail with only the standby.
    service.world.audit();
    let standby = World::new(Database::None)
        .with("DWAR__SECRETS__MASTER_KEY", KEY)
        .with("DWAR__DATABASE__URL", &servers.url(&[FIRST], "dwar"));
    let doctor = standby.run(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(1));
    let told = [doctor.stdout, doctor.stderr].concat();
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("session is read-only"), "{told}");
}

async fn sessions(service: &Service, key: &str) -> (Value, Value) {
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let pair = service.log_in(key, &service.world.phone()).await;
        assert_eq!(service.validate(key, &pair["access_token"]).await.ok()["valid"], true);
        tokens.push(pair["access_token"].clone());
    }
    (tokens.remove(0), tokens.remove(0))
}

/// Waits until the standby has everything that the primary wrote.
async fn caught_up(servers: &Servers) {
    let url = servers.url(&[FIRST], "postgres");
    let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
    let driving = tokio::spawn(connection);
    let behind = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn >= $1::text::pg_lsn";
    let lsn = client.query_one("SELECT pg_current_wal_lsn()::text", &[]).await.unwrap();
    let lsn: String = lsn.get(0);
    while client.query_one(behind, &[&lsn]).await.unwrap().get::<_, i64>(0) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    driving.abort();
}

/// A session that has ended is invalid, or its state is unknown; at once, and for many concurrent
/// requests.
async fn never_valid(service: &Service, key: &str, token: &Value) {
    for _ in 0..5 {
        let body = serde_json::json!({ "access_token": token });
        let ask = || service.call(key, "/v1/session/validate", &body);
        for answer in at_once((0..8).map(|_| ask())).await {
            match answer.status.as_u16() {
                401 => answer.refused(401, "INVALID_ACCESS_TOKEN"),
                _ => answer.refused(503, "SERVICE_UNAVAILABLE"),
            }
        }
    }
}

async fn serves(service: &Service, key: &str, kept: &Value) {
    assert_eq!(service.validate(key, kept).await.ok()["valid"], true);
    service.log_in(key, &service.world.phone()).await;
}

on_both_databases! {
    the_write_is_proven_once_a_second_for_all;
    a_database_that_takes_no_writes_is_not_ready_and_piles_nobody_up;
}

const PROOFS: &str = "SELECT writes FROM write_proofs";

async fn the_write_is_proven_once_a_second_for_all(database: Database) {
    let service = Service::start(database);
    service.becomes(200).await;
    let (began, before) = (Instant::now(), service.world.database.number(PROOFS).await);
    for _ in 0..4 {
        let ask = |_| service.request(reqwest::Method::GET, "/readyz");
        assert_eq!(tally(&at_once((0..50).map(ask)).await)["200"], 50);
    }
    let proofs = service.world.database.number(PROOFS).await - before;
    // One more comes from the loop that checks every five seconds.
    let most = 2 + i64::try_from(began.elapsed().as_secs()).unwrap();
    assert!(proofs <= most, "{proofs} proofs in {:?}", began.elapsed());
    tokio::time::sleep(Duration::from_secs(1)).await;
    service.becomes(200).await;
    assert!(service.world.database.number(PROOFS).await > before, "nothing was written");
}

enum Holder {
    File(rusqlite::Connection),
    Server(tokio_postgres::Client, tokio::task::JoinHandle<()>),
}

impl Holder {
    async fn of(database: &Database) -> Self {
        if let Database::Sqlite(folder) = database {
            let file = rusqlite::Connection::open(folder.path().join("dwar.db")).unwrap();
            file.execute_batch("BEGIN IMMEDIATE").unwrap();
            return Self::File(file);
        }
        let connected = tokio_postgres::connect(&database.url(), tokio_postgres::NoTls).await;
        let (client, connection) = connected.unwrap();
        let driving = tokio::spawn(async { connection.await.unwrap() });
        let hold = "BEGIN; LOCK TABLE write_proofs IN ACCESS EXCLUSIVE MODE";
        client.batch_execute(hold).await.unwrap();
        Self::Server(client, driving)
    }

    async fn let_go(self) {
        match self {
            Self::File(file) => file.execute_batch("ROLLBACK").unwrap(),
            Self::Server(client, driving) => {
                client.batch_execute("ROLLBACK").await.unwrap();
                driving.abort();
            }
        }
    }
}

async fn a_database_that_takes_no_writes_is_not_ready_and_piles_nobody_up(database: Database) {
    let service = Service::start(database);
    service.becomes(200).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let holder = Holder::of(&service.world.database).await;
    let asked = at_once((0..60).map(|_| service.request(reqwest::Method::GET, "/readyz")));
    let (answers, waiting) = tokio::join!(asked, async {
        tokio::time::sleep(Duration::from_millis(700)).await;
        match &service.world.database {
            Database::Postgres { .. } => service.world.database.number(WAITING).await,
            _ => 0,
        }
    });
    assert_eq!(tally(&answers)["SERVICE_UNAVAILABLE"], 60);
    assert!(waiting <= 2, "{waiting} connections wait for the proof");
    holder.let_go().await;
    service.becomes(200).await;
}

/// One is the proof, one more the loop's.
const WAITING: &str = "SELECT count(*) FROM pg_stat_activity \
    WHERE datname = current_database() AND wait_event_type = 'Lock'";

const MOVED: &str = "was moved, replaced or removed while it is in use";

fn beside(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_file_that_is_not_where_it_was_is_noticed_and_nothing_is_written_to_it() {
    let service = Service::start(Database::sqlite());
    let file = service.world.database.folder().join("dwar.db");
    let away = beside(&file, ".away");
    let key = service.world.project("100").test;
    let token = service.log_in(&key, &service.world.phone()).await["access_token"].clone();
    service.becomes(200).await;

    let log = beside(&file, "-wal");
    for (round, (part, replaced)) in
        [(&file, false), (&file, true), (&log, false)].into_iter().enumerate()
    {
        std::fs::rename(part, &away).unwrap();
        if replaced {
            std::fs::copy(&away, part).unwrap();
        }
        // Also for requests before the next check of the file.
        service.send(&key, &service.world.phone()).await.refused(503, "SERVICE_UNAVAILABLE");
        service.becomes(503).await;
        service.validate(&key, &token).await.refused(503, "SERVICE_UNAVAILABLE");
        assert_eq!(service.get("", "/healthz").await.status, 200);
        assert_eq!(part.exists(), replaced, "nothing is made in its place");
        std::fs::rename(&away, part).unwrap();
        service.becomes(200).await;
        assert_eq!(service.validate(&key, &token).await.ok()["valid"], true);
        service.log_in(&key, &service.world.phone()).await;
        assert_eq!(lines(&service, MOVED), round + 1, "once each");
    }
    // Without any request, it is noticed.
    let told = lines(&service, MOVED);
    std::fs::rename(&file, &away).unwrap();
    let until = Instant::now() + SOON;
    while lines(&service, MOVED) == told {
        assert!(Instant::now() < until, "nobody noticed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    std::fs::rename(&away, &file).unwrap();
    service.becomes(200).await;
    let world = service.kill();
    world.database.check();
    world.audit();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_link_that_leads_elsewhere_is_noticed() {
    let database = Database::sqlite();
    let folder = database.folder().to_owned();
    let link = folder.join("link.db");
    std::os::unix::fs::symlink(folder.join("dwar.db"), &link).unwrap();
    let world = World::new(database)
        .with("DWAR__DATABASE__URL", &format!("sqlite://{}", link.display()))
        .with("DWAR__SECRETS__MASTER_KEY", KEY);
    std::fs::write(folder.join("dwar.db"), "").unwrap();
    let service = Service::start_in(world);
    service.becomes(200).await;
    std::fs::write(folder.join("other.db"), "").unwrap();
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(folder.join("other.db"), &link).unwrap();
    service.becomes(503).await;
    assert_eq!(lines(&service, MOVED), 1);
}
