use crate::{NewSend, Prepared, Redeemed, Redemption, SendReport};
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_otp::{DeliveryStep, Otp, ReportedRequest};

/// Performs the steps of a login, each atomic over everything that it changes.
///
/// If a step is repeated with the same values because its answer was lost, it MUST be done once and answer as
/// before. A refusal changes nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait LoginStore: Send + Sync {
    /// Begins a send by [`NewSend::judge`]: takes a place of the phone's limit, makes the hold and records
    /// the code, which replaces the phone's active one if it [supersedes](NewSend::supersedes) that.
    ///
    /// Concurrent sends MUST be ready exactly as far as both bounds of the quota allow in any window and as far
    /// as the balance covers them; afterwards exactly one code of a phone MUST be in force. After
    /// any other answer the active code stays in force. A ready send is on disk before this returns: no
    /// provider is called for a send that a crash could forget.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] also if the send is on record and was changed since: another process
    /// considered it abandoned, and no provider may be called for it.
    async fn prepare(&self, send: NewSend, now: Timestamp) -> Result<Prepared, StoreError>;

    /// Applies a report on an attempt by [`SendReport::apply`], together with the money, the place and the
    /// event that follow from it; `None` if there is no such request.
    ///
    /// A next attempt is on disk before this returns. The stored request decides, whatever the caller passes
    /// of it. Under any number of concurrent reports the hold MUST end once, and a charge MUST be refunded at
    /// most once.
    async fn report(
        &self,
        request: ReportedRequest,
        report: SendReport,
        now: Timestamp,
    ) -> Result<Option<(Otp, DeliveryStep)>, StoreError>;

    /// Judges a guess at the code in force for a phone by [`Redemption::judge`]. The right guess also begins
    /// the session by [`Redemption::log_in`], if the redemption has a login.
    ///
    /// The count of wrong guesses MUST be on disk before this returns, and no two guesses may be judged
    /// against the same count: of any number of concurrent right guesses exactly one logs in, of wrong ones
    /// exactly `max_wrong` are judged. After any number of concurrent logins of one phone there MUST be one
    /// identity. A code MUST NOT be used up without beginning its session, nor a session begin without using
    /// up its code.
    async fn redeem(&self, redemption: Redemption, now: Timestamp) -> Result<Redeemed, StoreError>;
}
