//! Background loops beside the requests. Each loop is restarted when it ends.

use super::metrics::DatabaseFigures;
use super::stores::Database;
use dwar_activity::installation::HEARTBEAT;
use dwar_app::{
    ApplyReceipts, ClockSetBack, Guard, Service, Sweep, TellEvents, UsageRecorder, call_endpoints,
    keep_going,
};
use dwar_console::alerts::Alerts;
use dwar_console::{ConsoleUpkeep, Heartbeat, ManageLedger, Management};
use dwar_http::LoopHealth;
use dwar_kernel::{StoreError, with_causes};
use futures_util::future::{BoxFuture, FutureExt, join3};
use futures_util::stream::{Stream, StreamExt, unfold};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{SetOnce, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

/// Set once the database is migrated and a signing key exists.
pub type Prepared = Arc<SetOnce<()>>;

const FOLLOW_UP: Duration = Duration::from_secs(1);
const APPLY: Duration = Duration::from_millis(500);
const TELL: Duration = Duration::from_secs(1);
const WRITE_USAGE: Duration = Duration::from_secs(1);
/// Pause between two rounds in which shares of quotas are renewed and unused ones returned.
const TEND: Duration = Duration::from_secs(1);
/// The second heartbeat comes this long after the first; each later pause is twice as long.
const FIRST_BEAT: Duration = Duration::from_secs(1);
/// Pause between two checks of this machine's clock.
const LOOK: Duration = Duration::from_secs(1);
/// Pause between two reads of the database for the metrics.
const READ: Duration = Duration::from_secs(15);
const ROOM_CHECK_EVERY: Duration = Duration::from_secs(5);
/// Pause between two judgements of the alerts that pages and metrics show.
const WATCH: Duration = Duration::from_secs(5);
const TIDY: Duration = Duration::from_secs(60);
/// Pause between two counts of the figures.
const COUNT: Duration = Duration::from_secs(20);
/// How long a stop waits for running calls to endpoints and providers.
const FINISH: Duration = Duration::from_secs(5);
/// First pause before a loop that ended is restarted; each later pause is twice as long,
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// until the loop has run for this long.
const STEADY: Duration = Duration::from_secs(300);

type Stopped = watch::Receiver<()>;
type Start = for<'a> fn(&'a Background, Stopped) -> BoxFuture<'a, ()>;

/// Every loop, with its name in the log and in `/readyz`.
const LOOPS: [(&str, Start); 15] = [
    ("follow_up", |it, stopped| {
        let trouble = "overdue sends could not be resumed";
        every(FOLLOW_UP, stopped, trouble, move || it.follow_up()).boxed()
    }),
    ("settle_stale_holds", |it, stopped| {
        let trouble = "stale holds could not be settled";
        every(FOLLOW_UP, stopped, trouble, move || it.sweep.settle_stale_holds()).boxed()
    }),
    ("tidy", |it, stopped| {
        every(TIDY, stopped, "expired rows could not be deleted", move || it.tidy()).boxed()
    }),
    ("apply_receipts", |it, stopped| {
        let trouble = "receipts could not be applied";
        keep_going(it.apply.as_ref(), ticks(APPLY, stopped), trouble).boxed()
    }),
    ("review_receipts", |it, stopped| {
        let trouble = "unknown receipts could not be reviewed";
        every(APPLY, stopped, trouble, move || it.apply.review()).boxed()
    }),
    ("tell_events", |it, stopped| call_endpoints(it.events.as_ref(), ticks(TELL, stopped)).boxed()),
    ("drop_untold", |it, stopped| {
        let trouble = "events without a receiver could not be deleted";
        every(TIDY, stopped, trouble, move || it.events.drop_undelivered()).boxed()
    }),
    ("prove_ledgers", |it, mut stopped| {
        async move { it.ledger.keep_proving(stopped.changed().map(drop)).await }.boxed()
    }),
    ("heartbeat", |it, stopped| be_on_record(&it.console.heartbeat, stopped).boxed()),
    ("keep_figures", |it, stopped| {
        let trouble = "figures could not be counted";
        every(COUNT, stopped, trouble, move || it.console.keep_figures.run()).boxed()
    }),
    ("write_tally", |it, stopped| {
        let trouble =
            "refused sends, uses of keys, and levels and events of the guard could not be recorded";
        every(WRITE_USAGE, stopped, trouble, move || it.tallies.write()).boxed()
    }),
    ("tend_quotas", |it, stopped| {
        let trouble = "shares of quotas could not be renewed";
        every(TEND, stopped, trouble, move || it.sweep.tend_quotas()).boxed()
    }),
    // A store that ran out of space, or a server that became read-only, is noticed even without
    // requests.
    ("look_for_room", |it, stopped| {
        let trouble = "the database cannot be written to";
        every(ROOM_CHECK_EVERY, stopped, trouble, move || it.database.prove_writable()).boxed()
    }),
    ("watch_alerts", |it, stopped| {
        let trouble = "what needs a person could not be put on record";
        every(WATCH, stopped, trouble, move || it.alerts.refresh()).boxed()
    }),
    ("read_for_metrics", |it, mut stopped| match &it.read {
        Some(figures) => {
            let trouble = "the database cannot be read for the metrics";
            every(READ, stopped, trouble, move || figures.read()).boxed()
        }
        // Without metrics nobody reads the figures.
        None => async move { drop(stopped.changed().await) }.boxed(),
    }),
];

