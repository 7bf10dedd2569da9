use crate::{Audit, Change, Toolbox};
use dwar_kernel::{OperatorId, Purpose, StoreError, Timestamp, Vault};
use dwar_operator::{
    Action, Admission, By, EndSessions, InvalidPassword, Link, LinkKind, LinkSecret, Operator,
    OperatorName, OperatorSession, OperatorStore, Password, PasswordHash, PasswordHasher, Proof,
    SessionToken, Standing, TotpCode, TotpSecret,
};
use std::net::IpAddr;
use std::sync::Arc;

/// Lets operators in and out.
pub struct SignIn {
    pub tools: Toolbox,
    pub operators: Arc<dyn OperatorStore>,
    pub hasher: Arc<dyn PasswordHasher>,
    pub audit: Audit,
}

/// What somebody typed to sign in. No `Debug`: it holds a password.
#[derive(Clone, Copy)]
pub struct Credentials<'a> {
    pub name: &'a str,
    pub password: &'a str,
    /// The code of their authenticator app; none where the page has not asked yet.
    pub code: Option<&'a str>,
}

/// Somebody who was just let in; the only time the token is in the clear.
#[derive(Debug)]
pub struct SignedIn {
    pub operator: Operator,
    pub session: OperatorSession,
    pub token: SessionToken,
}

/// Whom a request comes from.
#[derive(Clone, Debug)]
pub struct Present {
    /// As they stand at this request.
    pub operator: Operator,
    pub session: OperatorSession,
}

/// Whom a link is for.
#[derive(Clone, Debug)]
pub struct Welcome {
    pub name: OperatorName,
    /// Whether it asks for a new password or signs in.
    pub kind: LinkKind,
    pub expires_at: Timestamp,
}

