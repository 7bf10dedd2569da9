//! Checks what a service needs, one by one, for `dwar doctor` and for the page of operations.

use super::causes;
use super::finding::or_broken;
pub use super::finding::{Finding, Status, broken, failed, ok, warning};
use crate::bounds;
use crate::config::{Config, RunMode};
use crate::counted::counted;
use crate::wiring::{Core, Location, MIB, WiringError, open_files};
use dwar_activity::installation::{GivenKeys, Instance, KnownKeys};
use dwar_console::{ManageError, ManageProjects};
use dwar_kernel::StoreError;
use dwar_operator::Requester;
use dwar_otp::{MAX_UNKNOWN, UnknownReceipts};
use dwar_project::{InvalidSetting, Project};
use dwar_session::SigningKey;
use dwar_wallet::Paise;
use std::collections::BTreeSet;

/// One check: the name under which it is reported, and its finding.
pub type Check = (&'static str, Finding);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Only checks whose cost does not grow with the stored data.
    Little,
    /// Also reads the whole file, sums the ledger and checks every project.
    Everything,
}

/// The tables of the first migration have the same names in both databases.
const FOUNDATION: &str =
    include_str!("../../../../migrations/sqlite/2026-11-26-100000_foundation/up.sql");
pub const OBEY: &str = "fix this, then run the check again";
const SEE_LOGS: &str = "see the logs of the service and of the database";
const RESTORE: &str = "stop the service and restore the last backup: dwar restore FILE \
                       (docs/operations/backups.md)";
const SET_CLOCK: &str = "keep the clocks of all machines right with NTP (chrony, systemd-timesyncd); see \
                         docs/operations/instances.md";
const SET_KEY: &str = "set secrets.master_key to the key this database was created with, or add it to \
                       secrets.older_master_keys";

pub fn production(config: &Config) -> Finding {
    let mut remarks = config.objections.clone();
    remarks.extend(bounds::remarks(config));
    let told = remarks.join("\n");
    match (config.environment, remarks.is_empty()) {
        (RunMode::Production, true) => ok("all settings are safe for production"),
        (RunMode::Development, true) => ok("these settings are accepted in production"),
        (RunMode::Production, false) => warning(told, "change this unless it is intended"),
        (RunMode::Development, false) => {
            warning(format!("refused in production:\n{told}"), "fine for development")
        }
    }
}

pub fn files(config: &Config) -> Finding {
    match open_files(config) {
        Ok(open) if open.is_empty() => {
            ok("only the service's user can read and write the files with secrets")
        }
        Ok(open) if config.environment == RunMode::Development => {
            warning(open.join("\n"), "fix this; the service does not start with it in production")
        }
        Ok(open) => failed(open.join("\n"), OBEY),
        Err(cause) => failed(cause, OBEY),
    }
}

pub async fn database(core: &Core, effort: Effort) -> Finding {
    if let Err(cause) = core.database.ping().await {
        return broken(&cause, "check database.url, and that the server is running");
    }
    if effort == Effort::Little {
        return ok("connected");
    }
    if let Err(cause) = core.database.check_engine().await {
        return broken(
            &cause,
            "point database.url to a PostgreSQL server (docs/operations/postgresql.md)",
        );
    }
    match core.database.damage().await {
        Ok(None)
            if Location::of(&core.config.database).is_ok_and(|it| it != Location::Postgres) =>
        {
            ok("connected, the file is sound")
        }
        Ok(None) => ok("connected"),
        Ok(Some(found)) => failed(format!("the file is damaged: {found}"), RESTORE),
        Err(cause) => broken(&cause, SEE_LOGS),
    }
}

