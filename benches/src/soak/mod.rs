//! All kinds of work at once, for minutes: logins with receipts, fallback and verification, use of
//! sessions, events, figures, sweeps and open pages.
//!
//! `scripts/soak.sh` builds and starts everything that this needs; docs/benchmarks.md explains the
//! results.

mod calls;
mod carrier;
mod endpoint;
mod people;
mod queues;
mod report;
mod statements;
mod watch;

pub use calls::run as events;

use crate::Outcome;
use crate::contestant::{
    Contestant, Database, Environment, Kind, Running, environment, free_port, postgres,
};
use crate::dialect::Dialect;
use crate::floor::Answers as FloorAnswers;
use crate::load::drive;
use crate::meter::Meter;
use crate::outcome::{needed, setting};
use crate::scale::fill;
use carrier::Carrier;
use endpoint::{Endpoint, Manner};
use people::{Answers, Connection, People, Plan};
use queues::{DEAD, Queues, REQUESTS, Reading};
use report::{Disk, Part, Report};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use watch::{Browser, read_feed, wait};

/// Most concurrent requests.
const CONNECTIONS: usize = 64;
/// Pause between two reads of the queues.
const READ: Duration = Duration::from_secs(2);
/// Requests that are a day old are swept: [`fill::fill`] makes at least this many.
const OLDEST: u64 = 2_000;
const DAY: Duration = Duration::from_secs(86_400);
/// Longest measurement of logins without other load.
const ALONE: Duration = Duration::from_secs(60);
/// Duration of logins that create users, sessions and plans of statements before the measurement.
const WARM_UP: Duration = Duration::from_secs(2);

/// The load on the service.
struct Load {
    /// Logins a second.
    rate: u32,
    time: Duration,
}

/// One service under load, and the outside parties.
struct Soak<'a> {
    side: &'a Contestant,
    environment: &'a Environment,
    carrier: &'a Carrier,
    /// Two projects: id, and the header with its key.
    projects: [(String, String); 2],
    load: &'a Load,
}

/// Measures, prints the report, and fails if a queue grows, work is too old, or requests were
/// refused.
pub fn run() -> Outcome<()> {
    let database = match needed("SOAK_KIND")?.as_str() {
        "postgres" => postgres()?,
        _ => Database::Sqlite,
    };
    let instances = setting("SOAK_INSTANCES", 1)?;
    let minutes: f64 = setting("SOAK_MINUTES", 20.0)?;
    let load =
        Load { rate: setting("SOAK_RATE", 100)?, time: Duration::from_secs_f64(minutes * 60.0) };
    let environment = environment()?;
    let carrier = Carrier::start(&environment.provider)?;
    let kind = Kind::Dwar { name: "Dwar", binary: needed("COMPARE_DWAR")?, instances };
    let mut side = Contestant::new(kind, database, &environment)?;
    side.settings = carrier.settings();
    side.settings.push(("DWAR__EVENTS__ALLOW_PRIVATE".to_owned(), "true".to_owned()));
    let dashboard = format!("127.0.0.1:{}", free_port()?);
    side.first_settings = vec![("DWAR__DASHBOARD__ADDRESS".to_owned(), dashboard.clone())];
    let project = fill::project(&side)?;
    let Dialect::Dwar { key } = side.users.dialect().clone() else { return Err("no key".into()) };
    let (other, other_key) = side.add_project("Other")?;
    let projects = [(project, key), (other, format!("x-api-key: {other_key}\r\n"))];
    let (side, environment, carrier, load) = (&side, &environment, &carrier, &load);
    let soak = Soak { side, environment, carrier, projects, load };
    let report = soak.measure(&dashboard)?;
    println!("{}", report.text());
    let faults = report.faults();
    if faults.is_empty() { Ok(()) } else { Err(faults.join("; ").into()) }
}

