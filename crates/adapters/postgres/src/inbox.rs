use crate::PostgresStore;
use crate::convert::Row;
use crate::schema::{otps, sandbox_messages};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, ProjectId, Sealed, StoreError, Timestamp};
use dwar_otp::Channel;
use dwar_otp::sandbox::{InboxMessage, SandboxInbox};
use uuid::Uuid;

#[derive(Queryable, Selectable)]
#[diesel(table_name = sandbox_messages)]
struct MessageRow {
    id: i64,
    otp_id: Uuid,
    phone_index: Vec<u8>,
    channel: String,
    content: Vec<u8>,
    landed_at: Timestamp,
}

impl TryFrom<MessageRow> for InboxMessage {
    type Error = StoreError;

    fn try_from(row: MessageRow) -> Result<Self, StoreError> {
        let read = Row::new("sandbox_messages", row.id);
        Ok(Self {
            otp: row.otp_id.into(),
            phone: read.index("phone_index", row.phone_index)?,
            channel: read.known("channel", Channel::from_word(&row.channel))?,
            content: Sealed(row.content),
            at: row.landed_at,
        })
    }
}

#[async_trait]
impl SandboxInbox for PostgresStore {
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError> {
        self.pool
            .transaction(move |conn| {
                let request: Option<Uuid> = otps::table
                    .find(message.otp.uuid())
                    .select(otps::id)
                    .for_key_share()
                    .first(conn)
                    .optional()?;
                // Erased with its phone while the message was on its way: no trace may come back.
                if request.is_none() {
                    return Ok(());
                }
                diesel::insert_into(sandbox_messages::table)
                    .values((
                        sandbox_messages::project_id.eq(project.uuid()),
                        sandbox_messages::otp_id.eq(message.otp.uuid()),
                        sandbox_messages::phone_index.eq(message.phone.0.as_slice()),
                        sandbox_messages::channel.eq(message.channel.as_str()),
                        sandbox_messages::content.eq(&message.content.0),
                        sandbox_messages::landed_at.eq(message.at),
                    ))
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
        self.pool
            .run(move |conn| {
                let rows: Vec<MessageRow> = sandbox_messages::table
                    .filter(sandbox_messages::project_id.eq(project.uuid()))
                    .filter(sandbox_messages::phone_index.eq(phone.0.as_slice()))
                    .order(sandbox_messages::id.desc())
                    .limit(i64::from(limit))
                    .select(MessageRow::as_select())
                    .load(conn)?;
                Ok(rows.into_iter().map(InboxMessage::try_from).collect::<Result<_, _>>()?)
            })
            .await
    }
}