pub struct Background {
    sweep: Arc<Sweep>,
    clock_set_back: Arc<ClockSetBack>,
    apply: Arc<ApplyReceipts>,
    events: Arc<TellEvents>,
    console: ConsoleUpkeep,
    tallies: Tallies,
    ledger: ManageLedger,
    alerts: Alerts,
    database: Arc<dyn Database>,
    read: Option<Arc<DatabaseFigures>>,
}

pub struct Running {
    stop: watch::Sender<()>,
    tasks: JoinSet<()>,
    tallies: Tallies,
    sweep: Arc<Sweep>,
}

/// What requests leave in memory, to be written every second.
#[derive(Clone)]
struct Tallies {
    usage_recorder: Arc<UsageRecorder>,
    guard: Arc<Guard>,
}

impl Tallies {
    /// Writes all, even if one of them fails.
    async fn write(&self) -> Result<(), StoreError> {
        let Self { usage_recorder, guard } = self;
        let (usage, levels, events) =
            join3(usage_recorder.write(), guard.exchange(), guard.tell_emptied()).await;
        usage.and(levels).and(events)
    }
}

/// Restarts of each loop; loops that never restarted are missing.
#[derive(Debug, Default)]
pub struct Restarts(Mutex<BTreeMap<&'static str, (LoopHealth, Instant)>>);

impl Background {
    /// Runs the proofs that `manage` begins, and gives it the alerts that are found.
    pub fn new(
        service: &Service,
        console: ConsoleUpkeep,
        manage: &Management,
        database: Arc<dyn Database>,
        read: Option<Arc<DatabaseFigures>>,
    ) -> Self {
        Self {
            sweep: service.sweep.clone(),
            clock_set_back: service.clock_set_back.clone(),
            apply: service.apply_receipts.clone(),
            events: service.tell_events.clone(),
            console,
            tallies: Tallies {
                usage_recorder: service.usage_recorder.clone(),
                guard: service.guard.clone(),
            },
            ledger: manage.ledger.clone(),
            alerts: manage.alerts.clone(),
            database,
            read,
        }
    }

    /// Follows up overdue sends, and all sends that became due too late because a clock was set
    /// back.
    async fn follow_up(&self) -> Result<u64, StoreError> {
        self.clock_set_back.put_right().await?;
        self.sweep.follow_up().await
    }

    /// Deletes expired records of logins and of operators.
    async fn tidy(&self) -> Result<(), StoreError> {
        let (swept, console) = (self.sweep.tidy().await?, self.console.sweep.tidy().await?);
        tracing::debug!(?swept, ?console, "tidied");
        Ok(())
    }

    /// Starts every loop, once the service is prepared.
    pub fn start(self, prepared: &Prepared, restarts: &Arc<Restarts>) -> Running {
        let (this, (stop, stopped)) = (Arc::new(self), watch::channel(()));
        let (mut tasks, tallies, sweep) =
            (JoinSet::new(), this.tallies.clone(), this.sweep.clone());
        for (name, start) in LOOPS {
            let (this, mut stopped) = (Arc::clone(&this), stopped.clone());
            let (prepared, restarts) = (Arc::clone(prepared), Arc::clone(restarts));
            tasks.spawn(async move {
                tokio::select! {
                    _ = stopped.changed() => {}
                    _ = prepared.wait() => supervise(name, start, this, stopped, restarts).await,
                }
            });
        }
        Running { stop, tasks, tallies, sweep }
    }
}

impl Running {
    /// Ends every loop. Running calls may finish within five seconds; others are retried when their
    /// lease ends. Then writes the last counts and returns the held shares of quotas.
    pub async fn stop(self) {
        let Self { stop, mut tasks, tallies, sweep } = self;
        drop(stop);
        let finish = async { while tasks.join_next().await.is_some() {} };
        let _in_time = timeout(FINISH, finish).await;
        // A separate task, so that a panic in it cannot prevent the stop.
        let last = tokio::spawn(async move { tallies.write().await });
        let back = tokio::spawn(async move { sweep.leave_quotas().await });
        let (last, back) = tokio::join!(timeout(FINISH, last), timeout(FINISH, back));
        if !matches!(last, Ok(Ok(Ok(())))) {
            tracing::warn!("the last counts could not be saved");
        }
        if !matches!(back, Ok(Ok(Ok(())))) {
            tracing::warn!("shares of quotas could not be returned; they expire by themselves");
        }
    }
}

impl Restarts {
    pub fn list(&self) -> Vec<LoopHealth> {
        self.fallen().into_iter().map(|(health, _)| health).collect()
    }

    /// Like [`Self::list`], with the time since each loop last ended.
    pub fn fallen(&self) -> Vec<(LoopHealth, Duration)> {
        let loops = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        loops.values().map(|(health, ended)| (health.clone(), ended.elapsed())).collect()
    }

    pub fn all(&self) -> Vec<LoopHealth> {
        let fallen = self.list();
        let state = |(name, _)| {
            let known = fallen.iter().find(|it| it.name == name).cloned();
            known.unwrap_or(LoopHealth { name, restarts: 0, running: true })
        };
        LOOPS.into_iter().map(state).collect()
    }

    fn note(&self, name: &'static str, running: bool) -> u64 {
        let mut loops = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = LoopHealth { name, restarts: 0, running };
        let (health, ended) = loops.entry(name).or_insert((fresh, Instant::now()));
        if !running {
            *ended = Instant::now();
        }
        health.running = running;
        health.restarts += u64::from(running);
        health.restarts
    }
}

/// Restarts a loop whenever it ends, until the service stops.
async fn supervise(
    name: &'static str,
    start: Start,
    work: Arc<Background>,
    mut stopped: Stopped,
    board: Arc<Restarts>,
) {
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        let end = AssertUnwindSafe(start(&work, stopped.clone())).catch_unwind().await;
        if stopped.has_changed().is_err() {
            return;
        }
        if began.elapsed() >= STEADY {
            pause = FIRST_PAUSE;
        }
        let (panicked, restarts) = (end.is_err(), board.note(name, false));
        tracing::error!(
            name,
            panicked,
            restarts,
            pause_s = pause.as_secs(),
            "a background loop ended and will be restarted after a pause"
        );
        tokio::select! {
            () = sleep(pause) => {}
            _ = stopped.changed() => return,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
        board.note(name, true);
    }
}

/// Ticks every `period` until the service stops.
fn ticks(period: Duration, stopped: Stopped) -> impl Stream<Item = ()> + Send {
    let mut tick = interval(period);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    unfold((tick, stopped), |(mut tick, mut stopped)| async {
        tokio::select! {
            _ = tick.tick() => Some(((), (tick, stopped))),
            _ = stopped.changed() => None,
        }
    })
}

/// Ticks every [`HEARTBEAT`] until the service stops, and more often soon after the start, so that
/// instances which start together know each other within a second. `early` is asked every second
/// and ends the pause.
fn beats(
    early: impl Fn() -> bool + Send + Sync,
    stopped: Stopped,
) -> impl Stream<Item = ()> + Send {
    let early = Arc::new(early);
    unfold((Duration::ZERO, stopped), move |(pause, mut stopped)| {
        let early = Arc::clone(&early);
        async move {
            let next = (pause * 2).clamp(FIRST_BEAT, HEARTBEAT);
            let came_early = async {
                sleep(LOOK).await;
                while !early() {
                    sleep(LOOK).await;
                }
            };
            tokio::select! {
                () = sleep(pause) => Some(((), (next, stopped))),
                () = came_early => Some(((), (next, stopped))),
                _ = stopped.changed() => None,
            }
        }
    })
}

/// Records this instance until the service stops, then deletes the record. A stop lets a running
/// beat finish, so that it does not come afterwards.
async fn be_on_record(heartbeat: &Heartbeat, stopped: Stopped) {
    let beats = beats(|| heartbeat.look_at_clock(), stopped).for_each(|()| async {
        match heartbeat.beat().await {
            Ok(()) | Err(StoreError::NoRoom) => {}
            Err(error) => tracing::warn!(error = %with_causes(&error), "this instance could not be registered"),
        }
    });
    beats.await;
    if let Err(error) = heartbeat.leave().await {
        tracing::warn!(error = %with_causes(&error), "this instance stays registered until it is forgotten");
    }
}

/// Repeats `work` with pauses of `period`. A failure is logged as `trouble` and does not end the
/// loop. A stop cancels the work.
async fn every<T, W>(
    period: Duration,
    mut stopped: Stopped,
    trouble: &'static str,
    work: impl Fn() -> W,
) where
    W: Future<Output = Result<T, StoreError>>,
{
    let work = ticks(period, stopped.clone()).for_each(|()| async {
        match work().await {
            // A store without space has already logged that once.
            Ok(_) | Err(StoreError::NoRoom) => {}
            Err(error) => tracing::warn!(error = %with_causes(&error), "{trouble}"),
        }
    });
    tokio::select! {
        () = work => {}
        _ = stopped.changed() => {}
    }
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
