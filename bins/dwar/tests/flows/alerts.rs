//! Open alerts are the same in the command line, the admin API, the pages and the metrics.

use crate::common::{Database, Endpoint, Person, Play, Program, Service, Vendor, World};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

on_both_databases! {
    what_is_wrong_is_named_by_every_door_and_gone_when_it_is_over;
}

/// Longest time until every interface shows an alert, or shows it no more.
const PATIENCE: Duration = Duration::from_secs(30);

struct Doors<'a> {
    service: &'a Service,
    program: Program,
    person: Person,
    metrics: String,
}

impl Doors<'_> {
    /// Waits until every interface shows exactly these kinds, and returns the alerts.
    async fn name(&self, wanted: &[&str]) -> Vec<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            let listed = self.program.get("/alerts").await.ok()["items"].clone();
            let told = [
                ("admin API", of_items(&listed)),
                ("doctor", self.of_doctor(&listed)),
                ("page", self.of_page("/account").await),
                ("metric", self.of_metrics().await),
            ];
            let mut sorted = wanted.to_vec();
            sorted.sort_unstable();
            if told.iter().all(|(_, kinds)| *kinds == sorted) {
                return listed.as_array().unwrap().clone();
            }
            assert!(Instant::now() < until, "{wanted:?} is wanted, told is {told:?}");
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// The kinds of alerts in doctor; checks that its texts match those of the admin API.
    fn of_doctor(&self, listed: &Value) -> Vec<String> {
        let output = self.service.world.run(&["doctor", "--json"]);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        if told["alerts"] == *listed { of_items(listed) } else { vec![told["alerts"].to_string()] }
    }

    async fn of_page(&self, path: &str) -> Vec<String> {
        let page = self.person.get(path).await.text;
        let kinds = page.split("data-alert=\"").skip(1);
        let mut kinds: Vec<_> =
            kinds.map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
        kinds.sort_unstable();
        kinds
    }

    async fn of_metrics(&self) -> Vec<String> {
        let text = reqwest::get(&self.metrics).await.unwrap().text().await.unwrap();
        let mut kinds = Vec::new();
        for line in text.lines().filter(|line| line.starts_with("dwar_alerts{")) {
            let kind = line.split("kind=\"").nth(1).unwrap().split('"').next().unwrap();
            let count: usize = line.rsplit(' ').next().unwrap().parse().unwrap();
            kinds.extend(std::iter::repeat_n(kind.to_owned(), count));
        }
        kinds.sort_unstable();
        kinds
    }
}

fn of_items(items: &Value) -> Vec<String> {
    let kind = |it: &Value| it["kind"].as_str().unwrap().to_owned();
    let mut kinds: Vec<_> = items.as_array().unwrap().iter().map(kind).collect();
    kinds.sort_unstable();
    kinds
}

async fn ails(service: &Service, kinds: &[&str]) {
    let database = &service.world.database;
    let id = database.id("0199a000-0000-7000-8000-0000000000aa");
    database
        .run(&format!(
            "INSERT INTO instances (id, started_at, seen_at, version, host, pid, api) \
             SELECT {id}, started_at, seen_at, version, 'elsewhere', 7, api FROM instances"
        ))
        .await;
    for kind in kinds {
        database
            .run(&format!(
                "INSERT INTO instance_troubles VALUES ({id}, '{kind}', 'tidy', 'odd', NULL)"
            ))
            .await;
    }
}

