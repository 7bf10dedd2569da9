//! The feed of events: the same events that endpoints get, each once, as long as they are kept.

use crate::common::{Answer, Database, Endpoint, Project, Service, World, answer};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both_databases! {
    what_endpoints_get_is_read;
    a_page_follows_the_other;
    a_cursor_is_good_where_it_was_given;
    what_is_no_longer_kept_is_said;
    a_restore_ends_cursors;
}

fn switch(world: &World, project: &Project, on: &str) {
    world.cli(&["project", "set", "--project", &project.id, "--events-feed", on]);
}

fn feeding(service: &Service) -> Project {
    let project = service.world.project("10");
    switch(&service.world, &project, "on");
    project
}

async fn ask(service: &Service, key: &str, query: &str) -> Answer {
    service.get(key, &format!("/v1/events{query}")).await
}

/// One event: a code that reaches nobody has no receipt either.
async fn happens(service: &Service, project: &Project) {
    service.send(&project.test, "9000000002").await.refused(500, "SMS_FAILED");
}

fn cursor(page: &Value) -> String {
    page["cursor"].as_str().unwrap().to_owned()
}

/// Reads page after page until this many events have come; returns them and the last cursor.
async fn read(service: &Service, key: &str, query: &str, wanted: usize) -> (Vec<Value>, String) {
    let until = Instant::now() + Duration::from_secs(60);
    let (mut seen, mut after): (Vec<Value>, _) = (Vec::new(), String::new());
    while seen.len() < wanted {
        assert!(Instant::now() < until, "{seen:?}");
        let page = ask(service, key, &format!("?after={after}{query}")).await.ok();
        seen.extend(page["events"].as_array().unwrap().clone());
        after = cursor(&page);
        // On PostgreSQL a transaction of any concurrent test holds events back.
        if seen.len() < wanted && page["has_more"] == false {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    }
    assert_eq!(seen.len(), wanted, "{seen:?}");
    (seen, after)
}

async fn what_endpoints_get_is_read(database: Database) {
    let world = World::new(database).with("DWAR__EVENTS__ALLOW_PRIVATE", "true");
    let service = Service::start_in(world);
    let project = feeding(&service);
    let endpoint = Endpoint::start().await;
    service.world.cli(&["webhook", "add", "--project", &project.id, "--url", &endpoint.url]);
    let phone = service.world.phone();
    let pair = service.log_in(&project.live, &phone).await;
    service.logout(&project.live, &pair["access_token"]).await.ok();
    service.send(&project.test, "9000000002").await.refused(500, "SMS_FAILED");

    let kinds = ["otp.sent", "otp.verified", "session.revoked"];
    let (seen, _) = read(&service, &project.live, "", kinds.len()).await;
    for (event, kind) in seen.iter().zip(kinds) {
        let told = endpoint.hears(kind).await;
        let mut body = told.body.clone();
        body["id"] = told.id.into();
        assert_eq!(*event, body);
        assert!(!event.to_string().contains(&phone), "{event}");
    }
    assert_eq!(seen[0]["data"]["phone"], format!("+91{}••••{}", &phone[..2], &phone[6..]));
    let (seen, _) = read(&service, &project.test, "", 1).await;
    assert_eq!(
        (&seen[0]["type"], &seen[0]["data"]["mode"]),
        (&json!("otp.failed"), &json!("test"))
    );
}

async fn a_page_follows_the_other(database: Database) {
    let service = Service::start(database);
    let project = feeding(&service);
    let empty = ask(&service, &project.test, "").await.ok();
    assert_eq!((&empty["events"], &empty["has_more"]), (&json!([]), &json!(false)));
    for _ in 0..3 {
        happens(&service, &project).await;
    }
    let (all, last) = read(&service, &project.test, "", 3).await;
    let (one_by_one, after) = read(&service, &project.test, "&limit=1", 3).await;
    assert_eq!((&one_by_one, &after), (&all, &last));
    let first = ask(&service, &project.test, "?limit=1").await.ok();
    assert_eq!(first["has_more"], true);
    let rest = ask(&service, &project.test, &format!("?after={}", cursor(&first))).await.ok();
    assert_eq!(rest["events"], json!(all[1..]));
    let since_empty = format!("?after={}", cursor(&empty));
    assert_eq!(ask(&service, &project.test, &since_empty).await.ok()["events"], json!(all));
    // Nothing new: the cursor stays the same, also on another instance and after a restart.
    let nothing = json!({ "events": [], "cursor": last, "has_more": false });
    let asked = format!("?after={last}");
    assert_eq!(ask(&service, &project.test, &asked).await.ok(), nothing);
    let service = Service::start_in(service.kill());
    assert_eq!(ask(&service, &project.test, &asked).await.ok(), nothing);
    let head = service.request(Method::HEAD, &format!("/v1/events{asked}"));
    let head = answer(head.header("X-Api-Key", &project.test)).await;
    assert_eq!((head.status.as_u16(), head.header("cache-control")), (200, "no-store"));
    assert!(head.header("ratelimit-remaining").parse::<u32>().is_ok());
}

async fn a_cursor_is_good_where_it_was_given(database: Database) {
    let service = Service::start(database);
    let (project, other) = (feeding(&service), feeding(&service));
    let cursor = cursor(&ask(&service, &project.test, "").await.ok());
    let after = format!("?after={cursor}");
    ask(&service, &project.test, &after).await.ok();
    for key in [&project.live, &other.test, &other.live] {
        ask(&service, key, &after).await.refused(422, "INVALID_FIELD");
    }
    for query in
        ["?after=0", "?after=nonsense", "?limit=0", "?limit=501", "?limit=", "?limit=1&limit=1"]
    {
        ask(&service, &project.test, query).await.refused(422, "INVALID_FIELD");
    }
    ask(&service, &project.test, "?after=%zz").await.refused(400, "INVALID_REQUEST");
    ask(&service, &project.test, "?after=&limit=500").await.ok();
    switch(&service.world, &project, "off");
    // Fields are checked before the switch.
    ask(&service, &project.test, "?limit=0").await.refused(422, "INVALID_FIELD");
    ask(&service, &project.test, &after).await.refused(403, "EVENTS_FEED_DISABLED");
}

async fn what_is_no_longer_kept_is_said(database: Database) {
    let service = Service::start(database);
    let project = feeding(&service);
    let before = format!("?after={}", cursor(&ask(&service, &project.test, "").await.ok()));
    happens(&service, &project).await;
    let (_, last) = read(&service, &project.test, "", 1).await;
    // The state after a sweep that removed that event.
    let place = match service.world.database {
        Database::Postgres { .. } => "transaction::text::bigint, number",
        _ => "0, number",
    };
    let database = &service.world.database;
    let gone = format!(
        "INSERT INTO event_feeds (project_id, mode, kept, counted_transaction, counted_number, \
             dropped_transaction, dropped_number) \
         SELECT project_id, mode, 0, {place}, {place} FROM events"
    );
    database.run(&gone).await;
    database.run("DELETE FROM events").await;
    ask(&service, &project.test, &before).await.refused(410, "CURSOR_EXPIRED");
    let after_it = format!("?after={last}");
    assert_eq!(cursor(&ask(&service, &project.test, &after_it).await.ok()), last);
    assert_eq!(cursor(&ask(&service, &project.test, "").await.ok()), last);
}

async fn a_restore_ends_cursors(database: Database) {
    let service = Service::start(database);
    let project = feeding(&service);
    happens(&service, &project).await;
    let (seen, last) = read(&service, &project.test, "", 1).await;
    let world = service.kill();
    match &world.database {
        Database::Sqlite(_) | Database::None => {
            world.cli(&["backup", "backup.db"]);
            world.cli(&["restore", "backup.db"]);
        }
        Database::Postgres { .. } => {
            world.cli(&["restore", "--in-place"]);
        }
    }
    let service = Service::start_in(world);
    let after = format!("?after={last}");
    ask(&service, &project.test, &after).await.refused(409, "CURSOR_INVALIDATED");
    assert_eq!(read(&service, &project.test, "", 1).await.0, seen);
}