pub async fn stored(core: &Core, effort: Effort) -> Vec<Check> {
    let pending = match core.database.pending_migrations().await {
        Ok(pending) => pending,
        // Nothing can be said about the content.
        Err(cause) => return vec![("migrations", broken(&cause, OBEY))],
    };
    if is_empty(&pending) {
        return vec![("migrations", or_broken(empty(core).await, SEE_LOGS))];
    }
    let unmigrated = !pending.is_empty();
    let or = |finding: Result<Finding, StoreError>, advice| match finding {
        Err(cause) if unmigrated => warning(cause, "migrate first"),
        finding => or_broken(finding, advice),
    };
    let mut checks = vec![
        ("migrations", migrations(&pending)),
        ("set-up", or(set_up(core).await, SEE_LOGS)),
        ("room", or(room(core).await, SEE_LOGS)),
        ("clock", or(clock(core).await, SEE_LOGS)),
        ("master key", or(master_key(core).await, SET_KEY)),
        ("signing keys", or(signing_keys(core).await, SEE_LOGS)),
        ("events", or(events(core).await, SEE_LOGS)),
        ("receipts", or(receipts(core).await, SEE_LOGS)),
        ("instances", or(instances(core).await, SEE_LOGS)),
    ];
    if effort == Effort::Everything {
        checks.insert(6, ("ledger", or(ledger(core).await, SEE_LOGS)));
        checks.push(("rows", or(rows(core).await, SEE_LOGS)));
        // Providers that cannot be built are reported separately.
        if let Ok(manage) = core.management() {
            checks.push(("projects", or(projects(&manage.projects).await, SEE_LOGS)));
        }
    }
    checks
}

/// Tells whether a database lacks the first migration.
fn is_empty(pending: &[String]) -> bool {
    pending.first().is_some_and(|first| first.ends_with("_foundation"))
}

fn migrations(pending: &[String]) -> Finding {
    if pending.is_empty() {
        return ok("all applied");
    }
    let detail = format!("{} pending: {}", pending.len(), pending.join(", "));
    warning(detail, "run `dwar migrate`, or start the service")
}

/// The finding about a database without any of our migrations.
async fn empty(core: &Core) -> Result<Finding, StoreError> {
    let others = core.database.tables().await?;
    let in_the_way: Vec<&str> =
        others.iter().map(String::as_str).filter(|it| is_ours(it)).collect();
    Ok(if !in_the_way.is_empty() {
        failed(format!("tables exist already: {}", in_the_way.join(", ")), causes::FOREIGN.advice)
    } else if let Ok(Location::Sqlite(file)) = Location::of(&core.config.database)
        && !file.exists()
    {
        let detail = format!("there is no database {}", file.display());
        warning(detail, "run this in the folder of the service, or start it: it makes a new one")
    } else if others.is_empty() {
        let detail = "the database is empty; the service sets it up on its first start";
        warning(detail, "start the service, or run `dwar migrate`")
    } else {
        let detail = format!("the schema holds tables of another program: {}", others.join(", "));
        warning(detail, "give the service a database or a schema of its own")
    })
}

/// Tells whether the first migration creates a table of this name.
fn is_ours(table: &str) -> bool {
    let mut made = FOUNDATION.lines().filter_map(|line| line.strip_prefix("CREATE TABLE "));
    made.any(|made| made.split([' ', '(']).next() == Some(table))
}

async fn set_up(core: &Core) -> Result<Finding, StoreError> {
    let cautions = core.database.cautions().await?;
    Ok(match cautions.is_empty() {
        true => ok("the database is set up correctly"),
        false => warning(
            cautions.join("\n"),
            "see docs/operations/install.md for SQLite, docs/operations/postgresql.md for sessions",
        ),
    })
}

async fn room(core: &Core) -> Result<Finding, StoreError> {
    Ok(match core.database.room().await? {
        Some(free) => ok(format!("{} MiB free on the disk of the database", free / MIB)),
        None => ok("the database accepts writes"),
    })
}

