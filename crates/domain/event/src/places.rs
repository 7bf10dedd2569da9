use crate::{CallLimit, ClaimCapacity, KnownEndpoint};
use dwar_kernel::{EndpointId, Timestamp};
use std::collections::HashMap;
use std::time::Duration;

/// The calls of one process: how many are under way to each endpoint, how many wait for a place, and the
/// limit of each endpoint.
#[derive(Debug, Default)]
pub struct CallPlaces {
    endpoints: HashMap<EndpointId, EndpointPlaces>,
    calling: u32,
}

#[derive(Debug)]
struct EndpointPlaces {
    limit: CallLimit,
    failing: bool,
    /// Claimed deliveries that are not called yet.
    waiting: u32,
    calling: Vec<Timestamp>,
    last_call: Timestamp,
}

impl CallPlaces {
    /// Most calls that one process has under way at once.
    pub const MOST: u32 = 512;
    /// The part of [`CallPlaces::MOST`] that is kept for endpoints with fewer than
    /// [`CallLimit::FIRST`] calls under way. Endpoints that accept many calls at once and then stop
    /// answering cannot occupy these places.
    pub const RESERVED: u32 = Self::MOST / 4;
    /// Most claimed deliveries: those under way, and as many that wait for a place.
    pub const CLAIMED: u32 = 2 * Self::MOST;
    /// Of these, for endpoints that fail or do not answer.
    pub const FAILING: u32 = Self::MOST / 2;
    /// How long the limit of an endpoint is remembered after its last call.
    const REMEMBERED: Duration = Duration::from_secs(600);

    /// Adds a claimed delivery, which waits until [`CallPlaces::begin`] admits it.
    pub fn claimed(&mut self, endpoint: EndpointId, failing: bool, now: Timestamp) {
        self.endpoints
            .entry(endpoint)
            .or_insert_with(|| EndpointPlaces::new(failing, now))
            .waiting += 1;
    }

    /// Removes a waiting delivery that is not called after all.
    pub fn dropped(&mut self, endpoint: EndpointId) {
        if let Some(places) = self.endpoints.get_mut(&endpoint) {
            places.waiting = places.waiting.saturating_sub(1);
        }
    }

    /// Begins the call of a waiting delivery, if there is a place for it.
    pub fn begin(&mut self, endpoint: EndpointId, now: Timestamp) -> bool {
        let Some(places) = self.endpoints.get_mut(&endpoint) else { return false };
        places.notice_hanging(now);
        let under_way = places.under_way();
        let of_all =
            if under_way < CallLimit::FIRST { Self::MOST } else { Self::MOST - Self::RESERVED };
        let admitted =
            places.waiting > 0 && under_way < places.limit.get() && self.calling < of_all;
        if admitted {
            places.waiting -= 1;
            places.calling.push(now);
            places.last_call = now;
            self.calling += 1;
        }
        admitted
    }

    /// Ends the call that began at `began`. `accepted` is `None` if the result says nothing about the
    /// endpoint.
    pub fn ended(
        &mut self,
        endpoint: EndpointId,
        began: Timestamp,
        accepted: Option<bool>,
        took: Duration,
    ) {
        let Some(places) = self.endpoints.get_mut(&endpoint) else { return };
        let Some(index) = places.calling.iter().position(|at| *at == began) else { return };
        // Claims come in batches, so half of the limit is as much as is always under way.
        let used = places.under_way() * 2 >= places.limit.get();
        places.calling.swap_remove(index);
        self.calling -= 1;
        if let Some(accepted) = accepted {
            places.limit = places.limit.after_call(accepted, took, used);
            places.failing = !accepted;
        }
    }

    /// Number of calls under way, and of deliveries that wait for a place.
    pub fn held(&self) -> (u32, u32) {
        (self.calling, self.endpoints.values().map(|it| it.waiting).sum())
    }

    /// Whether so few deliveries of an endpoint wait that more should be claimed.
    pub fn runs_low(&self, endpoint: EndpointId) -> bool {
        self.endpoints.get(&endpoint).is_none_or(|it| it.waiting * 2 <= it.limit.get())
    }

    /// How many more deliveries may be claimed, given `unwritten` calls whose outcome is not on record yet.
    pub fn room(&mut self, unwritten: u32, now: Timestamp) -> ClaimCapacity {
        self.endpoints.retain(|_, it| it.held() > 0 || now < it.last_call + Self::REMEMBERED);
        let mut room = ClaimCapacity {
            total: Self::CLAIMED.saturating_sub(unwritten),
            failing: Self::FAILING,
            reserved: Self::CLAIMED / 4,
            per_endpoint: CallLimit::FIRST,
            per_failing: 1,
            ..ClaimCapacity::default()
        };
        for (&endpoint, places) in &mut self.endpoints {
            places.notice_hanging(now);
            let (held, sound) = (places.held(), places.is_sound());
            room.total = room.total.saturating_sub(held);
            room.failing = room.failing.saturating_sub(if sound { 0 } else { held });
            room.busy.insert(endpoint, held);
            let limit = places.limit.get();
            let places = if sound { 2 * limit } else { limit };
            room.known.insert(endpoint, KnownEndpoint { places, sound });
        }
        room
    }
}

impl EndpointPlaces {
    const fn new(failing: bool, now: Timestamp) -> Self {
        let limit = CallLimit::new(failing);
        Self { limit, failing, waiting: 0, calling: Vec::new(), last_call: now }
    }

    fn under_way(&self) -> u32 {
        u32::try_from(self.calling.len()).unwrap_or(u32::MAX)
    }

    fn held(&self) -> u32 {
        self.waiting + self.under_way()
    }

    /// Whether the endpoint accepts events and answers in time.
    fn is_sound(&self) -> bool {
        !self.failing && self.limit.get() > 1
    }

    fn notice_hanging(&mut self, now: Timestamp) {
        if self.calling.iter().any(|began| now >= *began + CallLimit::HANGS) {
            self.limit = CallLimit::HANGING;
        }
    }
}

#[cfg(test)]
#[path = "places_tests.rs"]
mod tests;
