use crate::PublicKeys;
use crate::refusals::refusals;
use dwar_kernel::{ProjectId, TRACE};
use dwar_project::ProjectStore;
use dwar_session::{JwkSet, issuer_of};
use std::sync::Arc;
use tracing::instrument;

/// Says what others need to verify the tokens of a project with an issuer of its own (`/p/{project}/.well-known/…`).
pub struct ProjectIssuer {
    pub projects: Arc<dyn ProjectStore>,
    /// The keys; they are those of the installation.
    pub keys: Arc<PublicKeys>,
    /// What tokens of other projects name as their issuer (`tokens.issuer`).
    pub installation: String,
}

/// An issuer, and what it signs with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedIssuer {
    /// The `iss` of its tokens, and the address below which this is found.
    pub issuer: String,
    pub keys: JwkSet,
}

refusals! {
    ProjectIssuerError {
        /// There is no such project, it is archived, or its tokens name the installation.
        NotFound = "no such issuer",
    }
}

impl ProjectIssuer {
    /// The issuer of this project.
    #[instrument(name = "project_issuer", target = TRACE, level = "error", skip_all)]
    pub async fn find(&self, project: ProjectId) -> Result<PublishedIssuer, ProjectIssuerError> {
        let found = self.projects.find(project).await?;
        let in_use = found.filter(|found| found.own_issuer && found.archived_at.is_none());
        let project = in_use.ok_or(ProjectIssuerError::NotFound)?;
        let issuer = issuer_of(&self.installation, project.id);
        Ok(PublishedIssuer { issuer, keys: self.keys.publish().await? })
    }
}
