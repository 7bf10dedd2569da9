use crate::endpoint::{AdminRequest, AdminResult, Operation, get};
use crate::views::{id, instant};
use dwar_activity::installation::{Backlog, COUNTED, Instance, Queues};
use dwar_console::operations::{Check, Health, Loop, OperationsSnapshot, Process, ProviderStatus};
use dwar_kernel::{ProjectId, Timestamp};
use dwar_operator::Command;
use serde::Serialize;
use std::collections::BTreeMap;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/operations", Command::ShowOperations, show).summary(
            "Get the state of the installation: checks, instances, queues, providers, loops",
        ),
    ]
}

/// State of the installation. Loops, providers and process describe the process that answers.
#[derive(Serialize, ToSchema)]
struct Operations {
    /// Worst result of the checks: `good`, `warning` or `failed`.
    health: String,
    /// The cheap checks of `dwar doctor`, including pending migrations.
    checks: Vec<CheckBody>,
    /// Instances seen within a day, the latest first; null if unknown.
    instances: Option<Vec<InstanceBody>>,
    /// Waiting work; null if unknown.
    queues: Option<QueuesBody>,
    providers: Vec<ProviderBody>,
    loops: Vec<LoopBody>,
    process: ProcessBody,
}

/// Result of one check.
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
    /// Listening address of its API.
    api: String,
    /// Listening address of its dashboard.
    dashboard: Option<String>,
    #[schema(format = "date-time")]
    started_at: String,
    #[schema(format = "date-time")]
    seen_at: String,
}

/// Waiting work, per queue.
#[derive(Serialize, ToSchema)]
#[schema(as = Queues)]
struct QueuesBody {
    /// Sends whose provider call or receipt is overdue.
    overdue_sends: BacklogBody,
    /// Receipts to process now.
    receipts: BacklogBody,
    /// Open holds: money reserved for sends under way.
    open_holds: BacklogBody,
    /// Events that feeds hold back, because an earlier writing transaction is still open in the
    /// database.
    feed: BacklogBody,
    /// Events to deliver now, per project, of the webhooks that have waited longest.
    events: Vec<WaitingEvents>,
    /// Events whose next attempt comes later; `oldest` is the instant of the first of these attempts.
    event_retries: Vec<WaitingEvents>,
}

/// Length and age of one queue.
#[derive(Serialize, ToSchema)]
#[schema(as = Backlog)]
struct BacklogBody {
    /// At most 1000.
    count: u32,
    /// Whether there are more than 1000.
    more: bool,
    /// Since when the oldest entry waits.
    #[schema(format = "date-time")]
    oldest: Option<String>,
}

/// Events that wait for the webhooks of one project.
#[derive(Serialize, ToSchema)]
struct WaitingEvents {
    #[schema(format = "uuid")]
    project_id: String,
    waiting: BacklogBody,
}

/// A provider as this process sees it.
#[derive(Serialize, ToSchema)]
#[schema(as = Provider)]
struct ProviderBody {
    name: String,
    /// Seconds for which the process does not call the provider after failures; null while it does.
    open_for_seconds: Option<u64>,
    /// Number of latest calls, at most 128.
    calls: u32,
    /// How many of these calls failed because of the provider.
    faults: u32,
    /// Channels that use it by default.
    carries: Vec<String>,
    /// Names of the projects whose own settings name it.
    projects: Vec<String>,
}

/// A background loop of this process.
#[derive(Serialize, ToSchema)]
#[schema(as = Loop)]
struct LoopBody {
    name: String,
    running: bool,
    /// Number of restarts.
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
    /// Memory in use; null where the system does not tell.
    memory_bytes: Option<u64>,
}

async fn show(call: AdminRequest) -> AdminResult<Operations> {
    let OperationsSnapshot { checks, instances, queues, loops, providers, process } =
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

fn provider(one: ProviderStatus) -> ProviderBody {
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