/// Checks the clock of this machine. `/readyz` reports that of a service elsewhere.
async fn clock(core: &Core) -> Result<Finding, StoreError> {
    let too_far = core.compare_clocks().await?;
    let watch = &core.parts.tools.watch;
    Ok(match (watch.trouble(), too_far) {
        (Some(trouble), true) => {
            failed(format!("{trouble}; from 30 s on no request is served here"), SET_CLOCK)
        }
        (Some(trouble), false) => warning(trouble, SET_CLOCK),
        (None, _) if watch.ahead_ms().is_some() => ok("agrees with the clock of the database"),
        (None, _) => ok("the database uses the clock of this machine"),
    })
}

async fn master_key(core: &Core) -> Result<Finding, StoreError> {
    let known = match core.compare_keys().await {
        Err(StoreError::Foreign(told)) => return Ok(failed(told, OBEY)),
        known => known?,
    };
    let opened = core.parts.signer.public_keys(core.parts.tools.now()).await;
    let (finding, missing) = replacement(&core.keys.given, &known);
    match opened {
        // A missing key had sealed the signing keys too.
        Err(_) if missing => Ok(Finding { status: Status::Failed, ..finding }),
        Err(cause) => Err(cause),
        Ok(_) => Ok(finding),
    }
}

/// The progress of a replacement of the master key, as far as this configuration shows it, and
/// whether a used key is missing.
fn replacement(given: &GivenKeys, known: &KnownKeys) -> (Finding, bool) {
    let (unused, missing) = (given.unused(known), given.missing(known));
    let in_use = known.masters.last() == Some(&given.master);
    if missing > 0 {
        let keys = counted(missing as u64, "earlier master key is", "earlier master keys are");
        let told =
            format!("{keys} not in secrets.older_master_keys, so some stored data cannot be read");
        return (warning(told, "put them back into secrets.older_master_keys"), true);
    }
    let finding = match (known.masters.len(), in_use, unused) {
        (0, ..) | (1, true, 0) => ok("matches the stored data"),
        (count, true, 0) => {
            let earlier = counted(count as u64 - 1, "earlier key", "earlier keys");
            ok(format!("matches the stored data, some of it by {earlier}"))
        }
        (_, true, _) => warning(
            "step 1 of replacing it: the next one is in secrets.older_master_keys, and not yet used",
            "give every instance these settings; then make the next key secrets.master_key, \
             and put the current one into the list",
        ),
        (_, false, _) => warning(
            "step 2 of replacing it: secrets.master_key encrypts from the next start with these settings",
            "restart every instance with these settings",
        ),
    };
    (finding, false)
}

async fn signing_keys(core: &Core) -> Result<Finding, StoreError> {
    let now = core.parts.tools.now();
    let keys = core.parts.stores.signing_keys.keys(now).await?;
    Ok(match SigningKey::active(&keys, now).is_some() {
        true => ok(format!("{} known, one active", keys.len())),
        false => warning("none active yet", "start the service; it creates one"),
    })
}

async fn ledger(core: &Core) -> Result<Finding, StoreError> {
    let audit = core.parts.stores.wallets.audit().await?;
    Ok(match audit.difference {
        Paise::ZERO => ok(counted(audit.projects, "wallet matches", "wallets match")),
        difference => failed(
            format!("wallets are off by {difference}"),
            "compare `dwar wallet statement` with your records",
        ),
    })
}

async fn events(core: &Core) -> Result<Finding, StoreError> {
    const NAMED: u32 = 5;
    let off = core.parts.stores.events.disabled_endpoints(NAMED + 1).await?;
    if off.is_empty() {
        return Ok(ok("all endpoints are enabled"));
    }
    let names = off.iter().map(|it| format!("{} of project {}", it.id, it.project));
    let mut names: Vec<_> = names.take(NAMED as usize).collect();
    if off.len() > names.len() {
        names.push("and more".to_owned());
    }
    let names = names.join(", ");
    Ok(warning(
        format!("endpoints disabled because they kept failing or are gone (410): {names}"),
        "fix them, then run `dwar webhook enable --project ID --webhook ID`",
    ))
}

