use crate::{Hop, Route};
use dwar_kernel::{AttemptId, Channel, Reason, Timestamp, words};

words! {
    /// The status of an OTP request; later variants beat earlier ones and nothing moves back.
    DeliveryStatus {
        Queued = "queued",
        Sent = "sent",
        Failed = "failed",
        /// The message reached the phone; a later failure does not change this.
        Delivered = "delivered",
    }
}

words! {
    /// The status of one attempt over one channel; later variants beat earlier ones.
    AttemptStatus {
        Queued = "queued",
        Sent = "sent",
        /// The provider refused the message, or reported that it failed.
        Failed = "failed",
        Delivered = "delivered",
    }
}

impl AttemptStatus {
    /// Index of the attempt whose channel a code counts for: the paid one (the last delivered, else the last
    /// sent), else the last one.
    pub fn carrier(attempts: &[Self]) -> Option<usize> {
        Self::paid(attempts.iter().copied()).or(attempts.len().checked_sub(1))
    }

    fn paid(
        attempts: impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + Clone,
    ) -> Option<usize> {
        let last_with = |wanted| attempts.clone().rposition(|status| status == wanted);
        last_with(Self::Delivered).or_else(|| last_with(Self::Sent))
    }
}

/// One attempt to deliver a code over one channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryAttempt {
    /// Also the client reference that is sent to the provider.
    pub id: AttemptId,
    pub channel: Channel,
    pub provider: String,
    pub provider_ref: Option<String>,
    pub status: AttemptStatus,
    /// Whether the provider ever accepted the message, whatever it reported later.
    pub accepted: bool,
    pub reason: Option<Reason>,
    pub at: Timestamp,
}

/// Outcome of an attempt, as its provider or a timeout reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The provider accepted the message. Some providers report delivery later.
    Accepted {
        provider_ref: Option<String>,
        awaits_receipt: bool,
    },
    /// The provider refused the message, or reported later that delivery failed.
    Failed(Reason),
    Delivered,
    /// The attempt timed out: no receipt came, or the process that called the provider is gone.
    Overdue {
        /// Status of the attempt when the timeout was noticed. If the status differs by now, a newer report
        /// has arrived.
        seen: AttemptStatus,
    },
}

/// How far a failed send got: whether any message can have reached the phone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureReach {
    NoProvider,
    /// Every provider that was called refused the message.
    Refused,
    /// A provider may have sent a message: it accepted, timed out, or its answer is unknown.
    Possible,
}

/// What a concluded delivery costs, by the channel that carried it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charge {
    Channel(Channel),
    Nothing,
}

/// What the caller has to do after a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryStep {
    /// Do nothing: the report was old, or is not final.
    Wait,
    /// Call the provider of this attempt, which is already on record.
    Try(DeliveryAttempt),
    /// Settle the money. Callers may get this more than once; money is settled only once.
    Settle(Charge),
}

/// The delivery of one code: its attempts, and the time of the next check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub status: DeliveryStatus,
    /// All attempts, oldest first; never empty.
    pub attempts: Vec<DeliveryAttempt>,
    /// When the delivery is overdue; `None` once no attempt is pending.
    pub due_at: Option<Timestamp>,
}

impl Delivery {
    /// Starts a delivery with one queued attempt for the first provider of `route`.
    pub fn begin(route: &Route, attempt: AttemptId, now: Timestamp) -> Self {
        let mut delivery =
            Self { status: DeliveryStatus::Queued, attempts: Vec::new(), due_at: None };
        if let Some(hop) = route.hops.first() {
            delivery.open(hop, attempt, route, now);
        }
        delivery
    }

    /// Channel of [`Delivery::carrier`]; `None` without any attempt.
    pub fn channel(&self) -> Option<Channel> {
        self.carrier().map(|attempt| attempt.channel)
    }

    /// The attempt that delivered the code, else the last one.
    pub fn carrier(&self) -> Option<&DeliveryAttempt> {
        let delivered = self.attempts.iter().find(|a| a.status == AttemptStatus::Delivered);
        delivered.or_else(|| self.attempts.last())
    }

    /// What the code costs; `None` while an attempt is pending.
    pub fn charge(&self) -> Option<Charge> {
        if self.due_at.is_some() {
            return None;
        }
        let paid = AttemptStatus::paid(self.attempts.iter().map(|attempt| attempt.status));
        let paid = paid.and_then(|place| self.attempts.get(place));
        Some(paid.map_or(Charge::Nothing, |attempt| Charge::Channel(attempt.channel)))
    }

    /// Whether the code can have reached the phone (docs/contract.md, Limits). The answer is final once no
    /// attempt is pending.
    pub fn reach(&self) -> FailureReach {
        let refused = |attempt: &DeliveryAttempt| {
            attempt.status == AttemptStatus::Failed
                && !attempt.accepted
                && attempt.reason.is_some_and(Reason::is_refusal)
        };
        if self.attempts.is_empty() {
            FailureReach::NoProvider
        } else if self.attempts.iter().all(refused) {
            FailureReach::Refused
        } else {
            FailureReach::Possible
        }
    }

