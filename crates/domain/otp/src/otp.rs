use crate::{
    CodeDigest, Delivery, DeliveryStatus, DeliveryStep, Guess, GuessBudget, GuessPolicy, Report,
    Route,
};
use dwar_kernel::{
    AttemptId, BlindIndex, CLOCK_TOLERANCE, Event, EventKind, EventPhone, GuardVerdict, OtpId,
    ProjectMode, Sealed, Subject, Timestamp, words,
};
use std::borrow::Cow;
use std::time::Duration;

words! {
    OtpState {
        /// The code can be used until it expires.
        Active = "active",
        /// Too many wrong guesses; the code can no longer be used.
        Locked = "locked",
        Used = "used",
        Superseded = "superseded",
        /// No channel delivered the code, or it was withdrawn.
        Void = "void",
        /// The caller made the code and verifies it; Dwar only delivers it.
        Relayed = "relayed",
    }
}

impl OtpState {
    /// States of which a phone has at most one code: active or locked.
    pub const OPEN: [Self; 2] = [Self::Active, Self::Locked];

    /// Whether the state is one of [`OtpState::OPEN`].
    pub fn is_open(self) -> bool {
        Self::OPEN.contains(&self)
    }

    /// Whether a user may still enter the code, unless it has expired.
    const fn is_wanted(self) -> bool {
        matches!(self, Self::Active | Self::Relayed)
    }
}

/// One request to send a code, with the code and its delivery. The code is a login code or a
/// [relayed](OtpState::Relayed) one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otp {
    /// The `otp_id` of the answer.
    pub id: OtpId,
    pub project_mode: ProjectMode,
    pub phone: BlindIndex,
    pub sealed_phone: Sealed,
    pub code: CodeDigest,
    /// The sealed code, kept as long as a fallback may have to send it again.
    pub sealed_code: Option<Sealed>,
    pub state: OtpState,
    pub wrong: u32,
    /// Number of wrong guesses that locks the code (docs/contract.md, Verify).
    pub max_wrong: u32,
    /// Whether only a known device may guess at it, since only such a device was admitted to ask for it.
    pub device_only: bool,
    /// How the guard judged the send; `None` if it did not.
    pub guard: Option<GuardVerdict>,
    /// Times of the latest guesses, oldest first, at most [`Otp::GUESSES`]. For a used code the last one is
    /// the right guess. Whole milliseconds.
    pub guesses: Vec<Timestamp>,
    pub created_at: Timestamp,
    /// The first instant at which the code no longer works.
    pub expires_at: Timestamp,
    pub delivery: Delivery,
}

/// Result of a guess at a code, with its remaining guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuessVerdict {
    /// The code was right, and is now used up.
    Accepted(Allowance),
    Wrong(Allowance),
    Locked(Allowance),
    NotFound,
}

/// Remaining wrong guesses of a code, for `RateLimit-*` and `Retry-After`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub limit: u32,
    pub remaining: u32,
    /// Time until the code, and with it the lock, expires.
    pub reset: Duration,
}

impl Otp {
    /// How many guess times are kept; older ones are dropped.
    pub const GUESSES: usize = 16;

    /// The event that a report at `at` caused; `before` is the request before the report.
    pub fn reported_since(&self, before: &Self, at: Timestamp) -> Option<Event> {
        let kind = match self.delivery.status {
            now if now == before.delivery.status => return None,
            DeliveryStatus::Queued => return None,
            DeliveryStatus::Sent if self.is_relayed() => EventKind::RelaySent,
            DeliveryStatus::Sent => EventKind::OtpSent,
            DeliveryStatus::Failed if self.is_relayed() => EventKind::RelayFailed,
            DeliveryStatus::Failed => EventKind::OtpFailed,
            DeliveryStatus::Delivered if self.is_relayed() => EventKind::RelayDelivered,
            DeliveryStatus::Delivered => EventKind::OtpDelivered,
        };
        Some(self.event(kind, at))
    }

    /// The event that a guess at `at` caused. `before` and `counted` are the code and the phone's guess
    /// budget before the guess, `budget` the budget after it.
    pub fn judged_since(
        &self,
        (before, counted): (&Self, &GuessBudget),
        budget: &GuessBudget,
        at: Timestamp,
    ) -> Option<Event> {
        if budget.stops_after(counted) {
            return Some(self.event(EventKind::OtpUnderAttack, at));
        }
        let used = self.state == OtpState::Used && before.state != OtpState::Used;
        used.then(|| self.event(EventKind::OtpVerified, at))
    }

    fn event(&self, kind: EventKind, at: Timestamp) -> Event {
        let subject = Subject::Otp {
            otp: self.id,
            channel: self.delivery.channel(),
            phone: Some(EventPhone { index: self.phone, sealed: self.sealed_phone.clone() }),
        };
        Event { project_mode: self.project_mode, kind, subject, at }
    }

    /// The bytes that a code's digest is bound to, so that the digest is useless for any other request.
    pub fn binding(&self) -> Vec<u8> {
        Self::binding_of(self.project_mode, self.id, &self.phone)
    }

    /// [`Otp::binding`] of a request that does not exist yet.
    pub fn binding_of(project_mode: ProjectMode, id: OtpId, phone: &BlindIndex) -> Vec<u8> {
        let ids = [id.uuid().into_bytes(), project_mode.project.uuid().into_bytes()].concat();
        [ids.as_slice(), project_mode.mode.as_str().as_bytes(), &phone.0].concat()
    }

