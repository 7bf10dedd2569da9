use crate::{AuditedChange, Control, ManageError};
use dwar_app::SigningKeys;
use dwar_kernel::TRACE;
use dwar_operator::{Action, AuditDetails, Command, Requester};
use dwar_session::{KeyState, SigningKey};
use tracing::instrument;

/// Rotates and lists the signing keys of the installation, for operators.
#[derive(Clone)]
pub struct ManageSigningKeys {
    pub control: Control,
    pub keys: SigningKeys,
}

impl ManageSigningKeys {
    /// Publishes a new key now, which takes over once verifiers have seen it. If no key signs yet, one that
    /// signs at once is made first.
    #[instrument(name = "signing_keys.rotate", target = TRACE, level = "error", skip_all)]
    pub async fn rotate(&self, by: &Requester) -> Result<SigningKey, ManageError> {
        self.control.admit(by, Command::RotateSigningKey, None)?;
        let key = self.keys.successor()?;
        let facts = AuditDetails::new()
            .word("algorithm", key.algorithm)
            .word("signs_from", key.signs_from.to_rfc3339());
        let change = AuditedChange::new(Action::SigningKeyRotated, &key.kid).after(facts);
        self.control.record(by, change).await?;
        self.keys.publish(key.clone()).await?;
        Ok(key)
    }

    /// Every key that is not gone, oldest first, with its state.
    #[instrument(name = "signing_keys.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(&self, by: &Requester) -> Result<Vec<(SigningKey, KeyState)>, ManageError> {
        self.control.admit(by, Command::ListSigningKeys, None)?;
        Ok(self.keys.list().await?)
    }
}
