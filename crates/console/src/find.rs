use crate::{Control, ManageError};
use dwar_event::EventStore;
use dwar_identity::IdentityStore;
use dwar_kernel::{EndpointId, IdentityId, KeyMode, OtpId, Phone, ProjectId, StoreError, TRACE};
use dwar_operator::{Command, Requester};
use dwar_otp::OtpStore;
use dwar_project::Project;
use std::str::FromStr;
use std::sync::Arc;
use tracing::instrument;

/// Most projects in a result, and most projects in which an id is looked up.
const MOST: usize = 10;

/// Finds projects by name and other records by their whole id, only those that the caller may see.
#[derive(Clone)]
pub struct FindRecords {
    pub(crate) control: Control,
    pub(crate) otps: Arc<dyn OtpStore>,
    pub(crate) identities: Arc<dyn IdentityStore>,
    pub(crate) events: Arc<dyn EventStore>,
}

/// One search result that the caller may see, with its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchResult {
    Project(Project),
    Request(Project, OtpId),
    Identity(Project, KeyMode, IdentityId),
    Endpoint(Project, EndpointId),
    Key(Project, KeyMode),
}

/// The results of a search by name, id or phone number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchResults {
    pub found: Vec<SearchResult>,
    /// A whole phone number, and the project in which the caller may search for it. The search itself is left
    /// to [`Activity::search`](crate::Activity::search), which limits and records it.
    pub number: Option<(Project, Phone)>,
}

impl FindRecords {
    /// The results for `text`, within the project that the caller looks at, if any. An empty text finds
    /// projects. Every look-up uses a key of the store, and their number is bounded.
    #[instrument(name = "find.find", target = TRACE, level = "error", skip_all)]
    pub async fn find(
        &self,
        by: &Requester,
        at: Option<ProjectId>,
        text: &str,
    ) -> Result<SearchResults, ManageError> {
        self.control.admit(by, Command::ListProjects, None)?;
        let mut all = self.control.projects.list().await?;
        all.retain(|project| by.access.knows(project.id));
        let text = text.trim();
        if let Ok(phone) = text.replace([' ', '-'], "").parse::<Phone>() {
            let near = all.iter().find(|project| at == Some(project.id));
            let near = near.or_else(|| all.first().filter(|_| all.len() == 1)).cloned();
            let may = |it: &Project| by.may(Command::SearchRequests, Some(it.id));
            let number = near.filter(may).map(|project| (project, phone));
            return Ok(SearchResults { number, ..SearchResults::default() });
        }
        let name = text.to_lowercase();
        let named =
            |it: &&Project| it.name.to_lowercase().contains(&name) || id_of(text) == Some(it.id);
        let mut found: Vec<_> =
            all.iter().filter(named).take(MOST).cloned().map(SearchResult::Project).collect();
        let near = all.iter().filter(|project| at.is_none_or(|at| at == project.id));
        for project in near.take(MOST) {
            found.extend(self.within(by, project, text).await?);
        }
        Ok(SearchResults { found, number: None })
    }

    async fn within(
        &self,
        by: &Requester,
        project: &Project,
        text: &str,
    ) -> Result<Vec<SearchResult>, StoreError> {
        let may = |command| by.may(command, Some(project.id));
        let mut found = Vec::new();
        let Some(otp) = id_of::<OtpId>(text) else { return Ok(found) };
        for mode in [KeyMode::Live, KeyMode::Test] {
            let project_mode = project.id.in_mode(mode);
            if may(Command::ShowRequest) && self.otps.find(project_mode, otp).await?.is_some() {
                found.push(SearchResult::Request(project.clone(), otp));
            }
            let Some(id) = id_of(text).filter(|_| may(Command::ShowIdentity)) else { continue };
            if self.identities.find(project_mode, id).await?.is_some() {
                found.push(SearchResult::Identity(project.clone(), mode, id));
            }
        }
        if may(Command::ListWebhooks) {
            let endpoints = self.events.endpoints(project.id).await?;
            let known = endpoints.iter().find(|known| id_of(text) == Some(known.id));
            found.extend(known.map(|known| SearchResult::Endpoint(project.clone(), known.id)));
        }
        if may(Command::ListKeys) {
            let keys = self.control.projects.keys(project.id).await?;
            let known = keys.iter().find(|known| id_of(text) == Some(known.id));
            found.extend(known.map(|known| SearchResult::Key(project.clone(), known.mode)));
        }
        Ok(found)
    }
}

fn id_of<Id: FromStr>(text: &str) -> Option<Id> {
    text.parse().ok()
}
