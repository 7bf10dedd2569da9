use crate::refusals::refusals;
use crate::{Audit, Change, Toolbox};
use dwar_event::{Endpoint, EventStore, NewSecret, WebhookSecret, WebhookSender};
use dwar_kernel::{EndpointId, ProjectId, Purpose, Sealed};
use dwar_operator::{Action, By, Facts};
use dwar_project::ProjectStore;
use std::sync::Arc;
use std::time::Duration;

/// How long a replaced secret signs along, so that receivers can change over.
const OVERLAP: Duration = Duration::from_secs(24 * 3_600);

/// Names the addresses that a project's events go to; driven by the command line.
pub struct ManageEndpoints {
    pub tools: Toolbox,
    pub projects: Arc<dyn ProjectStore>,
    pub events: Arc<dyn EventStore>,
    pub sender: Arc<dyn WebhookSender>,
    pub audit: Audit,
}

refusals! {
    /// Why an endpoint was not made or changed.
    EndpointError {
        NoSuchProject = "there is no project with this id",
        NoSuchEndpoint = "the project has no endpoint with this id",
        Forbidden = "events go to https:// addresses of public hosts only; \
                     events.allow_private allows others",
        NotAllowed = "your role does not allow this",
    }
}

impl ManageEndpoints {
    /// Adds an endpoint; its secret is in the clear here and never again.
    pub async fn add(
        &self,
        by: &By,
        project: ProjectId,
        url: &str,
        full_phone: bool,
    ) -> Result<(Endpoint, WebhookSecret), EndpointError> {
        self.must_exist(project).await?;
        self.sender.allows(url).map_err(|_| EndpointError::Forbidden)?;
        let now = self.tools.now();
        let id = EndpointId::new(now, self.tools.entropy.as_ref());
        let secret = WebhookSecret::generate(self.tools.entropy.as_ref());
        let endpoint = Endpoint {
            id,
            project,
            url: url.to_owned(),
            full_phone,
            secret: self.seal(id, &secret),
            previous: None,
            created_at: now,
            failing: None,
            disabled_at: None,
        };
        let change = Change::new(Action::EndpointAdded, id).within(project);
        self.audit.record(by, change.after(facts(&endpoint))).await?;
        self.events.add_endpoint(endpoint.clone()).await?;
        Ok((endpoint, secret))
    }

    /// The endpoints of a project, oldest first.
    pub async fn list(&self, project: ProjectId) -> Result<Vec<Endpoint>, EndpointError> {
        self.must_exist(project).await?;
        Ok(self.events.endpoints(project).await?)
    }

    /// Removes an endpoint, and what it has not been told yet.
    pub async fn remove(
        &self,
        by: &By,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<(), EndpointError> {
        self.record(by, Action::EndpointRemoved, project, endpoint).await?;
        let removed = self.events.remove_endpoint(project, endpoint).await?;
        if removed { Ok(()) } else { Err(EndpointError::NoSuchEndpoint) }
    }

    /// Switches an endpoint on that was switched off for failing.
    pub async fn enable(
        &self,
        by: &By,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<(), EndpointError> {
        self.record(by, Action::EndpointEnabled, project, endpoint).await?;
        let enabled = self.events.enable_endpoint(project, endpoint).await?;
        if enabled { Ok(()) } else { Err(EndpointError::NoSuchEndpoint) }
    }

    /// Gives an endpoint a new secret; the old one signs along for a day.
    pub async fn rotate_secret(
        &self,
        by: &By,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<WebhookSecret, EndpointError> {
        self.record(by, Action::EndpointSecretRotated, project, endpoint).await?;
        let secret = WebhookSecret::generate(self.tools.entropy.as_ref());
        let sealed = self.seal(endpoint, &secret);
        let new = NewSecret { secret: sealed, previous_until: self.tools.now() + OVERLAP };
        let replaced = self.events.replace_secret(project, endpoint, new).await?;
        if replaced { Ok(secret) } else { Err(EndpointError::NoSuchEndpoint) }
    }

    /// What is about to be done to an endpoint of the project.
    async fn record(
        &self,
        by: &By,
        action: Action,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<(), EndpointError> {
        let endpoints = self.events.endpoints(project).await?;
        let known = endpoints.iter().find(|known| known.id == endpoint);
        let known = known.ok_or(EndpointError::NoSuchEndpoint)?;
        let change = Change::new(action, endpoint).within(project).before(facts(known));
        Ok(self.audit.record(by, change).await?)
    }

    fn seal(&self, endpoint: EndpointId, secret: &WebhookSecret) -> Sealed {
        let (context, plain) = (endpoint.uuid(), secret.expose());
        self.tools.vault.seal(Purpose::WebhookSecret, context.as_bytes(), plain.as_bytes())
    }

    async fn must_exist(&self, project: ProjectId) -> Result<(), EndpointError> {
        let found = self.projects.find(project).await?;
        found.map(drop).ok_or(EndpointError::NoSuchProject)
    }
}

/// The host alone of an address: what follows it may be a secret of its receiver.
fn facts(endpoint: &Endpoint) -> Facts {
    let rest = endpoint.url.split_once("://").map_or(endpoint.url.as_str(), |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    Facts::new()
        .text("host", host)
        .flag("full_phone", endpoint.full_phone)
        .flag("enabled", endpoint.disabled_at.is_none())
}
