use super::message_text::sms_text_of;
use super::send_otp::Errand;
use crate::{SendOtp, SendOtpError, SentOtp};
use dwar_kernel::{Channel, Phone, TRACE};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_otp::{Code, Route};
use dwar_project::Caller;
use std::ops::RangeInclusive;
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

/// How long a code of somebody else works: 60 to 3,600 seconds. Nothing is sent after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayLifetime(Duration);

impl RelayLifetime {
    /// Its bounds, in seconds.
    pub const SECONDS: RangeInclusive<u64> = 60..=3_600;
    /// The same, for people.
    pub const RULE: &str = "a whole number of seconds from 60 to 3600";

    /// A lifetime of whole seconds; `None` outside of the bounds.
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        Self::SECONDS.contains(&seconds).then(|| Self(Duration::from_secs(seconds)))
    }
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
        (code, RelayLifetime(lifetime)): (Code, RelayLifetime),
        key: Option<&IdempotencyKey>,
    ) -> Result<SentOtp, RelayOtpError> {
        if !caller.project.relay.is_on(caller.mode) {
            return Err(RelayOtpError::Disabled);
        }
        let fixed = self.fixed_lifetime(caller).filter(|fixed| *fixed != lifetime);
        if let Some(fixed) = fixed {
            return Err(RelayOtpError::FixedLifetime(fixed));
        }
        Ok(self.sends.run(caller, phone, &Errand::Relay(code, lifetime), key).await?)
    }

    /// The one lifetime that the texts on the route of a caller's messages are for, if any of them names its
    /// minutes in words of its own.
    fn fixed_lifetime(&self, caller: &Caller) -> Option<Duration> {
        let routes = &self.sends.deliver.routes;
        let Route { hops, .. } = routes.of(&caller.project, caller.mode);
        let registered = hops.iter().find_map(|hop| routes.fixed_minutes.get(&hop.provider));
        let by_sms = || hops.iter().any(|hop| hop.channel == Channel::Sms);
        let own = || sms_text_of(&caller.project).is_ok_and(|text| text.has_fixed_minutes());
        match registered {
            Some(minutes) => Some(Duration::from_secs(u64::from(*minutes) * 60)),
            None => (by_sms() && own()).then_some(self.sends.policy.lifetime),
        }
    }
}
