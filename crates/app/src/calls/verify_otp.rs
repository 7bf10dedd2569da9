use crate::refusals::refusals;
use crate::{GuessEnd, Limits, TokenPair, Tokens, Toolbox};
use dwar_kernel::{IdentityId, OtpId, Phone, TRACE};
use dwar_login::{LoginStore, Redeemed, Redemption};
use dwar_otp::{Allowance, Code, CodeKeys, Guess};
use dwar_project::Caller;
use dwar_session::{Login, Session};
use std::sync::Arc;
use tracing::instrument;

/// Judges a code and opens a session, in one step (`POST /v1/otp/verify`).
pub struct VerifyOtp {
    /// Says when a guess was made, and makes ids.
    pub tools: Toolbox,
    /// Judges guesses, counts wrong ones, and begins a session with the right one.
    pub logins: Arc<dyn LoginStore>,
    /// Makes its tokens.
    pub tokens: Tokens,
    /// What guesses are digested with.
    pub codes: Arc<CodeKeys>,
    /// How many wrong guesses a code and a phone have.
    pub limits: Limits,
}

/// A login.
#[derive(Debug)]
pub struct VerifiedOtp {
    /// The tokens of the session that began.
    pub tokens: TokenPair,
    /// What was left of the code's guesses.
    pub allowance: Allowance,
}

refusals! {
    /// Why a code opened nothing.
    VerifyOtpError {
        /// Or the named request is not the one whose code is active.
        NotFound = "no active code for this phone number",
        /// This was counted.
        Wrong(Allowance) = "the code is incorrect",
        Locked(Allowance) = "too many incorrect attempts",
    }
}

impl VerifyOtp {
    /// Judges `code` for `phone`, as the code of `request` alone if one is named; the right one
    /// logs in, exactly once.
    ///
    /// # Errors
    /// Every wrong guess is counted on disk before this answers. The right one uses the code up and begins
    /// the session, both or neither; if a store fails, the code works for the next request, unless its
    /// answer alone was lost.
    #[instrument(name = "verify_otp", target = TRACE, level = "error", skip_all)]
    pub async fn verify(
        &self,
        caller: &Caller,
        phone: &Phone,
        code: Code,
        request: Option<OtpId>,
    ) -> Result<VerifiedOtp, VerifyOtpError> {
        let outcome = self.redeem(caller, phone, code, request).await;
        let left = outcome.as_ref().ok().map(|verified| verified.allowance.reset);
        self.tools.observer.guessed(caller.mode, GuessEnd::from(&outcome), left);
        outcome
    }

    async fn redeem(
        &self,
        caller: &Caller,
        phone: &Phone,
        code: Code,
        request: Option<OtpId>,
    ) -> Result<VerifiedOtp, VerifyOtpError> {
        let Toolbox { entropy, vault, .. } = &self.tools;
        let (project, mode, now) = (caller.project.id, caller.mode, self.tools.now());
        let fresh = IdentityId::new(now, entropy.as_ref());
        let (session, refresh) = self.tokens.open(project, mode, fresh, now);
        // A login whose token nobody can sign would use the code up for nothing.
        self.tokens.ready(&session).await?;
        let redemption = Redemption {
            guess: Guess::new(code, Arc::clone(&self.codes)).meant_for(request),
            policy: self.limits.guesses(mode),
            login: Login {
                session: session.clone(),
                phone: vault.phone_index(project, mode, phone),
                sealed_phone: vault.seal_phone(project, phone),
            },
        };
        match self.logins.redeem(redemption, now).await? {
            Redeemed::LoggedIn(allowance, identity) => {
                let session = Session { identity, ..session };
                let tokens = self.tokens.pair(&session, refresh, now).await?;
                Ok(VerifiedOtp { tokens, allowance })
            }
            Redeemed::Wrong(allowance) => Err(VerifyOtpError::Wrong(allowance)),
            Redeemed::Locked(allowance) => Err(VerifyOtpError::Locked(allowance)),
            Redeemed::NotFound => Err(VerifyOtpError::NotFound),
        }
    }
}
