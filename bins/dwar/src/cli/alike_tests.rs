//! Sends six hundred generated values through the text fields of every interface, within this
//! process.

use super::confirm::Person;
use super::{Args, Command, admin_token, operator, project, wallet, webhook};
use crate::config::{self, Config};
use crate::wiring::{Access, Application, Core, Listeners, prepare};
use alike::{Cli, Doors, Kept};
use clap::Parser;
use database::Database;
use dwar_testkit::reserved_port;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::SetOnce;

#[path = "../../tests/flows/inputs/alike.rs"]
mod alike;
#[allow(dead_code, reason = "this is a part of it")]
#[path = "../../tests/common/database.rs"]
mod database;

const VALUES: usize = 600;

/// The settings of a service in this process.
#[derive(Clone)]
struct Settings(Vec<(&'static str, &'static str)>);

impl Settings {
    fn of(database: &Database) -> Self {
        // Leaks the text: a test leaves little behind, and settings live as long as the process.
        let kept = |text: String| &*text.leak();
        let dashboard = format!("127.0.0.1:{}", reserved_port());
        Self(vec![
            ("DWAR__DATABASE__URL", kept(database.url())),
            ("DWAR__SECRETS__MASTER_KEY", "Vg4Xk0rYfFz1P8mJq7yq2cS0hVd3Zk9uLw5t1oRb6nE="),
            ("DWAR__HTTP__ADDRESS", "127.0.0.1:0"),
            ("DWAR__HTTP__WORKERS", "1"),
            ("DWAR__DASHBOARD__ADDRESS", kept(dashboard)),
            ("DWAR__METRICS__ADDRESS", "off"),
            ("DWAR__DEMO", "false"),
        ])
    }

    fn config(&self) -> Config {
        config::built_in(self.0.clone()).unwrap()
    }

    fn dashboard(&self) -> String {
        let (_, address) = self.0.iter().find(|(name, _)| name.contains("DASHBOARD")).unwrap();
        format!("http://{address}")
    }

    /// Serves while `work` runs, then stops.
    async fn serve_during<T>(&self, work: impl Future<Output = T>) -> T {
        let listeners = Listeners::take(&self.config()).unwrap();
        let core = Core::open(self.config(), Access::Write).await.unwrap();
        prepare(&core).await.unwrap();
        let prepared = Arc::new(SetOnce::new());
        let lost = tracing_appender::non_blocking(std::io::sink()).0.error_counter();
        let application = Application::build(core, listeners, Arc::clone(&prepared), lost).unwrap();
        prepared.set(()).unwrap();
        let stop = application.stop_handle();
        let working = async {
            let done = work.await;
            stop.stop().await;
            done
        };
        let (served, done) = tokio::join!(application.run(), working);
        served.unwrap();
        done
    }
}

impl Cli for Settings {
    async fn run(&self, arguments: &[&str]) -> Option<Value> {
        let arguments = [&["dwar"], arguments].concat();
        let command = Args::try_parse_from(arguments).ok()?.command?;
        let config = self.config();
        let answer = match command {
            Command::Project(command) => project::run(config, command, Person::Absent).await,
            Command::Operator(command) => operator::run(config, command, Person::Absent).await,
            Command::AdminToken(command) => admin_token::run(config, command, Person::Absent).await,
            Command::Wallet(command) => wallet::run(config, command, Person::Absent).await,
            Command::Webhook(command) => webhook::run(config, command, Person::Absent).await,
            _ => panic!("a command without a text"),
        };
        answer.ok().map(super::Answer::told)
    }
}

async fn every_door_keeps_and_shows_the_same(database: Database) {
    let settings = Settings::of(&database);
    let doors = |name: &'static str| Doors::open(settings.clone(), settings.dashboard(), name);
    let writing = async { alike::write(&doors("first").await, 1, VALUES).await };
    let kept: Kept = Box::pin(settings.serve_during(writing)).await;
    assert!(
        kept.taken > VALUES / 4 && kept.refused > VALUES / 4,
        "{} {}",
        kept.taken,
        kept.refused
    );
    Box::pin(settings.serve_during(async { kept.is_there(&doors("second").await).await })).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_sqlite_every_door_keeps_and_shows_the_same() {
    every_door_keeps_and_shows_the_same(Database::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn on_postgres_every_door_keeps_and_shows_the_same() {
    every_door_keeps_and_shows_the_same(Database::postgres().await).await;
}
