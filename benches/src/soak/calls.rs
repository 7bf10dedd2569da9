//! Measures only calls to endpoints: how many per second an endpoint gets that answers in 50 ms,
//! and whether one that hangs delays calls to another.

use super::endpoint::{Endpoint, Manner};
use super::people::{Connection, People, Plan};
use super::report::at;
use crate::Outcome;
use crate::clients::LogIns;
use crate::contestant::{Contestant, Database, Kind, Running, environment, postgres};
use crate::dialect::Dialect;
use crate::floor::Answers;
use crate::load::drive;
use crate::outcome::{needed, setting};
use crate::provider::Provider;
use crate::scale::fill;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Time that an endpoint takes for each answer.
const ANSWERS_IN: Duration = Duration::from_millis(50);
/// Number of concurrent logins, so that events wait.
const CLIENTS: usize = 32;
/// Logins a second while an endpoint hangs.
const RATE: u32 = 50;
/// After this time without a call, nothing waits any more.
const QUIET: Duration = Duration::from_secs(2);

/// Measures on one kind of database, and prints a table.
pub fn run() -> Outcome<()> {
    let database = match needed("SOAK_KIND")?.as_str() {
        "postgres" => postgres()?,
        _ => Database::Sqlite,
    };
    let seconds = Duration::from_secs(setting("SOAK_SECONDS", 20)?);
    let environment = environment()?;
    let kind = Kind::Dwar { name: "Dwar", binary: needed("COMPARE_DWAR")?, instances: 1 };
    let mut side = Contestant::new(kind, database, &environment)?;
    side.settings = vec![("DWAR__EVENTS__ALLOW_PRIVATE".to_owned(), "true".to_owned())];
    let first = fill::project(&side)?;
    let (other, key) = side.add_project("Other")?;
    let running = side.start(&Answers::new())?;

    let endpoint = add(&side, &first, Manner::Takes(ANSWERS_IN))?;
    let (meanwhile, afterwards) = calls_a_second(&running, &endpoint, seconds / 2)?;
    println!("## {}: calls to endpoints\n", side.name());
    println!("| One endpoint that answers in {} ms | calls a second |", ANSWERS_IN.as_millis());
    println!("|---|---|\n| while {CLIENTS} log in at once | {meanwhile:.0} |");
    println!("| afterwards, until nothing waits | {afterwards:.0} |\n");

    let quick = add(&side, &other, Manner::Takes(Duration::ZERO))?;
    let dialect = Dialect::Dwar { key: format!("x-api-key: {key}\r\n") };
    println!("| From event to call, {RATE} logins a second | p50 ms | p99 ms |\n|---|---|---|");
    for (name, hangs) in [("quick endpoint alone", false), ("beside one that hangs", true)] {
        if hangs {
            add(&side, &other, Manner::Hangs)?;
        }
        log_in(&running, &dialect, &environment.provider, seconds, u64::from(hangs))?;
        let calls = quick.called();
        if calls.is_empty() {
            return Err("no call came".into());
        }
        println!("| {name} | {} | {} |", at(&calls, 50), at(&calls, 99));
    }
    Ok(())
}

fn add(side: &Contestant, project: &str, manner: Manner) -> Outcome<Endpoint> {
    let endpoint = Endpoint::start(manner)?;
    side.run(&["webhook", "add", "--project", project, "--url", &endpoint.url])?;
    Ok(endpoint)
}

/// While people log in, and until every event is delivered.
fn calls_a_second(
    running: &Running<'_>,
    endpoint: &Endpoint,
    time: Duration,
) -> Outcome<(f64, f64)> {
    let people = (0..CLIENTS).map(|_| LogIns::new(running.users(), usize::MAX));
    let (sample, _) = drive(running.addresses(), people.collect(), time)?;
    let (begun, before) = (Instant::now(), endpoint.count());
    let (mut last, mut count) = (begun, before);
    while last.elapsed() < QUIET {
        sleep(Duration::from_millis(20));
        if endpoint.count() > count {
            (last, count) = (Instant::now(), endpoint.count());
        }
    }
    let meanwhile = before as f64 / sample.took.as_secs_f64();
    let afterwards = (count - before) as f64 / last.duration_since(begun).as_secs_f64();
    endpoint.called();
    Ok((meanwhile, afterwards))
}

/// At a rate far below the capacity of the service.
fn log_in(
    running: &Running<'_>,
    dialect: &Dialect,
    provider: &Provider,
    time: Duration,
    turn: u64,
) -> Outcome<()> {
    let plan = Plan {
        dialects: [dialect.clone(), dialect.clone()],
        provider: provider.clone(),
        every: Duration::from_secs(1) / RATE,
        uses_sessions: false,
        late_ms: Arc::default(),
    };
    // Far from the other phones.
    let people = Rc::new(RefCell::new(People::new(plan, (turn + 1) * 10_000_000)));
    let connections = (0..CLIENTS).map(|_| Connection::new(&people)).collect();
    drop(drive(running.addresses(), connections, time)?);
    let people = Rc::try_unwrap(people).map_err(|_| "a client is still running")?;
    let (answers, _) = people.into_inner().over();
    answers.first_error.map_or(Ok(()), |error| Err(error.into()))
}
