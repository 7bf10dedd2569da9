use super::core::{Core, WiringError};
use super::gateways::{self, Providers};
use super::policies;
use super::stores::Database;
use async_trait::async_trait;
use dwar_app::{
    AdmitRequest, ApplyReceipts, Authenticate, CreatedProject, DeleteIdentity, Deliver, Demo,
    FindIdentity, FirstStart, Idempotency, Logout, OtpPolicy, OtpStatus, ProviderWatch, PublicKeys,
    ReceiveWebhook, RecordReceipt, RefreshSession, Routes, SandboxMessages, SendOtp, Sweep,
    TellEvents, Tokens, ValidateSession, VerifyOtp, keep_going,
};
use dwar_http::{Readiness, Server, Settings, StopHandle, UseCases};
use dwar_kernel::StoreError;
use dwar_memory::MemoryRequestLimiter;
use dwar_otp::{Receipt, ReceiptSource};
use dwar_ratelimit::RequestLimiter;
use dwar_wallet::Paise;
use futures_util::stream::{Stream, unfold};
use std::collections::HashMap;
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
    sweep: Sweep,
    receipts: RecordReceipt,
    inbound: mpsc::Receiver<Receipt>,
    apply: ApplyReceipts,
    events: TellEvents,
    database: Arc<dyn Database>,
}

/// What every part of the service shares.
struct Shared {
    core: Core,
    deliver: Arc<Deliver>,
    sources: HashMap<String, Arc<dyn ReceiptSource>>,
    requests: Arc<dyn RequestLimiter>,
}

