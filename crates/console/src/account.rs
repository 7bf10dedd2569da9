use crate::{AuditedChange, SignIn, SignInError, SignedInOperator};
use dwar_kernel::{Purpose, StoreError, TRACE, Timestamp};
use dwar_operator::{
    Action, BrowserToken, InvalidPassword, Operator, OperatorChange, Origin, Password, Requester,
    Totp, TotpCode, TotpSecret,
};
use std::sync::Arc;
use tracing::instrument;
use zeroize::Zeroizing;

/// Issuer name under which authenticator apps list the secret.
const ISSUER: &str = "Dwar";

/// Changes that operators make to their own account. Each change asks for the password again, and ends every
/// other session of the operator.
pub struct ManageAccount {
    pub(crate) sign_in: Arc<SignIn>,
}

/// A second factor that is not added yet. The page sends the secret back with the first code.
#[derive(Debug)]
pub struct TotpOffer {
    pub secret: TotpSecret,
    /// `otpauth://…`, for a QR code. It contains the secret.
    pub uri: Zeroizing<String>,
}

impl TotpOffer {
    fn of(secret: TotpSecret, operator: &Operator) -> Self {
        let uri = secret.uri(ISSUER, operator.name.as_str());
        Self { secret, uri }
    }
}

/// Why an account was not changed, in words for the operator.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    #[error("the current password is wrong")]
    WrongPassword,
    #[error("too many failed attempts: try again later")]
    Locked { until: Timestamp },
    /// The code is not a code that the secret gives at this time.
    #[error("the code does not match the one in your app")]
    WrongCode,
    /// The password hasher is full at this moment.
    #[error("too many people are signing in: try again in a moment")]
    Busy,
    #[error("enter a name of 1 to 64 characters")]
    PasskeyName,
    /// The challenge has expired, or was answered before.
    #[error("that took too long: try again")]
    PasskeyTooLate,
    /// The browser's answer is invalid, or the passkey is registered already; holds the reason in words.
    #[error("this passkey was not accepted: {0}")]
    PasskeyRefused(&'static str),
    #[error("you have the maximum number of passkeys: remove one first")]
    PasskeysFull,
    #[error(transparent)]
    Password(#[from] InvalidPassword),
    #[error("there is no such operator")]
    NoSuchOperator,
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Each change asks for the password again; a failed check of this password is a [`SignInError`].
impl From<SignInError> for AccountError {
    fn from(cause: SignInError) -> Self {
        match cause {
            SignInError::Locked { until } => Self::Locked { until },
            SignInError::Busy => Self::Busy,
            SignInError::Store(cause) => Self::Store(cause),
            _ => Self::WrongPassword,
        }
    }
}

impl ManageAccount {
    /// Replaces the caller's password; `current` is the password until now, if the caller has one. Returns the
    /// new token for the browser.
    #[instrument(name = "account.change_password", target = TRACE, level = "error", skip_all)]
    pub async fn change_password(
        &self,
        by: &Requester,
        caller: &SignedInOperator,
        current: &str,
        new: &str,
    ) -> Result<Option<BrowserToken>, AccountError> {
        let password = Password::chosen(new, caller.operator.name.as_str())?;
        self.sign_in.prove_again(caller, current).await?;
        let origin = Origin::Browser(caller.session.digest);
        let hash =
            self.sign_in.hasher.hash(password, origin).await?.done().ok_or(AccountError::Busy)?;
        let change = OperatorChange::Password(hash);
        self.change(by, caller, Action::PasswordChanged, change.clone()).await?;
        let mut operator = caller.operator.clone();
        operator.apply(change);
        Ok(self.sign_in.known_browser(&operator, self.sign_in.tools.now()))
    }

    /// Makes a new secret for the caller's authenticator app, without storing it.
    pub fn offer_totp(&self, operator: &Operator) -> TotpOffer {
        TotpOffer::of(TotpSecret::generate(self.sign_in.tools.entropy.as_ref()), operator)
    }

    /// The offer with the secret that the page sent back, to be shown again after a wrong code; `None` if the
    /// text is not a secret.
    pub fn offer_again(&self, operator: &Operator, secret: &str) -> Option<TotpOffer> {
        Some(TotpOffer::of(secret.parse().ok()?, operator))
    }

    /// Adds the offered second factor, after a right code proves that the app has the secret.
    #[instrument(name = "account.add_totp", target = TRACE, level = "error", skip_all)]
    pub async fn add_totp(
        &self,
        by: &Requester,
        caller: &SignedInOperator,
        current: &str,
        (secret, code): (&str, &str),
    ) -> Result<(), AccountError> {
        let secret: TotpSecret = secret.parse().map_err(|_| AccountError::WrongCode)?;
        let code: TotpCode = code.parse().map_err(|_| AccountError::WrongCode)?;
        self.sign_in.prove_again(caller, current).await?;
        let step = secret.step_of(code, self.sign_in.tools.now()).ok_or(AccountError::WrongCode)?;
        let (context, plain) = (caller.operator.id.uuid(), secret.bytes());
        let sealed =
            self.sign_in.tools.vault.seal(Purpose::OperatorTotp, context.as_bytes(), plain);
        let totp = Some(Totp { secret: sealed, last_step: step });
        self.change(by, caller, Action::TotpAdded, OperatorChange::Totp(totp)).await
    }

    /// Removes the caller's second factor, after the password was entered again.
    #[instrument(name = "account.remove_totp", target = TRACE, level = "error", skip_all)]
    pub async fn remove_totp(
        &self,
        by: &Requester,
        caller: &SignedInOperator,
        current: &str,
    ) -> Result<(), AccountError> {
        self.sign_in.prove_again(caller, current).await?;
        self.change(by, caller, Action::TotpRemoved, OperatorChange::Totp(None)).await
    }

    async fn change(
        &self,
        by: &Requester,
        caller: &SignedInOperator,
        action: Action,
        change: OperatorChange,
    ) -> Result<(), AccountError> {
        let operator = &caller.operator;
        self.sign_in.audit.record(by, AuditedChange::new(action, &operator.name)).await?;
        let keep = Some(caller.session.digest);
        let changed = self.sign_in.operators.change(operator.id, change, keep).await?;
        if changed { Ok(()) } else { Err(AccountError::NoSuchOperator) }
    }
}
