use super::idempotency::RepeatKey;
use super::send_otp::{SendPurpose, SendRequest};
use crate::{SendOtp, SendOtpError, SentOtp};
use dwar_kernel::{Phone, TRACE};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_otp::{Code, RelayLifetime};
use dwar_project::Caller;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Delivers a code that another system made and will check (`POST /v1/otp/relay`).
///
/// The rules of a send apply here too. A relayed code cannot be verified here, and does not replace the
/// phone's login code.
pub struct RelayOtp {
    pub sends: Arc<SendOtp>,
}

/// Why a code was not relayed; the wrapped error is that of a send.
#[derive(Debug, thiserror::Error)]
pub enum RelayOtpError {
    /// Relaying is switched off for the mode of the key.
    #[error("relaying codes is not enabled for this project")]
    Disabled,
    /// Every text on the route names another lifetime in fixed words; holds these lifetimes, each once.
    #[error("the registered text is for codes that work for {} seconds", any_of(_0))]
    FixedLifetime(Vec<Duration>),
    #[error(transparent)]
    Send(#[from] SendOtpError),
}

impl RelayOtp {
    /// Sends `code` to `phone`, whose login code stays in force. With a known `key` it returns the first
    /// answer again and sends nothing.
    ///
    /// # Errors
    /// Those of [`SendOtp::send`], and the other variants of [`RelayOtpError`].
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

    /// Like [`RelayOtp::relay`], even if relaying is switched off; `recorded` is called once the send is on
    /// record.
    pub(crate) async fn deliver(
        &self,
        caller: &Caller,
        phone: &Phone,
        (code, lifetime): (Code, RelayLifetime),
        repeat: Option<RepeatKey<'_>>,
        recorded: &(dyn Fn() + Send + Sync),
    ) -> Result<SentOtp, RelayOtpError> {
        let lifetime = lifetime.duration();
        self.check_lifetime(caller, lifetime)?;
        let purpose = SendPurpose::Relay(code, lifetime);
        // Nobody verifies a relayed code here, so the guard could not learn from it.
        let (only, visitor, device) = (None, None, None);
        let request =
            SendRequest { caller, phone, purpose, repeat, recorded, only, visitor, device };
        Ok(self.sends.run(&request).await?)
    }

    /// Fails if the route has hops, but the text of each names another lifetime. A route without hops is not
    /// judged here.
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
