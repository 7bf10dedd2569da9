use dwar_kernel::{EntryId, GuessPolicy, Timestamp};
use dwar_otp::Otp;
use dwar_ratelimit::guard::{GuardMark, GuardedPhone, GuardedSend};
use dwar_ratelimit::{DayBound, SendAdmission, SendKey, SendLog, SendQuota};
use dwar_wallet::{HoldOutcome, OpenHold, Paise};

/// A send that is about to begin: its code, its limits and its cost.
#[derive(Clone, Debug)]
pub struct NewSend {
    /// The request as it is recorded. Without an attempt there is no provider to call: the send takes no
    /// place, and its code is [void](dwar_otp::OtpState::Void) from the start.
    pub otp: Otp,
    /// Whether a device asks that is known to the phone.
    pub by_device: bool,
    pub quota: SendQuota,
    pub guesses: GuessPolicy,
    pub cost: Cost,
    /// How the guard of the project judged the send; `None` if it did not.
    pub guard: Option<GuardedSend>,
    /// `None` if the project has no guard.
    pub day: Option<DayBound>,
    /// Id of the ledger entry of the hold.
    pub entry: EntryId,
}

/// What a send has to hold in the wallet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// The send is free, no provider is called, or a test key asks.
    Nothing,
    /// A hold of this amount, which is above zero.
    Hold(Paise),
    /// More than any balance: the sandbox simulates an empty wallet.
    Unaffordable,
}

/// Result of preparing a send, before a provider is called. Each variant carries the state of the phone's
/// limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// Place, hold, code and [mark](NewSend::mark) are on record; the first provider may be called.
    Ready(SendAdmission),
    /// The limit of the phone refuses the send. Nothing has changed.
    Limited(SendAdmission),
    /// The wallet does not cover the send. Nothing has changed.
    Unaffordable(SendAdmission),
    /// The project's limit of the day does not allow the price. At most the event of this was recorded.
    SpendLimited(SendAdmission),
}

impl Prepared {
    /// The same with the mark of a send that is ready.
    #[must_use]
    pub const fn marked(self, mark: Option<GuardMark>) -> Self {
        match self {
            Self::Ready(admission) => Self::Ready(SendAdmission { guard: mark, ..admission }),
            other => other,
        }
    }
}

impl NewSend {
    /// The key that counts the sends of this phone.
    pub const fn key(&self) -> SendKey {
        SendKey { project_mode: self.otp.project_mode, phone: self.otp.phone }
    }

    /// Whether the send keeps its place: a send without a provider returns it at once.
    pub const fn takes_place(&self) -> bool {
        !self.otp.delivery.attempts.is_empty()
    }

    /// Whether the code replaces the phone's active one. A [relayed](dwar_otp::OtpState::Relayed) code does
    /// not, since it cannot be verified here.
    pub fn supersedes(&self) -> bool {
        !self.otp.is_relayed()
    }

    /// The request as it is recorded once it is admitted like this.
    #[must_use]
    pub fn recorded(&self, admission: &SendAdmission) -> Otp {
        let guard = admission.verdict(self.guard);
        Otp { device_only: admission.device_only, guard, ..self.otp.clone() }
    }

    /// Whether `known` is this request as it was recorded.
    pub fn is_unchanged(&self, known: &Otp) -> bool {
        let Otp { device_only, guard, .. } = *known;
        *known == Otp { device_only, guard, ..self.otp.clone() }
    }

    fn hold(&self, amount: Paise, since: Timestamp) -> OpenHold {
        let Otp { project_mode, id: send, .. } = self.otp;
        OpenHold {
            project: project_mode.project,
            send,
            relayed: self.otp.is_relayed(),
            amount,
            since,
        }
    }

    /// Judges the send by the limits of its phone; if all have room, counts it. A known device passes all but
    /// the limit of the specification, unless devices of the phone sent too many wrong guesses themselves.
    pub fn admit(&self, log: &mut SendLog, now: Timestamp) -> SendAdmission {
        let before = log.clone();
        let as_stranger = self.admit_stranger(log, now);
        let is_known = self.by_device && before.guesses().trusts_devices(&self.guesses, now);
        if as_stranger.refused_by.is_none() || !is_known {
            return SendAdmission { over_day: as_stranger.over_day && !is_known, ..as_stranger };
        }
        *log = before;
        log.admit_device(&self.quota, now)
    }

    fn admit_stranger(&self, log: &mut SendLog, now: Timestamp) -> SendAdmission {
        let beyond = |day: DayBound| log.refused_for_the_day(day.places, now);
        match self.day.and_then(|day| Some((day.is_enforced, beyond(day)?))) {
            Some((true, refused)) => refused,
            beyond => SendAdmission {
                over_day: beyond.is_some(),
                ..log.admit(&self.quota, &self.guesses, now)
            },
        }
    }

    /// What the send means for the guard, where this is on record of its phone.
    pub fn mark(
        &self,
        admission: &SendAdmission,
        phone: &GuardedPhone,
        now: Timestamp,
    ) -> Option<GuardMark> {
        let verdict = admission.verdict(self.guard)?;
        self.guard.map(|guard| GuardMark::new(&guard, verdict, phone, now))
    }

    /// Judges the send by the phone's limit, then by the wallet, so that a caller learns of the limit first.
    /// `hold` makes a hold by [`dwar_wallet::Wallet::hold`], and is called only if the limit has room.
    ///
    /// # Errors
    /// Those of `hold`.
    pub fn judge<E>(
        &self,
        log: &mut SendLog,
        hold: impl FnOnce(OpenHold) -> Result<HoldOutcome, E>,
        now: Timestamp,
    ) -> Result<Prepared, E> {
        let admission = self.admit(log, now);
        if admission.refused_by.is_some() {
            return Ok(Prepared::Limited(admission));
        }
        let held = match self.cost {
            Cost::Nothing => HoldOutcome::Held,
            Cost::Hold(amount) => hold(self.hold(amount, now))?,
            Cost::Unaffordable => HoldOutcome::Insufficient,
        };
        Ok(match held {
            HoldOutcome::Held => Prepared::Ready(admission),
            HoldOutcome::Insufficient => Prepared::Unaffordable(admission),
            HoldOutcome::SpendLimited => Prepared::SpendLimited(admission),
        })
    }
}
