use crate::{NewSend, Prepared, Redeemed, Redemption, SendReport};
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_otp::{DeliveryStep, Otp, Reported};

/// Takes the steps of a login, each all or nothing over whatever it touches.
///
/// A step that is asked for twice with the same values, since its answer was lost, MUST be done once and
/// answer as it did. A refusal changes nothing.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait LoginStore: Send + Sync {
    /// Begins a send, by [`NewSend::judge`]: records the phone's place, sets the money aside and puts the
    /// code in the place of the phone's present one, or beside it if it does not
    /// [supersede](NewSend::supersedes) that.
    ///
    /// However many come at once, at most as many MUST be ready as both bounds of the quota allow in
    /// any window and as the balance covers, and as many as that MUST be; of one phone exactly one code
    /// MUST be in force after them. After any other answer the present code stays in force. It is on
    /// disk before this answers: no provider is called for a send that a crash could forget.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] also if it is on record and somebody else has changed it since: it
    /// was taken for abandoned, and no provider may be called for it.
    async fn prepare(&self, send: NewSend, now: Timestamp) -> Result<Prepared, StoreError>;

    /// Applies a report on an attempt, by [`SendReport::apply`], with the money, the place and the event
    /// that follow from it; `None` if there is no such request.
    ///
    /// A next attempt that the step asks for is on disk before this answers. However much of the
    /// request the caller knows, what is on record decides. However many reports come at once, the
    /// hold MUST end once, and what was charged MUST be given back once at most.
    async fn report(
        &self,
        request: Reported,
        report: SendReport,
        now: Timestamp,
    ) -> Result<Option<(Otp, DeliveryStep)>, StoreError>;

    /// Judges a guess at the code in force for a phone, by [`Redemption::judge`]; the right one also
    /// begins the session, by [`Redemption::log_in`], if it is to begin one.
    ///
    /// The count of wrong guesses MUST be on disk before this answers, and no two guesses may be
    /// judged against the same count: of any number of right ones at once exactly one logs in, of
    /// wrong ones exactly `max_wrong` are judged. However many logins of one phone come at once, there
    /// MUST be one identity after them. No code may be used up without the session that was to begin with it, nor a
    /// session begin without its code.
    async fn redeem(&self, redemption: Redemption, now: Timestamp) -> Result<Redeemed, StoreError>;
}