    /// Applies a report on `attempt`. If another attempt is due, it gets the id `next`.
    ///
    /// Reports may be repeated, late or out of order: statuses only move forward, and [`Report::Overdue`]
    /// changes nothing after a later report on the attempt or on the whole delivery. With `wanted` false (the
    /// code was used, replaced or locked) no further hop is tried.
    pub fn report(
        &mut self,
        attempt: AttemptId,
        report: Report,
        wanted: bool,
        route: &Route,
        next: AttemptId,
        now: Timestamp,
    ) -> DeliveryStep {
        let was_last = self.attempts.last().is_some_and(|last| last.id == attempt);
        if matches!(report, Report::Overdue { .. }) && !(was_last && self.due_at.is_some()) {
            return DeliveryStep::Wait;
        }
        let Some(found) = self.attempts.iter_mut().find(|a| a.id == attempt) else {
            return DeliveryStep::Wait;
        };
        if !found.learn(&report, now) {
            return DeliveryStep::Wait;
        }
        match report {
            Report::Accepted { awaits_receipt, .. } => {
                self.raise(DeliveryStatus::Sent);
                let patience = route.receipt_window.filter(|_| awaits_receipt && was_last);
                match patience.filter(|_| self.next_hop(route).is_some()) {
                    Some(patience) => {
                        self.due_at = Some(now + patience);
                        DeliveryStep::Wait
                    }
                    None => self.conclude(),
                }
            }
            Report::Delivered => {
                self.raise(DeliveryStatus::Delivered);
                self.conclude()
            }
            Report::Failed(_) if !was_last => self.still_pending_or_conclude(),
            Report::Failed(_) => self.advance(wanted, route, next, now),
            Report::Overdue { .. } => {
                // A lost call is not repeated on another channel: the client is gone, and will send again.
                let lost = self.attempts.last().is_some_and(|a| a.status == AttemptStatus::Failed);
                self.advance(wanted && !lost, route, next, now)
            }
        }
    }

    fn still_pending_or_conclude(&mut self) -> DeliveryStep {
        if self.due_at.is_some() { DeliveryStep::Wait } else { self.conclude() }
    }

    fn advance(
        &mut self,
        wanted: bool,
        route: &Route,
        next: AttemptId,
        now: Timestamp,
    ) -> DeliveryStep {
        match self.next_hop(route).filter(|_| wanted).cloned() {
            Some(hop) => DeliveryStep::Try(self.open(&hop, next, route, now)),
            None => self.conclude(),
        }
    }

    fn conclude(&mut self) -> DeliveryStep {
        self.due_at = None;
        let charge = self.charge().unwrap_or(Charge::Nothing);
        if charge == Charge::Nothing {
            self.raise(DeliveryStatus::Failed);
        }
        DeliveryStep::Settle(charge)
    }

    fn open(&mut self, hop: &Hop, id: AttemptId, route: &Route, now: Timestamp) -> DeliveryAttempt {
        let attempt = DeliveryAttempt {
            id,
            channel: hop.channel,
            provider: hop.provider.clone(),
            provider_ref: None,
            status: AttemptStatus::Queued,
            accepted: false,
            reason: None,
            at: now,
        };
        self.attempts.push(attempt.clone());
        self.due_at = Some(now + route.lease);
        attempt
    }

    /// The hop after the last attempt. It skips to the next channel if the last provider accepted the message
    /// or if the number itself is the problem.
    fn next_hop<'route>(&self, route: &'route Route) -> Option<&'route Hop> {
        let Some(last) = self.attempts.last() else {
            return route.hops.first();
        };
        let at_last = |hop: &Hop| hop.channel == last.channel && hop.provider == last.provider;
        // If the last hop is no longer in the configuration, its channel says how far the route got.
        let same_channel = |hop: &Hop| hop.channel <= last.channel;
        let passed = route.hops.iter().position(at_last);
        let passed = passed.or_else(|| route.hops.iter().rposition(same_channel));
        let mut ahead = route.hops.iter().skip(passed.map_or(0, |index| index + 1));
        let channel_is_done = last.status != AttemptStatus::Failed
            || last.reason.is_some_and(Reason::is_about_the_number);
        ahead.find(|hop| !channel_is_done || hop.channel != last.channel)
    }

    fn raise(&mut self, status: DeliveryStatus) {
        self.status = self.status.max(status);
    }
}

impl DeliveryAttempt {
    /// Applies the report if it changes the status; `false` if it does not. A status never moves back.
    fn learn(&mut self, report: &Report, now: Timestamp) -> bool {
        let (status, reason) = match report {
            Report::Accepted { provider_ref, .. } => {
                if self.provider_ref.is_none() {
                    self.provider_ref.clone_from(provider_ref);
                }
                self.accepted = true;
                (AttemptStatus::Sent, None)
            }
            Report::Failed(reason) => (AttemptStatus::Failed, Some(*reason)),
            Report::Delivered => {
                self.accepted = true;
                (AttemptStatus::Delivered, None)
            }
            Report::Overdue { seen } if *seen != self.status => return false,
            Report::Overdue { seen: AttemptStatus::Queued } => {
                (AttemptStatus::Failed, Some(Reason::Unknown))
            }
            Report::Overdue { .. } => return true,
        };
        if status <= self.status {
            return false;
        }
        self.status = status;
        self.reason = reason;
        self.at = now;
        true
    }
}

#[cfg(test)]
#[path = "delivery_tests.rs"]
mod tests;
