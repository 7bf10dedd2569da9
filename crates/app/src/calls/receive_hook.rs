use super::idempotency::Repeat;
use crate::refusals::refusals;
use crate::{AdmitRequest, RelayOtp, RelayOtpError, SendOtpError, Toolbox};
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

/// The format of each system that may call.
pub type HookFormats = fn(HookKind) -> &'static dyn HookFormat;

/// Delivers a code at the call of another system, in its own format (`POST /hooks/{hook}`).
///
/// A hook is of its own accord switched on: it is there because somebody made it.
pub struct ReceiveHook {
    pub tools: Toolbox,
    pub hooks: Arc<dyn HookStore>,
    /// How other systems prove themselves, ask and are answered.
    pub formats: HookFormats,
    pub admit_request: Arc<AdmitRequest>,
    pub relay: Arc<RelayOtp>,
}

refusals! {
    ReceiveHookError {
        /// There is no such hook, its project is archived, or the call does not show its secret.
        Unauthenticated = "the call is not authenticated",
    }
}

/// A proven call, and what it asks for.
pub struct HookOrder {
    pub caller: Caller,
    asked: Result<HookMessage, HookRefusal>,
    lifetime: Duration,
    key: Digest,
    format: &'static dyn HookFormat,
}

impl HookOrder {
    /// Whose code it is, if that can be read.
    pub fn phone(&self) -> Option<&Phone> {
        self.asked.as_ref().ok().map(|asked| &asked.phone)
    }
}

/// A hook that a call is for, whose head can be one of its calls.
pub struct AdmittedHook {
    hook: Hook,
    caller: Caller,
    secrets: Vec<WebhookSecret>,
    /// How the other system asks and is answered.
    pub format: &'static dyn HookFormat,
}

/// Says in the log what is wrong with a call. No answer does.
fn turned_away(hook: HookId, fault: HookFault) -> ReceiveHookError {
    tracing::info!(%hook, fault = fault.as_str(), "a call of a hook is not authenticated");
    ReceiveHookError::Unauthenticated
}

impl ReceiveHook {
    /// Judges whether a call with this head can be one of any hook; needs no look-up.
    ///
    /// # Errors
    /// [`ReceiveHookError::Unauthenticated`].
    pub fn fits(&self, hook: HookId, head: &WebhookHead) -> Result<(), ReceiveHookError> {
        let now = self.tools.now();
        let judged = HookKind::ALL.map(|kind| (self.formats)(kind).fits(head, now));
        if judged.contains(&Ok(())) {
            return Ok(());
        }
        // A call that is signed at another time has the shape of no other format.
        let late = judged.contains(&Err(HookFault::Time));
        Err(turned_away(hook, if late { HookFault::Time } else { HookFault::Shape }))
    }

    /// Judges the head of a call, before any of its body is read.
    ///
    /// # Errors
    /// [`ReceiveHookError::Unauthenticated`] if there is no such hook, or no body could make this one of its
    /// calls.
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

    /// Judges a whole call, and reads what it asks for.
    ///
    /// # Errors
    /// [`ReceiveHookError::Unauthenticated`] for whatever was not called by whom the hook was made for; the
    /// same for all of that.
    #[instrument(name = "open_hook", target = TRACE, level = "error", skip_all)]
    pub async fn open(
        &self,
        admitted: AdmittedHook,
        call: &WebhookCall,
    ) -> Result<HookOrder, ReceiveHookError> {
        let AdmittedHook { hook, caller, secrets, format } = admitted;
        let now = self.tools.now();
        if !format.proves(&secrets, call, now) {
            // The time may have run out while the body came.
            let fault = format.fits(&call.head, now).err().unwrap_or(HookFault::Signature);
            return Err(turned_away(hook.id, fault));
        }
        let asked = match format.read(&call.body) {
            // Judged here, so that a repetition that waits for the first call counts once.
            Ok(_) if !self.admits(&caller).await? => Err(HookRefusal::ProjectLimited),
            asked => asked,
        };
        let is_mfa = asked.as_ref().is_ok_and(|asked| asked.is_mfa);
        let lifetime = hook.mfa_lifetime.filter(|_| is_mfa).unwrap_or(hook.lifetime);
        // A repetition of the call is recognised by the hook and the body.
        let (owner, vault) = (hook.id.uuid(), self.tools.vault.as_ref());
        let key = vault.digest(Purpose::Idempotency, &[owner.as_bytes(), &call.body]);
        Ok(HookOrder { caller, asked, lifetime, key, format })
    }

    /// Whether the ceiling of the project and mode leaves room for one more send.
    async fn admits(&self, caller: &Caller) -> Result<bool, StoreError> {
        let scope = RequestScope::Send;
        let admission = self.admit_request.admit(caller.world(), caller.key, scope).await?;
        Ok(admission.is_none_or(|admission| admission.admitted))
    }

    /// Sends what is asked for, once for each body; `None` while the first call with this body is at work.
    /// `recorded` is called once the send is on record.
    ///
    /// # Errors
    /// A store is out of reach.
    #[instrument(name = "receive_hook", target = TRACE, level = "error", skip_all)]
    pub async fn deliver(
        &self,
        order: &HookOrder,
        recorded: &(dyn Fn() + Send + Sync),
    ) -> Result<Option<Result<(), HookRefusal>>, StoreError> {
        match self.send(order, recorded).await {
            Ok(()) => Ok(Some(Ok(()))),
            Err(Ended::Refused(refusal)) => Ok(Some(Err(refusal))),
            Err(Ended::Running) => Ok(None),
            Err(Ended::Failed(cause)) => Err(cause),
        }
    }

    async fn send(
        &self,
        order: &HookOrder,
        recorded: &(dyn Fn() + Send + Sync),
    ) -> Result<(), Ended> {
        let HookOrder { caller, asked, lifetime, key, format } = order;
        let HookMessage { phone, code, .. } = asked.clone().map_err(Ended::Refused)?;
        let lifetime = RelayLifetime::from_seconds(lifetime.as_secs());
        let lifetime = lifetime.ok_or(Ended::Refused(HookRefusal::Unavailable))?;
        // A first call that never ended is not done again: whoever repeats it has given up by then.
        let lifetimes = Lifetimes { lease: format.repeats_for(), keep: format.repeats_for() };
        let repeat = Some(Repeat { key: &key.0, lifetimes });
        self.relay.deliver(caller, &phone, (code, lifetime), repeat, recorded).await?;
        Ok(())
    }
}

/// How a call ends that does not send.
enum Ended {
    Refused(HookRefusal),
    Running,
    Failed(StoreError),
}

impl From<RelayOtpError> for Ended {
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
            SendOtpError::Reused => HookRefusal::Unavailable,
            SendOtpError::Conflict => return Self::Running,
            SendOtpError::Store(cause) => return Self::Failed(cause),
        })
    }
}
