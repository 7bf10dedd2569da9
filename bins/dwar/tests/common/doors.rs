//! Where a service shows its open alerts: admin API, command line, pages, metrics.

use super::{Person, Program, Service, World};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Longest time until every interface shows an alert, or shows it no more.
const PATIENCE: Duration = Duration::from_secs(30);

/// The four interfaces on which a service shows its open alerts, and how a test reads each of them.
pub struct Doors<'a> {
    pub service: &'a Service,
    program: Program,
    person: Person,
    metrics: String,
}

/// Adds the settings with which a service has all four interfaces: a dashboard and metrics are opened.
pub fn with_doors(world: World) -> World {
    world
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__METRICS__ADDRESS", "127.0.0.1:0")
}

impl<'a> Doors<'a> {
    pub async fn of(service: &'a Service) -> Self {
        Self {
            service,
            program: Program::owner(service),
            person: Person::join(service, &["--name", "asha", "--owner"]).await,
            metrics: service.metrics(),
        }
    }

    /// Waits until every interface shows exactly these kinds, and returns the alerts.
    pub async fn name(&self, wanted: &[&str]) -> Vec<Value> {
        self.say([Some(wanted); 4]).await
    }

    /// Waits until the admin API, `doctor`, a page and the metrics show exactly the wanted kinds of alerts.
    /// `wanted` has one list for each of the four, in this order; `None` means that the interface has to
    /// answer 503. Returns the alerts of the admin API.
    pub async fn say(&self, wanted: [Option<&[&str]>; 4]) -> Vec<Value> {
        let wanted = wanted.map(|kinds| Some(sorted(kinds?.iter().map(|it| (*it).to_owned()))));
        let until = Instant::now() + PATIENCE;
        loop {
            let listed = self.listed().await;
            let shown = [
                listed.as_ref().map(of_items),
                Some(self.of_doctor(listed.as_ref())),
                self.of_page("/account").await,
                Some(self.of_metrics().await),
            ];
            if shown == wanted {
                return listed.map(|it| it.as_array().unwrap().clone()).unwrap_or_default();
            }
            assert!(
                Instant::now() < until,
                "admin API, doctor, page and metric have to name {wanted:?}, and name {shown:?}"
            );
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    async fn listed(&self) -> Option<Value> {
        let answer = self.program.get("/alerts").await;
        (answer.status != 503).then(|| answer.ok()["items"].clone())
    }

    /// The kinds of alerts that `doctor` shows. If its texts differ from those of the admin API, returns the
    /// whole alerts instead, which equal no list of kinds.
    fn of_doctor(&self, listed: Option<&Value>) -> Vec<String> {
        let output = self.service.world.run(&["doctor", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let (alerts, kinds) = (&report["alerts"], of_items(&report["alerts"]));
        match listed.filter(|it| of_items(it) == kinds && *it != alerts) {
            Some(_) => vec![alerts.to_string()],
            None => kinds,
        }
    }

    pub async fn of_page(&self, path: &str) -> Option<Vec<String>> {
        let page = self.person.get(path).await;
        let kinds = page.text.split("data-alert=\"").skip(1);
        let kinds = kinds.map(|rest| rest.split('"').next().unwrap().to_owned());
        (page.status != 503).then(|| sorted(kinds))
    }

    /// The number of open alerts of each kind, as the metrics show it. Kinds without open alerts have zero.
    pub async fn counts(&self) -> Vec<(String, usize)> {
        let text = reqwest::get(&self.metrics).await.unwrap().text().await.unwrap();
        let lines = text.lines().filter(|line| line.starts_with("dwar_alerts{"));
        let count = |line: &str| {
            let kind = line.split("kind=\"").nth(1).unwrap().split('"').next().unwrap();
            (kind.to_owned(), line.rsplit(' ').next().unwrap().parse().unwrap())
        };
        lines.map(count).collect()
    }

    async fn of_metrics(&self) -> Vec<String> {
        let counts = self.counts().await.into_iter();
        sorted(counts.flat_map(|(kind, count)| std::iter::repeat_n(kind, count)))
    }
}

/// In order.
pub fn sorted(kinds: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_unstable();
    kinds
}

fn of_items(items: &Value) -> Vec<String> {
    sorted(items.as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap().to_owned()))
}
