use super::Failure;
use super::answer::Answer;
use super::doctor_online;
use crate::config::{Config, ConfigError};
use crate::wiring::{Core, MIB, available_providers, open_files};
use crate::{bounds, config::RunMode};
use dwar_event::Endpoint;
use dwar_otp::{MAX_UNKNOWN, UnknownReceipts};
use dwar_session::KeyState;
use dwar_wallet::Paise;
use serde_json::{Value, json};

/// What to look at besides.
#[derive(clap::Args)]
pub struct Args {
    /// Call the running service too, at http.address and through gateways.public_url; nothing else
    /// is called
    #[arg(long)]
    online: bool,
}

/// One thing that was looked at.
pub(super) struct Check {
    name: &'static str,
    status: Status,
    detail: String,
    /// What to do, if there is anything to do.
    advice: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Ok,
    /// Works, but not for everything or not for ever.
    Warning,
    Failed,
}

impl Status {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Failed => "failed",
        }
    }
}

/// Looks at everything a service needs; changes nothing in the database.
pub async fn run(config: Config, asked: Args) -> Result<Answer, Failure> {
    let mut checks = vec![ok("configuration", "every setting is known and makes sense")];
    checks.push(production(&config));
    checks.push(files(&config));
    match Core::open(config) {
        Err(cause) => checks.push(failed("start", &cause, "do what it says, then run this again")),
        Ok(core) => {
            checks.push(database(&core).await);
            if checks.iter().all(|check| check.status != Status::Failed) {
                checks.push(migrations(&core).await);
                checks.push(room(&core).await);
                checks.push(master_key(&core).await);
                checks.push(signing_keys(&core).await);
                checks.push(ledger(&core).await);
                checks.push(events(&core).await);
                checks.push(receipts(&core).await);
            }
            checks.push(gateways(&core.config));
            if asked.online {
                let id = core.parts.tools.entropy.uuid(core.parts.tools.now()).to_string();
                checks.push(doctor_online::loops(&core.config, &id).await);
                checks.extend(doctor_online::run(&core.config, &id).await);
            }
        }
    }
    Ok(report(&checks))
}

/// What there is to say when the configuration cannot even be read.
pub fn unconfigured(cause: &ConfigError) -> Answer {
    report(&[failed("configuration", cause, "do what it says, then run this again")])
}

/// What stands between these settings and production.
fn production(config: &Config) -> Check {
    const NAME: &str = "production";
    let mut remarks = config.objections.clone();
    remarks.extend(bounds::remarks(config));
    match (config.environment, remarks.is_empty()) {
        (RunMode::Production, true) => ok(NAME, "nothing is set that it should not be"),
        (RunMode::Development, true) => ok(NAME, "it would take these settings"),
        (RunMode::Production, false) => {
            warning(NAME, remarks.join("\n"), "mend it unless it is meant")
        }
        (RunMode::Development, false) => warning(
            NAME,
            format!("it would refuse\n{}", remarks.join("\n")),
            "fine for development",
        ),
    }
}

fn files(config: &Config) -> Check {
    const NAME: &str = "files";
    match open_files(config) {
        Ok(open) if open.is_empty() => ok(NAME, "nobody else can read those that hold secrets"),
        Ok(open) if config.environment == RunMode::Development => {
            warning(NAME, open.join("\n"), "do what it says; production refuses this")
        }
        Ok(open) => Check {
            name: NAME,
            status: Status::Failed,
            detail: open.join("\n"),
            advice: Some("do what it says, then run this again".to_owned()),
        },
        Err(cause) => failed(NAME, &cause, "do what it says, then run this again"),
    }
}

async fn database(core: &Core) -> Check {
    match core.database.ping().await {
        Ok(()) => ok("database", "answers"),
        Err(cause) => failed("database", &cause, "check database.url and that the server runs"),
    }
}

async fn migrations(core: &Core) -> Check {
    match core.database.pending_migrations().await {
        Ok(pending) if pending.is_empty() => ok("migrations", "all applied"),
        Ok(pending) => warning(
            "migrations",
            format!("{} to apply", pending.len()),
            "run `dwar migrate`, or just start the service",
        ),
        Err(cause) => failed("migrations", &cause, "check the rights of the database user"),
    }
}

async fn room(core: &Core) -> Check {
    const NAME: &str = "room";
    match core.database.room().await {
        Ok(Some(free)) => ok(NAME, format!("{} MiB free where the database lies", free / MIB)),
        Ok(None) => ok(NAME, "the database takes writes"),
        Err(cause) if unmigrated(core).await => warning(NAME, cause.to_string(), "migrate first"),
        Err(cause) => failed(
            NAME,
            &cause,
            "give the disk of the database more room; writes fail, or will soon \
             (database.min_free_mb)",
        ),
    }
}

async fn master_key(core: &Core) -> Check {
    const NAME: &str = "master key";
    match core.parts.signer.public_keys(core.parts.tools.now()).await {
        Ok(_) => ok(NAME, "opens what is stored"),
        Err(cause) if unmigrated(core).await => warning(NAME, cause.to_string(), "migrate first"),
        Err(cause) => failed(
            NAME,
            &cause,
            "set secrets.master_key to the one this database was made with, or add it to \
             secrets.older_master_keys",
        ),
    }
}