async fn receipts(core: &Core) -> Result<Finding, StoreError> {
    let UnknownReceipts { count, oldest } = core.parts.stores.receipts.unknown().await?;
    let Some(oldest) = oldest else {
        return Ok(ok("all match messages of this service"));
    };
    let age = (core.parts.tools.now() - oldest).num_seconds().max(0);
    let detail = format!(
        "{count} of {MAX_UNKNOWN} places are taken by receipts for unknown messages, the oldest \
         {age} s old"
    );
    Ok(if count < u64::from(MAX_UNKNOWN) / 2 {
        ok(detail)
    } else {
        let advice = "have providers report only on the sender of this service; see \
                      docs/providers.md";
        warning(detail, advice)
    })
}

async fn instances(core: &Core) -> Result<Finding, StoreError> {
    const NAMED: u32 = 20;
    let now = core.parts.tools.watch.shared_now();
    let mut alive = core.console.instances.instances(NAMED).await?;
    alive.retain(|instance| instance.is_alive(now));
    let versions: BTreeSet<_> = alive.iter().map(|one| one.version.as_str()).collect();
    let line = |one: &Instance| {
        let (age, host, pid) = ((now - one.seen_at).num_seconds().max(0), &one.host, one.pid);
        format!("{host}, process {pid}, {} on {}, seen {age} s ago", one.version, one.api)
    };
    let detail = alive.iter().map(line).collect::<Vec<_>>().join("\n");
    let postgres = Location::of(&core.config.database).is_ok_and(|it| it == Location::Postgres);
    Ok(match alive.len() {
        0 => ok("none running: no heartbeat within 30 s"),
        _ if versions.len() > 1 => warning(
            format!("several versions are running:\n{detail}"),
            "normal during a rollout; afterwards stop the old ones",
        ),
        count if count > 1 && !postgres => warning(
            format!("several instances use one SQLite file:\n{detail}"),
            "writes block each other, and each instance counts requests on its own; run one, or use PostgreSQL",
        ),
        _ => ok(detail),
    })
}

/// Reports rows that cannot be decoded. Each costs only its owner an answer.
async fn rows(core: &Core) -> Result<Finding, StoreError> {
    const NAMED: usize = 20;
    let unreadable = core.database.unreadable().await?;
    if unreadable.is_empty() {
        return Ok(ok("the stored settings and open holds can be read"));
    }
    let named = unreadable.iter().take(NAMED).map(ToString::to_string);
    let more = unreadable.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("and {more} more"));
    let told = named.chain(more).collect::<Vec<_>>().join("\n");
    let advice = "correct these values in the database; until then only the records that \
                  contain them fail";
    Ok(failed(told, advice))
}

async fn projects(projects: &ManageProjects) -> Result<Finding, StoreError> {
    let unfit = projects.unfit(&Requester::command_line()).await;
    let unfit = unfit.map_err(ManageError::into_store_error)?;
    if unfit.is_empty() {
        return Ok(ok("all settings of projects are valid"));
    }
    let line = |(project, why): &(Project, InvalidSetting)| {
        format!("{}: {}: {}", project.id, why.field, why.reason)
    };
    let told = unfit.iter().map(line).collect::<Vec<_>>().join("\n");
    Ok(warning(
        told,
        "change the setting with `dwar project set --project ID`, or configure what it names",
    ))
}

/// Checks that the configured providers can be built, and lists which carry what by default.
pub fn gateways(config: &Config, buildable: Result<(), WiringError>) -> Finding {
    if let Err(cause) = buildable {
        return failed(cause, OBEY);
    }
    let settings = &config.gateways;
    let names = |all: &[String]| if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    let told = format!("WhatsApp: {}; SMS: {}", names(&settings.whatsapp), names(&settings.sms));
    match (settings.whatsapp.is_empty(), settings.sms.is_empty()) {
        (true, true) => warning(
            "no providers, so live keys cannot send",
            "set gateways.whatsapp and gateways.sms; test keys work without them",
        ),
        (false, true) => warning(told, "set gateways.sms, or numbers without WhatsApp get no code"),
        (_, false) => ok(told),
    }
}
