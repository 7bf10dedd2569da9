use super::idempotency::RepeatKey;
use crate::refusals::refusals;
use crate::{AdmitRequest, CommonPorts, RelayOtp, RelayOtpError, SendOtpError};
use dwar_kernel::{Digest, HookId, Phone, Purpose, StoreError, TRACE, WebhookSecret};
use dwar_otp::idempotency::Lifetimes;
use dwar_otp::{
    HookFault, HookFormat, HookMessage, HookRefusal, RelayLifetime, WebhookCall, WebhookHead,
};
use dwar_project::{Caller, Hook, HookCaller, HookKind, HookStore};
use dwar_ratelimit::RequestScope;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Returns the request format of each kind of calling system.
pub type HookFormats = fn(HookKind) -> &'static dyn HookFormat;

/// Delivers a code when another login system calls, in that system's format (`POST /hooks/{hook}`).
///
/// A hook needs no switch: an operator created it.
pub struct ReceiveHook {
    pub tools: CommonPorts,
    pub hooks: Arc<dyn HookStore>,
    pub formats: HookFormats,
    pub admit_request: Arc<AdmitRequest>,
    pub relay: Arc<RelayOtp>,
}

refusals! {
    ReceiveHookError {
        /// There is no such hook, its project is archived, or the call does not prove the secret.
        Unauthenticated = "the call is not authenticated",
    }
}

/// A proven call, with its parsed content.
pub struct HookRequest {
    pub caller: Caller,
    asked: Result<HookMessage, HookRefusal>,
    lifetime: Duration,
    key: Digest,
    format: &'static dyn HookFormat,
}

impl HookRequest {
    /// The phone number in the call, if the call could be parsed.
    pub fn phone(&self) -> Option<&Phone> {
        self.asked.as_ref().ok().map(|asked| &asked.phone)
    }
}

/// A hook with the head of a call that may be genuine.
pub struct AdmittedHook {
    hook: Hook,
    caller: Caller,
    secrets: Vec<WebhookSecret>,
    pub format: &'static dyn HookFormat,
}

/// Logs why a call is refused. The answer does not say it.
fn turned_away(hook: HookId, fault: HookFault) -> ReceiveHookError {
    tracing::info!(%hook, fault = fault.as_str(), "a call of a hook is not authenticated");
    ReceiveHookError::Unauthenticated
}

impl ReceiveHook {
    /// Checks whether a call with this head can belong to a hook of any kind; needs no look-up.
    ///
    /// # Errors
    /// [`ReceiveHookError::Unauthenticated`].
    pub fn fits(&self, hook: HookId, head: &WebhookHead) -> Result<(), ReceiveHookError> {
        let now = self.tools.now();
        let judged = HookKind::ALL.map(|kind| (self.formats)(kind).fits(head, now));
        if judged.contains(&Ok(())) {
            return Ok(());
        }
        // A call with a wrong time has the shape of its own format and of no other.
        let late = judged.contains(&Err(HookFault::Time));
        Err(turned_away(hook, if late { HookFault::Time } else { HookFault::Shape }))
    }

    /// Checks the head of a call, before its body is read.
    ///
    /// # Errors
    /// [`ReceiveHookError::Unauthenticated`] if there is no such hook, or no body could make this call genuine.
    #[instrument(name = "admit_hook", target = TRACE, level = "error", skip_all)]
    pub async fn admit(
        &self,
        hook: HookId,
        head: &WebhookHead,
    ) -> Result<AdmittedHook, ReceiveHookError> {
        let found = self.hooks.hook_caller(hook).await?;
        let found = found.ok_or_else(|| turned_away(hook, HookFault::UnknownHook));
        let HookCaller { hook, caller } = found?;
        let format = (self.formats)(hook.kind);
        let now = self.tools.now();
        let (vault, owner) = (self.tools.vault.as_ref(), hook.id.uuid());
        let open = |sealed| WebhookSecret::open(vault, Purpose::HookSecret, owner, sealed);
        let secrets = hook.secret.at(now).into_iter().map(open).collect::<Result<Vec<_>, _>>();
        let secrets = secrets.map_err(StoreError::from)?;
        format.fits(head, now).map_err(|fault| turned_away(hook.id, fault))?;
        if format.shows(&secrets, head) == Some(false) {
            return Err(turned_away(hook.id, HookFault::Signature));
        }
        Ok(AdmittedHook { hook, caller, secrets, format })
    }

