use crate::dialect::Store;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, ProjectId, StoreError};
use dwar_otp::sandbox::{InboxMessage, Received, SandboxInbox};
use dwar_sql::schema::{otps, sandbox_messages};
use dwar_sql::{Id, MessageRow, NewMessageRow, ReceivedRow, read_all};

#[async_trait]
impl SandboxInbox for Store {
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError> {
        self.of(project)
            .changing_no_look_up()
            .write("otp.deposit", move |conn| {
                let request = otps::table.find(Id::from(message.otp)).select(otps::id);
                let request: Option<Id> = for_key_share!(request).first(conn).optional()?;
                // The phone was erased while the message was on its way: store nothing.
                if request.is_none() {
                    return Ok(());
                }
                diesel::insert_into(sandbox_messages::table)
                    .values(NewMessageRow::new(project, message.clone()))
                    .execute(conn)?;
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
            .read("otp.messages", move |conn| {
                let query = sandbox_messages::table
                    .filter(sandbox_messages::project_id.eq(Id::from(project)))
                    .filter(sandbox_messages::phone_index.eq(phone.0.as_slice()))
                    .order(sandbox_messages::id.desc())
                    .limit(i64::from(limit));
                Ok(read_all!(MessageRow of query, conn))
            })
            .await
    }

    async fn newest(&self, project: ProjectId, limit: u32) -> Result<Vec<Received>, StoreError> {
        self.of(project)
            .read("otp.newest", move |conn| {
                let query = sandbox_messages::table
                    .inner_join(otps::table)
                    .filter(sandbox_messages::project_id.eq(Id::from(project)))
                    .order(sandbox_messages::id.desc())
                    .limit(i64::from(limit));
                Ok(read_all!(ReceivedRow of query, conn))
            })
            .await
    }
}