impl Soak<'_> {
    fn measure(&self, dashboard: &str) -> Outcome<Report> {
        // Logins without other load use a provider without receipts.
        self.use_whatsapp("none")?;
        let logins = {
            let running = self.side.start(&FloorAnswers::new())?;
            self.log_in(&running, WARM_UP.min(self.load.time / 2), false, 0, &Arc::default())?.1
        };
        // Rows that are a day old when they are measured, at the rate at which new rows arrive.
        let old = self.load.time + ALONE + Duration::from_secs(30);
        let count = (u64::from(self.load.rate) * old.as_secs()).max(OLDEST);
        fill::fill(self.side, count, Some((DAY.saturating_sub(old), DAY)))?;
        fill::settle(self.side)?;

        let running = self.side.start(&FloorAnswers::new())?;
        let (alone, logins) =
            self.log_in(&running, ALONE.min(self.load.time / 2), false, logins, &Arc::default())?;
        let endpoints = self.endpoints()?;
        self.use_whatsapp("default")?;
        self.carrier.report_to(running.addresses());
        let disk = Disk::read(self.side)?;
        let counted = statements::begin(self.side);
        let began = parts(&running)?;
        let mut report = Report::new(self.side.name(), self.load.rate, alone);
        self.everything(&running, dashboard, &endpoints, logins, &mut report)?;
        report.parts = Part::since(&began, &parts(&running)?, report.took);
        if counted {
            report.statements = statements::table(self.side)?;
        }
        report.disk = disk.until(&Disk::read(self.side)?);
        report.endpoints = endpoints.map(|(name, endpoint, _)| (name, endpoint.called())).into();
        report.reported = self.carrier.reported();
        report.memory_mib = running.meter().resident_mib()?;
        Ok(report)
    }

    fn use_whatsapp(&self, providers: &str) -> Outcome<()> {
        for (project, _) in &self.projects {
            let set = ["project", "set", "--project", project, "--whatsapp-providers", providers];
            self.side.run(&set)?;
        }
        Ok(())
    }

    /// Each with the name of its queue and its id: a fast one for the first project, a slow and a
    /// dead one for the second.
    fn endpoints(&self) -> Outcome<[(&'static str, Endpoint, String); 3]> {
        let add = |name, manner, project: &str| -> Outcome<_> {
            let endpoint = Endpoint::start(manner)?;
            let url = endpoint.url.as_str();
            let added =
                self.side.run(&["webhook", "add", "--project", project, "--url", url, "--json"])?;
            let added: serde_json::Value = serde_json::from_str(&added)?;
            let id = added["webhook"]["webhook_id"].as_str().ok_or("no endpoint")?.to_owned();
            Ok((name, endpoint, id))
        };
        let [(first, _), (second, _)] = &self.projects;
        Ok([
            add("events, quick endpoint", Manner::Takes(Duration::ZERO), first)?,
            add("events, slow endpoint", Manner::Takes(Duration::from_millis(300)), second)?,
            add(DEAD, Manner::IsDead, second)?,
        ])
    }

    /// The load, and all watchers meanwhile.
    fn everything(
        &self,
        running: &Running<'_>,
        dashboard: &str,
        endpoints: &[(&'static str, Endpoint, String); 3],
        logins: u64,
        report: &mut Report,
    ) -> Outcome<()> {
        let (over, late) = (AtomicBool::new(false), Arc::new(AtomicU64::new(0)));
        let browser = Browser::sign_in(self.side, dashboard, &self.projects[0].0)?;
        let ids = endpoints.each_ref().map(|(name, _, id)| (*name, id.clone()));
        let feed = self.switch_on_feed()?;
        let (address, key) = (&running.addresses()[0], &self.projects[0].1);
        thread::scope(|scope| {
            let queues = scope.spawn(|| self.read_queues(&ids, &late, &over));
            let pages = scope.spawn(|| browser.open_overview(&over));
            let live = scope.spawn(|| browser.watch(&over));
            let pulled = feed.then(|| scope.spawn(|| read_feed(address, key, &over)));
            let begun = Instant::now();
            let asked = self.log_in(running, self.load.time, true, logins, &late);
            report.took = begun.elapsed();
            over.store(true, Ordering::Relaxed);
            report.queues = joined(queues)?;
            report.pages = joined(pages)?;
            report.live = joined(live)?;
            report.pulled = pulled.map(joined).transpose()?;
            report.answers = asked?.0;
            Ok(())
        })
    }

    /// Logs people in for this time, from this login number on; returns the next number.
    fn log_in(
        &self,
        running: &Running<'_>,
        time: Duration,
        uses_sessions: bool,
        logins: u64,
        late_ms: &Arc<AtomicU64>,
    ) -> Outcome<(Answers, u64)> {
        let dialects = self.projects.each_ref().map(|(_, key)| Dialect::Dwar { key: key.clone() });
        let plan = Plan {
            dialects,
            provider: self.environment.provider.clone(),
            every: Duration::from_secs(1) / self.load.rate,
            uses_sessions,
            late_ms: Arc::clone(late_ms),
        };
        let people = Rc::new(RefCell::new(People::new(plan, logins)));
        let connections = (0..CONNECTIONS).map(|_| Connection::new(&people)).collect();
        drop(drive(running.addresses(), connections, time)?);
        let people = Rc::try_unwrap(people).map_err(|_| "a client is still running")?;
        Ok(people.into_inner().over())
    }

    fn read_queues(
        &self,
        endpoints: &[(&str, String)],
        late: &AtomicU64,
        over: &AtomicBool,
    ) -> Outcome<Queues> {
        let mut queues = Queues::default();
        while !over.load(Ordering::Relaxed) {
            queues.read(self.side, endpoints)?;
            let age = late.load(Ordering::Relaxed) as f64 / 1_000.0;
            let count = (age * f64::from(self.load.rate)) as u64;
            queues.note(REQUESTS, Reading { count, age });
            wait(READ.min(self.load.time / 16), over);
        }
        Ok(queues)
    }

    /// Tells whether this binary has a feed of events, and switches it on.
    fn switch_on_feed(&self) -> Outcome<bool> {
        if !self.side.run(&["project", "set", "--help"])?.contains("--events-feed") {
            return Ok(false);
        }
        let project = self.projects[0].0.as_str();
        self.side.run(&["project", "set", "--project", project, "--events-feed", "on"])?;
        Ok(true)
    }
}

fn joined<T>(thread: thread::ScopedJoinHandle<'_, Outcome<T>>) -> Outcome<T> {
    thread.join().map_err(|_| "an observer panicked")?
}

/// Processor time of each part until now.
fn parts(running: &Running<'_>) -> Outcome<Vec<Part>> {
    let Meter { service, postmaster } = running.meter();
    let mut parts = Vec::new();
    for (place, pid) in service.iter().enumerate() {
        let meter = Meter { service: vec![*pid], postmaster: None };
        parts.push(Part::new(format!("instance {}", place + 1), meter.spent()?.service));
    }
    if postmaster.is_some() {
        let meter = Meter { service: Vec::new(), postmaster };
        parts.push(Part::new("PostgreSQL".to_owned(), meter.spent()?.database));
    }
    let load = Meter { service: vec![std::process::id()], postmaster: None };
    parts.push(Part::new("load, providers and endpoints".to_owned(), load.spent()?.service));
    Ok(parts)
}
