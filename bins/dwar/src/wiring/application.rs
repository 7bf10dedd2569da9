use super::core::{Core, WiringError};
use super::gateways::{self, Providers};
use super::stores::Database;
use crate::config;
use async_trait::async_trait;
use dwar_app::{
    ApplyReceipts, CreatedProject, Demo, FirstStart, Outside, Sweep, TellEvents, keep_going,
};
use dwar_http::{Readiness, Server, Settings, StopHandle};
use dwar_kernel::StoreError;
use dwar_memory::MemoryRequestLimiter;
use dwar_otp::Receipt;
use dwar_wallet::Paise;
use futures_util::stream::{Stream, unfold};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

const RECEIPTS_QUEUED: usize = 10_000;
const FOLLOW_UP: Duration = Duration::from_secs(1);
const APPLY: Duration = Duration::from_millis(500);
const TELL: Duration = Duration::from_secs(1);
const LOOK_FOR_ROOM: Duration = Duration::from_secs(5);
const TIDY: Duration = Duration::from_secs(60);
/// How long a stop waits for calls to endpoints and providers that are under way.
const FINISH: Duration = Duration::from_secs(5);
const PREPARE_AGAIN: Duration = Duration::from_secs(2);
const DEMO_BALANCE: Paise = Paise(10_000);

/// The whole service, bound to its address but not yet serving.
pub struct Application {
    server: Server,
    background: Background,
}

/// What goes on beside the requests.
struct Background {
    sweep: Arc<Sweep>,
    inbound: mpsc::Receiver<Receipt>,
    apply: Arc<ApplyReceipts>,
    events: Arc<TellEvents>,
    database: Arc<dyn Database>,
}

impl Application {
    /// Puts the service together and takes its address. Answers nothing yet.
    ///
    /// # Errors
    /// [`WiringError::Listen`] if the address is not to be had.
    pub fn build(core: Core, prepared: Arc<AtomicBool>) -> Result<Self, WiringError> {
        let (outbound, inbound) = mpsc::channel(RECEIPTS_QUEUED);
        let Providers { routes, sources } = gateways::build(&core, outbound)?;
        let service = core.parts.service(Outside {
            requests: Arc::new(MemoryRequestLimiter::default()),
            routes,
            sources,
            sender: core.webhook_sender()?,
        });
        let ready = Arc::new(Ready { database: core.database.clone(), prepared });
        let server = Server::bind(settings(&core.config.http), service.use_cases, ready);
        let address = core.config.http.address.clone();
        let server = server.map_err(|cause| WiringError::Listen { address, cause })?;
        let background = Background {
            sweep: service.sweep,
            inbound,
            apply: service.apply_receipts,
            events: service.tell_events,
            database: core.database,
        };
        Ok(Self { server, background })
    }

    /// The addresses it listens on.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.server.addresses().to_vec()
    }

    /// What makes [`Application::run`] end.
    pub fn stop_handle(&self) -> StopHandle {
        self.server.stop_handle()
    }

    /// Serves until it is stopped, then lets running requests finish.
    pub async fn run(self) -> std::io::Result<()> {
        let Background { sweep, inbound, apply, events, database } = self.background;
        let (stop, stopped) = watch::channel(());
        let tasks = [
            tokio::spawn(follow_up(Arc::clone(&sweep))),
            tokio::spawn(settle_stale_holds(Arc::clone(&sweep))),
            tokio::spawn(tidy(sweep)),
            tokio::spawn(take_receipts(Arc::clone(&apply), inbound)),
            tokio::spawn(review_receipts(Arc::clone(&apply))),
            tokio::spawn(drop_untold(Arc::clone(&events))),
            tokio::spawn(look_for_room(database)),
        ];
        let mut finishing = [
            tokio::spawn(apply_receipts(apply, stopped.clone())),
            tokio::spawn(tell_events(events, stopped)),
        ];
        let served = self.server.run().await;
        tasks.iter().for_each(tokio::task::JoinHandle::abort);
        drop(stop);
        // What is not finished by then comes back when its lease is over.
        let finish = async {
            for task in &mut finishing {
                let _ended = task.await;
            }
        };
        if tokio::time::timeout(FINISH, finish).await.is_err() {
            finishing.iter().for_each(tokio::task::JoinHandle::abort);
        }
        served
    }
}

/// Brings the database up to date and sees to signing keys and demo project.
///
/// # Errors
/// A database that is out of reach gives a transient error; see [`keep_preparing`].
pub async fn prepare(core: &Core) -> Result<Option<CreatedProject>, StoreError> {
    core.database.migrate().await?;
    core.parts.manage_signing_keys().ensure().await?;
    // Fails if the master key cannot open what is stored, before the first client finds out.
    core.parts.signer.public_keys(core.parts.tools.now()).await?;
    let demo = core.wants_demo().then(|| Demo { name: "Demo".to_owned(), balance: DEMO_BALANCE });
    FirstStart { projects: Arc::new(core.parts.manage_projects()), demo }.run().await
}

