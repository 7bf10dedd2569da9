use crate::calls::whole_second;
use crate::{AuditedChange, Control, ManageError};
use dwar_kernel::{StoreError, TRACE, Timestamp};
use dwar_operator::{Action, By, Command, Facts};
use dwar_session::{Algorithm, KeyState, SigningKey, SigningKeyStore, TokenSigner};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Makes, rotates and lists signing keys (docs/contract.md, Access tokens).
#[derive(Clone)]
pub struct ManageSigningKeys {
    /// Who may.
    pub control: Control,
    /// Keeps keys, sealed.
    pub keys: Arc<dyn SigningKeyStore>,
    /// Makes keys.
    pub signer: Arc<dyn TokenSigner>,
    /// How one takes over from another.
    pub policy: SigningKeyPolicy,
}

/// How signing keys overlap.
#[derive(Clone, Copy, Debug)]
pub struct SigningKeyPolicy {
    /// The algorithm of the next key; those before it keep theirs.
    pub algorithm: Algorithm,
    /// For how long a new key is published before it signs: longer than verifiers cache.
    pub publish_before: Duration,
    /// For how long a key stays published after it stopped signing: the life of its last token.
    pub publish_after: Duration,
}

impl ManageSigningKeys {
    /// Makes sure that a key of the configured algorithm signs, now or soon.
    ///
    /// An empty store gets one that signs at once; after a change of the algorithm, a successor
    /// takes over when verifiers have seen it.
    #[instrument(name = "signing_keys.ensure", target = TRACE, level = "error", skip_all)]
    pub async fn ensure(&self) -> Result<(), StoreError> {
        let now = self.control.tools.now();
        let keys = self.keys.keys(now).await?;
        let usable = |key: &SigningKey| {
            key.algorithm == self.policy.algorithm
                && key.signs_until.is_none()
                && matches!(key.state(now), KeyState::Active | KeyState::Next)
        };
        if keys.iter().any(usable) {
            return Ok(());
        }
        if SigningKey::active(&keys, now).is_some() {
            return self.publish(self.successor()?).await;
        }
        // A token is signed by the key that is active at its `iat`, a whole second.
        let key = self.signer.generate(self.policy.algorithm, now, whole_second(now))?;
        self.keys.add_first(key, now).await.map(drop)
    }

    /// Publishes a new key now, which takes over once verifiers have seen it. If none signs yet, it
    /// first makes one that does.
    #[instrument(name = "signing_keys.rotate", target = TRACE, level = "error", skip_all)]
    pub async fn rotate(&self, by: &By) -> Result<SigningKey, ManageError> {
        self.control.admit(by, Command::RotateSigningKey, None)?;
        let key = self.successor()?;
        let facts = Facts::new()
            .word("algorithm", key.algorithm)
            .word("signs_from", key.signs_from.to_rfc3339());
        let change = AuditedChange::new(Action::SigningKeyRotated, &key.kid).after(facts);
        self.control.record(by, change).await?;
        self.ensure().await?;
        self.publish(key.clone()).await?;
        Ok(key)
    }

    fn successor(&self) -> Result<SigningKey, StoreError> {
        let now = self.control.tools.now();
        let signs_from = whole_second(now + self.policy.publish_before);
        self.signer.generate(self.policy.algorithm, now, signs_from)
    }

    async fn publish(&self, key: SigningKey) -> Result<(), StoreError> {
        let retire_until = key.signs_from + self.policy.publish_after;
        self.keys.rotate(key, retire_until).await
    }

    /// Every key that is not gone, oldest first, with its state.
    #[instrument(name = "signing_keys.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(&self, by: &By) -> Result<Vec<(SigningKey, KeyState)>, ManageError> {
        self.control.admit(by, Command::ListSigningKeys, None)?;
        let now: Timestamp = self.control.tools.now();
        let keys = self.keys.keys(now).await?;
        Ok(keys.into_iter().map(|key| (key.clone(), key.state(now))).collect())
    }
}
