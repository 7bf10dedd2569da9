use crate::PostgresStore;
use crate::caller::CallerOf;
use dwar_kernel::{Digest, StoreError};
use dwar_project::Caller;

impl PostgresStore {
    /// Looks up the caller of the key with this digest, if its project is in use.
    pub(crate) async fn look_up_caller(&self, key: Digest) -> Result<Option<Caller>, StoreError> {
        self.shared.callers.ask(CallerOf(key)).await
    }
}
