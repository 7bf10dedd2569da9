use crate::refusals::refusals;
use crate::{Limits, TokenPair, Tokens, Toolbox};
use dwar_kernel::{BlindIndex, IdentityId, OtpId, Phone, StoreError, Timestamp};
use dwar_otp::{Allowance, Code, CodeKeys, Guess, OtpStore, Verdict};
use dwar_project::Caller;
use dwar_session::{Login, Session, SessionStore};
use std::sync::Arc;

/// Judges a code and opens a session: judge, start (`POST /v1/otp/verify`).
pub struct VerifyOtp {
    /// Says when a guess was made, and makes ids.
    pub tools: Toolbox,
    /// Judges guesses, and counts wrong ones.
    pub otps: Arc<dyn OtpStore>,
    /// Begins a session if a guess was right.
    pub sessions: Arc<dyn SessionStore>,
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
    /// Every wrong guess is counted on disk before this answers. If a store fails after the code was
    /// accepted, the code is used up.
    pub async fn verify(
        &self,
        caller: &Caller,
        phone: &Phone,
        code: Code,
        request: Option<OtpId>,
    ) -> Result<VerifiedOtp, VerifyOtpError> {
        let now = self.tools.now();
        let index = self.tools.vault.phone_index(caller.project.id, caller.mode, phone);
        let guess = Guess::new(code, Arc::clone(&self.codes)).meant_for(request);
        let policy = self.limits.guesses(caller.mode);
        let (project, mode) = (caller.project.id, caller.mode);
        match self.otps.judge(project, mode, index, guess, policy, now).await? {
            Verdict::Accepted(allowance) => {
                let tokens = self.log_in(caller, (phone, index), now).await?;
                Ok(VerifiedOtp { tokens, allowance })
            }
            Verdict::Wrong(allowance) => Err(VerifyOtpError::Wrong(allowance)),
            Verdict::Locked(allowance) => Err(VerifyOtpError::Locked(allowance)),
            Verdict::NotFound => Err(VerifyOtpError::NotFound),
        }
    }

    async fn log_in(
        &self,
        caller: &Caller,
        (phone, index): (&Phone, BlindIndex),
        now: Timestamp,
    ) -> Result<TokenPair, StoreError> {
        let Toolbox { entropy, vault, .. } = &self.tools;
        let (project, mode) = (caller.project.id, caller.mode);
        let fresh = IdentityId::new(now, entropy.as_ref());
        let (session, refresh) = self.tokens.open(project, mode, fresh, now);
        let login = Login {
            session: session.clone(),
            phone: index,
            sealed_phone: vault.seal_phone(project, phone),
        };
        let identity = self.sessions.start(login).await?;
        self.tokens.pair(&Session { identity, ..session }, refresh, now).await
    }
}
