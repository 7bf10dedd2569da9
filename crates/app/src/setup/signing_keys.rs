use crate::CommonPorts;
use crate::calls::whole_second;
use dwar_kernel::{StoreError, TRACE};
use dwar_session::{Algorithm, KeyState, SigningKey, SigningKeyStore, TokenSigner};
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// Creates, lists and rotates signing keys (docs/contract.md, Access tokens).
#[derive(Clone)]
pub struct SigningKeys {
    pub tools: CommonPorts,
    pub keys: Arc<dyn SigningKeyStore>,
    pub signer: Arc<dyn TokenSigner>,
    pub policy: SigningKeyPolicy,
}

/// When signing keys are published and how they overlap.
#[derive(Clone, Copy, Debug)]
pub struct SigningKeyPolicy {
    /// Algorithm of the next key; existing keys keep theirs.
    pub algorithm: Algorithm,
    /// How long a new key is published before it signs: longer than verifiers cache.
    pub publish_before: Duration,
    /// How long a key stays published after it stopped signing: the life of its last token.
    pub publish_after: Duration,
}

impl SigningKeys {
    /// Makes sure that a key of the configured algorithm signs, now or soon.
    ///
    /// An empty store gets a key that signs at once; after a change of the algorithm, a successor takes over
    /// when verifiers have seen it.
    #[instrument(name = "signing_keys.ensure", target = TRACE, level = "error", skip_all)]
    pub async fn ensure(&self) -> Result<(), StoreError> {
        let now = self.tools.now();
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
            return self.hand_over_to(self.successor()?).await;
        }
        // A token is signed by the key that is active at its `iat`, a whole second.
        let key = self.signer.generate(self.policy.algorithm, now, whole_second(now))?;
        self.keys.add_first(key, now).await.map(drop)
    }

    /// Makes a key that signs after verifiers have seen it, if [`SigningKeys::publish`] is called now.
    pub fn successor(&self) -> Result<SigningKey, StoreError> {
        let now = self.tools.now();
        let signs_from = whole_second(now + self.policy.publish_before);
        self.signer.generate(self.policy.algorithm, now, signs_from)
    }

    /// Publishes a successor, which takes over at its own time. If no key signs yet, one that signs at once
    /// is made first.
    pub async fn publish(&self, successor: SigningKey) -> Result<(), StoreError> {
        self.ensure().await?;
        self.hand_over_to(successor).await
    }

    async fn hand_over_to(&self, key: SigningKey) -> Result<(), StoreError> {
        let retire_until = key.signs_from + self.policy.publish_after;
        self.keys.rotate(key, retire_until).await
    }

    /// Every key that is not gone, oldest first, with its state.
    pub async fn list(&self) -> Result<Vec<(SigningKey, KeyState)>, StoreError> {
        let now = self.tools.now();
        let keys = self.keys.keys(now).await?;
        Ok(keys.into_iter().map(|key| (key.clone(), key.state(now))).collect())
    }
}
