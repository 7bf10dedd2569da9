use super::answer::{Answer, lines, old_secret_until, shown_once};
use super::confirm::{Confirm, Person};
use super::failure::{Failure, of};
use super::open::{OneProject, Usage, open};
use crate::config::Config;
use crate::counted::counted;
use clap::{Args, Subcommand};
use dwar_admin::views::{
    self, AddedWebhook, EnabledWebhook, LoggedWebhookCall, Page, RemovedWebhook, ResentEvent,
    Webhook, WebhookCall, instant,
};
use dwar_console::{MOST_LISTED, Management};
use dwar_event::{CallFilter, Endpoint, EndpointCall, EventId};
use dwar_kernel::{EndpointId, Timestamp};
use dwar_operator::Requester;

#[derive(Subcommand)]
pub enum Command {
    /// Add an endpoint that receives the project's events, and print its secret, once
    Add {
        #[command(flatten)]
        of: OneProject,
        /// URL of the endpoint
        #[arg(long, value_name = "URL")]
        url: String,
        /// Include full phone numbers in events; otherwise they are masked
        #[arg(long)]
        full_phone: bool,
    },
    /// List the endpoints of a project
    List(OneProject),
    /// Remove an endpoint; events still waiting for it are dropped
    Remove {
        #[command(flatten)]
        it: OneWebhook,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Enable an endpoint that was disabled because it kept failing or answered 410
    Enable(OneWebhook),
    /// Rotate the secret of an endpoint; the old one also signs for a day
    RotateSecret(OneWebhook),
    /// Show the calls to an endpoint, newest first
    Log {
        #[command(flatten)]
        it: OneWebhook,
        /// Only failed calls
        #[arg(long)]
        failed: bool,
        /// Number of calls
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_LISTED)))]
        limit: u32,
    },
    /// Send a test event to an endpoint and print the result
    Test(OneWebhook),
    /// Send an event to an endpoint again
    Resend {
        #[command(flatten)]
        it: OneWebhook,
        /// Its webhook-id, as shown in the log
        #[arg(long, value_name = "ID")]
        event: EventId,
    },
}

#[derive(Args)]
pub struct OneWebhook {
    #[command(flatten)]
    of: OneProject,
    /// ID of the endpoint
    #[arg(long, value_name = "ID")]
    webhook: EndpointId,
}

impl Command {
    const fn of(&self) -> &OneProject {
        match self {
            Self::Add { of, .. } | Self::List(of) => of,
            Self::Remove { it, .. }
            | Self::Enable(it)
            | Self::RotateSecret(it)
            | Self::Test(it)
            | Self::Log { it, .. }
            | Self::Resend { it, .. } => &it.of,
        }
    }
}

pub async fn run(config: Config, command: Command, person: Person) -> Result<Answer, Failure> {
    let reads = matches!(command, Command::List(_) | Command::Log { .. });
    let core = open(config, Usage::of(reads)).await?;
    let Management { projects, endpoints, endpoint_log: log, .. } = core.management()?;
    let (by, now) = (Requester::command_line(), core.parts.tools.now());
    let project = command.of().id(&projects).await?;
    let refused = of(project);
    match command {
        Command::Add { url, full_phone, .. } => {
            let added = endpoints.add(&by, project, &url, full_phone).await;
            let (endpoint, secret) = added.map_err(&refused)?;
            let text = format!("{}\n{}", line(&endpoint, now), shown_once(&secret.expose()));
            Ok(Answer::of(&AddedWebhook::new(&endpoint, &secret), text))
        }
        Command::List(_) => {
            let listed = endpoints.list(&by, project).await.map_err(&refused)?;
            let text = lines(&listed, |endpoint| line(endpoint, now), "No endpoints yet.");
            let views = listed.iter().map(|endpoint| Webhook::new(endpoint, now));
            Ok(Answer::of(&Page::whole(views), text))
        }
        Command::Remove { it: OneWebhook { webhook: endpoint, .. }, confirm } => {
            if confirm.asks(person) {
                let listed = endpoints.list(&by, project).await.map_err(&refused)?;
                if let Some(Endpoint { url, .. }) = listed.iter().find(|one| one.id == endpoint) {
                    let question = format!(
                        "Remove the endpoint {url}? Events still waiting for it are dropped."
                    );
                    confirm.ask(person, &question)?;
                }
            }
            endpoints.remove(&by, project, endpoint).await.map_err(&refused)?;
            Ok(Answer::of(&RemovedWebhook::from(endpoint), "Removed.".to_owned()))
        }
        Command::Enable(OneWebhook { webhook: endpoint, .. }) => {
            endpoints.enable(&by, project, endpoint).await.map_err(&refused)?;
            let text = "Endpoint enabled. It receives events from now on.".to_owned();
            Ok(Answer::of(&EnabledWebhook::from(endpoint), text))
        }
        Command::RotateSecret(OneWebhook { webhook: endpoint, .. }) => {
            let rotated = endpoints.rotate_secret(&by, project, endpoint).await;
            let secret = rotated.map_err(&refused)?;
            Ok(Answer::of(
                &views::WebhookSecret::new(endpoint, &secret),
                shown_once(&secret.expose()),
            ))
        }
        Command::Log { it, failed, limit } => {
            let filter = CallFilter { failed, before: None };
            // This distinguishes an unknown endpoint from one that was not called yet.
            log.endpoint(&by, project, it.webhook).await.map_err(&refused)?;
            // One call more than the limit shows whether there are more.
            let calls = log.calls(&by, project, it.webhook, filter, limit + 1).await;
            let calls = calls.map_err(&refused)?;
            let shown = &calls[..calls.len().min(limit as usize)];
            let text = lines(shown, |logged| call_line(&logged.call), "No calls yet.");
            Ok(Answer::of(&LoggedWebhookCall::page(&calls, limit), text))
        }
        Command::Test(OneWebhook { webhook: endpoint, .. }) => {
            let call = log.test(&by, project, endpoint).await.map_err(&refused)?;
            let view = WebhookCall::from(&call);
            Ok(Answer::judged(&view, call_line(&call), call.outcome.is_ok()))
        }
        Command::Resend { it, event } => {
            log.resend(&by, project, it.webhook, &event).await.map_err(&refused)?;
            let text = "Event queued.".to_owned();
            Ok(Answer::of(&ResentEvent::new(it.webhook, &event), text))
        }
    }
}

fn call_line(call: &EndpointCall) -> String {
    let outcome = match call.outcome {
        Ok(status) => format!("accepted, {status}"),
        Err(cause) => cause.to_string(),
    };
    let again = call.again.map(|at| format!(", next attempt {}", instant(at))).unwrap_or_default();
    let (at, took) = (instant(call.at), call.took.as_millis());
    format!("{at}  {}  attempt {}: {outcome} ({took} ms){again}", call.event, call.number)
}

fn line(endpoint: &Endpoint, now: Timestamp) -> String {
    let phone = if endpoint.full_phone { ", full phone numbers" } else { "" };
    let state = match (endpoint.disabled_at, endpoint.failing) {
        (Some(at), _) => format!(", disabled since {}", instant(at)),
        (None, Some(failing)) => {
            let times = counted(failing.failures, "time", "times");
            format!(", failing since {}, {times}", instant(failing.since))
        }
        (None, None) => String::new(),
    };
    let old = old_secret_until(&endpoint.secret, now, "also signs");
    format!("{}  {}{phone}{state}{old}", endpoint.id, endpoint.url)
}
