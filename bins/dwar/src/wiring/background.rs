//! What goes on beside the requests: loops, each of which is started again when it ends.

use super::stores::Database;
use dwar_app::{ApplyReceipts, Service, Sweep, TellEvents, keep_going};
use dwar_http::LoopHealth;
use dwar_kernel::StoreError;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{Stream, unfold};
use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

const FOLLOW_UP: Duration = Duration::from_secs(1);
const APPLY: Duration = Duration::from_millis(500);
const TELL: Duration = Duration::from_secs(1);
const LOOK_FOR_ROOM: Duration = Duration::from_secs(5);
const TIDY: Duration = Duration::from_secs(60);
/// How long a stop waits for calls to endpoints and providers that are under way.
const FINISH: Duration = Duration::from_secs(5);
/// A loop that ended waits this long before it is started again, twice as long each time,
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// up to this,
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// until it has run for as long as this.
const STEADY: Duration = Duration::from_secs(300);

/// Closed when the service stops.
type Stopped = watch::Receiver<()>;
type Start = fn(Arc<Background>, Stopped) -> BoxFuture<'static, ()>;

/// Every loop, by the name that the log and `/readyz` give it.
const LOOPS: [(&str, Start); 8] = [
    ("follow_up", |it, stopped| follow_up(it, stopped).boxed()),
    ("settle_stale_holds", |it, stopped| settle_stale_holds(it, stopped).boxed()),
    ("tidy", |it, stopped| tidy(it, stopped).boxed()),
    ("apply_receipts", |it, stopped| apply_receipts(it, stopped).boxed()),
    ("review_receipts", |it, stopped| review_receipts(it, stopped).boxed()),
    ("tell_events", |it, stopped| tell_events(it, stopped).boxed()),
    ("drop_untold", |it, stopped| drop_untold(it, stopped).boxed()),
    ("look_for_room", |it, stopped| look_for_room(it, stopped).boxed()),
];

/// The work of the loops.
pub struct Background {
    sweep: Arc<Sweep>,
    apply: Arc<ApplyReceipts>,
    events: Arc<TellEvents>,
    database: Arc<dyn Database>,
}

/// The loops as they run.
pub struct Running {
    stop: watch::Sender<()>,
    tasks: JoinSet<()>,
}

/// How often each loop had to be started again; those that never had are not in it.
#[derive(Debug, Default)]
pub struct Restarts(Mutex<BTreeMap<&'static str, LoopHealth>>);

impl Background {
    pub fn new(service: &Service, database: Arc<dyn Database>) -> Self {
        Self {
            sweep: service.sweep.clone(),
            apply: service.apply_receipts.clone(),
            events: service.tell_events.clone(),
            database,
        }
    }

    /// Starts every loop.
    pub fn start(self, restarts: &Arc<Restarts>) -> Running {
        let (this, (stop, stopped)) = (Arc::new(self), watch::channel(()));
        let mut tasks = JoinSet::new();
        for (name, start) in LOOPS {
            let (this, stopped) = (Arc::clone(&this), stopped.clone());
            tasks.spawn(supervise(name, start, this, stopped, Arc::clone(restarts)));
        }
        Running { stop, tasks }
    }
}

impl Running {
    /// Ends every loop. Calls that are under way may finish within five seconds; what does not comes
    /// back when its lease is over.
    pub async fn stop(self) {
        let Self { stop, mut tasks } = self;
        drop(stop);
        let finish = async { while tasks.join_next().await.is_some() {} };
        let _in_time = timeout(FINISH, finish).await;
    }
}

impl Restarts {
    /// Those that had to be started again, by name.
    pub fn list(&self) -> Vec<LoopHealth> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    fn note(&self, name: &'static str, running: bool) -> u64 {
        let mut loops = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = LoopHealth { name, restarts: 0, running };
        let health = loops.entry(name).or_insert(fresh);
        health.running = running;
        health.restarts += u64::from(running);
        health.restarts
    }
}

/// Keeps a loop running until the service stops, whatever becomes of it meanwhile.
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
        let end = AssertUnwindSafe(start(Arc::clone(&work), stopped.clone())).catch_unwind().await;
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
            "a background loop ended; it is started again after a pause"
        );
        tokio::select! {
            () = sleep(pause) => {}
            _ = stopped.changed() => return,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
        board.note(name, true);
    }
}

/// A tick every `period` until the service stops.
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

/// Does `work` again and again, `period` apart; a failure is logged as `trouble` and not the end. A
/// stop cuts it short.
async fn every<W>(
    period: Duration,
    mut stopped: Stopped,
    trouble: &'static str,
    work: impl Fn() -> W,
) where
    W: Future<Output = Result<(), StoreError>>,
{
    let mut tick = interval(period);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let work = async {
        loop {
            tick.tick().await;
            match work().await {
                // A store without room has said so itself, once.
                Ok(()) | Err(StoreError::NoRoom) => {}
                Err(error) => tracing::warn!(%error, "{trouble}"),
            }
        }
    };
    tokio::select! {
        () = work => {}
        _ = stopped.changed() => {}
    }
}

async fn apply_receipts(it: Arc<Background>, stopped: Stopped) {
    let trouble = "receipts could not be applied";
    keep_going(it.apply.as_ref(), ticks(APPLY, stopped), trouble).await;
}

async fn review_receipts(it: Arc<Background>, stopped: Stopped) {
    let review = || async { it.apply.review().await.map(drop) };
    every(APPLY, stopped, "unknown receipts could not be reviewed", review).await;
}

async fn tell_events(it: Arc<Background>, stopped: Stopped) {
    keep_going(it.events.as_ref(), ticks(TELL, stopped), "events could not be told").await;
}

async fn drop_untold(it: Arc<Background>, stopped: Stopped) {
    let drop_untold = || async { it.events.drop_untold().await.map(drop) };
    every(TIDY, stopped, "what nobody is told could not be dropped", drop_untold).await;
}

async fn follow_up(it: Arc<Background>, stopped: Stopped) {
    let follow_up = || async { it.sweep.follow_up().await.map(drop) };
    every(FOLLOW_UP, stopped, "overdue sends could not be looked after", follow_up).await;
}

async fn settle_stale_holds(it: Arc<Background>, stopped: Stopped) {
    let settle = || async { it.sweep.settle_stale_holds().await.map(drop) };
    every(FOLLOW_UP, stopped, "stale holds could not be settled", settle).await;
}

async fn tidy(it: Arc<Background>, stopped: Stopped) {
    let tidy = || async {
        let swept = it.sweep.tidy().await?;
        tracing::debug!(?swept, "tidied");
        Ok(())
    };
    every(TIDY, stopped, "expired rows could not be dropped", tidy).await;
}

/// A store that ran out of room is well again without anybody asking.
async fn look_for_room(it: Arc<Background>, stopped: Stopped) {
    let look = || async { it.database.room().await.map(drop) };
    every(LOOK_FOR_ROOM, stopped, "the database cannot be asked for room", look).await;
}

#[cfg(test)]
#[path = "background_tests.rs"]
mod tests;
