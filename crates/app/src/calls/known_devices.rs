use crate::{CommonPorts, Limits};
use dwar_identity::{DeviceToken, IdentityStore};
use dwar_kernel::{BlindIndex, GuardMode, IdentityId, StoreError};
use dwar_project::Caller;
use std::sync::Arc;

/// Issues the tokens of devices on which a phone logged in, and recognises them.
#[derive(Clone)]
pub struct KnownDevices {
    pub tools: CommonPorts,
    pub identities: Arc<dyn IdentityStore>,
    pub limits: Limits,
}

impl KnownDevices {
    /// A token for the device on which `phone` just logged in; `None` if the project has no use for it.
    pub(crate) fn issue(
        &self,
        caller: &Caller,
        phone: &BlindIndex,
        identity: IdentityId,
    ) -> Option<DeviceToken> {
        let CommonPorts { vault, .. } = &self.tools;
        let line = (caller.project_mode(), phone);
        uses_devices(caller)
            .then(|| DeviceToken::issue(line, identity, vault.as_ref(), self.tools.now()))
    }

    /// Whether the device that a client shows is known to `phone`. Everything else is a stranger's: a device of
    /// another project, mode or phone, an expired or forged one, and one whose identity was deleted.
    ///
    /// # Errors
    /// Those of the look-up of the identity, which only a genuine token causes.
    pub(crate) async fn knows(
        &self,
        caller: &Caller,
        phone: &BlindIndex,
        shown: Option<&DeviceToken>,
    ) -> Result<bool, StoreError> {
        let project_mode = caller.project_mode();
        let trusts = self.limits.guesses(caller.mode).device_stop_at > 0;
        let Some(shown) = shown.filter(|_| trusts && uses_devices(caller)) else {
            return Ok(false);
        };
        let now = self.tools.now();
        let identity = shown.identity((project_mode, phone), self.tools.vault.as_ref(), now);
        let Some(identity) = identity else { return Ok(false) };
        Ok(self.identities.find(project_mode, identity).await?.is_some())
    }
}

fn uses_devices(caller: &Caller) -> bool {
    caller.project.guard != GuardMode::Off
}
