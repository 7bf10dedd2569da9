use crate::{AuditedChange, Control, ManageError};
use dwar_event::{Endpoint, EventStore, NewSecret, WebhookSecret, WebhookSender};
use dwar_kernel::{EndpointId, KeptSecret, ProjectId, Purpose, Sealed, TRACE, is_line};
use dwar_operator::{Action, AuditDetails, Command, Requester};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

const REFUSED_URL: &str = "events go to https:// addresses of public hosts only; \
                           events.allow_private allows others";

const LONGEST_URL: usize = 2_048;
const MALFORMED_URL: &str = "an address is at most 2048 visible characters on one line";

const TOO_MANY: ManageError = ManageError::Conflict(
    "A project has 20 endpoints at most. Remove one that is no longer needed.",
);

/// How long a replaced secret stays valid, so that receivers can switch to the new one.
pub(super) const OVERLAP: Duration = Duration::from_secs(24 * 3_600);

pub(super) const NO_ENDPOINT: ManageError =
    ManageError::NotFound("endpoint with this id in the project");

/// Manages the endpoints that receive a project's events.
#[derive(Clone)]
pub struct ManageEndpoints {
    pub control: Control,
    pub events: Arc<dyn EventStore>,
    pub sender: Arc<dyn WebhookSender>,
}

impl ManageEndpoints {
    /// Adds an endpoint; its secret is in clear only here.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] if the project has [`Endpoint::MOST`].
    #[instrument(name = "endpoints.add", target = TRACE, level = "error", skip_all)]
    pub async fn add(
        &self,
        by: &Requester,
        project: ProjectId,
        url: &str,
        full_phone: bool,
    ) -> Result<(Endpoint, WebhookSecret), ManageError> {
        self.control.project(by, Command::AddWebhook, project).await?;
        let url = url.trim();
        if !is_line(url, LONGEST_URL) {
            return Err(ManageError::invalid("url", MALFORMED_URL));
        }
        self.sender.allows(url).map_err(|_| ManageError::invalid("url", REFUSED_URL))?;
        if self.events.endpoints(project).await?.len() >= Endpoint::MOST {
            return Err(TOO_MANY);
        }
        let now = self.control.tools.now();
        let id = EndpointId::new(now, self.control.tools.entropy.as_ref());
        let secret = WebhookSecret::generate(self.control.tools.entropy.as_ref());
        let endpoint = Endpoint {
            id,
            project,
            url: url.to_owned(),
            full_phone,
            secret: KeptSecret::first(self.seal(id, &secret)),
            created_at: now,
            failing: None,
            disabled_at: None,
        };
        let change = AuditedChange::new(Action::EndpointAdded, id).within(project);
        self.control.record(by, change.after(facts(&endpoint))).await?;
        let added = self.events.add_endpoint(endpoint.clone()).await?;
        if added { Ok((endpoint, secret)) } else { Err(TOO_MANY) }
    }

    /// The endpoints of a project, oldest first, disabled ones included.
    #[instrument(name = "endpoints.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<Vec<Endpoint>, ManageError> {
        self.control.project(by, Command::ListWebhooks, project).await?;
        Ok(self.events.endpoints(project).await?)
    }

    /// Removes an endpoint of the project, and its undelivered events.
    #[instrument(name = "endpoints.remove", target = TRACE, level = "error", skip_all)]
    pub async fn remove(
        &self,
        by: &Requester,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<(), ManageError> {
        self.record(by, (Command::RemoveWebhook, Action::EndpointRemoved), project, endpoint)
            .await?;
        let removed = self.events.remove_endpoint(project, endpoint).await?;
        if removed { Ok(()) } else { Err(NO_ENDPOINT) }
    }

    /// Enables an endpoint that was disabled after failures.
    #[instrument(name = "endpoints.enable", target = TRACE, level = "error", skip_all)]
    pub async fn enable(
        &self,
        by: &Requester,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<(), ManageError> {
        self.record(by, (Command::EnableWebhook, Action::EndpointEnabled), project, endpoint)
            .await?;
        let enabled = self.events.enable_endpoint(project, endpoint).await?;
        if enabled { Ok(()) } else { Err(NO_ENDPOINT) }
    }

    /// Gives an endpoint a new secret; for a day, events are signed with the old one too.
    #[instrument(name = "endpoints.rotate_secret", target = TRACE, level = "error", skip_all)]
    pub async fn rotate_secret(
        &self,
        by: &Requester,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<WebhookSecret, ManageError> {
        self.record(
            by,
            (Command::RotateWebhookSecret, Action::EndpointSecretRotated),
            project,
            endpoint,
        )
        .await?;
        let secret = WebhookSecret::generate(self.control.tools.entropy.as_ref());
        let sealed = self.seal(endpoint, &secret);
        let new = NewSecret { secret: sealed, previous_until: self.control.tools.now() + OVERLAP };
        let replaced = self.events.replace_secret(project, endpoint, new).await?;
        if replaced { Ok(secret) } else { Err(NO_ENDPOINT) }
    }

    /// Records a change to an endpoint of the project before it is made.
    async fn record(
        &self,
        by: &Requester,
        (command, action): (Command, Action),
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<(), ManageError> {
        self.control.project(by, command, project).await?;
        let known = known(self.events.as_ref(), project, endpoint).await?;
        let change = AuditedChange::new(action, endpoint).within(project).before(facts(&known));
        Ok(self.control.record(by, change).await?)
    }

    fn seal(&self, endpoint: EndpointId, secret: &WebhookSecret) -> Sealed {
        let vault = self.control.tools.vault.as_ref();
        secret.seal(vault, Purpose::WebhookSecret, endpoint.uuid())
    }
}

pub(super) async fn known(
    events: &dyn EventStore,
    project: ProjectId,
    endpoint: EndpointId,
) -> Result<Endpoint, ManageError> {
    let known = events.endpoints(project).await?;
    known.into_iter().find(|known| known.id == endpoint).ok_or(NO_ENDPOINT)
}

/// Only the host of an address: its path may contain a secret of the receiver.
fn facts(endpoint: &Endpoint) -> AuditDetails {
    let rest = endpoint.url.split_once("://").map_or(endpoint.url.as_str(), |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    AuditDetails::new()
        .text("host", host)
        .flag("full_phone", endpoint.full_phone)
        .flag("enabled", endpoint.disabled_at.is_none())
}
