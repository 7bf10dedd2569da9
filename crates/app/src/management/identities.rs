use super::activity::LOOKED_THROUGH;
use crate::{AuditedChange, Control, FoundIdentity, ManageError};
use dwar_identity::{Erased, Identity, IdentityStore};
use dwar_kernel::{IdentityId, KeyMode, Phone, ProjectId, SessionId, TRACE};
use dwar_operator::{Action, By, Command, Facts};
use dwar_otp::{OtpHistory, OtpState};
use dwar_session::{IdentitySessions, Session, SessionCursor};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;
use tracing::instrument;

/// Identities that a list of the latest shows.
const LATEST: usize = 20;
const NO_IDENTITY: ManageError = ManageError::NotFound("such identity");

/// Shows identities and their sessions to those who run the service, erases and ends them, whatever the
/// project allows its API keys.
#[derive(Clone)]
pub struct ManageIdentities {
    pub(crate) control: Control,
    pub(crate) identities: Arc<dyn IdentityStore>,
    pub(crate) sessions: Arc<dyn IdentitySessions>,
    pub(crate) requests: Arc<dyn OtpHistory>,
}

impl ManageIdentities {
    /// An identity by its id.
    #[instrument(name = "identities.show", target = TRACE, level = "error", skip_all)]
    pub async fn show(
        &self,
        by: &By,
        world: (ProjectId, KeyMode),
        id: IdentityId,
    ) -> Result<FoundIdentity, ManageError> {
        self.control.project(by, Command::ShowIdentity, world.0).await?;
        let found = self.known(world, id).await?;
        Ok(FoundIdentity::open(self.control.tools.vault.as_ref(), found)?)
    }

    /// An identity by its phone number. Searches are not counted: whoever may see identities may see numbers.
    #[instrument(name = "identities.find", target = TRACE, level = "error", skip_all)]
    pub async fn find(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
        phone: &Phone,
    ) -> Result<FoundIdentity, ManageError> {
        self.control.project(by, Command::FindIdentity, project).await?;
        let vault = self.control.tools.vault.as_ref();
        let index = vault.phone_index(project, mode, phone);
        let found = self.identities.find_by_phone(project, mode, index).await?;
        Ok(FoundIdentity::open(vault, found.ok_or(NO_IDENTITY)?)?)
    }

    /// Who gave a right code lately, newest first: the last 20 of them whose codes are among the newest
    /// 500 requests of the project.
    #[instrument(name = "identities.latest", target = TRACE, level = "error", skip_all)]
    pub async fn latest(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
    ) -> Result<Vec<FoundIdentity>, ManageError> {
        self.control.project(by, Command::ShowIdentity, project).await?;
        let newest = self.requests.newest(project, None, LOOKED_THROUGH).await?;
        let verified = newest.iter().filter(|it| it.mode == mode && it.state == OtpState::Used);
        let mut seen = HashSet::new();
        let phones = verified.map(|it| it.phone).filter(|phone| seen.insert(*phone));
        let mut latest = Vec::new();
        for phone in phones.take(LATEST) {
            if let Some(known) = self.identities.find_by_phone(project, mode, phone).await? {
                latest.push(FoundIdentity::open(self.control.tools.vault.as_ref(), known)?);
            }
        }
        latest.sort_by_key(|it| Reverse(it.last_verified_at));
        Ok(latest)
    }

    /// The identity of a phone whose requests the caller was shown before, if it has one.
    #[instrument(name = "identities.of_phone", target = TRACE, level = "error", skip_all)]
    pub async fn of_phone(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
        phone: &Phone,
    ) -> Result<Option<IdentityId>, ManageError> {
        self.control.project(by, Command::ShowIdentity, project).await?;
        let index = self.control.tools.vault.phone_index(project, mode, phone);
        let known = self.identities.find_by_phone(project, mode, index).await?;
        Ok(known.map(|it| it.id))
    }

    /// Erases every trace of an identity (docs/contract.md, Identities).
    #[instrument(name = "identities.erase", target = TRACE, level = "error", skip_all)]
    pub async fn erase(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
        id: IdentityId,
    ) -> Result<Erased, ManageError> {
        self.control.project(by, Command::EraseIdentity, project).await?;
        let found = self.known((project, mode), id).await?;
        let facts = Facts::new()
            .word("mode", mode)
            .word("created_at", found.created_at.to_rfc3339())
            .word("last_verified_at", found.last_verified_at.to_rfc3339());
        let change = AuditedChange::new(Action::IdentityErased, id).within(project).before(facts);
        self.control.record(by, change).await?;
        let now = self.control.tools.now();
        self.identities.erase(project, mode, id, now).await?.ok_or(NO_IDENTITY)
    }

    /// The sessions of an identity, newest first, starting after `after`, at most `limit`: ended
    /// ones too, as long as they are on record.
    #[instrument(name = "identities.sessions", target = TRACE, level = "error", skip_all)]
    pub async fn sessions(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
        id: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, ManageError> {
        self.control.project(by, Command::ListSessions, project).await?;
        self.known((project, mode), id).await?;
        Ok(self.sessions.of_identity(project, mode, id, after, limit).await?)
    }

    /// Ends one session. Neither of its tokens works for any request that begins after this returns.
    ///
    /// # Errors
    /// [`ManageError::NotFound`] if the identity has no valid one with this id.
    #[instrument(name = "identities.end_session", target = TRACE, level = "error", skip_all)]
    pub async fn end_session(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
        id: IdentityId,
        session: SessionId,
    ) -> Result<(), ManageError> {
        self.control.project(by, Command::EndSession, project).await?;
        self.known((project, mode), id).await?;
        self.record(by, project, id, Facts::new().word("mode", mode).word("session", session))
            .await?;
        let now = self.control.tools.now();
        let ended = self.sessions.end_one(project, mode, id, session, now).await?;
        if ended { Ok(()) } else { Err(ManageError::NotFound("such session")) }
    }

    /// Ends every session of an identity, as [`ManageIdentities::end_session`] does; gives how many
    /// ended.
    #[instrument(name = "identities.end_sessions", target = TRACE, level = "error", skip_all)]
    pub async fn end_sessions(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
        id: IdentityId,
    ) -> Result<u64, ManageError> {
        self.control.project(by, Command::EndSessions, project).await?;
        self.known((project, mode), id).await?;
        self.record(by, project, id, Facts::new().word("mode", mode).word("session", "all"))
            .await?;
        let now = self.control.tools.now();
        Ok(self.sessions.end_all(project, mode, id, now).await?)
    }

    async fn known(
        &self,
        (project, mode): (ProjectId, KeyMode),
        id: IdentityId,
    ) -> Result<Identity, ManageError> {
        self.identities.find(project, mode, id).await?.ok_or(NO_IDENTITY)
    }

    async fn record(
        &self,
        by: &By,
        project: ProjectId,
        identity: IdentityId,
        ended: Facts,
    ) -> Result<(), ManageError> {
        let change = AuditedChange::new(Action::SessionsEnded, identity).within(project);
        Ok(self.control.record(by, change.before(ended)).await?)
    }
}
