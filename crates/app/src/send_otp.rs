use crate::tokens::seconds;
use crate::{Deliver, Limits, Toolbox};
use dwar_kernel::{AttemptId, EntryId, KeyMode, OtpId, Phone, Purpose, StoreError, Timestamp};
use dwar_otp::sandbox::Scenario;
use dwar_otp::{
    Charge, Code, CodeKeys, Delivery, DeliveryStatus, Otp, OtpState, OtpStore, Reach, SendPace,
};
use dwar_project::Caller;
use dwar_ratelimit::{Admission, Quota, SendAdmission, SendKey, SendLimiter, SendQuota};
use dwar_wallet::{HoldOutcome, Paise, WalletStore};
use std::sync::Arc;
use std::time::Duration;

/// Sends a code to a phone: limit, hold, issue, deliver, settle (`POST /v1/otp/send`).
pub struct SendOtp {
    /// Time, randomness, vault.
    pub tools: Toolbox,
    /// Keeps codes.
    pub otps: Arc<dyn OtpStore>,
    /// Counts codes per phone.
    pub sends: Arc<dyn SendLimiter>,
    /// Holds the price.
    pub wallets: Arc<dyn WalletStore>,
    /// Takes the code to the phone.
    pub deliver: Arc<Deliver>,
    /// Digest codes.
    pub codes: Arc<CodeKeys>,
    /// How long codes live.
    pub policy: OtpPolicy,
    /// How many may be sent.
    pub limits: Limits,
}

/// What holds for every code.
#[derive(Clone, Copy, Debug)]
pub struct OtpPolicy {
    /// How long a code is active; 10 minutes in the specification.
    pub lifetime: Duration,
}

/// A code that a provider has accepted.
#[derive(Debug)]
pub struct SentOtp {
    /// The request as it stands.
    pub otp: Otp,
    /// Whole seconds until the code expires.
    pub expires_in: i64,
    /// The phone's allowance after this send.
    pub admission: Admission,
}

/// Why no code was sent.
#[derive(Debug, thiserror::Error)]
pub enum SendOtpError {
    /// More codes for this phone than the limit, or than its wrong guesses leave room for.
    #[error("too many codes for this phone number")]
    RateLimited(Admission),
    /// Balance minus open holds is under the price. Nothing was sent or charged.
    #[error("the wallet balance is too low")]
    InsufficientBalance(Admission),
    /// Every channel failed. Nothing was charged.
    #[error("no channel could deliver the code")]
    Undeliverable(Admission),
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SendOtp {
    /// Sends a fresh code to `phone`, which supersedes its present one.
    ///
    /// # Errors
    /// [`SendOtpError::InsufficientBalance`] uses up none of the phone's allowance. Nor does
    /// [`SendOtpError::Undeliverable`] if every provider refused outright; if one may have sent
    /// something, the send keeps its place.
    pub async fn send(&self, caller: &Caller, phone: &Phone) -> Result<SentOtp, SendOtpError> {
        let now = self.tools.now();
        let otp = self.compose(caller, phone, now);
        let key = SendKey { project: otp.project, mode: otp.mode, phone: otp.phone };
        let admission = self.admit(key, otp.id, now).await?;
        if self.hold(caller, phone, otp.id, now).await? == HoldOutcome::Insufficient {
            self.sends.withdraw(key, otp.id).await?;
            return Err(SendOtpError::InsufficientBalance(admission.withdrawn));
        }
        let otp = self.deliver_first(caller, otp).await?;
        if otp.delivery.status == DeliveryStatus::Failed {
            let standing = match otp.delivery.reach() {
                Reach::NoProvider => admission.withdrawn,
                Reach::Refused => admission.forgiven,
                Reach::Possible => admission.counted,
            };
            return Err(SendOtpError::Undeliverable(standing));
        }
        let expires_in = seconds(otp.expires_at, self.tools.now());
        Ok(SentOtp { otp, expires_in, admission: admission.counted })
    }

    async fn deliver_first(&self, caller: &Caller, otp: Otp) -> Result<Otp, StoreError> {
        let Some(first) = otp.delivery.attempts.last().cloned() else {
            return self.give_up(caller, otp).await;
        };
        self.otps.issue(otp.clone()).await?;
        self.deliver.attempt(&caller.project, otp, first).await
    }

    /// Ends a send that no provider is there for; it supersedes the phone's present code like any
    /// other, and leaves no active one.
    async fn give_up(&self, caller: &Caller, mut otp: Otp) -> Result<Otp, StoreError> {
        tracing::error!(project = %caller.project.id, "no provider is configured");
        otp.state = OtpState::Void;
        otp.sealed_code = None;
        otp.delivery.status = DeliveryStatus::Failed;
        self.otps.issue(otp.clone()).await?;
        self.deliver.conclude(&caller.project, &otp, Charge::Nothing).await?;
        Ok(otp)
    }

    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        now: Timestamp,
    ) -> Result<SendAdmission, SendOtpError> {
        let quota = self.quota(key, now).await?;
        let admission = self.sends.admit(key, send, quota, now).await?;
        if admission.counted.admitted {
            Ok(admission)
        } else {
            Err(SendOtpError::RateLimited(admission.counted))
        }
    }

