//! Counts of other parts of the process at the time of a scrape.

use crate::page::Page;
use crate::times::Histogram;
use std::fmt;
use std::time::Duration;

/// Reads the counts of other parts of the process at each scrape. MUST NOT ask a store or wait.
pub trait SnapshotSource: Send + Sync {
    fn read(&self) -> Snapshot;
}

/// The counts at one time. Names are words from sets that are known at the start.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Open alerts: kind, severity, and number.
    pub alerts: Vec<(&'static str, &'static str, u64)>,
    pub queues: Vec<Queue>,
    pub pools: Vec<Pool>,
    pub database: Database,
    /// Providers, and whether their circuit breaker is open.
    pub breakers: Vec<(String, bool)>,
    pub loops: Vec<Loop>,
    pub clock: Clock,
    /// Log lines that were lost because nothing read them in time.
    pub lost_lines: u64,
}

/// The state of a background loop, and how often it was restarted.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    pub name: &'static str,
    pub restarts: u64,
    pub running: bool,
}

/// The wall clock of this machine, compared with the database's and the monotonic one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// Seconds by which it is ahead of the database's clock, negative if it is behind; 0 if the
    /// database has no clock of its own.
    pub ahead: f64,
    /// A forward jump of the clock that sweeps ignore.
    pub sweeps_behind: Duration,
}

/// A queue in front of a store, with the durations of waits and work.
#[derive(Clone, Debug)]
pub struct Queue {
    pub name: &'static str,
    pub waiting: usize,
    pub waited: Histogram,
    pub worked: Histogram,
    /// Callers that gave up or were refused.
    pub left: u64,
}

/// The connections of one pool to a store at this moment.
#[derive(Clone, Debug)]
pub struct Pool {
    pub name: &'static str,
    pub used: u32,
    pub idle: u32,
    pub most: u32,
}

/// Values that only the database knows, as of the last read.
#[derive(Clone, Debug, Default)]
pub struct Database {
    /// Waiting work of all instances: kind, amount, and longest wait.
    pub backlogs: Vec<(&'static str, u32, Duration)>,
    pub signing_key_age: Option<Duration>,
    pub free_bytes: Option<u64>,
    pub has_room: bool,
    /// Time since the last read; since the start, if there was none.
    pub age: Duration,
    pub failures: u64,
}

/// The program that is measured: version, kind of database, and start.
#[derive(Clone, Debug)]
pub struct ProgramInfo {
    pub version: String,
    /// The kind of database: `SQLite`, `PostgreSQL` or `memory`.
    pub database: &'static str,
    /// Seconds since 1970.
    pub started_at: f64,
}

impl Snapshot {
    pub(crate) fn show(&self, page: &mut Page<'_>) -> fmt::Result {
        let alerts = self
            .alerts
            .iter()
            .map(|(kind, severity, count)| ([("kind", *kind), ("severity", *severity)], *count));
        page.gauges("dwar_alerts", "What needs a person now, by kind.", alerts)?;
        self.queues(page)?;
        self.pools(page)?;
        self.database.show(page)?;
        let help =
            "Whether the provider keeps failing, or asked for a pause, and is not called for now.";
        let open = self.breakers.iter();
        let open = open.map(|(name, open)| ([("provider", name.as_str())], u64::from(*open)));
        page.gauges("dwar_breaker_open", help, open)?;
        let loops = || self.loops.iter().map(|it| ([("loop", it.name)], it));
        let restarts = loops().map(|(name, it)| (name, it.restarts));
        page.counters(
            "dwar_loop_restarts",
            "How often background work was started again.",
            restarts,
        )?;
        let running = loops().map(|(name, it)| (name, u64::from(it.running)));
        page.gauges("dwar_loop_running", "Whether background work goes on.", running)?;
        let ahead = [([], self.clock.ahead)];
        let help = "How far the clock is ahead of the database's; negative if it is behind.";
        page.gauges("dwar_clock_offset_seconds", help, ahead)?;
        let behind = [([], self.clock.sweeps_behind.as_secs_f64())];
        let help = "By how much the clock was set forward; sweeps leave that time out.";
        page.gauges("dwar_clock_set_forward_seconds", help, behind)?;
        let help = "Log lines dropped because the reader of the log was too slow.";
        page.counters("dwar_log_lines_lost", help, [([], self.lost_lines)])
    }

    fn queues(&self, page: &mut Page<'_>) -> fmt::Result {
        let all = || self.queues.iter().map(|it| ([("queue", it.name)], it));
        let waiting = all().map(|(name, it)| (name, it.waiting as u64));
        page.gauges("dwar_store_queue_waiting", "Work that waits for a store.", waiting)?;
        let waited = all().map(|(name, it)| (name, it.waited.clone()));
        let help = "How long work waited for its turn at a store.";
        page.histograms("dwar_store_queue_wait_seconds", help, waited)?;
        let worked = all().map(|(name, it)| (name, it.worked.clone()));
        let help = "How long work took once it had its turn.";
        page.histograms("dwar_store_queue_work_seconds", help, worked)?;
        let left = all().map(|(name, it)| (name, it.left));
        let help = "Work that timed out while waiting, or was refused.";
        page.counters("dwar_store_queue_left", help, left)
    }

    fn pools(&self, page: &mut Page<'_>) -> fmt::Result {
        let states = self.pools.iter().flat_map(|pool| {
            let of = |state, count| ([("pool", pool.name), ("state", state)], count);
            [of("used", pool.used), of("idle", pool.idle)]
        });
        page.gauges("dwar_store_connections", "Open connections to the store.", states)?;
        let most = self.pools.iter().map(|pool| ([("pool", pool.name)], pool.most));
        page.gauges("dwar_store_connections_max", "How many there may be.", most)
    }
}

impl Database {
    fn show(&self, page: &mut Page<'_>) -> fmt::Result {
        let backlogs =
            || self.backlogs.iter().map(|(name, count, age)| ([("backlog", *name)], count, age));
        let items = backlogs().map(|(name, count, _)| (name, *count));
        page.gauges(
            "dwar_backlog_items",
            "Work that is due, of every instance; 1001 is more.",
            items,
        )?;
        let ages = backlogs().map(|(name, _, age)| (name, age.as_secs_f64()));
        let help = "How long the oldest of it has been due.";
        page.gauges("dwar_backlog_oldest_age_seconds", help, ages)?;
        let age = self.signing_key_age.map(|age| ([], age.as_secs_f64()));
        page.gauges("dwar_signing_key_age_seconds", "Age of the key that signs tokens.", age)?;
        let free = self.free_bytes.map(|bytes| ([], bytes));
        page.gauges("dwar_database_free_bytes", "Room on the disk of the database.", free)?;
        let room = [([], u64::from(self.has_room))];
        page.gauges("dwar_database_has_room", "Whether the database can write more.", room)?;
        let age = [([], self.age.as_secs_f64())];
        let help = "Since what only the database knows was read.";
        page.gauges("dwar_database_read_age_seconds", help, age)?;
        let help = "Readings that failed or took too long.";
        page.counters("dwar_database_read_failures", help, [([], self.failures)])
    }
}
