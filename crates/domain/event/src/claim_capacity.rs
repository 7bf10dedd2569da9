use crate::CallLimit;
use dwar_kernel::{EndpointId, Timestamp};
use std::collections::{HashMap, HashSet};

/// How many due deliveries one claim may return, and for which endpoints, so that no endpoint takes the
/// places of others.
///
/// The caller reports its calls under way; the bounds are those of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimCapacity {
    /// Most deliveries in total.
    pub total: u32,
    /// Of these, for endpoints whose last call failed: they hold a place for as long as a call may take, and
    /// all of them together must leave places for those that answer.
    pub failing: u32,
    /// Of these, for endpoints with fewer than [`CallLimit::FIRST`] calls under way.
    pub reserved: u32,
    /// Most deliveries under way to an endpoint that the caller knows nothing about.
    pub per_endpoint: u32,
    /// The same for an endpoint whose last call failed.
    pub per_failing: u32,
    pub busy: HashMap<EndpointId, u32>,
    /// What the caller has learned about endpoints that it called.
    pub known: HashMap<EndpointId, KnownEndpoint>,
    /// Endpoints that asked for a pause. An endpoint that has accepted an event since gets deliveries anyway.
    pub resting: HashSet<EndpointId>,
}

/// What a caller has learned about an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEndpoint {
    /// Most deliveries under way at once.
    pub places: u32,
    /// Whether the endpoint accepts events and answers in time.
    pub sound: bool,
}

/// An endpoint with due deliveries, as a claim considers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingEndpoint {
    pub endpoint: EndpointId,
    pub failing: bool,
    pub due_at: Timestamp,
}

impl ClaimCapacity {
    /// Room for this many deliveries, to any endpoints.
    pub fn of(total: u32) -> Self {
        Self { total, failing: total, per_endpoint: total, per_failing: total, ..Self::default() }
    }

    /// How many deliveries each endpoint gets at most; endpoints that get none are left out.
    ///
    /// Every endpoint gets a first place before any gets a second. Endpoints that answer come before
    /// endpoints that fail; among equals the longest due comes first.
    pub fn share(&self, waiting: Vec<WaitingEndpoint>) -> Vec<(EndpointId, u32)> {
        let mut shares: Vec<ClaimShare> = waiting.into_iter().map(|it| self.share_of(it)).collect();
        shares.sort_by_key(|share| (share.failing, share.waiting.due_at, share.waiting.endpoint));
        let (mut total, mut failing) = (self.total, self.failing);
        let most = shares.iter().map(|share| share.free).max().unwrap_or_default();
        for place in 1..=most.min(self.total) {
            for share in shares.iter_mut().filter(|share| place <= share.free) {
                let left = if share.failing { total.min(failing) } else { total };
                let kept = if share.busy + place <= CallLimit::FIRST { 0 } else { self.reserved };
                if left > kept {
                    share.given = place;
                    total -= 1;
                    failing -= u32::from(share.failing);
                }
            }
        }
        let given = shares.into_iter().map(|share| (share.waiting.endpoint, share.given));
        given.filter(|(_, given)| *given > 0).collect()
    }

    fn share_of(&self, waiting: WaitingEndpoint) -> ClaimShare {
        let known = self.known.get(&waiting.endpoint);
        let failing = waiting.failing || known.is_some_and(|known| !known.sound);
        let usual = if waiting.failing { self.per_failing } else { self.per_endpoint };
        let resting = waiting.failing && self.resting.contains(&waiting.endpoint);
        let most = if resting { 0 } else { known.map_or(usual, |known| known.places) };
        let busy = self.busy.get(&waiting.endpoint).copied().unwrap_or_default();
        ClaimShare { waiting, failing, busy, free: most.saturating_sub(busy), given: 0 }
    }
}

struct ClaimShare {
    waiting: WaitingEndpoint,
    failing: bool,
    busy: u32,
    free: u32,
    given: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(number: u32) -> EndpointId {
        format!("00000000-0000-7000-8000-{number:012}").parse().unwrap()
    }

    /// Endpoint `number`; smaller numbers have been due for longer.
    fn waits(number: u32, failing: bool) -> WaitingEndpoint {
        let due_at = Timestamp::from_timestamp(1_800_000_000 + i64::from(number), 0).unwrap();
        WaitingEndpoint { endpoint: endpoint(number), failing, due_at }
    }

