use dwar_kernel::{EntryId, GuessPolicy, Timestamp};
use dwar_otp::Otp;
use dwar_ratelimit::{SendAdmission, SendKey, SendLog, SendQuota};
use dwar_wallet::{HoldOutcome, OpenHold, Paise};

/// A send that is about to begin: its code, what bounds it and what it costs.
#[derive(Clone, Debug)]
pub struct NewSend {
    /// The request as it is put on record. One without an attempt has no provider to call: it takes no
    /// place, and its code is [void](dwar_otp::OtpState::Void) from the start.
    pub otp: Otp,
    pub quota: SendQuota,
    pub guesses: GuessPolicy,
    /// What has to be set aside for it.
    pub cost: Cost,
    /// The id of the ledger entry that sets it aside.
    pub entry: EntryId,
}

/// What a send has to set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Nothing: it is free, nobody is called, or a test key asks.
    Nothing,
    /// This much, which is more than nothing.
    Hold(Paise),
    /// More than there is, whatever there is: the sandbox plays an empty wallet.
    Unaffordable,
}

/// What came of a send before any provider is called. Each answer says how the phone's limit stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// Its place, its money and its code are on record, and its first provider may be called.
    Ready(SendAdmission),
    /// The phone may not be sent to now. Nothing has changed.
    Limited(SendAdmission),
    /// The wallet does not cover it. Nothing has changed.
    Unaffordable(SendAdmission),
}

impl NewSend {
    /// Under which key the phone's sends are counted.
    pub const fn key(&self) -> SendKey {
        SendKey { world: self.otp.world, phone: self.otp.phone }
    }

    /// Whether it keeps a place: a send that calls nobody gives its place back at once.
    pub const fn takes_place(&self) -> bool {
        !self.otp.delivery.attempts.is_empty()
    }

    /// Whether its code takes the place of the phone's present one. A [relayed](dwar_otp::OtpState::Relayed) code
    /// does not: it is none of the codes that can be verified.
    pub fn supersedes(&self) -> bool {
        !self.otp.is_relayed()
    }

    fn hold(&self, amount: Paise, since: Timestamp) -> OpenHold {
        let Otp { world, id: send, .. } = self.otp;
        OpenHold { project: world.project, send, relayed: self.otp.is_relayed(), amount, since }
    }

    /// Judges the send by the phone's limit, then by the wallet, so that a limit is told before a
    /// balance. `hold` sets money aside by [`dwar_wallet::Wallet::hold`], and is asked only where the
    /// limit has room.
    ///
    /// # Errors
    /// Those of `hold`.
    pub fn judge<E>(
        &self,
        log: &mut SendLog,
        hold: impl FnOnce(OpenHold) -> Result<HoldOutcome, E>,
        now: Timestamp,
    ) -> Result<Prepared, E> {
        let admission = log.admit(&self.quota, &self.guesses, now);
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
        })
    }
}
