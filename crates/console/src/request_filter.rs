use dwar_activity::Cause;
use dwar_kernel::{KeyMode, OtpId, Paise, Phone, Timestamp};
use dwar_otp::{Channel, DeliveryAttempt, DeliveryStatus, Otp, OtpState, Reason};

/// Which requests are wanted; `None` matches all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFilter {
    /// With a live key or a test key.
    pub mode: Option<KeyMode>,
    pub status: Option<DeliveryStatus>,
    pub state: Option<OtpState>,
    /// Those with a message that failed for this, whatever became of the request.
    pub failed: Option<FailedFor>,
    /// A channel that was tried, whatever came of it.
    pub channel: Option<Channel>,
    /// A provider that was tried, whatever came of it.
    pub provider: Option<String>,
    /// Made at this instant or later.
    pub since: Option<Timestamp>,
    /// Made before this instant.
    pub until: Option<Timestamp>,
}

/// What a message failed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailedFor {
    Any,
    /// No request was made of what was refused.
    Cause(Cause),
}

/// A request as a line of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestLine {
    pub otp: OtpId,
    pub mode: KeyMode,
    pub at: Timestamp,
    /// `None` if it cannot be read. Shows itself masked.
    pub phone: Option<Phone>,
    /// What carried it, or was tried last.
    pub carrier: Option<(Channel, String)>,
    /// Every provider that was tried, in that order, and why it failed if it did.
    pub tried: Vec<(Channel, String, Option<Reason>)>,
    pub status: DeliveryStatus,
    pub state: OtpState,
    /// What it cost in the end; nothing in test mode.
    pub charged: Paise,
}

impl FailedFor {
    /// The word for all of them.
    pub const ANY: &str = "any";

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Any => Self::ANY,
            Self::Cause(cause) => cause.as_str(),
        }
    }

    /// What a word stands for.
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
            mode: otp.world.mode,
            at: otp.created_at,
            phone,
            carrier,
            status: otp.delivery.status,
            state: otp.state,
            charged,
            tried: otp.delivery.attempts.into_iter().map(tried).collect(),
        }
    }

    /// Why a message of it failed last, also where another one arrived.
    pub fn cause(&self) -> Option<Cause> {
        let failed = self.tried.iter().rev().find_map(|(.., reason)| *reason).map(Cause::Failed);
        failed.or_else(|| self.tried.is_empty().then_some(Cause::NoProvider))
    }
}

impl RequestFilter {
    /// Whether the request matches.
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

    /// Whether only the failed ones are wanted, which are read apart.
    pub(crate) fn only_failed(&self) -> bool {
        self.status == Some(DeliveryStatus::Failed)
    }

    /// Whether every request that is read is wanted, so that none is read for nothing. Time is read by
    /// the order of the requests.
    pub(crate) fn wants_what_is_read(&self) -> bool {
        let is_read = self.status.is_none() || self.only_failed();
        let others = (self.state, self.failed, self.channel, self.provider.as_ref());
        is_read && others == (None, None, None, None)
    }
}
