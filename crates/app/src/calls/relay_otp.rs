use super::message_text::sms_text_of;
use super::send_otp::{Errand, Order, Repeat};
use crate::{SendOtp, SendOtpError, SentOtp};
use dwar_kernel::{Channel, Phone, TRACE};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_otp::{Code, RelayLifetime, Route};
use dwar_project::Caller;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Delivers a code that somebody else made, and will check (`POST /v1/otp/relay`).
///
/// What bounds a send and becomes of it holds here too. The code is none of the codes that can be verified: it takes
/// the place of none, and opens nothing.
pub struct RelayOtp {
    /// Sends it.
    pub sends: Arc<SendOtp>,
}

/// Why a code was not relayed.
#[derive(Debug, thiserror::Error)]
pub enum RelayOtpError {
    /// The project has not switched it on for the mode of the key.
    #[error("relaying codes is not enabled for this project")]
    Disabled,
    /// A text that would go out names other minutes, in words that cannot be changed.
    #[error("the registered text is for codes that work for {} seconds", _0.as_secs())]
    FixedLifetime(Duration),
    /// As for a send.
    #[error(transparent)]
    Send(#[from] SendOtpError),
}

impl RelayOtp {
    /// Sends `code` to `phone`, which keeps its present login code; or, with a `key` that came before, gives the
    /// first answer again and sends nothing.
    ///
    /// # Errors
    /// As [`SendOtp::send`].
    #[instrument(name = "relay_otp", target = TRACE, level = "error", skip_all)]
    pub async fn relay(
        &self,
        caller: &Caller,
        phone: &Phone,
        message: (Code, RelayLifetime),
        key: Option<&IdempotencyKey>,
    ) -> Result<SentOtp, RelayOtpError> {
        if !caller.project.relay.is_on(caller.mode) {
            return Err(RelayOtpError::Disabled);
        }
        let repeat = key.map(|key| self.sends.repeat(key));
        self.deliver(caller, phone, message, repeat, &|| ()).await
    }

    /// As [`RelayOtp::relay`], whether or not the project has switched that on; `recorded` is called once the
    /// send is on record.
    pub(crate) async fn deliver(
        &self,
        caller: &Caller,
        phone: &Phone,
        (code, lifetime): (Code, RelayLifetime),
        repeat: Option<Repeat<'_>>,
        recorded: &(dyn Fn() + Send + Sync),
    ) -> Result<SentOtp, RelayOtpError> {
        let lifetime = lifetime.duration();
        let fixed = self.fixed_lifetime(caller).filter(|fixed| *fixed != lifetime);
        if let Some(fixed) = fixed {
            return Err(RelayOtpError::FixedLifetime(fixed));
        }
        let errand = Errand::Relay(code, lifetime);
        Ok(self.sends.run(&Order { caller, phone, errand, repeat, recorded }).await?)
    }

    /// The one lifetime that the texts on the route of a caller's messages are for, if any of them names its
    /// minutes in words of its own.
    fn fixed_lifetime(&self, caller: &Caller) -> Option<Duration> {
        let routes = &self.sends.deliver.routes;
        let Route { hops, .. } = routes.of(&caller.project, caller.mode);
        let registered = hops.iter().find_map(|hop| routes.fixed_minutes.get(&hop.provider));
        let by_sms = || hops.iter().any(|hop| hop.channel == Channel::Sms);
        let own = || sms_text_of(&caller.project, None).is_ok_and(|text| text.has_fixed_minutes());
        match registered {
            Some(minutes) => Some(Duration::from_secs(u64::from(*minutes) * 60)),
            None => (by_sms() && own()).then_some(self.sends.policy.lifetime),
        }
    }
}
