//! The command line, beside a running server and without one.

mod asks;
mod causes;
mod shells;
mod terminal;
mod words;

use crate::common::{Database, Service, World, answer};
use reqwest::Method;
use serde_json::{Value, json};
use std::process::Output;

on_both_databases! {
    what_a_command_changes_holds_for_the_next_request;
    a_regenerated_key_ends_the_old_one;
    a_ledger_is_proved_and_one_that_does_not_sum_is_told;
    the_first_start_makes_a_demo_project_once;
    signing_keys_rotate_with_overlap;
    doctor_tells_what_is_well_and_what_is_not;
    migrate_prepares_an_empty_database;
    a_command_that_only_reads_leaves_an_old_schema_as_it_is;
    a_database_with_other_migrations_is_left_as_it_is;
    a_database_with_newer_migrations_serves_on_postgresql_alone;
    operators_come_and_go_and_each_change_is_in_the_log;
}

fn error_of(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

async fn what_a_command_changes_holds_for_the_next_request(database: Database) {
    let service = Service::start(database);
    let world = &service.world;
    let project = world.project("0");
    let id = project.id.as_str();
    let phone = world.phone();
    service.send(&project.live, &phone).await.refused(402, "INSUFFICIENT_BALANCE");
    let credit = ["wallet", "credit", "--project", id, "--rupees", "0.50", "--reference", "inv-1"];
    let credited = world.cli(&credit);
    assert_eq!((&credited["booked"], &credited["moved_paise"]), (&json!(true), &json!(50)));
    assert_eq!(credited["wallet"]["balance_paise"], 50);
    let again = world.cli(&credit);
    assert_eq!((&again["booked"], &again["moved_paise"]), (&json!(false), &json!(0)));
    service.send(&project.live, &phone).await.ok();

    world.cli(&["project", "set", "--project", id, "--whatsapp-price-paise", "30"]);
    service.send(&project.live, &phone).await.ok();
    assert_eq!(world.balance(&project)["balance_paise"], 0);
    let shown =
        world.cli(&["project", "set", "--project", id, "--whatsapp-price-paise", "default"]);
    assert_eq!(shown["whatsapp_price_paise"], Value::Null);

    let by_phone = format!("/v1/identity?phone={phone}");
    let lookup = service.get(&project.live, &by_phone).await;
    lookup.refused(403, "IDENTITY_LOOKUP_DISABLED");
    for (switch, status) in [("on", 404), ("off", 403), ("on", 404)] {
        let set = world.cli(&["project", "set", "--project", id, "--identity-lookup", switch]);
        assert_eq!(set["identity_lookup"], switch == "on");
        let answer = service.get(&project.live, &by_phone).await;
        assert_eq!(answer.status.as_u16(), status);
    }
    let shown = world.cli(&["project", "show", "--project", id]);
    assert_eq!(shown["keys"].as_array().unwrap().len(), 2);
    assert!(!shown.to_string().contains(&project.live));
    let listed = world.cli(&["project", "list"]);
    assert_eq!(listed["items"][0]["project_id"], id);
}

async fn a_ledger_is_proved_and_one_that_does_not_sum_is_told(database: Database) {
    let service = Service::start(database);
    let world = &service.world;
    let project = world.project("10");
    service.send(&project.live, &world.phone()).await.ok();
    let prove = ["wallet", "prove", "--project", &project.id];
    let proved = world.cli(&prove);
    let paid = world.balance(&project)["balance_paise"].clone();
    assert_eq!((&proved["sound"], &proved["balance_paise"]), (&json!(true), &paid));
    // The credit, and hold, capture and release of the send.
    assert_eq!((&proved["entries"], &proved["by"]), (&json!(4), &json!("command line")));
    service.send(&project.live, &world.phone()).await.ok();
    assert_eq!(world.cli(&prove)["entries"], 7, "it goes on where the last one ended");

    world.database.run("UPDATE wallets SET balance = balance + 1").await;
    for scope in [&prove[..], &[&prove[..], &["--everything"]].concat()] {
        let told = world.run(scope);
        let text = String::from_utf8_lossy(&told.stdout).into_owned();
        assert_eq!(told.status.code(), Some(1), "{text}");
        assert!(text.starts_with("The ledger does not match the wallet."), "{text}");
    }
}

async fn a_regenerated_key_ends_the_old_one(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let path = "/v1/otp/status/unknown";
    for (mode, old) in [("test", &project.test), ("live", &project.live)] {
        service.get(old, path).await.refused(404, "OTP_REQUEST_NOT_FOUND");
        let made =
            service.world.cli(&["key", "regenerate", "--project", &project.id, "--mode", mode]);
        assert_eq!((&made["project_id"], &made["mode"]), (&json!(project.id), &json!(mode)));
        service.get(old, path).await.refused(401, "INVALID_API_KEY");
        let new = made["key"].as_str().unwrap();
        service.get(new, path).await.refused(404, "OTP_REQUEST_NOT_FOUND");
    }
}

async fn the_first_start_makes_a_demo_project_once(database: Database) {
    let world = World::new(database).with("DWAR__DEMO", "true");
    let service = Service::start_in(world);
    let mut greeting = String::new();
    for _ in 0..100 {
        greeting = service.stdout().join("\n");
        if greeting.matches("curl ").count() == 3 && greeting.contains("/otp/verify") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert!(greeting.contains(&service.base), "{greeting}");
    let key = |prefix: &str| {
        greeting.split_whitespace().find(|word| word.starts_with(prefix)).unwrap().to_owned()
    };
    let (live, test) = (key("svc_live_"), key("svc_test_"));
    service.send(&live, &service.world.phone()).await.ok();
    service.log_in(&test, &service.world.phone()).await;

    let service = Service::start_in(service.kill());
    service.log_in(&test, &service.world.phone()).await;
    assert!(!service.stdout().join("\n").contains("svc_"));
    let listed = service.world.cli(&["project", "list"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
}

async fn signing_keys_rotate_with_overlap(database: Database) {
    // The key signs at once after it is published, so that the test sees both ends of the overlap.
    let world = World::new(database).with("DWAR__TOKENS__PUBLISH_BEFORE_SECONDS", "0");
    let service = Service::start_in(world);
    let key = service.world.project("0").test;
    let old = service.log_in(&key, &service.world.phone()).await;
    let first = service.world.cli(&["signing-key", "list"]);
    assert_eq!(first["items"][0]["state"], "active");
    let rotated = service.world.cli(&["signing-key", "rotate"]);
    assert_eq!(rotated["algorithm"], "ES256");
    tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
    let new = service.log_in(&key, &service.world.phone()).await;
    let kid =
        |pair: &Value| pair["access_token"].as_str().unwrap().split('.').next().unwrap().to_owned();
    assert_ne!(kid(&old), kid(&new));
    for pair in [&old, &new] {
        service.validate(&key, &pair["access_token"]).await.ok();
    }
    let set = answer(service.request(Method::GET, "/.well-known/jwks.json")).await;
    assert_eq!(set.header("cache-control"), "public, max-age=300");
    let etag = set.header("etag").to_owned();
    let published = set.ok();
    assert_eq!(published["keys"].as_array().unwrap().len(), 2);
    assert!(published["keys"].as_array().unwrap().iter().all(|key| key.get("d").is_none()));
    let again = service.request(Method::GET, "/.well-known/jwks.json");
    let again = answer(again.header("If-None-Match", etag)).await;
    assert_eq!(again.status.as_u16(), 304);
}

async fn doctor_tells_what_is_well_and_what_is_not(database: Database) {
    let empty = World::new(database);
    let lacks = match empty.database {
        Database::Sqlite(_) => "there is no database",
        _ => "the database is empty",
    };
    let report = empty.cli(&["doctor"]);
    let checks = report["checks"].as_array().unwrap();
    let troubled = |check: &&Value| check["detail"].as_str().unwrap().contains(lacks);
    let about: Vec<&Value> = checks.iter().filter(troubled).collect();
    assert!(about.len() == 1 && about[0]["name"] == "migrations", "{report}");
    assert!(!checks.iter().any(|check| check["name"] == "signing keys"), "{report}");
    assert_eq!(report["ok"], true, "{report}");

    let database = empty.database;
    let service = Service::start(database);
    let report = service.world.cli(&["doctor"]);
    assert_eq!(report["ok"], true, "{report}");
    let set_up = report["checks"].as_array().unwrap().iter().find(|it| it["name"] == "set-up");
    assert_eq!(set_up.unwrap()["status"], "ok", "{report}");
    let mut world = service.kill();
    world.settings.push(("DWAR__HTTP__ADRESS".to_owned(), "x".to_owned()));
    let output = world.run(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ok"], false);
    assert!(report.to_string().contains("did you mean `http.address`"), "{report}");
    world.settings.pop();

    let foreign = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let world = world.with("DWAR__SECRETS__MASTER_KEY", foreign);
    let output = world.run(&["doctor"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("secrets.master_key"), "{text}");
    let (status, error) = error_of(&world.run(&["serve"]));
    assert_eq!(status, Some(1), "{error}");
}

async fn migrate_prepares_an_empty_database(database: Database) {
    let world = World::new(database);
    let applied = world.cli(&["migrate"]);
    assert!(!applied["applied"].as_array().unwrap().is_empty());
    assert_eq!(world.cli(&["migrate"]), json!({ "applied": [] }));
    let service = Service::start_in(world);
    service.log_in(&service.world.project("0").test, "9876543210").await;
}

async fn a_command_that_only_reads_leaves_an_old_schema_as_it_is(database: Database) {
    let world = World::new(database);
    let nobody = "0199a000-0000-7000-8000-000000000000";
    for arguments in [
        vec!["project", "list"],
        vec!["project", "show", "--project", nobody],
        vec!["wallet", "balance", "--project", nobody],
        vec!["wallet", "statement", "--project", nobody],
        vec!["wallet", "verify"],
        vec!["signing-key", "list"],
        vec!["webhook", "list", "--project", nobody],
    ] {
        let output = world.run(&arguments);
        let (status, error) = error_of(&output);
        assert_eq!((status, output.stdout.len()), (Some(1), 0), "{arguments:?}");
        let says = match world.database {
            Database::Sqlite(_) => "there is no database",
            _ => "run `dwar migrate`",
        };
        assert!(error.contains(says), "{arguments:?}: {error}");
    }
    world.run(&["doctor"]);
    let first = world.cli(&["migrate"])["applied"].as_array().unwrap().len();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations/sqlite");
    assert_eq!(first, std::fs::read_dir(folder).unwrap().count(), "nothing was applied before");
    assert_eq!(world.cli(&["project", "list"]), json!({ "items": [], "next_cursor": null }));
}

/// Migrations of earlier builds, the first and the last of each that was started over, and one of
/// another branch.
async fn a_database_with_other_migrations_is_left_as_it_is(database: Database) {
    let world = World::new(database);
    world.cli(&["migrate"]);
    refuses_to_touch(&world, &["20261121000000"]).await;
    refuses_to_touch(&world, &["20261121000000", "20261121120000", "20261128000000"]).await;
    refuses_to_touch(&world, &["20261123000000"]).await;
    refuses_to_touch(&world, &["20261123000000", "20261124000000", "20261126090000"]).await;
    refuses_to_touch(&world, &["20261122000000", "20261126100000"]).await;
}

async fn refuses_to_touch(world: &World, migrations: &[&str]) {
    world.database.run("DELETE FROM __diesel_schema_migrations").await;
    for version in migrations {
        let applied =
            format!("INSERT INTO __diesel_schema_migrations (version) VALUES ('{version}')");
        world.database.run(&applied).await;
    }
    every_command_is_refused(world, "start with an empty database").await;
}

/// Every command that opens the database is refused with this sentence and makes no table.
async fn every_command_is_refused(world: &World, sentence: &str) {
    let nobody = "0199a000-0000-7000-8000-000000000000";
    let tables = match world.database {
        Database::Sqlite(_) => "SELECT count(*) FROM sqlite_schema",
        _ => "SELECT count(*) FROM pg_class",
    };
    let before = world.database.number(tables).await;
    for arguments in [
        vec!["migrate"],
        vec!["doctor"],
        vec!["project", "list"],
        vec!["project", "create", "--name", "Acme"],
        vec!["wallet", "credit", "--project", nobody, "--rupees", "1", "--reference", "1"],
        vec!["signing-key", "rotate"],
        vec!["operator", "list"],
        vec!["admin-token", "list"],
        vec!["webhook", "list", "--project", nobody],
        vec!["audit"],
        // Last, since one that is not refused does not end.
        vec!["serve"],
    ] {
        let output = world.run(&arguments);
        let told = [&output.stdout[..], &output.stderr[..]].concat();
        let told = String::from_utf8_lossy(&told).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains(sentence), "{arguments:?}: {told}");
    }
    assert_eq!(world.database.number(tables).await, before);
}

const NEWER: &str = "INSERT INTO __diesel_schema_migrations (version) VALUES ('99991231000000')";

/// On PostgreSQL, where instances are replaced one by one. On SQLite an older program refuses the
/// file, and a backup from before the upgrade is the way back.
async fn a_database_with_newer_migrations_serves_on_postgresql_alone(database: Database) {
    let world = World::new(database);
    world.cli(&["migrate"]);
    if let Database::Sqlite(_) = world.database {
        world.cli(&["backup", "before.db"]);
        world.database.run(NEWER).await;
        every_command_is_refused(
            &world,
            "a newer version has brought the database to migration 99991231000000",
        )
        .await;
        world.cli(&["restore", "before.db"]);
    } else {
        world.database.run(NEWER).await;
    }
    assert_eq!(world.cli(&["migrate"]), json!({ "applied": [] }));
    let service = Service::start_in(world);
    service.log_in(&service.world.project("0").test, "9876543210").await;
}

#[test]
fn production_refuses_what_is_unsafe_and_says_what_to_set() {
    let world = World::new(Database::sqlite()).with("DWAR__ENVIRONMENT", "production");
    let (status, error) = error_of(&world.run(&["serve"]));
    assert_eq!(status, Some(1));
    assert!(error.contains("DWAR__GATEWAYS__SMS"), "{error}");

    let mut world = world.with("DWAR__GATEWAYS__SMS", "").with("DWAR__GATEWAYS__WHATSAPP", "");
    world
        .settings
        .push(("DWAR__DATABASE__URL".to_owned(), "postgres://nobody@127.0.0.1:1/x".to_owned()));
    let (status, error) = error_of(&world.run(&["serve"]));
    assert_eq!(status, Some(1));
    assert!(error.contains("DWAR__SECRETS__MASTER_KEY"), "{error}");
}

#[test]
fn production_makes_no_demo_project() {
    let world = World::new(Database::sqlite())
        .with("DWAR__ENVIRONMENT", "production")
        .with("DWAR__GATEWAYS__WHATSAPP", "")
        .with("DWAR__GATEWAYS__SMS", "")
        .with("DWAR__DEMO", "true");
    let service = Service::start_in(world);
    assert_eq!(
        service.world.cli(&["project", "list"]),
        json!({ "items": [], "next_cursor": null })
    );
}

#[test]
fn wrong_usage_is_2_and_a_refusal_is_1() {
    let world = World::new(Database::sqlite());
    let nobody = "0199a000-0000-7000-8000-000000000000";
    for (arguments, status) in [
        (vec!["project", "create"], 2),
        (vec!["project", "set", "--project", nobody], 2),
        (vec!["wallet", "credit", "--project", nobody, "--rupees", "-1"], 2),
        (vec!["key", "regenerate", "--project", nobody, "--mode", "both"], 2),
        (vec!["nonsense"], 2),
        (vec!["wallet", "balance", "--project", nobody], 1),
        (vec!["wallet", "credit", "--project", nobody, "--rupees", "1"], 1),
        (vec!["key", "regenerate", "--project", nobody, "--mode", "live"], 1),
        (vec!["project", "show", "--project", nobody], 1),
        (vec!["serve", "--config", "missing.toml"], 1),
    ] {
        let output = world.run(&arguments);
        let (code, error) = error_of(&output);
        assert_eq!(code, Some(status), "{arguments:?}: {error}");
        assert!(!error.is_empty() && output.stdout.is_empty(), "{arguments:?}");
    }
    for command in
        ["serve", "migrate", "project", "key", "wallet", "signing-key", "doctor", "health"]
    {
        assert!(world.run(&[command, "--help"]).status.success(), "{command}");
    }
}

async fn operators_come_and_go_and_each_change_is_in_the_log(database: Database) {
    let url = ("DWAR__DASHBOARD__PUBLIC_URL", "https://dwar.example.com/");
    let service = Service::start_in(World::new(database).with(url.0, url.1));
    let world = &service.world;
    let project = world.project("5");
    let id = project.id.as_str();
    let invited = world.cli(&["operator", "invite", "--name", "Asha", "--owner"]);
    let link = invited["link"].as_str().unwrap();
    assert!(link.starts_with("https://dwar.example.com/invite#svc_lnk_"), "{link}");
    assert_eq!(invited["operator"]["access"]["everything"], true);
    let support = ["--project", id, "--role", "support"];
    let invite = ["operator", "invite", "--name", "Meena"];
    let role = &world.cli(&[invite, support].concat())["operator"]["access"]["projects"][0];
    assert_eq!(role, &json!({ "project_id": id, "role": "support" }));

    let again = world.run(&["operator", "invite", "--name", "ASHA", "--owner"]);
    assert!(error_of(&again).1.contains("already"), "{again:?}");
    let bare = world.run(&["operator", "invite", "--name", "Ravi"]);
    assert_eq!(error_of(&bare).0, Some(2), "neither an owner nor a role");
    let listed = world.cli(&["operator", "list"]);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    assert!(!listed.to_string().contains("svc_lnk_"));

    let reset = world.cli(&["operator", "reset", "asha"]);
    assert_ne!(reset["link"], invited["link"]);
    assert_eq!(world.cli(&["operator", "remove", "Meena"])["removed"], true);
    let gone = world.run(&["operator", "remove", "Meena"]);
    assert_eq!(error_of(&gone).0, Some(1));

    let read = |more: &[&str]| {
        let output = world.run(&[&["--json", "audit"], more].concat());
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains("svc_"), "{text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let actions = |lines: &[Value]| {
        let mut actions: Vec<_> =
            lines.iter().rev().map(|line| line["action"].as_str().unwrap().to_owned()).collect();
        actions.sort_unstable();
        actions
    };
    let lines = read(&[]);
    let ours = ["invited", "invited", "removed", "reset"].map(|done| format!("operator.{done}"));
    assert_eq!(actions(&lines), [&ours[..], &["project.created".to_owned()]].concat());
    assert!(lines.iter().all(|line| line["actor"]["kind"] == "command_line"));
    let within = actions(&read(&["--project", id]));
    assert_eq!(within, ["operator.invited", "operator.removed", "project.created"]);
    assert!(read(&["--since", "2100-01-01"]).is_empty());
    assert_eq!(read(&["--actor", "command_line", "--until", "2100-01-01"]), lines);
    assert!(read(&["--actor", id]).is_empty());
    assert_eq!(actions(&read(&["--action", "project.created"])), ["project.created"]);
    let wrong = world.run(&["audit", "--since", "yesterday"]);
    assert_eq!(error_of(&wrong).0, Some(2));
}
