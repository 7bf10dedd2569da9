use crate::share::slot_length;
use crate::{Admission, Grant, LeaseRequest, Quota, Window};
use dwar_kernel::{InstanceId, Timestamp};
use std::time::Duration;

/// How long a share is held unless renewed; it is renewed after half of that.
pub const LEASE: Duration = Duration::from_secs(10);
/// How long not to ask again after other instances held everything.
const PAUSE: Duration = Duration::from_millis(500);
/// Number of blocks that a quota is leased in.
const BLOCKS: u32 = 16;

/// One instance's side of [`crate::QuotaShares`]: the requests that it admitted for a key, and how many more it
/// may admit.
///
/// Its own admissions are counted exactly, in the same window that counts all of them if there is only one
/// instance. An instance that is alone gets the whole rest of the quota, so it admits exactly the
/// requests that this window admits.
#[derive(Clone, Debug)]
pub struct LocalLease {
    window: Window,
    quota: Quota,
    lease: Option<Lease>,
    /// Places of other instances at the last answer.
    others: u32,
    short: Option<LeaseShortage>,
    /// Whether an API request came since the last request for places.
    busy: bool,
}

#[derive(Clone, Copy, Debug)]
struct Lease {
    places: u32,
    asked_at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
struct LeaseShortage {
    limit: u32,
    ask_again: Timestamp,
    relief: Option<Timestamp>,
}

/// Decision on one request by the places that this instance holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseDecision {
    Admitted {
        admission: Admission,
        /// Whether to ask for more places before these are used up.
        low: bool,
    },
    /// Refused; asking the store would not change that.
    Refused(Admission),
    /// No place is left here, but the store may have some.
    Ask,
}

/// Values of a renewal: the asking instance, the number of the request, and the time.
#[derive(Clone, Copy, Debug)]
pub struct RenewalRequest {
    pub holder: InstanceId,
    pub number: u64,
    pub now: Timestamp,
}

impl Default for LocalLease {
    fn default() -> Self {
        Self {
            window: Window::default(),
            quota: Quota { limit: 0, window: Duration::ZERO },
            lease: None,
            others: 0,
            short: None,
            busy: false,
        }
    }
}

impl LocalLease {
    /// Judges one more request at `now` by the places held; counts it if it is admitted.
    pub fn hit(&mut self, quota: Quota, now: Timestamp) -> LeaseDecision {
        (self.quota, self.busy) = (quota, true);
        self.window.expire(quota.window, now);
        let used = self.used();
        if used >= quota.limit {
            return LeaseDecision::Refused(self.next(0, now));
        }
        match self.lease.filter(|it| it.counts(now)) {
            None => LeaseDecision::Ask,
            Some(lease) if used < lease.places => {
                self.window.take(now);
                let admission = Admission { admitted: true, ..self.next(lease.places, now) };
                LeaseDecision::Admitted { admission, low: self.is_low(lease.places, now) }
            }
            Some(lease) => match self.short(now) {
                Some(_) => LeaseDecision::Refused(self.next(lease.places, now)),
                None => LeaseDecision::Ask,
            },
        }
    }

    /// The request to send to the store: for enough places to go on admitting or, with `spare` false, only for
    /// those in use.
    ///
    /// From now on this instance relies only on the places that the request says it holds.
    pub fn lease_request(&mut self, asking: RenewalRequest, spare: bool) -> LeaseRequest {
        let RenewalRequest { holder, number, now } = asking;
        self.window.expire(self.quota.window, now);
        let used = self.used();
        let spare = if spare { block(self.quota) } else { 0 };
        let keeps = |it: &Lease| spare > 0 && it.counts(now);
        self.lease = self.lease.filter(keeps);
        if let Some(lease) = &mut self.lease {
            lease.places = lease.places.min(used.saturating_add(spare)).max(used);
        }
        self.busy = false;
        LeaseRequest {
            holder,
            number,
            quota: self.quota,
            uses: self.window.ages(slot_length(self.quota.window), now),
            hold: self.lease.map_or(used, |lease| lease.places),
            spare,
            lasts: if spare > 0 { LEASE } else { Duration::ZERO },
        }
    }

    /// Applies the grant for a request made at `asked_at`.
    pub fn granted(&mut self, lease_request: &LeaseRequest, asked_at: Timestamp, grant: Grant) {
        self.others = grant.others;
        if lease_request.lasts.is_zero() {
            return;
        }
        let wanted = lease_request.uses.iter().sum::<u32>().saturating_add(lease_request.spare);
        self.lease = Some(Lease { places: grant.places, asked_at });
        self.short = (grant.places < wanted).then_some(LeaseShortage {
            limit: lease_request.quota.limit,
            ask_again: asked_at + PAUSE,
            relief: grant.relief.map(|relief| asked_at + relief),
        });
    }

    /// Ends the share, because it has expired by another clock.
    pub const fn lapse(&mut self) {
        self.lease = None;
    }

    /// What to do about the share at `now`, without a request: `Some(true)` renews it, `Some(false)` keeps
    /// only the places in use because no requests come any more, `None` does nothing.
    pub fn due(&mut self, now: Timestamp) -> Option<bool> {
        self.window.expire(self.quota.window, now);
        let lease = self.lease?;
        let surplus = lease.places.saturating_sub(self.used()) > block(self.quota);
        let old = lease.asked_at + LEASE / 2 <= now;
        (surplus || old).then_some(self.busy)
    }

    /// Drops expired admissions; `true` if nothing is left.
    pub fn expire(&mut self, now: Timestamp) -> bool {
        self.window.expire(self.quota.window, now) && self.lease.is_none()
    }

    fn used(&self) -> u32 {
        u32::try_from(self.window.len()).unwrap_or(u32::MAX)
    }

    fn short(&self, now: Timestamp) -> Option<LeaseShortage> {
        self.short.filter(|it| it.limit == self.quota.limit && now < it.ask_again)
    }

    /// Whether places will soon run out here, while there may be some elsewhere.
    fn is_low(&self, places: u32, now: Timestamp) -> bool {
        let left = places.saturating_sub(self.used());
        places < self.quota.limit && left <= block(self.quota) / 2 && self.short(now).is_none()
    }

    /// How one more request would be judged with this many places held, as far as this instance knows.
    fn next(&self, places: u32, now: Timestamp) -> Admission {
        let (used, quota) = (self.used(), self.quota);
        let allowed =
            places.min(quota.limit).max(if used >= quota.limit { quota.limit } else { 0 });
        let own = self.window.nth(used.saturating_sub(allowed));
        let taken = used.saturating_add(self.others);
        let taken = usize::try_from(taken).unwrap_or(usize::MAX);
        let next = Admission::next(quota, taken, own, now);
        let relief = self.short.and_then(|it| (it.relief? - now).to_std().ok());
        match relief.filter(|it| next.remaining == 0 && !it.is_zero()) {
            Some(relief) => Admission { reset: next.reset.min(relief), ..next },
            None => next,
        }
    }
}

impl Lease {
    /// Whether a request may use one of its places at `now`.
    fn counts(&self, now: Timestamp) -> bool {
        now < self.asked_at + LEASE
    }
}

/// Spare places that an instance holds besides those in use: the part of the quota that may go unused while
/// other instances refuse requests.
fn block(quota: Quota) -> u32 {
    (quota.limit / BLOCKS).max(1)
}

#[cfg(test)]
#[path = "local_lease_tests.rs"]
mod tests;
