use dwar_activity::Cause;
use dwar_kernel::{KeyMode, OtpId, Paise, Phone, Timestamp};
use dwar_otp::{Channel, DeliveryAttempt, DeliveryStatus, Otp, OtpState, Reason};

/// Filter of requests; `None` in a field matches every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    pub mode: Option<KeyMode>,
    pub status: Option<DeliveryStatus>,
    pub state: Option<OtpState>,
    /// Requests with a message that failed for this reason, whatever their final outcome.
    pub failed: Option<FailedFor>,
    /// A channel that was tried, whatever the outcome.
    pub channel: Option<Channel>,
    /// A provider that was tried, whatever the outcome.
    pub provider: Option<String>,
    /// Inclusive.
    pub since: Option<Timestamp>,
    /// Exclusive.
    pub until: Option<Timestamp>,
}

/// Reason of a failed message, as lists filter by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedFor {
    Any,
    /// A cause of failed messages; refused sends have no request, so their causes never match.
    Cause(Cause),
}

/// A request as one line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    pub otp: OtpId,
    pub mode: KeyMode,
    pub at: Timestamp,
    /// `None` if it cannot be decrypted. `Debug` and `Display` mask it.
    pub phone: Option<Phone>,
    /// Channel and provider that carried it, or were tried last.
    pub carrier: Option<(Channel, String)>,
    /// Every provider that was tried, in order, with the reason of its failure if it failed.
    pub tried: Vec<(Channel, String, Option<Reason>)>,
    pub status: DeliveryStatus,
    pub state: OtpState,
    pub charged: Paise,
}

impl FailedFor {
    /// The word that stands for every cause of a failure.
    pub const ANY: &str = "any";

    /// The word of this filter value in queries.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => Self::ANY,
            Self::Cause(cause) => cause.as_str(),
        }
    }

    /// The filter value of a word; `None` for an unknown word.
    pub fn from_word(word: &str) -> Option<Self> {
        if word == Self::ANY { Some(Self::Any) } else { Cause::from_word(word).map(Self::Cause) }
    }

    fn is_met(self, met: Cause) -> bool {
        self == Self::Any || self == Self::Cause(met)
    }
}

impl RequestLine {
    pub(crate) fn of(otp: Otp, phone: Option<Phone>, charged: Paise) -> Self {
        let carrier = otp.delivery.carrier().map(|it| (it.channel, it.provider.clone()));
        let tried = |it: DeliveryAttempt| (it.channel, it.provider, it.reason);
        Self {
            otp: otp.id,
            mode: otp.project_mode.mode,
            at: otp.created_at,
            phone,
            carrier,
            status: otp.delivery.status,
            state: otp.state,
            charged,
            tried: otp.delivery.attempts.into_iter().map(tried).collect(),
        }
    }

    /// The cause of the last failed message, even if another message arrived.
    pub fn cause(&self) -> Option<Cause> {
        let failed = self.tried.iter().rev().find_map(|(.., reason)| *reason).map(Cause::Failed);
        failed.or_else(|| self.tried.is_empty().then_some(Cause::NoProvider))
    }
}

impl RequestFilter {
    /// Whether the request matches every field of the filter.
    pub fn wants(&self, line: &RequestLine) -> bool {
        let tried = || line.tried.iter();
        let causes = || {
            let nobody = line.tried.is_empty().then_some(Cause::NoProvider);
            tried().filter_map(|(.., reason)| reason.map(Cause::Failed)).chain(nobody)
        };
        self.mode.is_none_or(|mode| mode == line.mode)
            && self.status.is_none_or(|status| status == line.status)
            && self.state.is_none_or(|state| state == line.state)
            && self.failed.is_none_or(|failed| causes().any(|cause| failed.is_met(cause)))
            && self.channel.is_none_or(|wanted| tried().any(|(channel, ..)| *channel == wanted))
            && self
                .provider
                .as_ref()
                .is_none_or(|wanted| tried().any(|(_, provider, _)| provider == wanted))
            && self.since.is_none_or(|since| since <= line.at)
            && self.until.is_none_or(|until| line.at < until)
    }

    /// Whether only failed requests match, for which stores have an index.
    pub(crate) fn only_failed(&self) -> bool {
        self.status == Some(DeliveryStatus::Failed)
    }

    /// Whether every request that is read also matches, so that none is read in vain. The time bounds do not
    /// matter, since requests are read in order of time.
    pub(crate) fn wants_what_is_read(&self) -> bool {
        let is_read = self.status.is_none() || self.only_failed();
        let others = (self.state, self.failed, self.channel, self.provider.as_ref());
        is_read && others == (None, None, None, None)
    }
}
