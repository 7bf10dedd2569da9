use crate::endpoint::{AdminRequest, Answered, Operation, get};
use crate::views::{id, instant};
use dwar_activity::installation::{Backlog, COUNTED, Instance, Queues};
use dwar_console::operations::{Check, Health, Loop, Process, Provider, Snapshot};
use dwar_kernel::{ProjectId, Timestamp};
use dwar_operator::Command;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/operations", Command::ShowOperations, show)
            .summary("How the installation is doing: checks, instances, queues, providers, loops"),
    ]
}

/// How the installation is doing. Loops, providers and process are those of the process that answers.
#[derive(Serialize, ToSchema)]
struct Operations {
    /// The worst of the checks: `good`, `warning` or `failed`.
    health: String,
    /// Those of `dwar doctor` that cost little; migrations that wait are among them.
    checks: Vec<CheckBody>,
    /// Those seen within a day, the latest first; null if nobody knows.
    instances: Option<Vec<InstanceBody>>,
    /// What waits; null if nobody knows.
    queues: Option<QueuesBody>,
    providers: Vec<ProviderBody>,
    loops: Vec<LoopBody>,
    process: ProcessBody,
}

/// One thing that was looked at.
#[derive(Serialize, ToSchema)]
#[schema(as = Check)]
struct CheckBody {
    name: String,
    /// `good`, `warning` or `failed`.
    health: String,
    detail: String,
    /// What to do about it.
    advice: Option<String>,
}

/// A process that runs the service.
#[derive(Serialize, ToSchema)]
#[schema(as = Instance)]
struct InstanceBody {
    #[schema(format = "uuid")]
    instance_id: String,
    /// Whether it was seen within 30 seconds.
    alive: bool,
    host: String,
    pid: u32,
    version: String,
    /// Where its API listens.
    api: String,
    /// Where its dashboard listens.
    dashboard: Option<String>,
    #[schema(format = "date-time")]
    started_at: String,
    #[schema(format = "date-time")]
    seen_at: String,
}

/// What waits to be done.
#[derive(Serialize, ToSchema)]
#[schema(as = Queues)]
struct QueuesBody {
    /// Sends whose provider or receipt is overdue.
    overdue_sends: BacklogBody,
    /// Receipts that are due.
    receipts: BacklogBody,
    /// Money set aside for sends.
    open_holds: BacklogBody,
    /// Events that feeds hold back, because a transaction in the database server is open that began to write earlier.
    feed: BacklogBody,
    /// Events that are due, by project, of the webhooks that have waited longest.
    events: Vec<WaitingEvents>,
    /// Events whose next attempt comes later; `oldest` is the instant of the first of these attempts.
    event_retries: Vec<WaitingEvents>,
}

/// What waits in one queue.
#[derive(Serialize, ToSchema)]
#[schema(as = Backlog)]
struct BacklogBody {
    /// At most 1000.
    count: u32,
    /// Whether there are more than that.
    more: bool,
    /// Since when the one that waits longest does.
    #[schema(format = "date-time")]
    oldest: Option<String>,
}

/// What waits for the webhooks of one project.
#[derive(Serialize, ToSchema)]
struct WaitingEvents {
    #[schema(format = "uuid")]
    project_id: String,
    waiting: BacklogBody,
}

/// A provider, as the process sees it.
#[derive(Serialize, ToSchema)]
#[schema(as = Provider)]
struct ProviderBody {
    name: String,
    /// For how long it is left alone after failures; null while it is called.
    open_for_seconds: Option<u64>,
    /// Its latest calls, 128 at most.
    calls: u32,
    /// Of these, those that failed by its fault.
    faults: u32,
    /// The channels that it carries by default.
    carries: Vec<String>,
    /// The names of the projects that name it themselves.
    projects: Vec<String>,
}

/// A loop of the process.
#[derive(Serialize, ToSchema)]
#[schema(as = Loop)]
struct LoopBody {
    name: String,
    running: bool,
    /// How often it was started again.
    restarts: u64,
}

/// The process that answers.
#[derive(Serialize, ToSchema)]
#[schema(as = Process)]
struct ProcessBody {
    version: String,
    database: String,
    #[schema(format = "date-time")]
    started_at: String,
    /// Where that can be known.
    memory_bytes: Option<u64>,
}

async fn show(call: AdminRequest) -> Answered<Operations> {
    let Snapshot { checks, instances, queues, loops, providers, process } =
        call.api.operations.snapshot().await;
    let now = call.api.tools.watch.shared_now();
    let worst = checks.iter().map(|check| check.health).max().unwrap_or(Health::Good);
    let seen = |all: Vec<Instance>| all.into_iter().map(|one| instance(one, now)).collect();
    Ok(Operations {
        health: word(worst).to_owned(),
        checks: checks.into_iter().map(check).collect(),
        instances: instances.map(seen),
        queues: queues.map(waiting),
        providers: providers.into_iter().map(provider).collect(),
        loops: loops.into_iter().map(looping).collect(),
        process: this(process),
    })
}

const fn word(health: Health) -> &'static str {
    match health {
        Health::Good => "good",
        Health::Warning => "warning",
        Health::Failed => "failed",
    }
}

fn check(check: Check) -> CheckBody {
    CheckBody {
        name: check.name.to_owned(),
        health: word(check.health).to_owned(),
        detail: check.detail,
        advice: check.advice.map(str::to_owned),
    }
}

fn instance(one: Instance, now: Timestamp) -> InstanceBody {
    InstanceBody {
        instance_id: id(one.id),
        alive: one.is_alive(now),
        host: one.host,
        pid: one.pid,
        version: one.version,
        api: one.api,
        dashboard: one.dashboard,
        started_at: instant(one.started_at),
        seen_at: instant(one.seen_at),
    }
}

fn waiting(queues: Queues) -> QueuesBody {
    let by_project = |waiting: BTreeMap<ProjectId, Backlog>| {
        let body =
            |(project, waits)| WaitingEvents { project_id: id(project), waiting: backlog(waits) };
        waiting.into_iter().map(body).collect()
    };
    QueuesBody {
        overdue_sends: backlog(queues.overdue_sends),
        receipts: backlog(queues.receipts),
        open_holds: backlog(queues.open_holds),
        feed: backlog(queues.feed),
        events: by_project(queues.events),
        event_retries: by_project(queues.retries),
    }
}

fn backlog(backlog: Backlog) -> BacklogBody {
    BacklogBody {
        count: backlog.count.min(COUNTED),
        more: backlog.count > COUNTED,
        oldest: backlog.oldest.map(instant),
    }
}

fn provider(one: Provider) -> ProviderBody {
    ProviderBody {
        name: one.name,
        open_for_seconds: one.open_for.map(|rest| rest.as_secs()),
        calls: one.calls,
        faults: one.faults,
        carries: one.carries.into_iter().map(str::to_owned).collect(),
        projects: one.projects,
    }
}

fn looping(one: Loop) -> LoopBody {
    LoopBody { name: one.name.to_owned(), running: one.running, restarts: one.restarts }
}

fn this(process: Process) -> ProcessBody {
    ProcessBody {
        version: process.version,
        database: process.database.to_owned(),
        started_at: instant(process.started_at),
        memory_bytes: process.memory,
    }
}
