use crate::refusals::refusals;
use crate::{CommonPorts, Guard, GuessEnd, KnownDevices, Limits, TokenPair, Tokens};
use dwar_identity::DeviceToken;
use dwar_kernel::{IdentityId, OtpId, Phone, StoreError, TRACE, Timestamp};
use dwar_login::{LoginStore, Redeemed, Redemption};
use dwar_otp::{Allowance, Code, CodeKeys, Guess};
use dwar_project::Caller;
use dwar_session::{Login, Session};
use std::sync::Arc;
use tracing::instrument;

/// Judges a code. A right one begins a session in the same step (`POST /v1/otp/verify`), or none (`POST
/// /v1/otp/check`).
pub struct VerifyOtp {
    pub tools: CommonPorts,
    /// Judges guesses, counts wrong ones, and begins the session of a right one.
    pub logins: Arc<dyn LoginStore>,
    pub tokens: Tokens,
    pub codes: Arc<CodeKeys>,
    pub devices: KnownDevices,
    /// Allowed wrong guesses, per code and per phone.
    pub limits: Limits,
    pub guard: Arc<Guard>,
}

/// What a caller may add to a code.
#[derive(Clone, Debug, Default)]
pub struct GuessExtras {
    /// The only request whose code it may be; `None` means the phone's active one.
    pub request: Option<OtpId>,
    /// What a client shows as the token of a known device.
    pub device: Option<DeviceToken>,
}

/// The result of a right guess: a session with its first tokens.
#[derive(Debug)]
pub struct VerifiedOtp {
    pub tokens: TokenPair,
    /// Makes the device of this login a known one, if the project has a use for it.
    pub device: Option<DeviceToken>,
    pub allowance: Allowance,
}

refusals! {
    VerifyOtpError {
        /// No active code, or the named request is not the one whose code is active.
        NotFound = "no active code for this phone number",
        Wrong(Allowance) = "the code is incorrect",
        Locked(Allowance) = "too many incorrect attempts",
    }
}

impl VerifyOtp {
    /// Judges a code for `phone`, only as the code of a request if one is named. The right code logs in exactly
    /// once.
    ///
    /// # Errors
    /// A wrong guess is counted on disk before this returns. The right guess uses up the code and begins the
    /// session, both or neither. If a store fails, the code works for the next request, unless only the
    /// answer was lost.
    #[instrument(name = "verify_otp", target = TRACE, level = "error", skip_all)]
    pub async fn verify(
        &self,
        caller: &Caller,
        phone: &Phone,
        code: Code,
        extras: Option<GuessExtras>,
    ) -> Result<VerifiedOtp, VerifyOtpError> {
        let outcome = self.log_in(caller, phone, (code, extras)).await;
        self.observe(caller, &outcome, |verified| verified.allowance);
        outcome
    }

    /// Judges a code like [`VerifyOtp::verify`] and uses up the right one, but begins no session, and neither
    /// creates nor recognises an identity. Returns the remaining guesses of the code.
    ///
    /// # Errors
    /// Those of [`VerifyOtp::verify`].
    #[instrument(name = "check_otp", target = TRACE, level = "error", skip_all)]
    pub async fn check(
        &self,
        caller: &Caller,
        phone: &Phone,
        code: Code,
        extras: Option<GuessExtras>,
    ) -> Result<Allowance, VerifyOtpError> {
        let outcome = self.redeem(caller, phone, (code, extras), None, self.tools.now()).await;
        let outcome = outcome.map(|(allowance, _)| allowance);
        self.observe(caller, &outcome, |allowance| *allowance);
        outcome
    }

    fn observe<T>(
        &self,
        caller: &Caller,
        outcome: &Result<T, VerifyOtpError>,
        allowance: impl FnOnce(&T) -> Allowance,
    ) {
        let left = outcome.as_ref().ok().map(|right| allowance(right).reset);
        self.tools.observer.guessed(caller.mode, GuessEnd::from(outcome), left);
    }

    async fn log_in(
        &self,
        caller: &Caller,
        phone: &Phone,
        entered: (Code, Option<GuessExtras>),
    ) -> Result<VerifiedOtp, VerifyOtpError> {
        let CommonPorts { entropy, vault, .. } = &self.tools;
        let (project_mode, now) = (caller.project_mode(), self.tools.now());
        let fresh = IdentityId::new(now, entropy.as_ref());
        let (session, refresh) = self.tokens.open(project_mode, fresh, now);
        // Checked first: a login whose token cannot be signed would use up the code for nothing.
        self.tokens.ready(&session).await?;
        let index = vault.phone_index(project_mode, phone);
        let login = Login {
            session: session.clone(),
            phone: index,
            sealed_phone: vault.seal_phone(project_mode.project, phone),
        };
        let (allowance, identity) = self.redeem(caller, phone, entered, Some(login), now).await?;
        let nobody = || StoreError::Failed("a login without an identity".into());
        let session = Session { identity: identity.ok_or_else(nobody)?, ..session };
        let own = caller.project.own_profile(project_mode.mode);
        let tokens = self.tokens.pair(&session, own, refresh, now).await?;
        let device = self.devices.issue(caller, &index, session.identity);
        Ok(VerifiedOtp { tokens, device, allowance })
    }

    async fn redeem(
        &self,
        caller: &Caller,
        number: &Phone,
        (code, extras): (Code, Option<GuessExtras>),
        login: Option<Login>,
        now: Timestamp,
    ) -> Result<(Allowance, Option<IdentityId>), VerifyOtpError> {
        let project_mode = caller.project_mode();
        let phone = self.tools.vault.phone_index(project_mode, number);
        let GuessExtras { request, device } = extras.unwrap_or_default();
        let by_device = self.devices.knows(caller, &phone, device.as_ref()).await?;
        let guess = Guess::new(code, Arc::clone(&self.codes)).meant_for(request);
        let guess = guess.by_device(by_device);
        let policy = self.limits.guesses(project_mode.mode);
        let redemption = Redemption { project_mode, phone, guess, policy, login };
        let (allowance, identity, mark) = match self.logins.redeem(redemption, now).await? {
            Redeemed::LoggedIn(allowance, identity, mark) => (allowance, Some(identity), mark),
            Redeemed::Verified(allowance, mark) => (allowance, None, mark),
            Redeemed::Wrong(allowance) => return Err(VerifyOtpError::Wrong(allowance)),
            Redeemed::Locked(allowance) => return Err(VerifyOtpError::Locked(allowance)),
            Redeemed::NotFound => return Err(VerifyOtpError::NotFound),
        };
        if let Some(mark) = mark {
            self.guard.verified(caller, number, &mark);
        }
        Ok((allowance, identity))
    }
}

impl<T> From<&Result<T, VerifyOtpError>> for GuessEnd {
    fn from(outcome: &Result<T, VerifyOtpError>) -> Self {
        match outcome {
            Ok(_) => Self::Accepted,
            Err(VerifyOtpError::Wrong(_)) => Self::Wrong,
            Err(VerifyOtpError::Locked(_)) => Self::Locked,
            Err(VerifyOtpError::NotFound) => Self::NotFound,
            Err(VerifyOtpError::Store(_)) => Self::Error,
        }
    }
}
