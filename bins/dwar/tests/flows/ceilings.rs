//! One caller at full speed: the limits of its requests, its rows and its disk space.

use crate::common::{Answer, Database, Disk, Doors, Service, World, at_once, tally, with_doors};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

on_both_databases! {
    a_flood_with_one_key_ends_at_its_ceiling;
    without_a_ceiling_a_flood_goes_on;
    a_flood_of_test_sends_leaves_no_more_than_its_quota;
}

const PATIENCE: Duration = Duration::from_secs(60);

fn number(answer: &Answer, header: &str) -> u64 {
    answer.header(header).parse().unwrap_or_else(|_| panic!("{header}: {:?}", answer.headers))
}

async fn a_flood_with_one_key_ends_at_its_ceiling(database: Database) {
    let world = World::new(database)
        .with("DWAR__LIMITS__TEST__SENDS_PER_MINUTE", "120")
        .with("DWAR__LIMITS__TEST__VERIFIES_PER_MINUTE", "150");
    let service = Service::start_in(world);
    let (project, other) = (service.world.project("100"), service.world.project("0"));
    let send = |_| {
        let phone = service.world.phone();
        service.call(&project.test, "/v1/otp/send", &json!({ "phone": phone }))
    };
    let answers = at_once((0..200).map(send)).await;
    let counted = tally(&answers);
    assert_eq!((counted["200"], counted["RATE_LIMITED"]), (120, 80), "{counted:?}");
    for answer in &answers {
        if answer.status == 200 {
            // An admitted send reports the phone's allowance.
            assert_eq!(number(answer, "ratelimit-limit"), 20);
            continue;
        }
        answer.refused(429, "RATE_LIMITED");
        assert!((1..=60).contains(&number(answer, "retry-after")));
        assert_eq!(number(answer, "ratelimit-limit"), 120);
        assert_eq!(number(answer, "ratelimit-remaining"), 0);
    }
    // Malformed requests count too: the ceiling is checked before the body is read.
    service.send(&project.test, "1").await.refused(429, "RATE_LIMITED");

    let verify = |_| {
        let guess = json!({ "phone": "1", "code": "000000" });
        service.call(&project.test, "/v1/otp/verify", &guess)
    };
    let answers = at_once((0..200).map(verify)).await;
    let counted = tally(&answers);
    assert_eq!((counted["INVALID_PHONE"], counted["RATE_LIMITED"]), (150, 50), "{counted:?}");

    // Nobody else is affected: neither the project's live key, nor another tenant, nor other calls.
    service.send(&project.live, &service.world.phone()).await.ok();
    service.log_in(&other.test, &service.world.phone()).await;
    let status = service.get(&project.test, "/v1/otp/status/unknown").await;
    status.refused(404, "OTP_REQUEST_NOT_FOUND");
    assert_eq!(number(&status, "ratelimit-remaining"), 99);
}

async fn without_a_ceiling_a_flood_goes_on(database: Database) {
    let world = World::new(database)
        .with("DWAR__LIMITS__TEST__SENDS_PER_MINUTE", "0")
        .with("DWAR__LIMITS__TEST__VERIFIES_PER_MINUTE", "0");
    let service = Service::start_in(world);
    let key = service.world.project("0").test;
    for path in ["/v1/otp/send", "/v1/otp/verify"] {
        let answers = at_once((0..150).map(|_| service.call(&key, path, &json!({})))).await;
        assert_eq!(tally(&answers)["INVALID_PHONE"], 150);
    }
}

/// The number of records of a mode, table by table.
async fn rows(database: &Database, mode: &str) -> Vec<(&'static str, i64)> {
    let mut found = Vec::new();
    for table in ["otps", "idempotency_records", "sessions", "identities", "guess_budgets"] {
        let sql = format!("SELECT count(*) FROM {table} WHERE mode = '{mode}'");
        found.push((table, database.number(&sql).await));
    }
    for table in ["otp_attempts", "sandbox_messages"] {
        let sql = format!(
            "SELECT count(*) FROM {table} JOIN otps ON otps.id = otp_id WHERE mode = '{mode}'"
        );
        found.push((table, database.number(&sql).await));
    }
    found
}

