use crate::control::noted;
use crate::{AuditRecorder, AuditedChange, SignInError};
use dwar_app::CommonPorts;
use dwar_kernel::{OperatorId, Purpose, StoreError, TRACE, Timestamp, Vault};
use dwar_operator::{
    Action, Attempt, AttemptAdmission, BrowserToken, Client, EndSessions, LinkKind, LinkSecret,
    Network, OneTimeLink, Operator, OperatorName, OperatorSession, OperatorStore, Origin, Password,
    PasswordHash, PasswordHasher, PendingSignIn, ProvenStep, Requester, SessionToken, SignInProof,
    TotpCode, TotpSecret,
};
use std::net::IpAddr;
use std::sync::Arc;
use tracing::instrument;

/// Signs operators in and out, and finds the operator of a session.
pub struct SignIn {
    pub tools: CommonPorts,
    pub operators: Arc<dyn OperatorStore>,
    pub hasher: Arc<dyn PasswordHasher>,
    pub audit: AuditRecorder,
}

/// Name and password of a sign-in. No `Debug`: it holds a password.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    pub name: &'a str,
    pub password: &'a str,
    /// Cookie that the browser has from an earlier sign-in, if any.
    pub browser: Option<&'a str>,
}

/// The second step of a sign-in, after a right password. No `Debug`: it holds a code.
#[derive(Clone, Copy)]
pub struct TypedCode<'a> {
    /// The value of [`SignInError::CodeNeeded`] that the browser kept.
    pub pending: &'a str,
    pub code: &'a str,
    pub browser: Option<&'a str>,
}

/// A successful sign-in; the tokens are in clear only here.
#[derive(Debug)]
pub struct SignedIn {
    pub operator: Operator,
    pub session: OperatorSession,
    pub token: SessionToken,
    /// New cookie for the browser; `None` if the operator has no password yet.
    pub browser: Option<BrowserToken>,
}

/// The operator who makes a request, with the session.
#[derive(Clone, Debug)]
pub struct SignedInOperator {
    pub operator: Operator,
    pub session: OperatorSession,
}

/// The recipient of a sign-in link, shown before the link is used.
#[derive(Clone, Debug)]
pub struct LinkRecipient {
    pub name: OperatorName,
    /// Whether the link asks for a new password or signs in.
    pub kind: LinkKind,
    pub expires_at: Timestamp,
}

impl SignIn {
    /// Signs in an operator by name and password, or asks for the code of the authenticator app.
    ///
    /// Failures are counted as [`Attempt`] says: separately for a browser that signed in before, and by
    /// network and name for any other. Unknown names are counted too, and take as long to be refused.
    ///
    /// # Errors
    /// [`SignInError::CodeNeeded`] if the password is right and [`SignIn::enter_code`] has to follow.
    #[instrument(name = "sign_in.sign_in", target = TRACE, level = "error", skip_all)]
    pub async fn sign_in(
        &self,
        credentials: Credentials<'_>,
        client: Client,
    ) -> Result<SignedIn, SignInError> {
        let now = self.tools.now();
        let operator = match credentials.name.parse::<OperatorName>() {
            Ok(name) => self.operators.find_by_name(name).await?,
            Err(_) => None,
        };
        let network = Network::of(client.address);
        let origin = self.origin(operator.as_ref(), credentials.browser, now);
        let origin = origin.unwrap_or(Origin::Network(network));
        let vault = self.tools.vault.as_ref();
        let attempt = match &operator {
            Some(operator) => Attempt::with_password(operator.id, origin, vault),
            None => Attempt::of_nobody(credentials.name, network, vault),
        };
        self.admit(&attempt, now).await?;
        match self.prove(operator.as_ref(), credentials.password, origin, now).await {
            Ok(password) => {
                let operator = operator.ok_or(SignInError::Wrong)?;
                self.let_in(operator, SignInProof { password, step: None }, attempt, client, now)
                    .await
            }
            Err(SignInError::Wrong) => Err(wrong(operator.as_ref(), &client)),
            // Neither a failure nor a success.
            Err(other) => {
                self.operators.withdraw(attempt).await?;
                Err(other)
            }
        }
    }

    /// Signs in an operator, after a right password, by the code of the authenticator app. A wrong code
    /// counts like a wrong password, and also among the codes of the operator.
    ///
    /// # Errors
    /// [`SignInError::TooLate`] if the sign-in has to start again.
    #[instrument(name = "sign_in.enter_code", target = TRACE, level = "error", skip_all)]
    pub async fn enter_code(
        &self,
        typed: TypedCode<'_>,
        client: Client,
    ) -> Result<SignedIn, SignInError> {
        let (now, vault) = (self.tools.now(), self.tools.vault.as_ref());
        let id = PendingSignIn::operator(typed.pending).ok_or(SignInError::TooLate)?;
        let operator = self.operators.find(id).await?;
        let open = |it: &Operator| PendingSignIn::is_open(typed.pending, it, vault, now);
        let operator = operator.filter(open).ok_or(SignInError::TooLate)?;
        let (Some(password), Some(totp)) = (operator.password.clone(), operator.totp.clone())
        else {
            return Err(SignInError::TooLate);
        };
        let secret = totp_secret(vault, id, &totp.secret)?;
        let attempt = match self.origin(Some(&operator), typed.browser, now) {
            Some(browser) => Attempt::with_password(id, browser, vault),
            None => {
                let network = Origin::Network(Network::of(client.address));
                Attempt::with_password(id, network, vault).and(Attempt::with_code(id))
            }
        };
        self.admit(&attempt, now).await?;
        let code: Option<TotpCode> = typed.code.parse().ok();
        let Some(step) = code.and_then(|code| secret.step_of(code, now)) else {
            return Err(wrong(Some(&operator), &client));
        };
        let step = Some(ProvenStep { step, after: totp.last_step });
        self.let_in(operator, SignInProof { password, step }, attempt, client, now).await
    }

