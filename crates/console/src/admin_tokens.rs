use crate::control::noted;
use crate::{AuditedChange, Control, ManageError};
use dwar_kernel::{AdminTokenId, StoreError, TRACE, Timestamp};
use dwar_operator::{
    Access, Action, Actor, AdminSecret, AdminToken, AdminTokenStore, AuditDetails, Command,
    OperatorName, Requester,
};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Makes, lists, checks and revokes tokens of the admin API.
#[derive(Clone)]
pub struct ManageAdminTokens {
    pub(crate) control: Control,
    pub(crate) tokens: Arc<dyn AdminTokenStore>,
}

const LIFETIME: &str = "a token lives for at least one minute and at most 366 days";
const NOWHERE: &str = "a token needs a role in a project at least, or everything";
const OUTLIVES: &str = "a token that a token makes ends no later than that one";
const NO_TOKEN: ManageError = ManageError::NotFound("such token");

/// A token to create, as given by the caller.
#[derive(Clone, Debug)]
pub struct NewAdminToken<'a> {
    /// Display name, with the same rules as an operator's name.
    pub name: &'a str,
    pub access: Access,
    /// From now on: at least one minute, at most [`AdminToken::LONGEST`].
    pub lifetime: Duration,
    /// Whether the token may make things that outlive it.
    pub may_delegate: bool,
}

impl ManageAdminTokens {
    /// Makes a token; its secret is in clear only here.
    ///
    /// Callers cannot give more access than they have ([`Control::may_grant`]), and a token cannot give a
    /// longer life than its own: a leaked token cannot outlive itself by making another.
    #[instrument(name = "admin_tokens.make", target = TRACE, level = "error", skip_all)]
    pub async fn make(
        &self,
        by: &Requester,
        new: NewAdminToken<'_>,
    ) -> Result<(AdminToken, AdminSecret), ManageError> {
        self.control.admit(by, Command::MakeToken, None)?;
        let NewAdminToken { name, access, lifetime, may_delegate } = new;
        let name = name.parse::<OperatorName>();
        let name = name.map_err(|cause| ManageError::invalid("name", cause))?;
        if lifetime < Duration::from_secs(60) || lifetime > AdminToken::LONGEST {
            return Err(ManageError::invalid("lifetime_seconds", LIFETIME));
        }
        if access == Access::default() {
            return Err(ManageError::invalid("access", NOWHERE));
        }
        self.control.may_grant(by, &access)?;
        let now = self.control.tools.now();
        if let Actor::Token { id, .. } = by.actor {
            self.within_the_life_of(id, now + lifetime).await?;
        }
        self.control.projects_exist(&access).await?;
        let secret = AdminSecret::generate(self.control.tools.entropy.as_ref());
        let token = AdminToken {
            id: AdminTokenId::new(now, self.control.tools.entropy.as_ref()),
            digest: secret.digest(self.control.tools.vault.as_ref()),
            name: name.to_string(),
            access,
            may_delegate,
            made_by: by.actor.to_string(),
            made_at: now,
            expires_at: now + lifetime,
            used_at: None,
            used_from: None,
        };
        let change = about(&token, Action::TokenMade).after(facts(&token));
        self.control.record(by, change).await?;
        self.tokens.add(token.clone()).await?;
        Ok((token, secret))
    }

    /// All tokens, oldest first, without their secrets.
    #[instrument(name = "admin_tokens.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(&self, by: &Requester) -> Result<Vec<AdminToken>, ManageError> {
        self.control.admit(by, Command::ListTokens, None)?;
        Ok(self.tokens.tokens().await?)
    }

    /// Revokes a token, for every request that begins after this returns. A token may revoke without the
    /// right to delegate: that does not help it to outlive itself.
    #[instrument(name = "admin_tokens.revoke", target = TRACE, level = "error", skip_all)]
    pub async fn revoke(&self, by: &Requester, token: AdminTokenId) -> Result<(), ManageError> {
        self.control.admit(by, Command::RevokeToken, None)?;
        let tokens = self.tokens.tokens().await?;
        let found = tokens.into_iter().find(|known| known.id == token);
        let found = found.ok_or(NO_TOKEN)?;
        self.control.may_grant(by, &found.access)?;
        let change = about(&found, Action::TokenRevoked).before(facts(&found));
        self.control.record(by, change).await?;
        let revoked = self.tokens.revoke(token).await?;
        if revoked { Ok(()) } else { Err(NO_TOKEN) }
    }

    async fn within_the_life_of(
        &self,
        maker: AdminTokenId,
        end: Timestamp,
    ) -> Result<(), ManageError> {
        let tokens = self.tokens.tokens().await?;
        // The token of the caller was revoked after authentication.
        let maker = tokens.iter().find(|token| token.id == maker);
        let maker = maker.ok_or(ManageError::Forbidden)?;
        if end <= maker.expires_at {
            Ok(())
        } else {
            Err(ManageError::invalid("lifetime_seconds", OUTLIVES))
        }
    }

    /// The valid token with this text, or `None`. Records the use, at most once a minute.
    #[instrument(name = "admin_tokens.authenticate", target = TRACE, level = "error", skip_all)]
    pub async fn authenticate(
        &self,
        text: &str,
        from: Option<IpAddr>,
    ) -> Result<Option<AdminToken>, StoreError> {
        let Ok(secret) = text.parse::<AdminSecret>() else { return Ok(None) };
        let now = self.control.tools.now();
        let found = self.tokens.token(secret.digest(self.control.tools.vault.as_ref())).await?;
        let Some(mut token) = found.filter(|token| token.is_alive(now)) else { return Ok(None) };
        if token.note(now, from) {
            noted(self.tokens.record_token_use(token.id, from, now).await)?;
        }
        Ok(Some(token))
    }
}

fn about(token: &AdminToken, action: Action) -> AuditedChange {
    AuditedChange::new(action, &token.name).within(token.access.project())
}

fn facts(token: &AdminToken) -> AuditDetails {
    let facts = AuditDetails::new().word("token_id", token.id).word("access", &token.access);
    facts.flag("may_delegate", token.may_delegate).word("expires_at", token.expires_at.to_rfc3339())
}
