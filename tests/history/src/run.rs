//! One run: start, faults, rest, and the check of the wallets.

use crate::calls::Calls;
use crate::clients::Client;
use crate::cluster::{Cluster, ClusterSetup};
use crate::crowd::Crowd;
use crate::database::Database;
use crate::draw::Draw;
use crate::history::{Entry, History, Ledger, Settings};
use crate::nemesis::Nemesis;
use crate::owner::Owner;
use crate::recorder::Recorder;
use crate::world::{Project, World};
use crate::{Arguments, Outcome, provider};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Streams of the seed; clients have those from 10 on.
const OWNER: u64 = 1;
const OF_INSTANCES: u64 = 2;
const OF_DATABASE: u64 = 3;
const CROWD: [u64; 2] = [5, 6];
const CLIENTS: u64 = 10;
/// Rich, often without money, and rich with a limit on the spend of a day.
const RUPEES: [&str; 3] = ["100000", "2", "100000"];
/// When holds of interrupted sends must have ended, also on a slow machine.
const RECOVERY: Duration = Duration::from_secs(120);

/// Runs clients and nemesis for the given time, and returns the history.
pub async fn run(arguments: &Arguments, database: Database) -> Outcome<History> {
    let settings = Settings { counted: RUPEES.len(), ..database.settings() };
    let recorder = Arc::new(Recorder::new());
    let provider = provider::start(Arc::clone(&recorder)).await?;
    let setup = ClusterSetup {
        binary: std::fs::canonicalize(&arguments.binary)?,
        folder: std::fs::canonicalize(&arguments.folder)?,
        database,
        settings,
    };
    let cluster = Arc::new(Cluster::start(setup, provider).await?);
    let mut projects = Vec::new();
    for rupees in RUPEES {
        projects.push(project(&cluster, rupees).await?.0);
    }
    let (_, test_key) = project(&cluster, "0").await?;
    let world = Arc::new(World::new(projects));
    let calls = Calls {
        client: 0,
        cluster: Arc::clone(&cluster),
        world: Arc::clone(&world),
        recorder: Arc::clone(&recorder),
        http: reqwest::Client::builder().no_proxy().build()?,
    };
    play(arguments, &calls, &test_key).await?;
    let ledgers = ledgers(&cluster, &world).await?;
    let taken = recorder.finish();
    let (ops, messages, faults, stall) = (taken.ops, taken.messages, taken.faults, taken.stall);
    Ok(History { settings, ops, messages, faults, ledgers, stall })
}

/// A new project, and its test key.
async fn project(cluster: &Cluster, rupees: &str) -> Outcome<(Project, String)> {
    let arguments = ["project", "create", "--name", "Acme", "--balance-rupees", rupees];
    let made = cluster.cli(&arguments).await?;
    let text = |field: &str| made[field].as_str().map(str::to_owned).ok_or("no project");
    Ok((Project::new(text("project_id")?, text("live_key")?), text("test_key")?))
}

async fn play(arguments: &Arguments, calls: &Calls, test_key: &str) -> Outcome<()> {
    let draw = |stream| Draw::new(arguments.seed, stream);
    let mut owner = Owner { calls: calls.clone(), draw: draw(OWNER), limit: 0 };
    owner.prepare().await;
    let until = Instant::now() + Duration::from_secs(arguments.seconds);
    let nemesis = |stream| Nemesis {
        cluster: Arc::clone(&calls.cluster),
        recorder: Arc::clone(&calls.recorder),
        draw: draw(stream),
    };
    let watch = tokio::spawn(watch(Arc::clone(&calls.recorder)));
    let mut at_work = vec![
        tokio::spawn(owner.work(until)),
        tokio::spawn(nemesis(OF_INSTANCES).trouble_instances(until)),
        tokio::spawn(nemesis(OF_DATABASE).trouble_database(until)),
    ];
    for stream in CROWD {
        let crowd = Crowd { calls: calls.clone(), draw: draw(stream), key: test_key.to_owned() };
        at_work.push(tokio::spawn(crowd.press(until)));
    }
    for number in 0..arguments.clients {
        let calls = Calls { client: number + 1, ..calls.clone() };
        let client = Client { calls, draw: draw(CLIENTS + number) };
        at_work.push(tokio::spawn(client.play(until)));
    }
    for one in at_work {
        one.await?;
    }
    watch.abort();
    calls.cluster.heal().await
}

/// Measures how late this process gets to run.
async fn watch(recorder: Arc<Recorder>) {
    const TICK: Duration = Duration::from_millis(100);
    loop {
        let began = Instant::now();
        sleep(TICK).await;
        let late = began.elapsed().saturating_sub(TICK);
        recorder.stalled(late.as_micros().try_into().unwrap_or(u64::MAX));
    }
}

/// The wallets, once no work is left.
async fn ledgers(cluster: &Cluster, world: &World) -> Outcome<Vec<Ledger>> {
    let until = Instant::now() + RECOVERY;
    let mut ledgers = Vec::new();
    for (number, project) in world.projects.iter().enumerate() {
        let of = ["--project", project.id.as_str()];
        let balance = loop {
            let balance = cluster.cli(&[&["wallet", "balance"], &of[..]].concat()).await?;
            if balance["held_paise"] == 0 || Instant::now() > until {
                break balance;
            }
            sleep(Duration::from_millis(500)).await;
        };
        let all = ["--limit", "4000000000"];
        let statement = cluster.cli(&[&["wallet", "statement"], &of[..], &all].concat()).await?;
        let mut entries: Vec<&Value> =
            statement["items"].as_array().into_iter().flatten().collect();
        // A statement is ordered by its times.
        entries.sort_by_key(|entry| entry["position"].as_u64());
        let entries = entries.into_iter().map(entry).collect();
        // Both commands fail if they find a fault.
        let proved = cluster.cli(&[&["wallet", "prove", "--everything"], &of[..]].concat()).await;
        let verified = cluster.cli(&["wallet", "verify"]).await;
        ledgers.push(Ledger {
            project: number,
            balance: balance["balance_paise"].as_i64().unwrap_or_default(),
            held: balance["held_paise"].as_i64().unwrap_or_default(),
            entries,
            sound: proved.is_ok_and(|proof| proof["sound"] == true),
            difference: verified.ok().and_then(|all| all["difference_paise"].as_i64()).unwrap_or(1),
        });
    }
    Ok(ledgers)
}

fn entry(entry: &Value) -> Entry {
    let text = |field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    let paise = |field: &str| entry[field].as_i64().unwrap_or_default();
    Entry {
        kind: text("kind"),
        paise: paise("amount_paise"),
        held: paise("held_paise"),
        at: text("at"),
        balance_after: paise("balance_after_paise"),
        reference: text("reference"),
    }
}
