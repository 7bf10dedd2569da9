use crate::connection::pool::SqliteStore;
use crate::connection::remembered::Changes;
use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, ProjectId, StoreError};
use dwar_otp::sandbox::{InboxMessage, Received, SandboxInbox};
use dwar_sql::schema::{otps, sandbox_messages};
use dwar_sql::{Id, MessageRow, NewMessageRow, ReceivedRow, read_all};

#[async_trait]
impl SandboxInbox for SqliteStore {
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError> {
        let row = NewMessageRow::new(project, message);
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                let request = otps::table.find(row.otp_id).select(otps::id);
                // Erased with its phone while the message was on its way: no trace may come back.
                if !diesel::select(exists(request)).get_result(connection)? {
                    return Ok(());
                }
                diesel::insert_into(sandbox_messages::table).values(row).execute(connection)?;
                Ok(())
            })
            .await
    }

    async fn messages(
        &self,
        project: ProjectId,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<InboxMessage>, StoreError> {
        self.of(project)
            .read(move |connection| {
                let query = sandbox_messages::table
                    .filter(sandbox_messages::project_id.eq(Id::from(project)))
                    .filter(sandbox_messages::phone_index.eq(phone.0.as_slice()))
                    .order(sandbox_messages::id.desc())
                    .limit(i64::from(limit));
                Ok(read_all!(MessageRow of query, connection))
            })
            .await
    }

    async fn newest(&self, project: ProjectId, limit: u32) -> Result<Vec<Received>, StoreError> {
        self.of(project)
            .read(move |connection| {
                let query = sandbox_messages::table
                    .inner_join(otps::table)
                    .filter(sandbox_messages::project_id.eq(Id::from(project)))
                    .order(sandbox_messages::id.desc())
                    .limit(i64::from(limit));
                Ok(read_all!(ReceivedRow of query, connection))
            })
            .await
    }
}
