use crate::convert::Row;
use crate::pool::SqliteStore;
use crate::schema::{otps, sandbox_messages};
use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use dwar_kernel::{BlindIndex, ProjectId, Sealed, StoreError};
use dwar_otp::Channel;
use dwar_otp::sandbox::{InboxMessage, SandboxInbox};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = sandbox_messages)]
struct MessageRow {
    project_id: String,
    otp_id: String,
    phone_index: Vec<u8>,
    channel: String,
    content: Vec<u8>,
    landed_at: i64,
}

impl TryFrom<MessageRow> for InboxMessage {
    type Error = StoreError;

    fn try_from(stored: MessageRow) -> Result<Self, StoreError> {
        let row = Row::new("sandbox_messages", &stored.otp_id);
        Ok(Self {
            otp: row.parse("otp_id", &stored.otp_id)?,
            phone: row.index("phone_index", &stored.phone_index)?,
            channel: row.known("channel", Channel::from_word(&stored.channel))?,
            at: row.instant("landed_at", stored.landed_at)?,
            content: Sealed(stored.content),
        })
    }
}

#[async_trait]
impl SandboxInbox for SqliteStore {
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError> {
        let row = MessageRow {
            project_id: project.to_string(),
            otp_id: message.otp.to_string(),
            phone_index: message.phone.0.to_vec(),
            channel: message.channel.as_str().to_owned(),
            content: message.content.0,
            landed_at: message.at.timestamp_millis(),
        };
        self.write(move |connection| {
            let request = otps::table.find(&row.otp_id).select(otps::id);
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
        self.read(move |connection| {
            let rows = sandbox_messages::table
                .filter(sandbox_messages::project_id.eq(project.to_string()))
                .filter(sandbox_messages::phone_index.eq(phone.0.as_slice()))
                .order(sandbox_messages::id.desc())
                .limit(i64::from(limit))
                .select(MessageRow::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(InboxMessage::try_from).collect::<Result<_, _>>()?)
        })
        .await
    }
}
