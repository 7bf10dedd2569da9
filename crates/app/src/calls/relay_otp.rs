use super::idempotency::Repeat;
use super::send_otp::{Errand, Order};
use crate::{SendOtp, SendOtpError, SentOtp};
use dwar_kernel::{Phone, TRACE};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_otp::{Code, RelayLifetime};
use dwar_project::Caller;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Delivers a code that somebody else made, and will check (`POST /v1/otp/relay`).
///
/// What bounds a send and becomes of it holds here too. The code is none of the codes that can be verified: it takes
/// the place of none, and opens nothing.
pub struct RelayOtp {
    pub sends: Arc<SendOtp>,
}

/// Why a code was not relayed.
#[derive(Debug, thiserror::Error)]
pub enum RelayOtpError {
    /// The project has not switched it on for the mode of the key.
    #[error("relaying codes is not enabled for this project")]
    Disabled,
    /// Every text on the route names other minutes, in words that cannot be changed: these, none twice.
    #[error("the registered text is for codes that work for {} seconds", any_of(_0))]
    FixedLifetime(Vec<Duration>),
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
        self.check_lifetime(caller, lifetime)?;
        let errand = Errand::Relay(code, lifetime);
        Ok(self.sends.run(&Order { caller, phone, errand, repeat, recorded, only: None }).await?)
    }

    /// Whether a text on the route of a caller's messages can go with a code of this lifetime: the others are passed
    /// over. A route without any hop is not judged here.
    fn check_lifetime(&self, caller: &Caller, lifetime: Duration) -> Result<(), RelayOtpError> {
        let route = self.sends.deliver.routes.of(&caller.project, caller.mode);
        let mut named: Vec<_> = route.hops.iter().filter_map(|hop| hop.only_for).collect();
        if named.is_empty() || !route.of_lifetime(lifetime).hops.is_empty() {
            return Ok(());
        }
        named.sort_unstable();
        named.dedup();
        Err(RelayOtpError::FixedLifetime(named))
    }
}

fn any_of(lifetimes: &[Duration]) -> String {
    let each = lifetimes.iter().map(|lifetime| lifetime.as_secs().to_string());
    each.collect::<Vec<_>>().join(" or ")
}
