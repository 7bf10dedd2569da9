//! Rows of messages in test mode.

use crate::schema::{otps, sandbox_messages};
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_kernel::{ProjectId, Sealed, StoreError};
use dwar_otp::Channel;
use dwar_otp::sandbox::{InboxMessage, Received};

/// A new message; the database assigns its number.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = sandbox_messages)]
pub struct NewMessageRow {
    pub project_id: Id,
    pub otp_id: Id,
    pub phone_index: Vec<u8>,
    pub channel: String,
    pub content: Vec<u8>,
    pub landed_at: At,
}

/// Row of `sandbox_messages`: a stored message of test mode.
#[derive(Queryable, Selectable)]
#[diesel(table_name = sandbox_messages)]
pub struct MessageRow {
    pub id: i64,
    #[diesel(embed)]
    pub message: NewMessageRow,
}

/// A stored message, joined with the number of its request.
#[derive(Queryable, Selectable)]
#[diesel(table_name = sandbox_messages)]
pub struct ReceivedRow {
    #[diesel(embed)]
    pub message: MessageRow,
    #[diesel(select_expression = otps::phone_sealed)]
    pub phone_sealed: Vec<u8>,
}

impl NewMessageRow {
    /// Makes the row of a message to one of the project's phones.
    pub fn new(project: ProjectId, message: InboxMessage) -> Self {
        Self {
            project_id: project.into(),
            otp_id: message.otp.into(),
            phone_index: message.phone.0.to_vec(),
            channel: message.channel.as_str().to_owned(),
            content: message.content.0,
            landed_at: message.at.into(),
        }
    }
}

impl TryFrom<MessageRow> for InboxMessage {
    type Error = StoreError;

    fn try_from(MessageRow { id, message }: MessageRow) -> Result<Self, StoreError> {
        let read = Row::new("sandbox_messages", id);
        Ok(Self {
            otp: read.id("otp_id", message.otp_id)?,
            phone: read.index("phone_index", message.phone_index)?,
            channel: read.known("channel", Channel::from_word(&message.channel))?,
            content: Sealed(message.content),
            at: read.at("landed_at", message.landed_at)?,
        })
    }
}

impl TryFrom<ReceivedRow> for Received {
    type Error = StoreError;

    fn try_from(ReceivedRow { message, phone_sealed }: ReceivedRow) -> Result<Self, StoreError> {
        Ok(Self { message: message.try_into()?, sealed_phone: Sealed(phone_sealed) })
    }
}