    async fn let_in(
        &self,
        operator: Operator,
        proof: SignInProof,
        attempt: Attempt,
        client: Client,
        now: Timestamp,
    ) -> Result<SignedIn, SignInError> {
        self.note(&operator, Action::OperatorSignedIn, client.address).await?;
        let (token, session) = self.begin(operator.id, client, now);
        if !self.operators.sign_in(proof, attempt, session.clone(), now).await? {
            return Err(SignInError::Wrong);
        }
        let browser = self.known_browser(&operator, now);
        Ok(SignedIn { operator, session, token, browser })
    }

    /// The recipient of a link; does not use up the link.
    #[instrument(name = "sign_in.read_link", target = TRACE, level = "error", skip_all)]
    pub async fn read_link(&self, secret: &str) -> Result<LinkRecipient, SignInError> {
        let (link, operator) = self.link(secret).await?;
        Ok(LinkRecipient { name: operator.name, kind: link.kind, expires_at: link.expires_at })
    }

    /// Uses up a link and signs in its operator: with the chosen password if the link is for one, else
    /// without.
    #[instrument(name = "sign_in.follow_link", target = TRACE, level = "error", skip_all)]
    pub async fn follow_link(
        &self,
        secret: &str,
        password: Option<&str>,
        client: Client,
    ) -> Result<SignedIn, SignInError> {
        let (link, operator) = self.link(secret).await?;
        if password.is_some() != (link.kind == LinkKind::Password) {
            return Err(SignInError::LinkGone);
        }
        let hash = match password {
            None => None,
            Some(text) => {
                let password = Password::chosen(text, operator.name.as_str())?;
                let hashed = self
                    .hasher
                    .hash(password, Origin::Network(Network::of(client.address)))
                    .await?;
                Some(hashed.done().ok_or(SignInError::Busy)?)
            }
        };
        let now = self.tools.now();
        self.note(&operator, Action::OperatorJoined, client.address).await?;
        let (token, session) = self.begin(operator.id, client, now);
        let spent = self.operators.spend(link.digest, hash, session.clone(), now).await?;
        let operator = spent.ok_or(SignInError::LinkGone)?;
        let browser = self.known_browser(&operator, now);
        Ok(SignedIn { operator, session, token, browser })
    }

    /// The operator of a valid session, or `None`. Records the request, at most once a minute.
    #[instrument(name = "sign_in.session", target = TRACE, level = "error", skip_all)]
    pub async fn session(&self, token: &str) -> Result<Option<SignedInOperator>, StoreError> {
        let Some(mut present) = self.present(token).await? else { return Ok(None) };
        let now = self.tools.now();
        if present.session.note(now) {
            noted(self.operators.record_session_use(present.session.digest, now).await)?;
        }
        Ok(Some(present))
    }

    /// Like [`SignIn::session`], for a page that polls: it does not keep a session from becoming idle.
    #[instrument(name = "sign_in.present", target = TRACE, level = "error", skip_all)]
    pub async fn present(&self, token: &str) -> Result<Option<SignedInOperator>, StoreError> {
        let Ok(token) = token.parse::<SessionToken>() else { return Ok(None) };
        let (now, digest) = (self.tools.now(), token.digest(self.tools.vault.as_ref()));
        let found = self.operators.session(digest).await?;
        let alive = found.filter(|(session, _)| session.is_alive(now));
        Ok(alive.map(|(session, operator)| SignedInOperator { operator, session }))
    }

    /// The valid sessions of an operator, newest first.
    #[instrument(name = "sign_in.sessions", target = TRACE, level = "error", skip_all)]
    pub async fn sessions(&self, operator: OperatorId) -> Result<Vec<OperatorSession>, StoreError> {
        let now = self.tools.now();
        let mut sessions = self.operators.sessions(operator).await?;
        sessions.retain(|session| session.is_alive(now));
        Ok(sessions)
    }

    /// Ends sessions of the caller: the present one, or all; returns how many ended.
    #[instrument(name = "sign_in.sign_out", target = TRACE, level = "error", skip_all)]
    pub async fn sign_out(
        &self,
        present: &SignedInOperator,
        which: EndSessions,
        from: Option<IpAddr>,
    ) -> Result<u64, SignInError> {
        self.note(&present.operator, Action::OperatorSignedOut, from).await?;
        Ok(self.operators.end_sessions(present.operator.id, which).await?)
    }