async fn signing_keys(core: &Core) -> Check {
    const NAME: &str = "signing keys";
    match core.parts.manage_signing_keys().list().await {
        Ok(keys) if keys.iter().any(|(_, state)| *state == KeyState::Active) => {
            ok(NAME, format!("{} known, one signs", keys.len()))
        }
        Ok(_) => warning(NAME, "none signs yet".to_owned(), "start the service; it makes one"),
        Err(cause) if unmigrated(core).await => warning(NAME, cause.to_string(), "migrate first"),
        Err(cause) => failed(NAME, &cause, "see the log"),
    }
}

async fn ledger(core: &Core) -> Check {
    const NAME: &str = "ledger";
    match core.parts.manage_wallets().audit().await {
        Ok(audit) if audit.difference == Paise::ZERO => {
            ok(NAME, format!("{} wallets agree with it", audit.projects))
        }
        Ok(audit) => Check {
            name: NAME,
            status: Status::Failed,
            detail: format!("wallets are {} off", audit.difference),
            advice: Some("compare `dwar wallet statement` with your records".to_owned()),
        },
        Err(cause) if unmigrated(core).await => warning(NAME, cause.to_string(), "migrate first"),
        Err(cause) => failed(NAME, &cause, "see the log"),
    }
}

async fn events(core: &Core) -> Check {
    const NAME: &str = "events";
    /// So many are named.
    const NAMED: u32 = 5;
    match core.parts.stores.events.disabled_endpoints(NAMED).await {
        Ok(off) if off.is_empty() => ok(NAME, "no endpoint is switched off"),
        Ok(off) => {
            let name = |it: &Endpoint| format!("{} of project {}", it.id, it.project);
            let names: Vec<String> = off.iter().map(name).collect();
            warning(
                NAME,
                format!("endpoints that kept failing are switched off: {}", names.join(", ")),
                "once they answer, run `dwar webhook enable --project ID --endpoint ID`",
            )
        }
        Err(cause) if unmigrated(core).await => warning(NAME, cause.to_string(), "migrate first"),
        Err(cause) => failed(NAME, &cause, "see the log"),
    }
}

async fn receipts(core: &Core) -> Check {
    const NAME: &str = "receipts";
    match core.parts.stores.receipts.unknown().await {
        Ok(UnknownReceipts { oldest: None, .. }) => ok(NAME, "each is about a message of ours"),
        Ok(UnknownReceipts { count, oldest: Some(oldest) }) => {
            let age = (core.parts.tools.now() - oldest).num_seconds().max(0);
            let detail = format!(
                "{count} of {MAX_UNKNOWN} places are taken by receipts about messages that are not \
                 ours, the oldest {age} s old"
            );
            if count < u64::from(MAX_UNKNOWN) / 2 {
                return ok(NAME, detail);
            }
            let advice = "let providers report on this service's own sender only; see \
                          docs/providers.md";
            warning(NAME, detail, advice)
        }
        Err(cause) if unmigrated(core).await => warning(NAME, cause.to_string(), "migrate first"),
        Err(cause) => failed(NAME, &cause, "see the log"),
    }
}

fn gateways(config: &Config) -> Check {
    const NAME: &str = "gateways";
    if let Err(cause) = available_providers(config) {
        return failed(NAME, &cause, "do what it says, then run this again");
    }
    let settings = &config.gateways;
    match (settings.whatsapp.join(", "), settings.sms.join(", ")) {
        (whatsapp, sms) if whatsapp.is_empty() && sms.is_empty() => warning(
            NAME,
            "live keys have no provider".to_owned(),
            "set gateways.whatsapp and gateways.sms; test keys work without",
        ),
        (whatsapp, sms) if sms.is_empty() => warning(
            NAME,
            format!("WhatsApp over {whatsapp}, and no SMS"),
            "set gateways.sms, or numbers without WhatsApp get no code",
        ),
        (whatsapp, sms) => ok(NAME, format!("WhatsApp over {whatsapp}, SMS over {sms}")),
    }
}

async fn unmigrated(core: &Core) -> bool {
    core.database.pending_migrations().await.is_ok_and(|pending| !pending.is_empty())
}

pub(super) fn ok(name: &'static str, detail: impl Into<String>) -> Check {
    Check { name, status: Status::Ok, detail: detail.into(), advice: None }
}

pub(super) fn warning(name: &'static str, detail: String, advice: &str) -> Check {
    Check { name, status: Status::Warning, detail, advice: Some(advice.to_owned()) }
}

pub(super) fn failed(name: &'static str, cause: &dyn std::error::Error, advice: &str) -> Check {
    Check {
        name,
        status: Status::Failed,
        detail: cause.to_string(),
        advice: Some(advice.to_owned()),
    }
}

fn report(checks: &[Check]) -> Answer {
    let good = checks.iter().all(|check| check.status != Status::Failed);
    let json: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!({
                "name": check.name,
                "status": check.status.as_str(),
                "detail": check.detail,
                "advice": check.advice,
            })
        })
        .collect();
    let lines = checks.iter().map(|check| {
        let advice =
            check.advice.as_ref().map_or_else(String::new, |a| format!("\n{:12}→ {a}", ""));
        let detail = check.detail.replace('\n', &format!("\n{:25}", ""));
        format!("{:<9} {:<14} {detail}{advice}", check.status.as_str(), check.name)
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    Answer { json: json!({ "ok": good, "checks": json }), text, good }
}
