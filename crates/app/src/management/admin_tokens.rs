use crate::{Audit, Change, Toolbox};
use dwar_kernel::{AdminTokenId, StoreError, Timestamp};
use dwar_operator::{
    Access, Action, Actor, AdminSecret, AdminToken, AdminTokenStore, Area, By, Facts, OperatorName,
    Permission,
};
use dwar_project::ProjectStore;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

/// Makes, lists, checks and revokes the tokens of the admin API.
pub struct ManageAdminTokens {
    pub tools: Toolbox,
    pub tokens: Arc<dyn AdminTokenStore>,
    /// Knows which projects exist.
    pub projects: Arc<dyn ProjectStore>,
    pub audit: Audit,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum AdminTokenError {
    /// A token is called as an operator could be.
    #[error("a token's name is 1 to 60 letters, digits, single blanks and . - _ @ +")]
    Name,
    /// No time at all, or longer than a token may live.
    #[error("a token lives for at least one minute and at most 366 days")]
    Lifetime,
    /// A token makes none that outlives it.
    #[error("a token that a token makes ends no later than that one")]
    Outlives,
    /// There is no such token.
    #[error("there is no such token")]
    NoSuchToken,
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

impl ManageAdminTokens {
    /// Makes a token that may do what `access` says; its secret is in the clear here and never
    /// again.
    ///
    /// Nobody hands out more than they have, a token no more time either: one that leaked cannot
    /// make itself another to live on by.
    pub async fn make(
        &self,
        by: &By,
        name: &str,
        access: Access,
        lifetime: Duration,
    ) -> Result<(AdminToken, AdminSecret), AdminTokenError> {
        let name: OperatorName = name.trim().parse().map_err(|_| AdminTokenError::Name)?;
        if lifetime < Duration::from_secs(60) || lifetime > AdminToken::LONGEST {
            return Err(AdminTokenError::Lifetime);
        }
        if !by.access.grants(&access) {
            return Err(AdminTokenError::Forbidden);
        }
        let now = self.tools.now();
        if let Actor::Token { id, .. } = by.actor {
            self.within_the_life_of(id, now + lifetime).await?;
        }
        for project in access.projects.keys() {
            if self.projects.find(*project).await?.is_none() {
                return Err(AdminTokenError::NoSuchProject);
            }
        }
        let secret = AdminSecret::generate(self.tools.entropy.as_ref());
        let token = AdminToken {
            id: AdminTokenId::new(now, self.tools.entropy.as_ref()),
            digest: secret.digest(self.tools.vault.as_ref()),
            name: name.to_string(),
            access,
            made_by: by.actor.to_string(),
            made_at: now,
            expires_at: now + lifetime,
            used_at: None,
            used_from: None,
        };
        let change = about(&token, Action::TokenMade).after(facts(&token));
        self.audit.record(by, change).await?;
        self.tokens.add(token.clone()).await?;
        Ok((token, secret))
    }

    /// The tokens that whoever asks may see, oldest first.
    pub async fn list(&self, by: &By) -> Result<Vec<AdminToken>, StoreError> {
        let mut tokens = self.tokens.tokens().await?;
        let see = |token: &AdminToken| {
            let mut projects = token.access.projects.keys();
            projects.any(|project| by.access.may(*project, Permission::See(Area::Team)))
        };
        tokens.retain(|token| by.access.everything || see(token));
        Ok(tokens)
    }

    /// Revokes a token, for every request that begins after this returns.
    pub async fn revoke(&self, by: &By, token: AdminTokenId) -> Result<(), AdminTokenError> {
        let tokens = self.tokens.tokens().await?;
        let found = tokens.into_iter().find(|known| known.id == token);
        let found = found.ok_or(AdminTokenError::NoSuchToken)?;
        if !by.access.grants(&found.access) {
            return Err(AdminTokenError::Forbidden);
        }
        let change = about(&found, Action::TokenRevoked).before(facts(&found));
        self.audit.record(by, change).await?;
        let revoked = self.tokens.revoke(token).await?;
        if revoked { Ok(()) } else { Err(AdminTokenError::NoSuchToken) }
    }

    async fn within_the_life_of(
        &self,
        maker: AdminTokenId,
        end: Timestamp,
    ) -> Result<(), AdminTokenError> {
        let tokens = self.tokens.tokens().await?;
        // It was revoked since it was let in.
        let maker = tokens.iter().find(|token| token.id == maker);
        let maker = maker.ok_or(AdminTokenError::Forbidden)?;
        if end <= maker.expires_at { Ok(()) } else { Err(AdminTokenError::Outlives) }
    }

    /// Whom a bearer token speaks for, if it counts; notes the use, once a minute at most.
    pub async fn authenticate(
        &self,
        text: &str,
        from: Option<IpAddr>,
    ) -> Result<Option<AdminToken>, StoreError> {
        let Ok(secret) = text.parse::<AdminSecret>() else { return Ok(None) };
        let now = self.tools.now();
        let found = self.tokens.token(secret.digest(self.tools.vault.as_ref())).await?;
        let Some(mut token) = found.filter(|token| token.is_alive(now)) else { return Ok(None) };
        if token.note(now, from) {
            self.tokens.note_token(token.id, from, now).await?;
        }
        Ok(Some(token))
    }
}

fn about(token: &AdminToken, action: Action) -> Change {
    let change = Change::new(action, &token.name);
    match token.access.project() {
        Some(project) => change.within(project),
        None => change,
    }
}

fn facts(token: &AdminToken) -> Facts {
    let facts = Facts::new().word("token_id", token.id).word("access", &token.access);
    facts.word("expires_at", token.expires_at.to_rfc3339())
}
