use crate::{Limits, TokenPair, Tokens, Toolbox};
use dwar_identity::{IdentityStore, Sighting};
use dwar_kernel::{BlindIndex, IdentityId, OtpId, Phone, StoreError, Timestamp};
use dwar_otp::{Allowance, Code, CodeKeys, Guess, OtpStore, Verdict};
use dwar_project::Caller;
use dwar_session::{SessionStore, Started};
use std::sync::Arc;

/// How often a login is tried again when its identity is deleted under it.
const RACES_WITH_DELETION: usize = 3;

/// Judges a code and opens a session: judge, recognise, start (`POST /v1/otp/verify`).
pub struct VerifyOtp {
    pub tools: Toolbox,
    pub otps: Arc<dyn OtpStore>,
    pub identities: Arc<dyn IdentityStore>,
    pub sessions: Arc<dyn SessionStore>,
    pub tokens: Tokens,
    pub codes: Arc<CodeKeys>,
    pub limits: Limits,
}

/// A login.
#[derive(Debug)]
pub struct VerifiedOtp {
    /// The new session's tokens.
    pub tokens: TokenPair,
    /// The code's guesses as they stood.
    pub allowance: Allowance,
}

/// Why a code opened nothing.
#[derive(Debug, thiserror::Error)]
pub enum VerifyOtpError {
    /// The phone has no active code, or the named request is not the one whose code is active.
    #[error("no active code for this phone number")]
    NotFound,
    /// The code is wrong; this was counted.
    #[error("the code is incorrect")]
    Wrong(Allowance),
    /// Too many wrong codes; it is locked.
    #[error("too many incorrect attempts")]
    Locked(Allowance),
    /// A store failed. If that was after the code was accepted, the code is used up.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl VerifyOtp {
    /// Judges `code` for `phone`, if `request` is named as the code of that request alone; the
    /// right one logs in, exactly once.
    ///
    /// # Errors
    /// Every wrong guess is counted on disk before this answers.
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
        phone: (&Phone, BlindIndex),
        now: Timestamp,
    ) -> Result<TokenPair, StoreError> {
        for _ in 0..RACES_WITH_DELETION {
            let identity = self.recognise(caller, phone, now).await?;
            let (session, refresh) =
                self.tokens.open(caller.project.id, caller.mode, identity, now);
            let pair = self.tokens.pair(&session, refresh, now).await?;
            if self.sessions.start(session).await? == Started::Started {
                return Ok(pair);
            }
        }
        Err(StoreError::Unavailable("the identity is being deleted over and over".to_owned()))
    }

    async fn recognise(
        &self,
        caller: &Caller,
        (phone, index): (&Phone, BlindIndex),
        now: Timestamp,
    ) -> Result<IdentityId, StoreError> {
        let Toolbox { entropy, vault, .. } = &self.tools;
        let sighting = Sighting {
            mode: caller.mode,
            index,
            phone: vault.seal_phone(caller.project.id, phone),
            fresh: IdentityId::new(now, entropy.as_ref()),
            at: now,
        };
        self.identities.recognise(caller.project.id, sighting).await
    }
}
