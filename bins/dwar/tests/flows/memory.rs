//! A service for a customer's own test suite: everything in memory, lost when it stops.

use crate::common::{Database, Service, World};
use serde_json::json;
use std::time::{Duration, Instant};

/// In an empty folder, with only the database configured.
fn in_memory() -> World {
    let world = World::new(Database::sqlite());
    world.with("DWAR__DATABASE__URL", "memory:").with("DWAR__DEMO", "true")
}

fn key(service: &Service, kind: &str) -> String {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let lines = service.stdout();
        let line =
            lines.iter().find_map(|line| line.trim().strip_prefix(kind)?.split(' ').next_back());
        match line {
            Some(key) => return key.to_owned(),
            None => assert!(Instant::now() < until, "no {kind}: {lines:?}"),
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_whole_life_passes_in_memory_and_leaves_nothing_behind() {
    let service = Service::start_in(in_memory());
    let (live, test) = (key(&service, "Live key"), key(&service, "Test key"));
    assert!(service.stderr().iter().any(|line| line.contains("memory: keeps nothing")));
    assert_eq!(service.get("", "/readyz").await.ok(), json!({ "status": "ready" }));

    for key in [&live, &test] {
        let phone = service.world.phone();
        let pair = service.log_in(key, &phone).await;
        assert_eq!(service.validate(key, &pair["access_token"]).await.ok()["valid"], true);
        let next = service.refresh(key, &pair["refresh_token"]).await.ok();
        let old = service.validate(key, &pair["access_token"]).await;
        old.refused(401, "INVALID_ACCESS_TOKEN");
        let revoked = service.logout(key, &next["access_token"]).await.ok();
        assert_eq!(revoked, json!({ "revoked": true }));
        let over = service.refresh(key, &next["refresh_token"]).await;
        over.refused(401, "SESSION_EXPIRED");
    }

    let folder = std::fs::read_dir(service.world.database.folder()).unwrap();
    assert_eq!(folder.count(), 0, "something was written");
    let again = Service::start_in(service.kill());
    again.send(&test, &again.world.phone()).await.refused(401, "INVALID_API_KEY");
}

#[test]
fn no_other_command_takes_a_database_that_lives_in_another_process() {
    let id = "0197a3f0-0000-7000-8000-000000000000";
    for command in [
        vec!["migrate"],
        vec!["project", "list"],
        vec!["key", "regenerate", "--project", id, "--mode", "live"],
        vec!["wallet", "verify"],
        vec!["signing-key", "list"],
        vec!["webhook", "list", "--project", id],
    ] {
        let output = in_memory().run(&command);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command:?}: {error}");
        assert!(error.contains("exists only inside `dwar serve`"), "{command:?}: {error}");
    }
}

#[test]
fn doctor_looks_at_all_but_what_is_in_it() {
    let world = in_memory();
    let report = world.cli(&["doctor"]);
    assert_eq!(report["ok"], true, "{report}");
    let checks = report["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["configuration", "production", "files", "database", "gateways"]);
    assert!(checks[3]["detail"].as_str().unwrap().starts_with("memory: "), "{report}");
    assert_eq!(std::fs::read_dir(world.database.folder()).unwrap().count(), 0);
}

#[test]
fn it_is_refused_where_nobody_would_have_a_key_and_in_production() {
    for (setting, sentence) in [
        (("DWAR__DEMO", "false"), "demo: is false"),
        (("DWAR__ENVIRONMENT", "production"), "database.url: is memory:"),
    ] {
        let output = in_memory().with(setting.0, setting.1).run(&["serve"]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(sentence), "{error}");
    }
}
