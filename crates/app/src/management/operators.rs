use crate::{AdminError, Audit, Change, Toolbox};
use dwar_kernel::{OperatorId, StoreError, Timestamp};
use dwar_operator::{
    Access, Action, Actor, Area, By, Facts, InvalidName, Link, LinkKind, LinkSecret, Operator,
    OperatorChange, OperatorName, OperatorStore, Permission,
};
use dwar_project::ProjectStore;
use std::sync::Arc;

/// Invites operators, says what they may do, and removes them.
pub struct ManageOperators {
    pub tools: Toolbox,
    pub operators: Arc<dyn OperatorStore>,
    /// Knows which projects exist.
    pub projects: Arc<dyn ProjectStore>,
    pub audit: Audit,
}

/// Somebody with a link that lets them in once; the only time its secret is in the clear.
#[derive(Debug)]
pub struct Invited {
    pub operator: Operator,
    pub secret: LinkSecret,
    pub expires_at: Timestamp,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// The name is taken.
    #[error("there is an operator of this name already")]
    NameTaken,
    /// The name cannot be one.
    #[error(transparent)]
    Name(#[from] InvalidName),
    /// There is no such operator.
    #[error("there is no such operator")]
    NoSuchOperator,
    /// There is no such project.
    #[error("there is no project with this id")]
    NoSuchProject,
    /// Whoever asked may not do this.
    #[error("your role does not allow this")]
    Forbidden,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ManageOperators {
    /// Makes an operator with a link, good for three days, by which they choose a password.
    pub async fn invite(
        &self,
        by: &By,
        name: &str,
        access: Access,
    ) -> Result<Invited, OperatorError> {
        let name: OperatorName = name.trim().parse()?;
        self.grants(by, &access)?;
        self.projects_exist(&access).await?;
        if self.operators.find_by_name(name.clone()).await?.is_some() {
            return Err(OperatorError::NameTaken);
        }
        let (invited, link) = self.compose(name, access, LinkKind::Password);
        let facts = Facts::new().word("access", &invited.operator.access);
        let change = about(&invited.operator, Action::OperatorInvited).after(facts);
        self.audit.record(by, change).await?;
        let made = self.operators.invite(invited.operator.clone(), link).await?;
        if made { Ok(invited) } else { Err(OperatorError::NameTaken) }
    }

    /// Makes an owner of the installation, with a link that signs in once, if there is no operator
    /// yet; for the first start on a developer's machine.
    pub async fn invite_first(&self, name: OperatorName) -> Result<Option<Invited>, AdminError> {
        if !self.operators.list().await?.is_empty() {
            return Ok(None);
        }
        let (invited, link) = self.compose(name, Access::everything(), LinkKind::SignIn);
        let facts = Facts::new().word("access", &invited.operator.access);
        let change = about(&invited.operator, Action::OperatorInvited).after(facts);
        self.audit.record(&By::command_line(), change).await?;
        let made = self.operators.invite_first(invited.operator.clone(), link).await?;
        Ok(made.then_some(invited))
    }

    /// The operators whom whoever asks may see: those of projects whose team they see, or all.
    pub async fn list(&self, by: &By) -> Result<Vec<Operator>, StoreError> {
        let mut operators = self.operators.list().await?;
        let see = |operator: &Operator| {
            let mut projects = operator.access.projects.keys();
            projects.any(|project| by.access.may(*project, Permission::See(Area::Team)))
        };
        operators.retain(|operator| by.access.everything || see(operator));
        Ok(operators)
    }

    /// The operator of this name.
    pub async fn named(&self, name: &str) -> Result<Operator, OperatorError> {
        let name: OperatorName = name.trim().parse()?;
        self.operators.find_by_name(name).await?.ok_or(OperatorError::NoSuchOperator)
    }

    /// Changes what an operator may do, for their very next request.
    pub async fn change_access(
        &self,
        by: &By,
        operator: OperatorId,
        access: Access,
    ) -> Result<(), OperatorError> {
        let before = self.find(by, operator).await?;
        self.grants(by, &access)?;
        self.projects_exist(&access).await?;
        let change = about(&before, Action::OperatorChanged)
            .before(Facts::new().word("access", &before.access))
            .after(Facts::new().word("access", &access));
        self.audit.record(by, change).await?;
        let change = OperatorChange::Access(access);
        done(self.operators.change(operator, change, None).await?)
    }

    /// Takes away what an operator signs in with, ends their sessions, and makes a new link.
    ///
    /// # Errors
    /// [`OperatorError::Forbidden`] for everybody but the command line: whoever could do this from
    /// a page could become anybody.
    pub async fn reset(&self, by: &By, operator: OperatorId) -> Result<Invited, OperatorError> {
        if by.actor != Actor::CommandLine {
            return Err(OperatorError::Forbidden);
        }
        let mut operator = self.find(by, operator).await?;
        let facts = Facts::new()
            .flag("password", operator.password.is_some())
            .flag("totp", operator.totp.is_some());
        let after = Facts::new().flag("password", false).flag("totp", false);
        let change = about(&operator, Action::OperatorReset).before(facts).after(after);
        self.audit.record(by, change).await?;
        operator.reset();
        let (secret, link) = self.link(operator.id, LinkKind::Password);
        let expires_at = link.expires_at;
        done(self.operators.reset(operator.id, link).await?)?;
        Ok(Invited { operator, secret, expires_at })
    }

    /// Removes an operator, and ends their sessions. Tokens they made stay.
    pub async fn remove(&self, by: &By, operator: OperatorId) -> Result<(), OperatorError> {
        let before = self.find(by, operator).await?;
        let facts = Facts::new().word("access", &before.access);
        self.audit.record(by, about(&before, Action::OperatorRemoved).before(facts)).await?;
        done(self.operators.remove(operator).await?)
    }

    /// Somebody whom whoever asks may change.
    async fn find(&self, by: &By, operator: OperatorId) -> Result<Operator, OperatorError> {
        let found = self.operators.find(operator).await?.ok_or(OperatorError::NoSuchOperator)?;
        self.grants(by, &found.access)?;
        Ok(found)
    }

    fn grants(&self, by: &By, access: &Access) -> Result<(), OperatorError> {
        if by.access.grants(access) { Ok(()) } else { Err(OperatorError::Forbidden) }
    }

    async fn projects_exist(&self, access: &Access) -> Result<(), OperatorError> {
        for project in access.projects.keys() {
            if self.projects.find(*project).await?.is_none() {
                return Err(OperatorError::NoSuchProject);
            }
        }
        Ok(())
    }

    fn compose(&self, name: OperatorName, access: Access, kind: LinkKind) -> (Invited, Link) {
        let now = self.tools.now();
        let id = OperatorId::new(now, self.tools.entropy.as_ref());
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

    fn link(&self, operator: OperatorId, kind: LinkKind) -> (LinkSecret, Link) {
        let now = self.tools.now();
        let secret = LinkSecret::generate(self.tools.entropy.as_ref());
        let lifetime = match kind {
            LinkKind::Password => Link::INVITE,
            LinkKind::SignIn => Link::FIRST,
        };
        let digest = secret.digest(self.tools.vault.as_ref());
        (secret, Link { digest, operator, kind, made_at: now, expires_at: now + lifetime })
    }
}

fn about(operator: &Operator, action: Action) -> Change {
    let change = Change::new(action, &operator.name);
    match operator.access.project() {
        Some(project) => change.within(project),
        None => change,
    }
}

fn done(done: bool) -> Result<(), OperatorError> {
    if done { Ok(()) } else { Err(OperatorError::NoSuchOperator) }
}
