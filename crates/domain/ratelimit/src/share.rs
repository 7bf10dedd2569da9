use crate::Quota;
use dwar_kernel::{InstanceId, Timestamp};
use std::time::Duration;

/// Slots of a window in an instance's report of its admissions.
const SLOTS: u32 = 30;

/// The parts of one key's quota that several instances hold, together never more than the quota.
///
/// A share is a number of places in the window: its holder admits that many in any window without asking the
/// store. A share that is in force counts in full. An expired share counts for one more window, less the
/// admissions known to have left it.
///
/// Every instant here is by the clock of the store. An instance reports how long ago something was, so its
/// own clock need not be right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaShares(Vec<QuotaShare>);

/// The part of a key's quota that one instance holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaShare {
    pub holder: InstanceId,
    /// Number of the holder's request that this share granted.
    pub number: u64,
    /// Most admissions of the holder in any window.
    pub places: u32,
    pub told_at: Timestamp,
    /// From this instant on the holder admits nothing by this share.
    pub until: Timestamp,
    /// Length of the window that its admissions occupy.
    pub window: Duration,
    /// Number of admissions by age when they were reported, in thirtieths of the window; youngest first.
    pub uses: Vec<u32>,
}

/// An instance's request for a share of a key's quota.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRequest {
    pub holder: InstanceId,
    /// Grows from request to request; an older request that arrives late changes nothing.
    pub number: u64,
    pub quota: Quota,
    /// Its own admissions in the current window, by age, like [`QuotaShare::uses`].
    pub uses: Vec<u32>,
    /// Places that it uses until it has an answer; the recorded share is never smaller.
    pub hold: u32,
    /// Places that it wants besides those in use.
    pub spare: u32,
    /// How long it wants to hold them; zero returns them.
    pub lasts: Duration,
}

/// The places that an instance got for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    pub places: u32,
    pub others: u32,
    /// Time until other instances may have fewer places; `None` if they have none.
    pub relief: Option<Duration>,
}

/// Length of a slot: entry `i` of [`QuotaShare::uses`] counts admissions with an age of at least `i` and less than
/// `i + 1` slots.
pub fn slot_length(window: Duration) -> Duration {
    (window + Duration::from_nanos(u64::from(SLOTS - 1))) / SLOTS
}

impl QuotaShares {
    /// The shares of a key, as loaded from a store.
    pub const fn new(shares: Vec<QuotaShare>) -> Self {
        Self(shares)
    }

    /// The shares of all holders, to be saved by a store.
    pub fn as_slice(&self) -> &[QuotaShare] {
        &self.0
    }

    /// When no share counts any more; `None` if there are none.
    pub fn over_at(&self) -> Option<Timestamp> {
        self.0.iter().map(|share| share.until + share.window).max()
    }

    /// Replaces the holder's last share with a new one of the wanted size, as far as the others leave room.
    /// The recorded share is never smaller than what the holder already uses, and neither is the grant while
    /// the last share is still in force; a request after its end may find that other instances have taken the
    /// places. `None` if a later request of the holder was granted before. Repeating a request changes nothing
    /// more.
    pub fn exchange(&mut self, lease_request: &LeaseRequest, now: Timestamp) -> Option<Grant> {
        if self
            .0
            .iter()
            .any(|it| it.holder == lease_request.holder && it.number > lease_request.number)
        {
            return None;
        }
        self.0.iter_mut().for_each(|share| share.count_from(now));
        let window = lease_request.quota.window;
        // While its last share is in force, its places could not be given to another instance.
        let own = self
            .0
            .iter()
            .find(|it| it.holder == lease_request.holder && it.number < lease_request.number);
        let keeps = own.is_some_and(|it| now < it.until);
        self.0.retain(|it| it.holder != lease_request.holder && it.occupies(window, now) > 0);
        let occupied = self.0.iter().map(|it| it.occupies(window, now));
        let others = occupied.fold(0, u32::saturating_add);
        let used: u32 = lease_request.uses.iter().sum();
        let wanted = used.saturating_add(lease_request.spare);
        let free = wanted.min(lease_request.quota.limit.saturating_sub(others));
        // Admissions that it made meanwhile still count on record.
        let places = free.max(lease_request.hold);
        let relief = self.0.iter().filter_map(|it| it.relief(window, now)).min();
        if places > 0 {
            self.0.push(QuotaShare {
                holder: lease_request.holder,
                number: lease_request.number,
                places,
                told_at: now,
                until: now + lease_request.lasts,
                window,
                uses: lease_request.uses.clone(),
            });
        }
        Some(Grant { places: if keeps { places } else { free }, others, relief })
    }
}

impl QuotaShare {
    /// If the clock was set back since the report, its age is unknown: treat it as reported now.
    fn count_from(&mut self, now: Timestamp) {
        if now < self.told_at {
            self.until -= self.told_at - now;
            self.told_at = now;
        }
    }

    /// Most places that it may occupy in a window that ends at `now`.
    fn occupies(&self, window: Duration, now: Timestamp) -> u32 {
        let window = window.max(self.window);
        if now < self.until {
            return self.places;
        }
        if self.until + window <= now {
            return 0;
        }
        // When the share ended, at most `places` admissions lay in the window. Some of them are known from
        // the report, and some of those have left the window since.
        let began = self.until - self.window;
        let gone = self.slots().filter(|slot| began <= slot.after && slot.to + window <= now);
        self.places.saturating_sub(gone.map(|slot| slot.uses).sum())
    }

    fn relief(&self, window: Duration, now: Timestamp) -> Option<Duration> {
        let window = window.max(self.window);
        let known = self.slots().filter(|slot| slot.uses > 0).map(|slot| slot.to + window);
        let ends = known.chain([self.until + window]).filter(|end| now < *end);
        ends.min().and_then(|end| (end - now).to_std().ok())
    }

    fn slots(&self) -> impl Iterator<Item = QuotaSlot> {
        let length = slot_length(self.window);
        self.uses.iter().zip(0_u32..).map(move |(uses, number)| QuotaSlot {
            after: self.told_at - length * (number + 1),
            to: self.told_at - length * number,
            uses: *uses,
        })
    }
}

/// Admissions after `after`, up to and including `to`.
struct QuotaSlot {
    after: Timestamp,
    to: Timestamp,
    uses: u32,
}

#[cfg(test)]
#[path = "share_tests.rs"]
mod tests;