async fn what_is_wrong_is_named_by_every_door_and_gone_when_it_is_over(database: Database) {
    let plays: Arc<Mutex<BTreeMap<&str, Play>>> = Arc::default();
    let asked = Arc::clone(&plays);
    let play = move |provider: &str, _: &str| {
        asked.lock().unwrap().get(provider).copied().unwrap_or(Play::Accept)
    };
    let vendor = Vendor::start(0, play).await;
    let world = vendor.carry(World::new(database));
    let world = world
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__METRICS__ADDRESS", "127.0.0.1:0")
        .with("DWAR__EVENTS__ALLOW_PRIVATE", "true");
    let service = Service::start_in(world);
    let world = &service.world;
    let project = world.project("100");
    let of = ["--project", &project.id];
    let doors = Doors {
        service: &service,
        program: Program::owner(&service),
        person: Person::join(&service, &["--name", "asha", "--owner"]).await,
        metrics: service.metrics(),
    };
    let endpoint = Endpoint::start().await;
    world.cli(&[&["webhook", "add"], &of[..], &["--url", &endpoint.url]].concat());
    assert_eq!(doors.name(&[]).await, Vec::<Value>::new());

    // One provider is down, and the next one refuses our credentials.
    *plays.lock().unwrap() = [("wa", Play::Unavailable), ("text", Play::Unauthorized)].into();
    for _ in 0..3 {
        service.send(&project.live, &world.phone()).await.refused(500, "SMS_FAILED");
    }
    let found = doors.name(&["provider_auth", "provider_failing"]).await;
    for (alert, subject, cause) in [(&found[0], "text", "HTTP 401"), (&found[1], "wa", "HTTP 503")]
    {
        assert_eq!(alert["subject"], subject, "{alert}");
        assert!(alert["detail"].as_str().unwrap().starts_with(cause), "{alert}");
        assert!(alert["since"].is_string() && alert["project_id"].is_null(), "{alert}");
    }
    // The reason is about the number, so the provider works; and the next one accepts the message.
    *plays.lock().unwrap() = [("wa", Play::NotOnChannel)].into();
    service.send(&project.live, &world.phone()).await.ok();
    doors.name(&[]).await;

    // Alerts that only the store, or only another instance, can report.
    let taken = ["--rupees", "-99.70", "--reference", "T-1"];
    world.cli(&[&["wallet", "adjust"], &of[..], &taken].concat());
    let ailing = ["https://a.example.com/events", "https://b.example.com/events"];
    for (url, state) in ailing
        .into_iter()
        .zip(["failures = 3, failing_since = created_at", "disabled_at = created_at"])
    {
        world.cli(&[&["webhook", "add"], &of[..], &["--url", url]].concat());
        let set = format!("UPDATE webhook_endpoints SET {state} WHERE url = '{url}'");
        world.database.run(&set).await;
    }
    ails(&service, &["loop_restarting", "clock_differs", "clock_set_forward"]).await;
    let found = doors
        .name(&[
            "clock_differs",
            "clock_set_forward",
            "endpoint_disabled",
            "endpoint_failing",
            "loop_restarting",
            "wallet_empty",
        ])
        .await;
    let wallet = found.iter().find(|it| it["kind"] == "wallet_empty").unwrap();
    assert_eq!(wallet["title"], "The wallet of Acme has too little money for the next code");
    assert_eq!((&wallet["severity"], &wallet["project_id"]), (&json!("page"), &json!(project.id)));
    let told = endpoint.hears("alert.opened").await.body;
    assert_eq!(told["data"]["project_id"], json!(project.id), "{told}");
    let own = doors.of_page(&format!("/p/{}/overview", project.id)).await;
    assert_eq!(own, ["endpoint_disabled", "endpoint_failing", "wallet_empty"], "its own alone");
    let report = String::from_utf8(world.run(&["doctor"]).stdout).unwrap();
    assert!(report.contains("wallet_empty: The wallet of Acme has too little money"), "{report}");

    world.cli(&[&["wallet", "credit"], &of[..], &["--rupees", "100"]].concat());
    let listed = world.cli(&[&["webhook", "list"], &of[..]].concat());
    let items = listed["items"].as_array().unwrap().iter();
    for gone in items.filter(|it| ailing.contains(&it["url"].as_str().unwrap())) {
        let id = gone["webhook_id"].as_str().unwrap();
        world.cli(&[&["webhook", "remove"], &of[..], &["--webhook", id]].concat());
    }
    world.database.run("DELETE FROM instance_troubles").await;
    doors.name(&[]).await;
    assert_eq!(endpoint.hears("alert.resolved").await.body["type"], "alert.resolved");
}
