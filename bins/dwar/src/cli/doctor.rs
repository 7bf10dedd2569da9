use super::answer::{Answer, lines};
use super::doctor_online;
use super::failure::Failure;
use crate::colours::{Colour, Colours};
use crate::config::{Config, ConfigError};
use crate::wiring::checks::{
    Check, Effort, Finding, OBEY, Status, broken, database, failed, files, gateways, ok,
    production, stored, warning,
};
use crate::wiring::{Access, Core, Location, Machine, available_providers};
use dwar_admin::views::{self, instant};
use dwar_console::alerts::Alert;
use dwar_operator::Requester;
use serde_json::{Value, json};
use std::sync::Arc;

const ELSEWHERE: &str = "memory: the data is inside `dwar serve` and cannot be checked from here";

/// Additional checks.
#[derive(clap::Args)]
pub struct Args {
    /// Also call the running service, at http.address and gateways.public_url, and nothing else
    #[arg(long)]
    online: bool,
}

/// Checks everything that a service needs; changes nothing in the database.
pub async fn run(config: Config, asked: Args) -> Result<Answer, Failure> {
    let mut checks = vec![
        ("configuration", ok("all settings are valid")),
        ("production", production(&config)),
        ("files", files(&config)),
    ];
    let mut alerts = Vec::new();
    match Core::open(config, Access::Read).await {
        Err(cause) => checks.push(("start", broken(&cause, OBEY))),
        Ok(core) => {
            if Location::of(&core.config.database).is_ok_and(|it| it == Location::Memory) {
                checks.push(("database", ok(ELSEWHERE)));
            } else {
                checks.push(("database", database(&core, Effort::Everything).await));
                if !any_failed(&checks) {
                    checks.extend(stored(&core, Effort::Everything).await);
                }
                let lacks =
                    |(name, found): &Check| *name == "migrations" && found.status != Status::Ok;
                if !checks.iter().any(lacks) {
                    let (found, check) = needs_a_person(&core).await;
                    alerts = found;
                    checks.push(check);
                }
            }
            let buildable = available_providers(&core.config).map(drop);
            checks.push(("gateways", gateways(&core.config, buildable)));
            if asked.online {
                let id = core.parts.tools.entropy.uuid(core.parts.tools.now()).to_string();
                checks.push(("loops", doctor_online::loops(&core.config, &id).await));
                checks.extend(doctor_online::run(&core.config, &id).await);
            }
        }
    }
    Ok(report(&checks, &alerts))
}

/// The open alerts, and the check that reports them.
async fn needs_a_person(core: &Core) -> (Vec<Alert>, Check) {
    let alerts = core.management().map(|it| it.alerts.with_local(Arc::new(Machine::new(core))));
    let Ok(alerts) = alerts else {
        let detail = "not judged: the providers of these settings cannot be built";
        return (Vec::new(), ("alerts", warning(detail, OBEY)));
    };
    // The command line may read all alerts.
    let found = alerts.list(&Requester::command_line()).await.unwrap_or_default();
    let line = |alert: &Alert| {
        let Alert { kind, detail, since, .. } = alert;
        let since = since.map(|at| format!(", since {}", instant(at))).unwrap_or_default();
        format!("{kind}: {}: {detail}{since}; see {}", alert.title(), kind.runbook())
    };
    let finding = match found.is_empty() {
        true => ok("nothing needs a person now"),
        false => warning(lines(&found, line, ""), "each is gone when it is over"),
    };
    (found, ("alerts", finding))
}

/// The answer if the configuration cannot be read.
pub fn unconfigured(cause: &ConfigError) -> Answer {
    report(&[("configuration", failed(cause, OBEY))], &[])
}

fn any_failed(checks: &[Check]) -> bool {
    checks.iter().any(|(_, found)| found.status == Status::Failed)
}

/// The finding with every cause that it does not name.
fn whole(found: &Finding) -> String {
    let Finding { detail, causes, .. } = found;
    match causes.as_deref().filter(|causes| !detail.contains(causes)) {
        Some(causes) if causes.starts_with(detail) => causes.to_owned(),
        Some(causes) => format!("{detail}: {causes}"),
        None => detail.clone(),
    }
}

fn report(checks: &[Check], alerts: &[Alert]) -> Answer {
    let good = !any_failed(checks);
    let json_of = |(name, found): &Check| {
        let (Finding { status, advice, .. }, detail) = (found, whole(found));
        json!({ "name": name, "status": status.as_str(), "detail": detail, "advice": advice })
    };
    let json: Vec<Value> = checks.iter().map(json_of).collect();
    let colours = Colours::of(&std::io::stdout());
    let line = |(name, found): &Check| {
        let (Finding { status, advice, .. }, detail) = (found, whole(found));
        let advice = advice.map_or_else(String::new, |advice| {
            format!("\n{:12}{}", "", colours.paint(Colour::Dim, &format!("→ {advice}")))
        });
        let detail = detail.replace('\n', &format!("\n{:25}", ""));
        let colour = match status {
            Status::Ok => Colour::Green,
            Status::Warning => Colour::Yellow,
            Status::Failed => Colour::Red,
        };
        let mark = colours.paint(colour, &format!("{:<9}", status.as_str()));
        format!("{mark} {name:<14} {detail}{advice}")
    };
    let alerts: Vec<_> = alerts.iter().map(views::Alert::from).collect();
    let view = json!({ "ok": good, "checks": json, "alerts": alerts });
    Answer::judged(&view, lines(checks, line, ""), good)
}
