use super::answer::instant;
use super::{Answer, Failure, look, no_such_project, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_app::EndpointError;
use dwar_event::{Endpoint, WebhookSecret};
use dwar_kernel::{EndpointId, ProjectId};
use serde_json::{Value, json};

#[derive(Subcommand)]
pub enum Command {
    /// Add an address that the project's events are posted to, and print its secret, once
    Add {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// Where events go
        #[arg(long, value_name = "URL")]
        url: String,
        /// Put the whole phone number into events instead of a masked one
        #[arg(long)]
        full_phone: bool,
    },
    /// List the addresses of a project
    List {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
    },
    /// Remove an address; what it has not been told yet is dropped
    Remove {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// The address's id
        #[arg(long, value_name = "ID")]
        endpoint: EndpointId,
    },
    /// Switch an address on again that was switched off because it kept failing
    Enable {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// The address's id
        #[arg(long, value_name = "ID")]
        endpoint: EndpointId,
    },
    /// Give an address a new secret; the old one signs along for a day
    RotateSecret {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// The address's id
        #[arg(long, value_name = "ID")]
        endpoint: EndpointId,
    },
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let core = match command {
        Command::List { .. } => look(config).await?,
        _ => open(config).await?,
    };
    let endpoints = core.parts.manage_endpoints(core.webhook_sender()?);
    match command {
        Command::Add { project, url, full_phone } => {
            let added = endpoints.add(project, &url, full_phone).await;
            let (endpoint, secret) = added.map_err(|cause| failure(cause, project))?;
            let mut json = json_of(&endpoint);
            json["secret"] = secret.expose().into();
            Ok(Answer::new(json, format!("{}\n{}", line(&endpoint), shown_once(&secret))))
        }
        Command::List { project } => {
            let listed = endpoints.list(project).await.map_err(|cause| failure(cause, project))?;
            let lines: Vec<String> = listed.iter().map(line).collect();
            let text = if lines.is_empty() {
                "Nobody is told anything.".to_owned()
            } else {
                lines.join("\n")
            };
            let json: Vec<Value> = listed.iter().map(json_of).collect();
            Ok(Answer::new(json!({ "endpoints": json }), text))
        }
        Command::Remove { project, endpoint } => {
            let removed = endpoints.remove(project, endpoint).await;
            removed.map_err(|cause| failure(cause, project))?;
            let json = json!({ "endpoint_id": endpoint.to_string(), "removed": true });
            Ok(Answer::new(json, "Removed.".to_owned()))
        }
        Command::Enable { project, endpoint } => {
            let enabled = endpoints.enable(project, endpoint).await;
            enabled.map_err(|cause| failure(cause, project))?;
            let json = json!({ "endpoint_id": endpoint.to_string(), "enabled": true });
            Ok(Answer::new(json, "It is told what happens from now on.".to_owned()))
        }
        Command::RotateSecret { project, endpoint } => {
            let rotated = endpoints.rotate_secret(project, endpoint).await;
            let secret = rotated.map_err(|cause| failure(cause, project))?;
            let json = json!({ "endpoint_id": endpoint.to_string(), "secret": secret.expose() });
            Ok(Answer::new(json, shown_once(&secret)))
        }
    }
}

fn shown_once(secret: &WebhookSecret) -> String {
    format!("Secret  {}\n\nIt is shown this once.", secret.expose())
}

fn json_of(endpoint: &Endpoint) -> Value {
    json!({
        "endpoint_id": endpoint.id.to_string(),
        "project_id": endpoint.project.to_string(),
        "url": endpoint.url,
        "full_phone": endpoint.full_phone,
        "created_at": instant(endpoint.created_at),
        "failures": endpoint.failing.map_or(0, |failing| failing.failures),
        "failing_since": endpoint.failing.map(|failing| instant(failing.since)),
        "disabled_at": endpoint.disabled_at.map(instant),
    })
}

fn line(endpoint: &Endpoint) -> String {
    let phone = if endpoint.full_phone { ", with whole phone numbers" } else { "" };
    let state = match (endpoint.disabled_at, endpoint.failing) {
        (Some(at), _) => format!(", switched off since {}", instant(at)),
        (None, Some(failing)) => {
            format!(", failing since {}, {} times", instant(failing.since), failing.failures)
        }
        (None, None) => String::new(),
    };
    format!("{}  {}{phone}{state}", endpoint.id, endpoint.url)
}

fn failure(cause: EndpointError, project: ProjectId) -> Failure {
    match cause {
        EndpointError::NoSuchProject => no_such_project(project),
        EndpointError::Store(cause) => cause.into(),
        cause => Failure(cause.to_string()),
    }
}