/// Prepares again and again for as long as the database is out of reach.
pub async fn keep_preparing(core: &Core) -> Result<Option<CreatedProject>, StoreError> {
    loop {
        tokio::time::sleep(PREPARE_AGAIN).await;
        match prepare(core).await {
            Err(StoreError::NoRoom) => {}
            Err(cause) if cause.is_transient() => {
                tracing::warn!(error = %cause, "the database is still out of reach");
            }
            done => return done,
        }
    }
}

fn settings(http: &config::Http) -> Settings {
    Settings {
        address: http.address.clone(),
        workers: match http.workers {
            0 => Settings::default().workers,
            workers => workers,
        },
        max_connections: http.max_connections,
        head_timeout: Duration::from_secs(http.head_timeout_seconds),
        body_timeout: Duration::from_secs(http.body_timeout_seconds),
        write_timeout: Duration::from_secs(http.write_timeout_seconds),
        keep_alive: Duration::from_secs(http.keep_alive_seconds),
        shutdown_timeout: Duration::from_secs(http.shutdown_timeout_seconds),
        ..Settings::default()
    }
}

/// Ready means: prepared, the database answers, and it has room to write.
struct Ready {
    database: Arc<dyn Database>,
    prepared: Arc<AtomicBool>,
}

#[async_trait]
impl Readiness for Ready {
    async fn ready(&self) -> bool {
        self.prepared.load(Ordering::Acquire)
            && self.database.ping().await.is_ok()
            && self.database.room().await.is_ok()
    }
}

/// Does `work` again and again, `period` apart; a failure is logged as `trouble` and not the end.
async fn every<W>(period: Duration, trouble: &'static str, work: impl Fn() -> W)
where
    W: Future<Output = Result<(), StoreError>>,
{
    let mut tick = tokio::time::interval(period);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        match work().await {
            // A store without room has said so itself, once.
            Ok(()) | Err(StoreError::NoRoom) => {}
            Err(error) => tracing::warn!(%error, "{trouble}"),
        }
    }
}

/// A tick every `period` until the service stops.
fn ticks(period: Duration, stopped: watch::Receiver<()>) -> impl Stream<Item = ()> + Send {
    let mut tick = tokio::time::interval(period);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    unfold((tick, stopped), |(mut tick, mut stopped)| async {
        tokio::select! {
            _ = tick.tick() => Some(((), (tick, stopped))),
            _ = stopped.changed() => None,
        }
    })
}

async fn apply_receipts(apply: Arc<ApplyReceipts>, stopped: watch::Receiver<()>) {
    keep_going(apply.as_ref(), ticks(APPLY, stopped), "receipts could not be applied").await;
}

async fn review_receipts(apply: Arc<ApplyReceipts>) {
    let review = || async { apply.review().await.map(drop) };
    every(APPLY, "unknown receipts could not be reviewed", review).await;
}

async fn tell_events(events: Arc<TellEvents>, stopped: watch::Receiver<()>) {
    keep_going(events.as_ref(), ticks(TELL, stopped), "events could not be told").await;
}

async fn drop_untold(events: Arc<TellEvents>) {
    let drop_untold = || async { events.drop_untold().await.map(drop) };
    every(TIDY, "what nobody is told could not be dropped", drop_untold).await;
}

async fn follow_up(sweep: Arc<Sweep>) {
    let follow_up = || async { sweep.follow_up().await.map(drop) };
    every(FOLLOW_UP, "overdue sends could not be looked after", follow_up).await;
}

async fn settle_stale_holds(sweep: Arc<Sweep>) {
    let settle = || async { sweep.settle_stale_holds().await.map(drop) };
    every(FOLLOW_UP, "stale holds could not be settled", settle).await;
}

async fn tidy(sweep: Arc<Sweep>) {
    let tidy = || async {
        let swept = sweep.tidy().await?;
        tracing::debug!(?swept, "tidied");
        Ok(())
    };
    every(TIDY, "expired rows could not be dropped", tidy).await;
}

/// A store that ran out of room is well again without anybody asking.
async fn look_for_room(database: Arc<dyn Database>) {
    let look = || async { database.room().await.map(drop) };
    every(LOOK_FOR_ROOM, "the database cannot be asked for room", look).await;
}

async fn take_receipts(apply: Arc<ApplyReceipts>, mut inbound: mpsc::Receiver<Receipt>) {
    while let Some(receipt) = inbound.recv().await {
        let apply = Arc::clone(&apply);
        // Each on its own: one that has to call the next provider must not hold up the others.
        tokio::spawn(async move {
            match apply.record.record(receipt).await {
                Ok(_) | Err(StoreError::NoRoom) => {}
                Err(error) => tracing::warn!(%error, "a receipt could not be recorded"),
            }
        });
    }
}