    /// Whether another system made the code and checks it.
    pub fn is_relayed(&self) -> bool {
        self.state == OtpState::Relayed
    }

    /// Whether the code is open and within its lifetime at `now`.
    pub fn in_force(&self, now: Timestamp) -> bool {
        self.state.is_open() && self.lives(now)
    }

    /// Whether `now` is within the lifetime. If the clock was set back since the code was made, its age is
    /// unknown; the code must not outlive its lifetime, so it does not work until the clock reaches its
    /// creation again.
    fn lives(&self, now: Timestamp) -> bool {
        self.created_at <= now + CLOCK_TOLERANCE && now < self.expires_at
    }

    /// Replaces the code by a newer one of the same phone: an open code, expired or not, becomes superseded.
    pub fn supersede(&mut self) {
        if self.state.is_open() {
            self.state = OtpState::Superseded;
        }
    }

    /// Gives up a request that no provider is asked to deliver. The phone has no active code afterwards.
    pub fn give_up(&mut self) {
        self.void();
        self.sealed_code = None;
        self.delivery.status = DeliveryStatus::Failed;
    }

    /// Withdraws a code that could still be entered, because it may have been used already; `false` if it
    /// could not be entered any more.
    pub fn withdraw(&mut self, now: Timestamp) -> bool {
        let usable = self.state == OtpState::Active && now < self.expires_at;
        if usable {
            self.void();
        }
        usable
    }

    fn void(&mut self) {
        if self.state == OtpState::Active {
            self.state = OtpState::Void;
        }
    }

    /// Judges a guess (docs/contract.md, Verify).
    ///
    /// A wrong guess is counted here and in `budget`; reaching either limit locks the code. The right guess
    /// uses up the code and resets the count of wrong guesses in a row. A guess meant for another request is
    /// `NotFound` and is not counted.
    ///
    /// During a stop, and at a code that is [for known devices](Otp::device_only), a stranger's guess is `Locked`
    /// and changes nothing, so that a stranger cannot lock the code of a known device.
    pub fn judge(
        &mut self,
        guess: &Guess,
        budget: &mut GuessBudget,
        policy: &GuessPolicy,
        now: Timestamp,
    ) -> GuessVerdict {
        if !self.in_force(now) || !guess.is_meant_for(self.id) {
            return GuessVerdict::NotFound;
        }
        *budget = budget.at(policy, now);
        let is_known = guess.is_by_device() && budget.trusts_devices(policy, now);
        let may_guess = is_known || !self.device_only && budget.stopped_for(policy, now).is_none();
        if self.state == OtpState::Locked || !may_guess {
            return GuessVerdict::Locked(Allowance { remaining: 0, ..self.allowance(now) });
        }
        self.note_guess(now);
        if guess.opens(self) {
            self.state = OtpState::Used;
            budget.count_success();
            return GuessVerdict::Accepted(self.allowance(now));
        }
        self.wrong += 1;
        if is_known {
            budget.count_device_wrong(now);
        } else {
            budget.count_wrong(policy, now);
        }
        let stops = !is_known && budget.stopped_for(policy, now).is_some();
        if self.wrong >= self.max_wrong || stops {
            self.state = OtpState::Locked;
        }
        GuessVerdict::Wrong(self.allowance(now))
    }

    fn note_guess(&mut self, now: Timestamp) {
        let old = (self.guesses.len() + 1).saturating_sub(Self::GUESSES);
        self.guesses.drain(..old);
        self.guesses.push(now);
    }

    /// When the code was verified; `None` if it was not.
    pub fn verified_at(&self) -> Option<Timestamp> {
        self.guesses.last().copied().filter(|_| self.state == OtpState::Used)
    }

    fn allowance(&self, now: Timestamp) -> Allowance {
        let open = self.state != OtpState::Locked;
        Allowance {
            limit: self.max_wrong,
            remaining: if open { self.max_wrong.saturating_sub(self.wrong) } else { 0 },
            reset: (self.expires_at - now).to_std().unwrap_or_default(),
        }
    }

    /// The part of `route` that this code may take: a relayed code skips hops whose text names another
    /// lifetime.
    fn way<'route>(&self, route: &'route Route) -> Cow<'route, Route> {
        match (self.expires_at - self.created_at).to_std() {
            Ok(lifetime) if self.is_relayed() => Cow::Owned(route.clone().of_lifetime(lifetime)),
            _ => Cow::Borrowed(route),
        }
    }

    /// Applies a report on one of the attempts; see [`Delivery::report`].
    ///
    /// If every channel failed, the phone has no active code. The sealed code is dropped as soon as no
    /// fallback can need it; without it no other provider is tried.
    pub fn report(
        &mut self,
        attempt: AttemptId,
        report: Report,
        route: &Route,
        next: AttemptId,
        now: Timestamp,
    ) -> DeliveryStep {
        let is_kept = self.sealed_code.is_some();
        let wanted = is_kept && self.state.is_wanted() && self.lives(now);
        let step = self.delivery.report(attempt, report, wanted, &self.way(route), next, now);
        if self.delivery.status == DeliveryStatus::Failed {
            self.void();
        }
        if self.delivery.due_at.is_none() {
            self.sealed_code = None;
        }
        step
    }
}

impl Guess {
    /// Whether the guess is the code of `otp`, compared in constant time.
    pub fn opens(&self, otp: &Otp) -> bool {
        self.is(&otp.binding(), &otp.code)
    }
}

#[cfg(test)]
#[path = "otp_tests.rs"]
mod tests;