    fn room(total: u32) -> ClaimCapacity {
        ClaimCapacity {
            total,
            failing: 3,
            per_endpoint: 4,
            per_failing: 1,
            ..ClaimCapacity::default()
        }
    }

    fn shares(room: &ClaimCapacity, waiting: &[WaitingEndpoint]) -> Vec<(EndpointId, u32)> {
        room.share(waiting.to_vec())
    }

    #[test]
    fn one_endpoint_never_gets_more_than_its_places() {
        assert_eq!(shares(&room(100), &[waits(1, false)]), [(endpoint(1), 4)]);
        assert_eq!(shares(&room(100), &[waits(1, true)]), [(endpoint(1), 1)]);
        assert_eq!(shares(&room(2), &[waits(1, false)]), [(endpoint(1), 2)]);
        assert_eq!(shares(&room(0), &[waits(1, false)]), []);
    }

    #[test]
    fn what_is_under_way_counts() {
        let (one, two) = (endpoint(1), endpoint(2));
        let busy = HashMap::from([(one, 4), (two, 3), (endpoint(3), 1)]);
        let room = ClaimCapacity { busy, ..room(100) };
        let waiting = [waits(1, false), waits(2, false), waits(3, true)];
        assert_eq!(shares(&room, &waiting), [(two, 1)]);
    }

    #[test]
    fn one_that_asked_to_be_left_alone_is_until_it_takes_something() {
        let resting = HashSet::from([endpoint(1), endpoint(2)]);
        let room = ClaimCapacity { resting, ..room(100) };
        let waiting = [waits(1, true), waits(2, false), waits(3, true)];
        assert_eq!(shares(&room, &waiting), [(endpoint(2), 4), (endpoint(3), 1)]);
    }

    #[test]
    fn what_the_caller_has_learned_counts_for_more_than_the_usual() {
        let known = |places, sound| KnownEndpoint { places, sound };
        let known = HashMap::from([(endpoint(1), known(1, false)), (endpoint(2), known(9, true))]);
        let room = ClaimCapacity { known, busy: HashMap::from([(endpoint(2), 2)]), ..room(100) };
        let waiting = [waits(1, false), waits(2, false), waits(3, false)];
        let given = [(2, 7), (3, 4), (1, 1)].map(|(number, n)| (endpoint(number), n));
        assert_eq!(shares(&room, &waiting), given);
        assert_eq!(shares(&ClaimCapacity { failing: 0, ..room }, &waiting), given[..2]);
    }

    #[test]
    fn some_places_are_for_the_first_four_of_each() {
        let known = HashMap::from([(endpoint(1), KnownEndpoint { places: 64, sound: true })]);
        let room = ClaimCapacity { known, reserved: 10, ..room(30) };
        let given = |numbers: &[u32]| -> Vec<u32> {
            let waiting: Vec<_> = numbers.iter().map(|number| waits(*number, false)).collect();
            shares(&room, &waiting).into_iter().map(|(_, given)| given).collect()
        };
        assert_eq!(given(&[1]), [20]);
        assert_eq!(given(&[1, 2, 3]), [12, 4, 4]);
        assert_eq!(given(&[1, 2, 3, 4, 5, 6, 7]), [4, 4, 4, 4, 4, 4, 4]);
    }

    #[test]
    fn everybody_gets_a_first_place_before_anybody_gets_a_second() {
        let waiting: Vec<_> = (1..=5).rev().map(|number| waits(number, false)).collect();
        let given = [(1, 2), (2, 2), (3, 1), (4, 1), (5, 1)];
        assert_eq!(shares(&room(7), &waiting), given.map(|(number, n)| (endpoint(number), n)));
        // If there are fewer places than endpoints, the longest due go first.
        let given = [(1, 1), (2, 1)].map(|(number, n)| (endpoint(number), n));
        assert_eq!(shares(&room(2), &waiting), given);
    }

    #[test]
    fn those_that_fail_leave_room_for_those_that_answer() {
        let mut waiting: Vec<_> = (1..=50).map(|number| waits(number, true)).collect();
        waiting.push(waits(99, false));
        let given = shares(&room(10), &waiting);
        assert_eq!(given[0], (endpoint(99), 4));
        assert_eq!(given.len(), 4, "{given:?}");
        // The endpoint that answers comes first even if there is only one place.
        assert_eq!(shares(&room(1), &waiting), [(endpoint(99), 1)]);
    }
}
