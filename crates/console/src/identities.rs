use crate::request_scan::{PATIENCE, RequestScan, WINDOW};
use crate::{AuditedChange, Control, ManageError};
use dwar_app::FoundIdentity;
use dwar_identity::{Erased, Identity, IdentityStore};
use dwar_kernel::{IdentityId, Phone, ProjectId, ProjectMode, SessionId, TRACE, Timestamp};
use dwar_operator::{Action, By, Command, Facts};
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
        by: &By,
        world: ProjectMode,
        id: IdentityId,
    ) -> Result<FoundIdentity, ManageError> {
        self.control.project(by, Command::ShowIdentity, world.project).await?;
        let found = self.known(world, id).await?;
        Ok(FoundIdentity::open(self.control.tools.vault.as_ref(), found)?)
    }

    /// An identity by its phone number. Searches are not counted: callers who may see identities may see
    /// numbers.
    #[instrument(name = "identities.find", target = TRACE, level = "error", skip_all)]
    pub async fn find(
        &self,
        by: &By,
        world: ProjectMode,
        phone: &Phone,
    ) -> Result<FoundIdentity, ManageError> {
        self.control.project(by, Command::FindIdentity, world.project).await?;
        let vault = self.control.tools.vault.as_ref();
        let index = vault.phone_index(world, phone);
        let found = self.identities.find_by_phone(world, index).await?;
        Ok(FoundIdentity::open(vault, found.ok_or(NO_IDENTITY)?)?)
    }

    /// Identities that were verified lately, newest first: at most 20, found in about 200 ms through their
    /// codes.
    #[instrument(name = "identities.latest", target = TRACE, level = "error", skip_all)]
    pub async fn latest(
        &self,
        by: &By,
        world: ProjectMode,
    ) -> Result<LatestIdentities, ManageError> {
        self.control.project(by, Command::ShowIdentity, world.project).await?;
        let history = self.requests.as_ref();
        let (worlds, failed, window, patience) = (vec![world], false, WINDOW, PATIENCE);
        let scan = RequestScan { history, worlds, failed, since: None, window, patience };
        let mut seen = HashSet::new();
        let is_wanted = |otp: &Otp| otp.state == OtpState::Used && seen.insert(otp.phone);
        let found = scan.find(None, LATEST, is_wanted).await?;
        let mut identities = Vec::new();
        for verified in found.requests {
            if let Some(known) = self.identities.find_by_phone(world, verified.phone).await? {
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
        by: &By,
        world: ProjectMode,
        phone: &Phone,
    ) -> Result<Option<IdentityId>, ManageError> {
        self.control.project(by, Command::ShowIdentity, world.project).await?;
        let index = self.control.tools.vault.phone_index(world, phone);
        let known = self.identities.find_by_phone(world, index).await?;
        Ok(known.map(|it| it.id))
    }

    /// Erases every trace of an identity (docs/contract.md, Identities).
    #[instrument(name = "identities.erase", target = TRACE, level = "error", skip_all)]
    pub async fn erase(
        &self,
        by: &By,
        world: ProjectMode,
        id: IdentityId,
    ) -> Result<Erased, ManageError> {
        self.control.project(by, Command::EraseIdentity, world.project).await?;
        let found = self.known(world, id).await?;
        let facts = Facts::new()
            .word("mode", world.mode)
            .word("created_at", found.created_at.to_rfc3339())
            .word("last_verified_at", found.last_verified_at.to_rfc3339());
        let change =
            AuditedChange::new(Action::IdentityErased, id).within(world.project).before(facts);
        self.control.record(by, change).await?;
        let now = self.control.tools.now();
        self.identities.erase(world, id, now).await?.ok_or(NO_IDENTITY)
    }

    /// At most `limit` sessions of an identity after `after`, newest first, including ended ones that are
    /// still on record.
    #[instrument(name = "identities.sessions", target = TRACE, level = "error", skip_all)]
    pub async fn sessions(
        &self,
        by: &By,
        world: ProjectMode,
        id: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, ManageError> {
        self.control.project(by, Command::ListSessions, world.project).await?;
        self.known(world, id).await?;
        Ok(self.sessions.of_identity(world, id, after, limit).await?)
    }

    /// Ends one session. Its tokens do not work for any request that begins after this returns.
    ///
    /// # Errors
    /// [`ManageError::NotFound`] if the identity has no valid session with this id.
    #[instrument(name = "identities.end_session", target = TRACE, level = "error", skip_all)]
    pub async fn end_session(
        &self,
        by: &By,
        world: ProjectMode,
        id: IdentityId,
        session: SessionId,
    ) -> Result<(), ManageError> {
        self.control.project(by, Command::EndSession, world.project).await?;
        self.known(world, id).await?;
        self.record(
            by,
            world.project,
            id,
            Facts::new().word("mode", world.mode).word("session", session),
        )
        .await?;
        let now = self.control.tools.now();
        let ended = self.sessions.end_one(world, id, session, now).await?;
        if ended { Ok(()) } else { Err(ManageError::NotFound("such session")) }
    }

    /// Ends every session of an identity, like [`ManageIdentities::end_session`]; returns how many ended.
    #[instrument(name = "identities.end_sessions", target = TRACE, level = "error", skip_all)]
    pub async fn end_sessions(
        &self,
        by: &By,
        world: ProjectMode,
        id: IdentityId,
    ) -> Result<u64, ManageError> {
        self.control.project(by, Command::EndSessions, world.project).await?;
        self.known(world, id).await?;
        self.record(
            by,
            world.project,
            id,
            Facts::new().word("mode", world.mode).word("session", "all"),
        )
        .await?;
        let now = self.control.tools.now();
        Ok(self.sessions.end_all(world, id, now).await?)
    }

    async fn known(&self, world: ProjectMode, id: IdentityId) -> Result<Identity, ManageError> {
        self.identities.find(world, id).await?.ok_or(NO_IDENTITY)
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
