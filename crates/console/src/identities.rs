use crate::request_scan::{PATIENCE, RequestScan, WINDOW};
use crate::{AuditedChange, Control, ManageError};
use dwar_app::FoundIdentity;
use dwar_identity::{Erased, Identity, IdentityStore};
use dwar_kernel::{IdentityId, Phone, ProjectId, ProjectMode, SessionId, TRACE, Timestamp};
use dwar_operator::{Action, AuditDetails, Command, Requester};
use dwar_otp::{Otp, OtpHistory, OtpState};
use dwar_session::{IdentitySessions, Session, SessionCursor};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;
use tracing::instrument;

const LATEST: usize = 20;
const NO_IDENTITY: ManageError = ManageError::NotFound("such identity");

/// Identities that were verified lately, and how far back the search went.
#[derive(Debug)]
pub struct LatestIdentities {
    pub identities: Vec<FoundIdentity>,
    /// How far back requests were searched; `None` if all requests on record were searched.
    pub looked_back_to: Option<Timestamp>,
}

/// Shows and erases identities, and ends their sessions, for operators. The switches of a project for its API
/// keys do not apply.
#[derive(Clone)]
pub struct ManageIdentities {
    pub(crate) control: Control,
    pub(crate) identities: Arc<dyn IdentityStore>,
    pub(crate) sessions: Arc<dyn IdentitySessions>,
    pub(crate) requests: Arc<dyn OtpHistory>,
}

impl ManageIdentities {
    /// An identity by its id, with its phone number in clear.
    #[instrument(name = "identities.show", target = TRACE, level = "error", skip_all)]
    pub async fn show(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        id: IdentityId,
    ) -> Result<FoundIdentity, ManageError> {
        self.control.project(by, Command::ShowIdentity, project_mode.project).await?;
        let found = self.known(project_mode, id).await?;
        Ok(FoundIdentity::open(self.control.tools.vault.as_ref(), found)?)
    }

    /// An identity by its phone number. Searches are not counted: callers who may see identities may see
    /// numbers.
    #[instrument(name = "identities.find", target = TRACE, level = "error", skip_all)]
    pub async fn find(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        phone: &Phone,
    ) -> Result<FoundIdentity, ManageError> {
        self.control.project(by, Command::FindIdentity, project_mode.project).await?;
        let vault = self.control.tools.vault.as_ref();
        let index = vault.phone_index(project_mode, phone);
        let found = self.identities.find_by_phone(project_mode, index).await?;
        Ok(FoundIdentity::open(vault, found.ok_or(NO_IDENTITY)?)?)
    }

    /// Identities that were verified lately, newest first: at most 20, found in about 200 ms through their
    /// codes.
    #[instrument(name = "identities.latest", target = TRACE, level = "error", skip_all)]
    pub async fn latest(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
    ) -> Result<LatestIdentities, ManageError> {
        self.control.project(by, Command::ShowIdentity, project_mode.project).await?;
        let history = self.requests.as_ref();
        let (project_modes, failed, window, patience) =
            (vec![project_mode], false, WINDOW, PATIENCE);
        let scan = RequestScan { history, project_modes, failed, since: None, window, patience };
        let mut seen = HashSet::new();
        let is_wanted = |otp: &Otp| otp.state == OtpState::Used && seen.insert(otp.phone);
        let found = scan.find(None, LATEST, is_wanted).await?;
        let mut identities = Vec::new();
        for verified in found.requests {
            if let Some(known) = self.identities.find_by_phone(project_mode, verified.phone).await?
            {
                identities.push(FoundIdentity::open(self.control.tools.vault.as_ref(), known)?);
            }
        }
        identities.sort_by_key(|it| Reverse(it.last_verified_at));
        let looked_back_to = found.looked_back_to.filter(|_| found.next.is_some());
        Ok(LatestIdentities { identities, looked_back_to })
    }