    async fn link(&self, secret: &str) -> Result<(OneTimeLink, Operator), SignInError> {
        let secret: LinkSecret = secret.parse().map_err(|_| SignInError::LinkGone)?;
        let digest = secret.digest(self.tools.vault.as_ref());
        let found = self.operators.link(digest).await?;
        let open = found.filter(|(link, _)| link.is_open(self.tools.now()));
        open.ok_or(SignInError::LinkGone)
    }

    /// A new session with its token, not stored yet.
    pub(super) fn begin(
        &self,
        operator: OperatorId,
        client: Client,
        now: Timestamp,
    ) -> (SessionToken, OperatorSession) {
        let token = SessionToken::generate(self.tools.entropy.as_ref());
        let digest = token.digest(self.tools.vault.as_ref());
        (token, OperatorSession::begin(digest, operator, client, now))
    }

    async fn prove(
        &self,
        operator: Option<&Operator>,
        typed: &str,
        origin: Origin,
        now: Timestamp,
    ) -> Result<PasswordHash, SignInError> {
        let hash = operator.and_then(|operator| operator.password.clone());
        let right = self.hasher.verify(Password::typed(typed), hash.clone(), origin).await?;
        let right = right.done().ok_or(SignInError::Busy)?;
        let (Some(operator), Some(hash), true) = (operator, hash, right) else {
            return Err(SignInError::Wrong);
        };
        let keys = (self.tools.vault.as_ref(), self.tools.entropy.as_ref());
        match PendingSignIn::issue(operator, keys, now) {
            Some(pending) => Err(SignInError::CodeNeeded(pending)),
            None => Ok(hash),
        }
    }

    /// The browser, if the operator signed in there before with the present password.
    fn origin(
        &self,
        operator: Option<&Operator>,
        browser: Option<&str>,
        now: Timestamp,
    ) -> Option<Origin> {
        let (operator, vault) = (operator?, self.tools.vault.as_ref());
        BrowserToken::origin(browser?, operator.id, operator.password.as_ref()?, vault, now)
    }

    async fn note(
        &self,
        operator: &Operator,
        action: Action,
        from: Option<IpAddr>,
    ) -> Result<(), SignInError> {
        let change = AuditedChange::new(action, &operator.name).within(operator.access.project());
        Ok(self.audit.record(&Requester::operator(operator, from), change).await?)
    }

    /// The cookie for the browser of an operator who signed in; `None` without a password.
    pub(super) fn known_browser(
        &self,
        operator: &Operator,
        now: Timestamp,
    ) -> Option<BrowserToken> {
        let keys = (self.tools.vault.as_ref(), self.tools.entropy.as_ref());
        operator.password.as_ref().map(|hash| BrowserToken::issue(operator.id, hash, keys, now))
    }

    async fn admit(&self, attempt: &Attempt, now: Timestamp) -> Result<(), SignInError> {
        match self.operators.admit(attempt.clone(), now).await? {
            AttemptAdmission::Admitted => Ok(()),
            AttemptAdmission::Locked(until) => Err(SignInError::Locked { until }),
        }
    }

    /// Checks the password of a signed-in operator again; failures count for the session only. An operator
    /// who signed in by the link of a first start has no password yet, and is not asked.
    ///
    /// # Errors
    /// [`SignInError::Wrong`], [`SignInError::Locked`], [`SignInError::Busy`], [`SignInError::Store`].
    pub(super) async fn prove_again(
        &self,
        present: &SignedInOperator,
        typed: &str,
    ) -> Result<(), SignInError> {
        let Some(hash) = present.operator.password.clone() else { return Ok(()) };
        let (origin, vault) = (Origin::Browser(present.session.digest), self.tools.vault.as_ref());
        let attempt = Attempt::with_password(present.operator.id, origin, vault);
        self.admit(&attempt, self.tools.now()).await?;
        let right = self.hasher.verify(Password::typed(typed), Some(hash), origin).await?.done();
        if right == Some(false) {
            return Err(SignInError::Wrong);
        }
        self.operators.withdraw(attempt).await?;
        right.map(drop).ok_or(SignInError::Busy)
    }
}

fn wrong(operator: Option<&Operator>, client: &Client) -> SignInError {
    let (operator, from) = (operator.map(|operator| operator.id.to_string()), client.address);
    tracing::warn!(operator, ?from, "a sign-in failed");
    SignInError::Wrong
}

/// Decrypts the secret of an operator's second factor.
pub(crate) fn totp_secret(
    vault: &dyn Vault,
    operator: OperatorId,
    sealed: &dwar_kernel::Sealed,
) -> Result<TotpSecret, StoreError> {
    let plain = vault.open(Purpose::OperatorTotp, operator.uuid().as_bytes(), sealed)?;
    let unreadable = || StoreError::Inconsistent {
        table: "operators",
        column: "totp_secret",
        row: operator.to_string(),
    };
    TotpSecret::from_bytes(&plain).ok_or_else(unreadable)
}