    /// Authenticates a whole call and parses it.
    ///
    /// # Errors
    /// [`ReceiveHookError::Unauthenticated`] for every call that does not prove the secret of the hook,
    /// whatever the fault.
    #[instrument(name = "open_hook", target = TRACE, level = "error", skip_all)]
    pub async fn open(
        &self,
        admitted: AdmittedHook,
        call: &WebhookCall,
    ) -> Result<HookRequest, ReceiveHookError> {
        let AdmittedHook { hook, caller, secrets, format } = admitted;
        let now = self.tools.now();
        if !format.proves(&secrets, call, now) {
            // The signed time may have become too old while the body arrived.
            let fault = format.fits(&call.head, now).err().unwrap_or(HookFault::Signature);
            return Err(turned_away(hook.id, fault));
        }
        let asked = match format.read(&call.body) {
            // Counted here, so that a repetition that waits for the first call counts once.
            Ok(_) if !self.admits(&caller).await? => Err(HookRefusal::ProjectLimited),
            asked => asked,
        };
        let is_mfa = asked.as_ref().is_ok_and(|asked| asked.is_mfa);
        let lifetime = hook.mfa_lifetime.filter(|_| is_mfa).unwrap_or(hook.lifetime);
        // Hook and body identify a repetition of the call.
        let (owner, vault) = (hook.id.uuid(), self.tools.vault.as_ref());
        let key = vault.digest(Purpose::Idempotency, &[owner.as_bytes(), &call.body]);
        Ok(HookRequest { caller, asked, lifetime, key, format })
    }

    /// Whether the limit of the project and mode has room for one more send.
    async fn admits(&self, caller: &Caller) -> Result<bool, StoreError> {
        let scope = RequestScope::Send;
        let admission = self.admit_request.admit(caller.project_mode(), caller.key, scope).await?;
        Ok(admission.is_none_or(|admission| admission.admitted))
    }

    /// Sends the code, once for each body; `None` while the first call with this body is still running.
    /// `recorded` is called once the send is on record.
    ///
    /// # Errors
    /// The store failed.
    #[instrument(name = "receive_hook", target = TRACE, level = "error", skip_all)]
    pub async fn deliver(
        &self,
        request: &HookRequest,
        recorded: &(dyn Fn() + Send + Sync),
    ) -> Result<Option<Result<(), HookRefusal>>, StoreError> {
        match self.send(request, recorded).await {
            Ok(()) => Ok(Some(Ok(()))),
            Err(HookOutcome::Refused(refusal)) => Ok(Some(Err(refusal))),
            Err(HookOutcome::Running) => Ok(None),
            Err(HookOutcome::Failed(cause)) => Err(cause),
        }
    }

    async fn send(
        &self,
        request: &HookRequest,
        recorded: &(dyn Fn() + Send + Sync),
    ) -> Result<(), HookOutcome> {
        let HookRequest { caller, asked, lifetime, key, format } = request;
        let HookMessage { phone, code, .. } = asked.clone().map_err(HookOutcome::Refused)?;
        let lifetime = RelayLifetime::from_seconds(lifetime.as_secs());
        let lifetime = lifetime.ok_or(HookOutcome::Refused(HookRefusal::Unavailable))?;
        // A first call that never finished is not done again, since the caller has given up by then.
        let lifetimes = Lifetimes { lease: format.repeat_window(), keep: format.repeat_window() };
        let repeat = Some(RepeatKey { key: &key.0, lifetimes });
        self.relay.deliver(caller, &phone, (code, lifetime), repeat, recorded).await?;
        Ok(())
    }
}

enum HookOutcome {
    Refused(HookRefusal),
    Running,
    Failed(StoreError),
}

impl From<RelayOtpError> for HookOutcome {
    fn from(error: RelayOtpError) -> Self {
        let send = match error {
            RelayOtpError::Send(send) => send,
            RelayOtpError::FixedLifetime(_) | RelayOtpError::Disabled => {
                tracing::error!(cause = %error, "a hook cannot deliver");
                return Self::Refused(HookRefusal::Unavailable);
            }
        };
        Self::Refused(match send {
            SendOtpError::RateLimited(_) => HookRefusal::PhoneLimited,
            SendOtpError::Undeliverable(_) => HookRefusal::Undelivered,
            SendOtpError::InsufficientBalance(_) => HookRefusal::InsufficientBalance,
            SendOtpError::SpendLimitReached(_) => HookRefusal::SpendLimitReached,
            // The guard does not judge what is relayed.
            SendOtpError::Reused | SendOtpError::ProofRequired => HookRefusal::Unavailable,
            SendOtpError::Conflict => return Self::Running,
            SendOtpError::Store(cause) => return Self::Failed(cause),
        })
    }
}