impl Application {
    /// Puts the service together and takes its address. Answers nothing yet.
    ///
    /// # Errors
    /// [`WiringError::Listen`] if the address is not to be had.
    pub fn build(core: Core, prepared: Arc<AtomicBool>) -> Result<Self, WiringError> {
        let (outbound, inbound) = mpsc::channel(RECEIPTS_QUEUED);
        let Providers { routes, sources } = gateways::build(&core, outbound)?;
        let shared = Shared {
            deliver: Arc::new(deliver(&core, routes)),
            sources,
            requests: Arc::new(MemoryRequestLimiter::default()),
            core,
        };
        let webhook = Arc::new(shared.receive_webhook());
        let server = Server::bind(shared.http(), shared.use_cases(prepared, webhook));
        let address = shared.core.config.http.address.clone();
        let server = server.map_err(|cause| WiringError::Listen { address, cause })?;
        let background = Background {
            sweep: shared.sweep(),
            receipts: shared.record_receipt(),
            inbound,
            apply: shared.apply_receipts(),
            events: shared.core.tell_events()?,
            database: shared.core.stores.database.clone(),
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
        let Background { sweep, receipts, inbound, apply, events, database } = self.background;
        let (sweep, apply, events) = (Arc::new(sweep), Arc::new(apply), Arc::new(events));
        let (stop, stopped) = watch::channel(());
        let tasks = [
            tokio::spawn(follow_up(Arc::clone(&sweep))),
            tokio::spawn(settle_stale_holds(Arc::clone(&sweep))),
            tokio::spawn(tidy(sweep)),
            tokio::spawn(take_receipts(receipts, inbound)),
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
    core.stores.database.migrate().await?;
    core.manage_signing_keys().ensure().await?;
    // Fails if the master key cannot open what is stored, before the first client finds out.
    core.signer.public_keys(core.tools.now()).await?;
    let demo = core.wants_demo().then(|| Demo { name: "Demo".to_owned(), balance: DEMO_BALANCE });
    FirstStart { projects: Arc::new(core.manage_projects()), demo }.run().await
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

impl Shared {
    fn http(&self) -> Settings {
        let http = &self.core.config.http;
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

    fn use_cases(
        &self,
        prepared: Arc<AtomicBool>,
        receive_webhook: Arc<ReceiveWebhook>,
    ) -> UseCases {
        let Core { tools, stores, signer, codes, config, .. } = &self.core;
        let limits = policies::limits(&config.limits);
        let tokens = Tokens {
            tools: tools.clone(),
            signer: signer.clone(),
            policy: policies::session(&config.session),
        };
        UseCases {
            tools: tools.clone(),
            authenticate: Arc::new(Authenticate {
                tools: tools.clone(),
                projects: stores.projects.clone(),
            }),
            admit_request: Arc::new(AdmitRequest {
                tools: tools.clone(),
                limiter: self.requests.clone(),
                limits,
            }),
            send_otp: Arc::new(SendOtp {
                tools: tools.clone(),
                otps: stores.otps.clone(),
                sends: stores.sends.clone(),
                wallets: stores.wallets.clone(),
                deliver: self.deliver.clone(),
                codes: codes.clone(),
                policy: OtpPolicy { lifetime: Duration::from_secs(config.otp.lifetime_seconds) },
                limits,
            }),
            otp_status: Arc::new(OtpStatus { otps: stores.otps.clone() }),
            verify_otp: Arc::new(VerifyOtp {
                tools: tools.clone(),
                otps: stores.otps.clone(),
                identities: stores.identities.clone(),
                sessions: stores.sessions.clone(),
                tokens: tokens.clone(),
                codes: codes.clone(),
                limits,
            }),
            validate_session: Arc::new(ValidateSession {
                tools: tools.clone(),
                signer: signer.clone(),
                sessions: stores.sessions.clone(),
            }),
            refresh_session: Arc::new(RefreshSession { sessions: stores.sessions.clone(), tokens }),
            logout: Arc::new(Logout {
                tools: tools.clone(),
                signer: signer.clone(),
                sessions: stores.sessions.clone(),
            }),
            find_identity: Arc::new(FindIdentity {
                tools: tools.clone(),
                identities: stores.identities.clone(),
            }),
            delete_identity: Arc::new(DeleteIdentity {
                tools: tools.clone(),
                identities: stores.identities.clone(),
            }),
            public_keys: Arc::new(PublicKeys { tools: tools.clone(), signer: signer.clone() }),
            sandbox_messages: Arc::new(SandboxMessages {
                tools: tools.clone(),
                inbox: stores.inbox.clone(),
            }),
            idempotency: Arc::new(Idempotency {
                tools: tools.clone(),
                store: stores.idempotency.clone(),
                lifetimes: policies::idempotency(&config.retention),
            }),
            receive_webhook,
            ready: Arc::new(Ready { core: self.core.clone(), prepared }),
        }
    }

    fn sweep(&self) -> Sweep {
        let Core { tools, stores, config, .. } = &self.core;
        Sweep {
            tools: tools.clone(),
            otps: stores.otps.clone(),
            projects: stores.projects.clone(),
            wallets: stores.wallets.clone(),
            sessions: stores.sessions.clone(),
            sends: stores.sends.clone(),
            requests: self.requests.clone(),
            idempotency: stores.idempotency.clone(),
            test_quota: stores.test_quota.clone(),
            deliver: self.deliver.clone(),
            retention: policies::retention(config),
        }
    }

    fn receive_webhook(&self) -> ReceiveWebhook {
        ReceiveWebhook {
            tools: self.core.tools.clone(),
            sources: self.sources.clone(),
            receipts: self.core.stores.receipts.clone(),
        }
    }

    fn apply_receipts(&self) -> ApplyReceipts {
        let Core { tools, stores, .. } = &self.core;
        ApplyReceipts {
            tools: tools.clone(),
            receipts: stores.receipts.clone(),
            record: self.record_receipt(),
            watch: ProviderWatch::new(tools.clone(), stores.events.clone()),
        }
    }

    fn record_receipt(&self) -> RecordReceipt {
        RecordReceipt {
            otps: self.core.stores.otps.clone(),
            projects: self.core.stores.projects.clone(),
            deliver: self.deliver.clone(),
        }
    }
}

/// Ready means: prepared, the database answers, and it has room to write.
struct Ready {
    core: Core,
    prepared: Arc<AtomicBool>,
}

#[async_trait]
impl Readiness for Ready {
    async fn ready(&self) -> bool {
        let database = &self.core.stores.database;
        self.prepared.load(Ordering::Acquire)
            && database.ping().await.is_ok()
            && database.room().await.is_ok()
    }
}

fn deliver(core: &Core, routes: Routes) -> Deliver {
    Deliver {
        tools: core.tools.clone(),
        otps: core.stores.otps.clone(),
        wallets: core.stores.wallets.clone(),
        sends: core.stores.sends.clone(),
        routes,
        prices: policies::prices(&core.config.prices),
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

async fn take_receipts(receipts: RecordReceipt, mut inbound: mpsc::Receiver<Receipt>) {
    let receipts = Arc::new(receipts);
    while let Some(receipt) = inbound.recv().await {
        let receipts = Arc::clone(&receipts);
        // Each on its own: one that has to call the next provider must not hold up the others.
        tokio::spawn(async move {
            match receipts.record(receipt).await {
                Ok(_) | Err(StoreError::NoRoom) => {}
                Err(error) => tracing::warn!(%error, "a receipt could not be recorded"),
            }
        });
    }
}
