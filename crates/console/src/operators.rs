use crate::{AuditedChange, Control, ManageError};
use dwar_kernel::{OperatorId, StoreError, TRACE, Timestamp};
use dwar_operator::{
    Access, Action, Area, AuditDetails, Command, InvalidName, LinkKind, LinkSecret, Lockout,
    OneTimeLink, Operator, OperatorChange, OperatorName, OperatorStore, Passkey, PasskeyStore,
    Permission, Requester,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use tracing::instrument;

/// Invites operators, changes their access, and removes them.
#[derive(Clone)]
pub struct ManageOperators {
    pub(crate) control: Control,
    pub(crate) operators: Arc<dyn OperatorStore>,
    pub(crate) passkeys: Arc<dyn PasskeyStore>,
}

/// How an operator can sign in at present, besides by password and second factor.
#[derive(Clone, Debug, Default)]
pub struct SignInState {
    /// When the link for choosing a first password expires, if there is one.
    pub link_until: Option<Timestamp>,
    /// Oldest first.
    pub passkeys: Vec<Passkey>,
    pub lockout: Lockout,
}

/// An operator with a new sign-in link; the secret of the link is in clear only here.
#[derive(Debug)]
pub struct Invited {
    pub operator: Operator,
    pub secret: LinkSecret,
    pub expires_at: Timestamp,
}

const NO_OPERATOR: ManageError = ManageError::NotFound("such operator");
const HAS_BEEN_IN: ManageError =
    ManageError::Conflict("They have signed in already, so there is no invitation to renew.");
const NAME_TAKEN: ManageError = ManageError::Conflict("An operator with this name already exists.");

impl ManageOperators {
    /// Makes an operator with a link for choosing a password, valid for three days.
    #[instrument(name = "operators.invite", target = TRACE, level = "error", skip_all)]
    pub async fn invite(
        &self,
        by: &Requester,
        name: &str,
        access: Access,
    ) -> Result<Invited, ManageError> {
        self.control.admit(by, Command::InviteOperator, None)?;
        let name = named(name)?;
        self.control.may_grant(by, &access)?;
        self.control.projects_exist(&access).await?;
        if self.operators.find_by_name(name.clone()).await?.is_some() {
            return Err(NAME_TAKEN);
        }
        let (invited, link) = self.compose(name, access, LinkKind::Password);
        let facts = AuditDetails::new().word("access", &invited.operator.access);
        let change = about(&invited.operator, Action::OperatorInvited).after(facts);
        self.control.record(by, change).await?;
        let made = self.operators.invite(invited.operator.clone(), link).await?;
        if made { Ok(invited) } else { Err(NAME_TAKEN) }
    }

    /// Makes an owner of the installation with a link that signs in once, if there is no operator yet; for
    /// the first start on a developer's machine.
    #[instrument(name = "operators.invite_first", target = TRACE, level = "error", skip_all)]
    pub async fn invite_first(&self, name: OperatorName) -> Result<Option<Invited>, StoreError> {
        if !self.operators.list().await?.is_empty() {
            return Ok(None);
        }
        let (invited, link) = self.compose(name, Access::everything(), LinkKind::SignIn);
        let facts = AuditDetails::new().word("access", &invited.operator.access);
        let change = about(&invited.operator, Action::OperatorInvited).after(facts);
        self.control.record(&Requester::command_line(), change).await?;
        let made = self.operators.invite_first(invited.operator.clone(), link).await?;
        Ok(made.then_some(invited))
    }

    /// The operators that the caller may see: those of projects whose team the caller sees, or all.
    #[instrument(name = "operators.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(&self, by: &Requester) -> Result<Vec<Operator>, ManageError> {
        self.control.admit(by, Command::ListOperators, None)?;
        let mut operators = self.operators.list().await?;
        let see = |operator: &Operator| {
            let mut projects = operator.access.projects.keys();
            projects.any(|project| by.access.may(*project, Permission::See(Area::Team)))
        };
        operators.retain(|operator| by.access.everything || see(operator));
        Ok(operators)
    }

    /// The operator with this name, ignoring case. Checks no right.
    #[instrument(name = "operators.named", target = TRACE, level = "error", skip_all)]
    pub async fn named(&self, name: &str) -> Result<Operator, ManageError> {
        self.operators.find_by_name(named(name)?).await?.ok_or(NO_OPERATOR)
    }

    /// How each of these operators can sign in at present.
    #[instrument(name = "operators.sign_in_states", target = TRACE, level = "error", skip_all)]
    pub async fn sign_in_states(
        &self,
        by: &Requester,
        operators: &[Operator],
    ) -> Result<BTreeMap<OperatorId, SignInState>, ManageError> {
        self.control.admit(by, Command::ListOperators, None)?;
        let now = self.control.tools.now();
        let mut lockouts = Lockout::of(self.operators.failure_counters(now).await?, now);
        let state = |one: &Operator| {
            let lockout = lockouts.remove(&one.id).unwrap_or_default();
            (one.id, SignInState { lockout, ..SignInState::default() })
        };
        let mut states: BTreeMap<_, _> = operators.iter().map(state).collect();
        for passkey in self.passkeys.all_passkeys().await? {
            if let Some(state) = states.get_mut(&passkey.operator) {
                state.passkeys.push(passkey);
            }
        }
        for link in self.operators.links().await?.iter().filter(|link| link.is_open(now)) {
            let without =
                operators.iter().any(|one| one.id == link.operator && one.password.is_none());
            if let Some(state) = states.get_mut(&link.operator).filter(|_| without) {
                state.link_until = Some(link.expires_at);
            }
        }
        Ok(states)
    }

    /// Forgets the failed sign-ins of an operator, so that nothing is locked or slowed any more; returns the
    /// operator.
    #[instrument(name = "operators.unlock", target = TRACE, level = "error", skip_all)]
    pub async fn unlock(
        &self,
        by: &Requester,
        operator: OperatorId,
    ) -> Result<Operator, ManageError> {
        self.control.admit(by, Command::UnlockOperator, None)?;
        let operator = self.find(by, operator).await?;
        self.control.record(by, about(&operator, Action::OperatorUnlocked)).await?;
        self.operators.forget_failures(operator.id).await?;
        Ok(operator)
    }

    /// Makes a new link for an operator who was invited and has never signed in; the old link stops working.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] for an operator who has signed in before.
    #[instrument(name = "operators.renew_invitation", target = TRACE, level = "error", skip_all)]
    pub async fn renew_invitation(
        &self,
        by: &Requester,
        operator: OperatorId,
    ) -> Result<Invited, ManageError> {
        self.control.admit(by, Command::RenewInvitation, None)?;
        let operator = self.find(by, operator).await?;
        if !operator.is_invited() {
            return Err(HAS_BEEN_IN);
        }
        self.control.record(by, about(&operator, Action::InvitationRenewed)).await?;
        let (secret, link) = self.link(operator.id, LinkKind::Password);
        let expires_at = link.expires_at;
        let renewed = self.operators.renew_link(link).await?;
        if renewed { Ok(Invited { operator, secret, expires_at }) } else { Err(HAS_BEEN_IN) }
    }

    /// Changes the access of an operator, from the operator's next request on. If nothing differs, nothing is
    /// changed or recorded.
    #[instrument(name = "operators.change_access", target = TRACE, level = "error", skip_all)]
    pub async fn change_access(
        &self,
        by: &Requester,
        operator: OperatorId,
        access: Access,
    ) -> Result<(), ManageError> {
        let before = self.admit_access(by, operator, &access).await?;
        if before.access == access {
            return Ok(());
        }
        let change = about(&before, Action::OperatorChanged)
            .before(AuditDetails::new().word("access", &before.access))
            .after(AuditDetails::new().word("access", &access));
        self.control.record(by, change).await?;
        let change = OperatorChange::Access(access);
        done(self.operators.change(operator, change, None).await?)
    }

    /// Checks whether the caller may change the operator's access to this, and returns the present operator;
    /// changes nothing.
    ///
    /// # Errors
    /// Those of [`ManageOperators::change_access`].
    #[instrument(name = "operators.admit_access", target = TRACE, level = "error", skip_all)]
    pub async fn admit_access(
        &self,
        by: &Requester,
        operator: OperatorId,
        access: &Access,
    ) -> Result<Operator, ManageError> {
        self.control.admit(by, Command::ChangeOperator, None)?;
        let present = self.find(by, operator).await?;
        self.control.may_grant(by, access)?;
        self.control.projects_exist(access).await?;
        Ok(present)
    }

    /// Removes password and second factor of an operator, ends the sessions, and makes a new link.
    ///
    /// # Errors
    /// [`ManageError::Forbidden`] unless the caller is the command line.
    #[instrument(name = "operators.reset", target = TRACE, level = "error", skip_all)]
    pub async fn reset(
        &self,
        by: &Requester,
        operator: OperatorId,
    ) -> Result<Invited, ManageError> {
        self.control.admit(by, Command::ResetOperator, None)?;
        let mut operator = self.find(by, operator).await?;
        let facts = AuditDetails::new()
            .flag("password", operator.password.is_some())
            .flag("totp", operator.totp.is_some());
        let after = AuditDetails::new().flag("password", false).flag("totp", false);
        let change = about(&operator, Action::OperatorReset).before(facts).after(after);
        self.control.record(by, change).await?;
        operator.reset();
        let (secret, link) = self.link(operator.id, LinkKind::Password);
        let expires_at = link.expires_at;
        done(self.operators.reset(operator.id, link).await?)?;
        Ok(Invited { operator, secret, expires_at })
    }

    /// Removes an operator and ends the sessions. Tokens that the operator made stay valid.
    #[instrument(name = "operators.remove", target = TRACE, level = "error", skip_all)]
    pub async fn remove(&self, by: &Requester, operator: OperatorId) -> Result<(), ManageError> {
        self.control.admit(by, Command::RemoveOperator, None)?;
        let before = self.find(by, operator).await?;
        let facts = AuditDetails::new().word("access", &before.access);
        self.control.record(by, about(&before, Action::OperatorRemoved).before(facts)).await?;
        done(self.operators.remove(operator).await?)
    }

    /// Loads an operator whom the caller may change.
    async fn find(&self, by: &Requester, operator: OperatorId) -> Result<Operator, ManageError> {
        let found = self.operators.find(operator).await?.ok_or(NO_OPERATOR)?;
        self.control.may_grant(by, &found.access)?;
        Ok(found)
    }

    fn compose(
        &self,
        name: OperatorName,
        access: Access,
        kind: LinkKind,
    ) -> (Invited, OneTimeLink) {
        let now = self.control.tools.now();
        let id = OperatorId::new(now, self.control.tools.entropy.as_ref());
        let operator = Operator {
            id,
            name,
            access,
            password: None,
            totp: None,
            created_at: now,
            signed_in_at: None,
        };
        let (secret, link) = self.link(id, kind);
        (Invited { operator, secret, expires_at: link.expires_at }, link)
    }

    fn link(&self, operator: OperatorId, kind: LinkKind) -> (LinkSecret, OneTimeLink) {
        let now = self.control.tools.now();
        let secret = LinkSecret::generate(self.control.tools.entropy.as_ref());
        let lifetime = match kind {
            LinkKind::Password => OneTimeLink::INVITE,
            LinkKind::SignIn => OneTimeLink::FIRST,
        };
        let digest = secret.digest(self.control.tools.vault.as_ref());
        (secret, OneTimeLink { digest, operator, kind, made_at: now, expires_at: now + lifetime })
    }
}

fn about(operator: &Operator, action: Action) -> AuditedChange {
    AuditedChange::new(action, &operator.name).within(operator.access.project())
}

fn named(name: &str) -> Result<OperatorName, ManageError> {
    name.parse().map_err(|cause: InvalidName| ManageError::invalid("name", cause))
}

fn done(done: bool) -> Result<(), ManageError> {
    if done { Ok(()) } else { Err(NO_OPERATOR) }
}
