use crate::Toolbox;
use dwar_event::{Endpoint, EventStore, NewSecret, WebhookSecret, WebhookSender};
use dwar_kernel::{EndpointId, ProjectId, Purpose, Sealed, StoreError};
use dwar_project::ProjectStore;
use std::sync::Arc;
use std::time::Duration;

/// How long a replaced secret signs along, so that receivers can change over.
const OVERLAP: Duration = Duration::from_secs(24 * 3_600);

/// Names the addresses that a project's events go to; driven by the command line.
pub struct ManageEndpoints {
    pub tools: Toolbox,
    /// Knows which projects exist.
    pub projects: Arc<dyn ProjectStore>,
    pub events: Arc<dyn EventStore>,
    /// Knows which addresses are allowed.
    pub sender: Arc<dyn WebhookSender>,
}

/// Why an endpoint was not made or changed.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// There is no such project.
    #[error("there is no project with this id")]
    NoSuchProject,
    /// The project has no such endpoint.
    #[error("the project has no endpoint with this id")]
    NoSuchEndpoint,
    /// The address is not one that events may go to.
    #[error(
        "events go to https:// addresses of public hosts only; events.allow_private allows others"
    )]
    Forbidden,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ManageEndpoints {
    /// Adds an endpoint; its secret is in the clear here and never again.
    pub async fn add(
        &self,
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
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<(), EndpointError> {
        let removed = self.events.remove_endpoint(project, endpoint).await?;
        if removed { Ok(()) } else { Err(EndpointError::NoSuchEndpoint) }
    }

    /// Switches an endpoint on that was switched off for failing.
    pub async fn enable(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<(), EndpointError> {
        let enabled = self.events.enable_endpoint(project, endpoint).await?;
        if enabled { Ok(()) } else { Err(EndpointError::NoSuchEndpoint) }
    }

    /// Gives an endpoint a new secret; the old one signs along for a day.
    pub async fn rotate_secret(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<WebhookSecret, EndpointError> {
        let secret = WebhookSecret::generate(self.tools.entropy.as_ref());
        let sealed = self.seal(endpoint, &secret);
        let new = NewSecret { secret: sealed, previous_until: self.tools.now() + OVERLAP };
        let replaced = self.events.replace_secret(project, endpoint, new).await?;
        if replaced { Ok(secret) } else { Err(EndpointError::NoSuchEndpoint) }
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