async fn a_flood_of_test_sends_leaves_no_more_than_its_quota(database: Database) {
    let world = World::new(database)
        .with("DWAR__RETENTION__TEST_RECORDS", "25")
        .with("DWAR__OTP__LIFETIME_SECONDS", "3")
        .with("DWAR__LIMITS__TEST__SEND_WINDOW_SECONDS", "3");
    let service = Service::start_in(world);
    let (project, other) = (service.world.project("100"), service.world.project("0"));
    let send = |key: &str| {
        let phone = service.world.phone();
        let call = service.call(key, "/v1/otp/send", &json!({ "phone": phone }));
        call.header("Idempotency-Key", phone)
    };
    assert_eq!(tally(&at_once((0..90).map(|_| send(&project.test))).await)["200"], 90);
    assert_eq!(tally(&at_once((0..20).map(|_| send(&other.test))).await)["200"], 20);
    assert_eq!(tally(&at_once((0..40).map(|_| send(&project.live))).await)["200"], 40);
    for _ in 0..30 {
        let phone = service.world.phone();
        service.send(&project.test, &phone).await.ok();
        service.verify(&project.test, &phone, "000000").await.refused(400, "INVALID_OTP");
        let code = service.code(&project.test, &phone).await;
        service.verify(&project.test, &phone, &code).await.ok();
    }
    let live = rows(&service.world.database, "live").await;
    tokio::time::sleep(Duration::from_secs(3)).await;

    // A service tidies when it starts, and then each minute.
    let world = service.kill().with("DWAR__OTP__LIFETIME_SECONDS", "600");
    let service = Service::start_in(world);
    let phone = service.world.phone();
    service.send(&project.test, &phone).await.ok();
    let code = service.code(&project.test, &phone).await;
    let until = Instant::now() + PATIENCE;
    loop {
        // The other project's twenty, this one's twenty-five, and a code that was sent meanwhile.
        let left = rows(&service.world.database, "test").await;
        let bounded = |(table, count): &(&str, i64)| match *table {
            "guess_budgets" => *count == 0,
            // A first answer is kept for a minute, whatever the quota.
            "idempotency_records" => true,
            _ => *count <= 20 + 25 + 1,
        };
        if left.iter().all(bounded) {
            break;
        }
        assert!(Instant::now() < until, "{left:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // Live ones are all kept, also the other tenant's, and the code still works.
    assert_eq!(rows(&service.world.database, "live").await, live);
    let database = &service.world.database;
    let others = format!("SELECT count(*) FROM otps WHERE project_id = {}", database.id(&other.id));
    assert_eq!(database.number(&others).await, 20);
    service.verify(&project.test, &phone, &code).await.ok();
    service.world.database.check();
}

fn complaints(service: &Service) -> Vec<String> {
    let told = service.stderr().into_iter();
    told.filter(|line| line.contains(r#""level":"WARN""#) || line.contains(r#""level":"ERROR""#))
        .collect()
}

fn lines(service: &Service, text: &str) -> usize {
    service.stderr().iter().filter(|line| line.contains(text)).count()
}

/// Removes the files that PostgreSQL writes again for its next connection, as it does itself after some changes of
/// its catalog: until there is space, it accepts no new connection.
fn remove_caches(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => remove_caches(&entry.path()),
            false if entry.file_name() == "pg_internal.init" => {
                std::fs::remove_file(entry.path()).unwrap();
            }
            false => {}
        }
    }
}

/// Fills the disk of a running service, checks its behaviour, frees the space, and checks again. `usual` are the alerts
/// of a disk of this size that is not full.
async fn outlives_a_full_disk(service: Service, disk: &Disk, usual: &[&str]) {
    let project = service.world.project("100000");
    let doors = Doors::of(&service).await;
    doors.name(usual).await;
    let phone = service.world.phone();
    let tokens = service.log_in(&project.test, &phone).await;
    service.becomes(200).await;
    let before = complaints(&service).len();

    disk.fill();
    let mut kept = Vec::new();
    let until = Instant::now() + PATIENCE;
    let mut refusals = 0;
    // Until no write succeeds: the free space inside the files is used up too.
    while refusals < 60 {
        assert!(Instant::now() < until, "the disk never filled");
        let send = |_| {
            let send = json!({ "phone": service.world.phone() });
            service.call(&project.live, "/v1/otp/send", &send)
        };
        for answer in at_once((0..20).map(send)).await {
            if answer.status == 200 {
                kept.push(answer.body["otp_id"].as_str().unwrap().to_owned());
                refusals = 0;
            } else {
                answer.refused(503, "SERVICE_UNAVAILABLE");
                assert_eq!(answer.header("retry-after"), "2");
                refusals += 1;
            }
        }
    }
    // Not ready as soon as the next proof fails. Requests without writes still work.
    service.becomes(503).await;
    assert_eq!(service.get("", "/healthz").await.status, 200);
    assert_eq!(service.get("", "/.well-known/jwks.json").await.status, 200);
    service.validate(&project.test, &tokens["access_token"]).await.ok();
    for otp in &kept {
        service.get(&project.live, &format!("/v1/otp/status/{otp}")).await.ok();
    }
    remove_caches(disk.folder());
    disk.fill();
    let doctor = service.world.run(&["doctor", "--json"]);
    assert_eq!(doctor.status.code(), Some(1));
    doors.name(&["disk_full"]).await;
    // Logged once, however many requests failed and however often the loops tried.
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(lines(&service, "the disk is full"), 1, "{:?}", complaints(&service));
    let others: Vec<_> = complaints(&service)
        .into_iter()
        .skip(before)
        .filter(|line| {
            // The last is PostgreSQL's: it may have to write a file for a new connection.
            let full =
                ["the disk is full", "little disk space is left", "could not write init file"];
            !full.iter().any(|told| line.contains(told))
        })
        .collect();
    assert_eq!(others, Vec::<String>::new());

    disk.free();
    // By itself: nobody sends a request.
    let until = Instant::now() + PATIENCE;
    while lines(&service, "space to write again") == 0 {
        assert!(Instant::now() < until, "it did not recover");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    service.becomes(200).await;
    service.log_in(&project.test, &service.world.phone()).await;
    service.send(&project.live, &service.world.phone()).await.ok();
    assert_eq!(lines(&service, "the disk is full"), 1);
    assert_eq!(lines(&service, "space to write again"), 1);
    assert!(service.world.run(&["doctor"]).status.success());
    doors.name(usual).await;

    // Nothing that was answered is lost, and the money adds up.
    for otp in &kept {
        service.get(&project.live, &format!("/v1/otp/status/{otp}")).await.ok();
    }
    service.world.audit();
    let world = service.kill();
    world.database.check();
    world.audit();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sqlite_outlives_a_full_disk() {
    let Some(disk) = Disk::mount(12, Path::new("/tmp")) else {
        eprintln!(
            "!!! LEFT OUT: only root can make a small disk to fill; adapters/sqlite/src/\
                   writer_tests.rs looks at a file that may not grow instead !!!"
        );
        return;
    };
    let database = Database::sqlite_in(disk.folder());
    let world = World::new(database)
        .with("DWAR__DATABASE__MIN_FREE_MB", "2")
        .with("DWAR__LOG__LEVEL", "info");
    outlives_a_full_disk(Service::start_in(with_doors(world)), &disk, &["disk_fills"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn postgres_outlives_a_full_disk() {
    let folder = Database::postgres_folder().await;
    let disk = folder.as_deref().and_then(|folder| Disk::mount(24, Path::new(folder)));
    let Some(disk) = disk else {
        eprintln!(
            "!!! LEFT OUT: only root on the server's machine can give it a small disk to fill; \
                   adapters/postgres/tests/store/room.rs raises its error instead !!!"
        );
        return;
    };
    let database = Database::postgres_in(disk.folder()).await;
    outlives_a_full_disk(Service::start_in(with_doors(World::new(database))), &disk, &[]).await;
}