    /// The identity of a phone whose requests were shown to the caller before, if there is one.
    #[instrument(name = "identities.of_phone", target = TRACE, level = "error", skip_all)]
    pub async fn of_phone(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        phone: &Phone,
    ) -> Result<Option<IdentityId>, ManageError> {
        self.control.project(by, Command::ShowIdentity, project_mode.project).await?;
        let index = self.control.tools.vault.phone_index(project_mode, phone);
        let known = self.identities.find_by_phone(project_mode, index).await?;
        Ok(known.map(|it| it.id))
    }

    /// Erases every trace of an identity (docs/contract.md, Identities).
    #[instrument(name = "identities.erase", target = TRACE, level = "error", skip_all)]
    pub async fn erase(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        id: IdentityId,
    ) -> Result<Erased, ManageError> {
        self.control.project(by, Command::EraseIdentity, project_mode.project).await?;
        let found = self.known(project_mode, id).await?;
        let facts = AuditDetails::new()
            .word("mode", project_mode.mode)
            .word("created_at", found.created_at.to_rfc3339())
            .word("last_verified_at", found.last_verified_at.to_rfc3339());
        let change = AuditedChange::new(Action::IdentityErased, id)
            .within(project_mode.project)
            .before(facts);
        self.control.record(by, change).await?;
        let now = self.control.tools.now();
        self.identities.erase(project_mode, id, now).await?.ok_or(NO_IDENTITY)
    }

    /// At most `limit` sessions of an identity after `after`, newest first, including ended ones that are
    /// still on record.
    #[instrument(name = "identities.sessions", target = TRACE, level = "error", skip_all)]
    pub async fn sessions(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        id: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, ManageError> {
        self.control.project(by, Command::ListSessions, project_mode.project).await?;
        self.known(project_mode, id).await?;
        Ok(self.sessions.of_identity(project_mode, id, after, limit).await?)
    }

    /// Ends one session. Its tokens do not work for any request that begins after this returns.
    ///
    /// # Errors
    /// [`ManageError::NotFound`] if the identity has no valid session with this id.
    #[instrument(name = "identities.end_session", target = TRACE, level = "error", skip_all)]
    pub async fn end_session(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        id: IdentityId,
        session: SessionId,
    ) -> Result<(), ManageError> {
        self.control.project(by, Command::EndSession, project_mode.project).await?;
        self.known(project_mode, id).await?;
        self.record(
            by,
            project_mode.project,
            id,
            AuditDetails::new().word("mode", project_mode.mode).word("session", session),
        )
        .await?;
        let now = self.control.tools.now();
        let ended = self.sessions.end_one(project_mode, id, session, now).await?;
        if ended { Ok(()) } else { Err(ManageError::NotFound("such session")) }
    }

    /// Ends every session of an identity, like [`ManageIdentities::end_session`]; returns how many ended.
    #[instrument(name = "identities.end_sessions", target = TRACE, level = "error", skip_all)]
    pub async fn end_sessions(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        id: IdentityId,
    ) -> Result<u64, ManageError> {
        self.control.project(by, Command::EndSessions, project_mode.project).await?;
        self.known(project_mode, id).await?;
        self.record(
            by,
            project_mode.project,
            id,
            AuditDetails::new().word("mode", project_mode.mode).word("session", "all"),
        )
        .await?;
        let now = self.control.tools.now();
        Ok(self.sessions.end_all(project_mode, id, now).await?)
    }

    async fn known(
        &self,
        project_mode: ProjectMode,
        id: IdentityId,
    ) -> Result<Identity, ManageError> {
        self.identities.find(project_mode, id).await?.ok_or(NO_IDENTITY)
    }

    async fn record(
        &self,
        by: &Requester,
        project: ProjectId,
        identity: IdentityId,
        ended: AuditDetails,
    ) -> Result<(), ManageError> {
        let change = AuditedChange::new(Action::SessionsEnded, identity).within(project);
        Ok(self.control.record(by, change.before(ended)).await?)
    }
}
