use crate::connection::pool::SqliteStore;
use diesel::prelude::*;
use dwar_kernel::{Digest, StoreError};
use dwar_project::Caller;
use dwar_sql::schema::{api_keys, projects};
use dwar_sql::{CallerRow, read_one};

impl SqliteStore {
    /// Looks up the caller of the key with this digest, if its project is in use.
    pub(crate) async fn look_up_caller(&self, key: Digest) -> Result<Option<Caller>, StoreError> {
        self.read("project.caller", move |connection| {
            let query = projects::table
                .inner_join(api_keys::table)
                .filter(api_keys::digest.eq(key.0.as_slice()))
                .filter(projects::archived_at.is_null());
            Ok(read_one!(CallerRow of query, connection))
        })
        .await
    }
}
