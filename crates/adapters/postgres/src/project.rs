use crate::PostgresStore;
use crate::caller::KeyLookUp;
use dwar_kernel::{Digest, StoreError};
use dwar_project::Caller;

impl PostgresStore {
    /// Looks up the caller of the key with this digest, if its project is in use.
    pub(crate) async fn look_up_caller(&self, key: Digest) -> Result<Option<Caller>, StoreError> {
        self.shared.callers.ask(KeyLookUp(key)).await
    }
}