/// Why nobody was let in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Name, password or code; which of them is not told.
    #[error("that is not right")]
    Wrong,
    /// The password is right, and a code is asked for too.
    #[error("the code of your authenticator app is needed too")]
    CodeNeeded,
    /// Too many failures; nothing is judged before this instant.
    #[error("too many failures: try again later")]
    Locked {
        /// When the next attempt is judged.
        until: Timestamp,
    },
    /// The link was used, is over, or never was.
    #[error("this link works no more")]
    LinkGone,
    /// The new password is not taken.
    #[error(transparent)]
    Password(#[from] InvalidPassword),
    /// Nobody is refused here; audited steps may refuse.
    #[error("your role does not allow this")]
    Forbidden,
    /// The store failed, or too many sign in at once.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SignIn {
    /// Lets an operator in by name, password and, where they added one, the code of their
    /// authenticator app.
    ///
    /// The fifth failure in a row locks for 30 s, each further one for twice as long, up to an
    /// hour; names that nobody has lock too, and take as long to be refused.
    pub async fn sign_in(
        &self,
        credentials: Credentials<'_>,
        from: Option<IpAddr>,
    ) -> Result<SignedIn, SignInError> {
        let now = self.tools.now();
        let operator = match credentials.name.trim().parse::<OperatorName>() {
            Ok(name) => self.operators.find_by_name(name).await?,
            Err(_) => None,
        };
        let id = operator.as_ref().map_or_else(|| self.stranger(credentials.name), |one| one.id);
        if let Admission::Locked(until) = self.operators.admit(id, now).await? {
            return Err(SignInError::Locked { until });
        }
        let proof = match self.prove(operator.as_ref(), credentials, now).await {
            Ok(proof) => proof,
            Err(SignInError::Wrong) => {
                tracing::warn!(operator = %id, ?from, "somebody failed to sign in");
                return Err(SignInError::Wrong);
            }
            // Neither a failure nor a success.
            Err(other) => {
                self.operators.withdraw(id).await?;
                return Err(other);
            }
        };
        let operator = operator.ok_or(SignInError::Wrong)?;
        let token = SessionToken::generate(self.tools.entropy.as_ref());
        let session = self.begin(&token, id, from, now);
        self.note(&operator, Action::OperatorSignedIn, from).await?;
        if !self.operators.sign_in(proof, session.clone(), now).await? {
            return Err(SignInError::Wrong);
        }
        Ok(SignedIn { operator, session, token })
    }

    /// Whom a link is for, without using it up.
    pub async fn look_at_link(&self, secret: &str) -> Result<Welcome, SignInError> {
        let (link, operator) = self.link(secret).await?;
        Ok(Welcome { name: operator.name, kind: link.kind, expires_at: link.expires_at })
    }

    /// Uses a link up and lets its operator in: with the password they choose where the link is for
    /// that, and without one where it signs in.
    pub async fn follow_link(
        &self,
        secret: &str,
        password: Option<&str>,
        from: Option<IpAddr>,
    ) -> Result<SignedIn, SignInError> {
        let (link, operator) = self.link(secret).await?;
        if password.is_some() != (link.kind == LinkKind::Password) {
            return Err(SignInError::LinkGone);
        }
        let hash = match password {
            None => None,
            Some(text) => {
                let password = Password::chosen(text, operator.name.as_str())?;
                Some(self.hasher.hash(password).await?)
            }
        };
        let now = self.tools.now();
        let token = SessionToken::generate(self.tools.entropy.as_ref());
        let session = self.begin(&token, operator.id, from, now);
        self.note(&operator, Action::OperatorJoined, from).await?;
        let spent = self.operators.spend(link.digest, hash, session.clone(), now).await?;
        let operator = spent.ok_or(SignInError::LinkGone)?;
        Ok(SignedIn { operator, session, token })
    }

    /// Whom a session belongs to, if it counts; notes the request, once a minute at most.
    pub async fn session(&self, token: &str) -> Result<Option<Present>, StoreError> {
        let Some(mut present) = self.look(token).await? else { return Ok(None) };
        let now = self.tools.now();
        if present.session.note(now) {
            self.operators.note_session(present.session.digest, now).await?;
        }
        Ok(Some(present))
    }

    /// As [`SignIn::session`], for a page that asks by itself: it keeps no session from being idle.
    pub async fn look(&self, token: &str) -> Result<Option<Present>, StoreError> {
        let Ok(token) = token.parse::<SessionToken>() else { return Ok(None) };
        let (now, digest) = (self.tools.now(), token.digest(self.tools.vault.as_ref()));
        let found = self.operators.session(digest).await?;
        let alive = found.filter(|(session, _)| session.is_alive(now));
        Ok(alive.map(|(session, operator)| Present { operator, session }))
    }

    /// The sessions of an operator that count, newest first.
    pub async fn sessions(&self, operator: OperatorId) -> Result<Vec<OperatorSession>, StoreError> {
        let now = self.tools.now();
        let mut sessions = self.operators.sessions(operator).await?;
        sessions.retain(|session| session.is_alive(now));
        Ok(sessions)
    }

    /// Ends sessions of whoever asks: this one, or all; gives how many ended.
    pub async fn sign_out(
        &self,
        present: &Present,
        which: EndSessions,
        from: Option<IpAddr>,
    ) -> Result<u64, SignInError> {
        self.note(&present.operator, Action::OperatorSignedOut, from).await?;
        Ok(self.operators.end_sessions(present.operator.id, which).await?)
    }

    async fn link(&self, secret: &str) -> Result<(Link, Operator), SignInError> {
        let secret: LinkSecret = secret.parse().map_err(|_| SignInError::LinkGone)?;
        let digest = secret.digest(self.tools.vault.as_ref());
        let found = self.operators.link(digest).await?;
        let open = found.filter(|(link, _)| link.is_open(self.tools.now()));
        open.ok_or(SignInError::LinkGone)
    }

    fn begin(
        &self,
        token: &SessionToken,
        operator: OperatorId,
        from: Option<IpAddr>,
        now: Timestamp,
    ) -> OperatorSession {
        OperatorSession::begin(token.digest(self.tools.vault.as_ref()), operator, from, now)
    }

    async fn prove(
        &self,
        operator: Option<&Operator>,
        credentials: Credentials<'_>,
        now: Timestamp,
    ) -> Result<Proof, SignInError> {
        let hash = operator.and_then(|operator| operator.password.clone());
        let password = Password::typed(credentials.password);
        let right = self.hasher.verify(password, hash.clone()).await?;
        let (Some(operator), Some(password), true) = (operator, hash, right) else {
            return Err(SignInError::Wrong);
        };
        let step = match (&operator.totp, credentials.code) {
            (None, _) => None,
            (Some(_), None) => return Err(SignInError::CodeNeeded),
            (Some(totp), Some(code)) => {
                let secret = totp_secret(self.tools.vault.as_ref(), operator.id, &totp.secret)?;
                let code: TotpCode = code.parse().map_err(|_| SignInError::Wrong)?;
                Some(secret.step_of(code, now).ok_or(SignInError::Wrong)?)
            }
        };
        Ok(Proof { password, step })
    }

    fn stranger(&self, name: &str) -> OperatorId {
        let name = name.trim().to_lowercase();
        Standing::of_stranger(&self.tools.vault.digest(Purpose::OperatorName, &[name.as_bytes()]))
    }

    async fn note(
        &self,
        operator: &Operator,
        action: Action,
        from: Option<IpAddr>,
    ) -> Result<(), SignInError> {
        let change = Change::new(action, &operator.name);
        let change = match operator.access.project() {
            Some(project) => change.within(project),
            None => change,
        };
        Ok(self.audit.record(&By::operator(operator, from), change).await?)
    }
}

/// Opens the secret of an operator's second factor.
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

/// Whether the password is the one that was hashed, counted as an attempt of the operator.
///
/// # Errors
/// [`SignInError::Wrong`], [`SignInError::Locked`], [`SignInError::Store`].
pub(crate) async fn check_password(
    operators: &dyn OperatorStore,
    hasher: &dyn PasswordHasher,
    (operator, hash): (OperatorId, PasswordHash),
    typed: &str,
    now: Timestamp,
) -> Result<(), SignInError> {
    if let Admission::Locked(until) = operators.admit(operator, now).await? {
        return Err(SignInError::Locked { until });
    }
    if !hasher.verify(Password::typed(typed), Some(hash)).await? {
        return Err(SignInError::Wrong);
    }
    Ok(operators.withdraw(operator).await?)
}
