use crate::support::House;
use async_trait::async_trait;
use dwar_activity::installation::{Backlog, Instance, Queues};
use dwar_console::operations::{
    Check, Health, Loop, Operations, OperationsSnapshot, Process, ProviderStatus,
};
use dwar_operator::Role;
use dwar_testkit::{Fixtures, START, seconds};

/// An installation with one of each kind of trouble.
pub struct Ailing;

#[async_trait]
impl Operations for Ailing {
    async fn snapshot(&self) -> OperationsSnapshot {
        let check = |name, health, detail: &str, advice| Check {
            name,
            health,
            detail: detail.to_owned(),
            advice,
        };
        let backlog = |count| Backlog { count, oldest: Some(START - seconds(90)) };
        OperationsSnapshot {
            checks: vec![
                check("database", Health::Good, "answers", None),
                check("room", Health::Failed, "7 MiB free", Some("make room")),
                check("migrations", Health::Warning, "1 to apply", Some("migrate")),
            ],
            instances: Some(vec![Instance {
                id: Fixtures::seeded(1).id(),
                started_at: START,
                seen_at: START,
                version: "0.1.0".to_owned(),
                host: "node-1".to_owned(),
                pid: 77,
                api: "0.0.0.0:8080".to_owned(),
                dashboard: None,
            }]),
            queues: Some(Queues { open_holds: backlog(1_001), ..Queues::default() }),
            loops: vec![Loop { name: "tidy", restarts: 3, running: false }],
            providers: vec![ProviderStatus {
                name: "msg91".to_owned(),
                open_for: Some(seconds(12)),
                calls: 128,
                faults: 64,
                carries: vec!["SMS"],
                projects: vec!["Acme".to_owned()],
            }],
            process: Process {
                version: "0.1.0".to_owned(),
                database: "memory",
                started_at: START,
                memory: Some(24 << 20),
            },
        }
    }
}

#[actix_web::test]
async fn operations_are_shown_to_owners_of_the_installation_the_worst_first() {
    let house = House::new().await;
    for role in Role::ALL {
        let browser = house.with_role(role).await;
        assert_eq!(browser.get("/operations").await.status, 403, "{role:?}");
        assert!(
            !browser.get("/account").await.body.contains("/operations"),
            "{role:?} is led there"
        );
    }
    assert_eq!(house.stranger().get("/operations").await.status, 303);
    let owner = house.owner().await;
    assert!(owner.get("/account").await.body.contains("href=\"/operations\""));
    let page = owner.get("/operations").await.body;
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("{what} is not in {page}"));
    assert!(place("7 MiB free") < place("1 to apply") && place("1 to apply") < place("Answers"));
    for wanted in ["Make room.", "node-1", "1,000+", "50 % (64/128)", "Paused for 12 s", "24 MiB"] {
        place(wanted);
    }
    assert!(place("restarts") > place("Stopped, restarting"));
}
