//! The sandbox of test keys: outcomes they can choose, and the inbox of their messages (docs/contract.md,
//! Test keys).

use crate::{Channel, Code, Message};
use async_trait::async_trait;
use derive_more::Debug;
use dwar_kernel::{
    BlindIndex, OtpId, Phone, ProjectId, Purpose, Sealed, StoreError, Timestamp, Unsealable, Vault,
};

/// Outcome of a code sent with a test key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// WhatsApp accepts, then delivers at once.
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
    /// `…0006`: a proof is required; with one, delivered.
    ProofRequired,
}

impl Scenario {
    /// Numbers that choose a scenario; every other number means [`Scenario::Delivered`].
    pub const MAGIC: [(&'static str, Self); 6] = [
        ("9000000001", Self::SmsDelivers),
        ("9000000002", Self::BothFail),
        ("9000000003", Self::LateFailure),
        ("9000000004", Self::InsufficientBalance),
        ("9000000005", Self::SlowDelivery),
        ("9000000006", Self::ProofRequired),
    ];

    /// The scenario of a phone number, by its national digits.
    pub fn of(phone: &Phone) -> Self {
        let magic = Self::MAGIC.into_iter().find(|(number, _)| *number == phone.national());
        magic.map_or(Self::Delivered, |(_, scenario)| scenario)
    }
}

/// A message that a live key would have sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxMessage {
    pub otp: OtpId,
    pub phone: BlindIndex,
    pub channel: Channel,
    /// Sealed code and text, see [`InboxMessage::seal`].
    pub content: Sealed,
    pub at: Timestamp,
}

impl InboxMessage {
    /// Seals `message` for the inbox, bound to its project and request; `at` is its time.
    pub fn seal(vault: &dyn Vault, message: &Message, at: Timestamp) -> Self {
        let context = context(message.project_mode.project, message.otp);
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

    /// Opens what [`InboxMessage::seal`] sealed for `project`.
    ///
    /// # Errors
    /// [`Unsealable`] if the message belongs to another project or request, or does not start with a code.
    pub fn open(&self, vault: &dyn Vault, project: ProjectId) -> Result<Content, Unsealable> {
        let context = context(project, self.otp);
        let plain = vault.open(Purpose::SandboxMessage, &context, &self.content)?;
        let plain = String::from_utf8(plain).map_err(|_| Unsealable)?;
        let marked = plain.split_once(CODE_END);
        let (code, text) = marked.or_else(|| plain.split_at_checked(CODE_LEN)).ok_or(Unsealable)?;
        Ok(Content { code: Code::relayed(code).map_err(|_| Unsealable)?, text: text.to_owned() })
    }
}

/// Length of a code that is directly followed by the text. After any other code comes [`CODE_END`], which no
/// text contains.
const CODE_LEN: usize = 6;
const CODE_END: &str = "\0";

/// Binds the content to its project and request, so that it cannot be moved to another row.
fn context(project: ProjectId, otp: OtpId) -> Vec<u8> {
    [*project.uuid().as_bytes(), *otp.uuid().as_bytes()].concat()
}

/// Opened content of an inbox message; `Debug` shows neither part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[debug("Content(…)")]
pub struct Content {
    pub code: Code,
    pub text: String,
}

/// An inbox message with the phone it was sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    pub message: InboxMessage,
    pub sealed_phone: Sealed,
}

/// Keeps the messages of test keys, which are not sent.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SandboxInbox: Send + Sync {
    /// Stores a message. A message whose request is no longer on record, because its phone was erased, is
    /// dropped: erased data must not come back.
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError>;

    /// The newest `limit` messages to a phone, newest first.
    async fn messages(
        &self,
        project: ProjectId,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<InboxMessage>, StoreError>;

    /// The newest `limit` messages of a project to all phones, newest first. Messages of the same millisecond
    /// have this order too. The cost depends only on `limit`, not on the number of other records.
    async fn newest(&self, project: ProjectId, limit: u32) -> Result<Vec<Received>, StoreError>;
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
