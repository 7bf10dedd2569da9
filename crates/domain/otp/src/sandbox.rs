//! What a test key can provoke, and where its messages land (decisions, Test keys).

use crate::Channel;
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, OtpId, Phone, ProjectId, Sealed, StoreError, Timestamp};

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
    /// The scenario of a number: magic ones start `90000 0` and end in four digits that choose.
    pub fn of(phone: &Phone) -> Self {
        match phone.national().strip_prefix("900000") {
            Some("0001") => Self::SmsDelivers,
            Some("0002") => Self::BothFail,
            Some("0003") => Self::LateFailure,
            Some("0004") => Self::InsufficientBalance,
            Some("0005") => Self::SlowDelivery,
            _ => Self::Delivered,
        }
    }
}

/// A message that a test key would have sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxMessage {
    /// The request it belongs to.
    pub otp: OtpId,
    /// The phone's look-up form.
    pub phone: BlindIndex,
    /// The channel it would have taken.
    pub channel: Channel,
    /// Code and text, unreadable at rest: six digits, then the text.
    pub content: Sealed,
    /// When it landed.
    pub at: Timestamp,
}

/// Keeps the messages of test keys.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SandboxInbox: Send + Sync {
    /// Puts a message in.
    async fn deposit(&self, project: ProjectId, message: InboxMessage) -> Result<(), StoreError>;

    /// The newest `limit` messages to a phone, newest first.
    async fn messages(
        &self,
        project: ProjectId,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<InboxMessage>, StoreError>;
}