    /// The mode's quota, or a slower one after many wrong guesses (decisions, Guess budget).
    async fn quota(&self, key: SendKey, now: Timestamp) -> Result<SendQuota, SendOtpError> {
        let usual = self.limits.of(key.mode).send;
        if key.mode == KeyMode::Test {
            return Ok(usual);
        }
        let budget = self.otps.guess_budget(key.project, key.mode, key.phone).await?;
        match budget.pace(&self.limits.guesses, now) {
            SendPace::Usual => Ok(usual),
            SendPace::OnePer(window) => {
                Ok(SendQuota { places: Quota { limit: 1, window }, ..usual })
            }
            SendPace::Stopped(reset) => Err(SendOtpError::RateLimited(Admission {
                admitted: false,
                limit: 0,
                remaining: 0,
                reset,
            })),
        }
    }

    async fn hold(
        &self,
        caller: &Caller,
        phone: &Phone,
        send: OtpId,
        now: Timestamp,
    ) -> Result<HoldOutcome, StoreError> {
        if caller.mode.is_test() {
            let poor = Scenario::of(phone) == Scenario::InsufficientBalance;
            return Ok(if poor { HoldOutcome::Insufficient } else { HoldOutcome::Held });
        }
        let route = self.deliver.routes.of(&caller.project, caller.mode);
        let price = self.deliver.prices.dearest(&caller.project, &route);
        if price == Paise::ZERO {
            return Ok(HoldOutcome::Held);
        }
        let entry = EntryId::new(now, self.tools.entropy.as_ref());
        self.wallets.hold(caller.project.id, send, price, entry, now).await
    }

    fn compose(&self, caller: &Caller, phone: &Phone, now: Timestamp) -> Otp {
        let Toolbox { entropy, vault, .. } = &self.tools;
        let (project, mode) = (caller.project.id, caller.mode);
        let id = OtpId::new(now, entropy.as_ref());
        let index = vault.phone_index(project, mode, phone);
        let code = Code::generate(entropy.as_ref());
        let first = AttemptId::new(now, entropy.as_ref());
        Otp {
            id,
            project,
            mode,
            phone: index,
            sealed_phone: vault.seal_phone(project, phone),
            code: self.codes.digest(&Otp::binding_of(id, project, mode, &index), &code),
            sealed_code: Some(vault.seal(
                Purpose::Code,
                id.uuid().as_bytes(),
                code.expose().as_bytes(),
            )),
            state: OtpState::Active,
            wrong: 0,
            max_wrong: self.limits.of(mode).max_wrong,
            created_at: now,
            expires_at: now + self.policy.lifetime,
            delivery: Delivery::begin(&self.deliver.routes.of(&caller.project, mode), first, now),
        }
    }
}
