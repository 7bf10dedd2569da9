use crate::CommonPorts;
use dwar_kernel::{StoreError, TRACE};
use dwar_session::{JwkSet, TokenSigner};
use std::sync::Arc;
use tracing::instrument;

/// Publishes the keys that verify access tokens (`GET /.well-known/jwks.json`).
pub struct PublicKeys {
    pub tools: CommonPorts,
    pub signer: Arc<dyn TokenSigner>,
}

impl PublicKeys {
    /// Every public key that is published now, including keys that have stopped signing.
    #[instrument(name = "public_keys", target = TRACE, level = "error", skip_all)]
    pub async fn publish(&self) -> Result<JwkSet, StoreError> {
        self.signer.public_keys(self.tools.now()).await
    }
}
