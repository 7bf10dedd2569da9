use crate::PublicKeys;
use crate::refusals::refusals;
use dwar_kernel::{ProjectId, TRACE};
use dwar_project::ProjectStore;
use dwar_session::{JwkSet, issuer_of};
use std::sync::Arc;
use tracing::instrument;

/// Publishes the issuer and keys of a project with an issuer of its own, for those who verify its tokens
/// (`/p/{project}/.well-known/…`).
pub struct ProjectIssuer {
    pub projects: Arc<dyn ProjectStore>,
    /// The keys of the installation, which sign these tokens too.
    pub keys: Arc<PublicKeys>,
    /// The issuer in tokens of other projects (`tokens.issuer`).
    pub installation: String,
}

/// An issuer and its public keys, as verifiers of its tokens need them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedIssuer {
    /// The `iss` of its tokens, and the base address of its metadata.
    pub issuer: String,
    pub keys: JwkSet,
}

refusals! {
    ProjectIssuerError {
        /// There is no such project, it is archived, or it has no issuer of its own.
        NotFound = "no such issuer",
    }
}

impl ProjectIssuer {
    /// The issuer of this project, if it has one of its own.
    #[instrument(name = "project_issuer", target = TRACE, level = "error", skip_all)]
    pub async fn find(&self, project: ProjectId) -> Result<PublishedIssuer, ProjectIssuerError> {
        let found = self.projects.find(project).await?;
        let in_use = found.filter(|found| found.own_issuer && found.archived_at.is_none());
        let project = in_use.ok_or(ProjectIssuerError::NotFound)?;
        let issuer = issuer_of(&self.installation, project.id);
        Ok(PublishedIssuer { issuer, keys: self.keys.publish().await? })
    }
}
