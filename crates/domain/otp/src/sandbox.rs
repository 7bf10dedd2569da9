//! What a test key can provoke, and where its messages land (docs/contract.md, Test keys).

use crate::{Channel, Code, Message};
use async_trait::async_trait;
use derive_more::Debug;
use dwar_kernel::{
    BlindIndex, OtpId, Phone, ProjectId, Purpose, Sealed, StoreError, Timestamp, Unsealable, Vault,
};

/// What happens to a code sent with a test key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// WhatsApp accepts and delivers at once.
    Delivered,
    /// `…0001`: WhatsApp refuses, SMS delivers.
    SmsDelivers,
    /// `…0002`: both refuse.
    BothFail,
    /// `…0003`: WhatsApp accepts, then reports failure; SMS delivers.
    LateFailure,
    /// `…0004`: the balance is too low.
    InsufficientBalance,
    /// `…0005`: delivered, but only after a while.
    SlowDelivery,
}

impl Scenario {
    /// The numbers that choose a scenario; every other one is [`Scenario::Delivered`].
    pub const MAGIC: [(&'static str, Self); 5] = [
        ("9000000001", Self::SmsDelivers),
        ("9000000002", Self::BothFail),
        ("9000000003", Self::LateFailure),
        ("9000000004", Self::InsufficientBalance),
        ("9000000005", Self::SlowDelivery),
    ];

    /// The scenario of a number.
    pub fn of(phone: &Phone) -> Self {
        let magic = Self::MAGIC.into_iter().find(|(number, _)| *number == phone.national());
        magic.map_or(Self::Delivered, |(_, scenario)| scenario)
    }
}

/// A message that a test key would have sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxMessage {
    pub otp: OtpId,
    pub phone: BlindIndex,
    pub channel: Channel,
    /// Code and text, unreadable at rest: six digits, then the text.
    pub content: Sealed,
    pub at: Timestamp,
}

impl InboxMessage {
    /// What `message` leaves behind in the inbox at `at`, sealed for its project and request.
    pub fn seal(vault: &dyn Vault, message: &Message, at: Timestamp) -> Self {
        let context = context(message.world.project, message.otp);
        let code = message.code.expose();
        let end = if code.len() == CODE_LEN { "" } else { CODE_END };
        let plain = [code, end, &message.text].concat();
        Self {
            otp: message.otp,
            phone: message.phone_index,
            channel: message.channel,
            content: vault.seal(Purpose::SandboxMessage, &context, plain.as_bytes()),
            at,
        }
    }

    /// What [`InboxMessage::seal`] put in for a message of `project`.
    ///
    /// # Errors
    /// [`Unsealable`] when it is another project's or request's, or does not start with a code.
    pub fn open(&self, vault: &dyn Vault, project: ProjectId) -> Result<Content, Unsealable> {
        let context = context(project, self.otp);
        let plain = vault.open(Purpose::SandboxMessage, &context, &self.content)?;
        let plain = String::from_utf8(plain).map_err(|_| Unsealable)?;
        let marked = plain.split_once(CODE_END);
        let (code, text) = marked.or_else(|| plain.split_at_checked(CODE_LEN)).ok_or(Unsealable)?;
        Ok(Content { code: Code::relayed(code).map_err(|_| Unsealable)?, text: text.to_owned() })
    }
}

/// The length of a code that is followed by the text at once; another one is followed by [`CODE_END`], which is
/// in no text.
const CODE_LEN: usize = 6;
const CODE_END: &str = "\0";

/// Binds the content to its row's owner, so that it cannot be moved to another request.
fn context(project: ProjectId, otp: OtpId) -> Vec<u8> {
    [*project.uuid().as_bytes(), *otp.uuid().as_bytes()].concat()
}

/// What a message in the inbox says; `Debug` shows neither part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[debug("Content(…)")]
pub struct Content {
    /// The code, as a template would have taken it.
    pub code: Code,
    /// The whole text, as the phone would have shown it.
    pub text: String,
}

/// A message in the inbox, and whom it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub message: InboxMessage,
    pub sealed_phone: Sealed,
}

/// Keeps the messages of test keys.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SandboxInbox: Send + Sync {
    /// Stores a message. One whose request is no longer on record, because its phone was erased
    /// meanwhile, is dropped: no trace may come back.
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError>;

    /// The newest `limit` messages to a phone, newest first.
    async fn messages(
        &self,
        project: ProjectId,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<InboxMessage>, StoreError>;

    /// The newest `limit` messages to all phones of a project, newest first, also within an instant. Costs
    /// as much as these, however much else is on record.
    async fn newest(&self, project: ProjectId, limit: u32) -> Result<Vec<Received>, StoreError>;
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
