use dwar_kernel::{EndpointId, Timestamp};
use std::collections::{HashMap, HashSet};

/// How much of what is due one claim may give out, and to whom, so that no endpoint takes what the
/// others need.
///
/// The caller says what it has under way; the bounds are those of one process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Deliveries that may be added, in all.
    pub total: u32,
    /// Of these, to endpoints whose last call failed: they hold a place for as long as a call may
    /// take, and all of them together must leave room for those that answer.
    pub failing: u32,
    /// Deliveries that one endpoint may have under way at once.
    pub per_endpoint: u32,
    /// The same, for one whose last call failed.
    pub per_failing: u32,
    pub busy: HashMap<EndpointId, u32>,
    /// Those that asked to be left alone for now. One that has taken something since is not.
    pub resting: HashSet<EndpointId>,
}

/// An endpoint that something is due for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitingEndpoint {
    pub endpoint: EndpointId,
    pub failing: bool,
    /// Since when its first delivery is due.
    pub due_at: Timestamp,
}

impl Room {
    /// Room for this many deliveries, to any endpoint.
    pub fn of(total: u32) -> Self {
        Self { total, failing: total, per_endpoint: total, per_failing: total, ..Self::default() }
    }

    /// How many deliveries each endpoint gets at most; those that get none are left out.
    ///
    /// Every endpoint gets a first place before any gets a second. Those that answer come before
    /// those that fail; among equals the longest due comes first.
    pub fn share(&self, mut waiting: Vec<WaitingEndpoint>) -> Vec<(EndpointId, u32)> {
        waiting.sort_by_key(|waiting| (waiting.failing, waiting.due_at, waiting.endpoint));
        let mut places = vec![0; waiting.len()];
        let (mut total, mut failing) = (self.total, self.failing);
        for place in 1..=self.per_endpoint.max(self.per_failing).min(self.total) {
            for (waiting, given) in waiting.iter().zip(&mut places) {
                let left = if waiting.failing { total.min(failing) } else { total };
                if left > 0 && place <= self.places_of(waiting) {
                    *given = place;
                    total -= 1;
                    failing -= u32::from(waiting.failing);
                }
            }
        }
        let shares = waiting.iter().map(|waiting| waiting.endpoint).zip(places);
        shares.filter(|(_, places)| *places > 0).collect()
    }

    fn places_of(&self, waiting: &WaitingEndpoint) -> u32 {
        if waiting.failing && self.resting.contains(&waiting.endpoint) {
            return 0;
        }
        let most = if waiting.failing { self.per_failing } else { self.per_endpoint };
        most.saturating_sub(self.busy.get(&waiting.endpoint).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(number: u32) -> EndpointId {
        format!("00000000-0000-7000-8000-{number:012}").parse().unwrap()
    }

    /// Endpoint `number`, the longer due the smaller the number.
    fn waits(number: u32, failing: bool) -> WaitingEndpoint {
        let due_at = Timestamp::from_timestamp(1_800_000_000 + i64::from(number), 0).unwrap();
        WaitingEndpoint { endpoint: endpoint(number), failing, due_at }
    }

    fn room(total: u32) -> Room {
        Room { total, failing: 3, per_endpoint: 4, per_failing: 1, ..Room::default() }
    }

    fn shares(room: &Room, waiting: &[WaitingEndpoint]) -> Vec<(EndpointId, u32)> {
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
        let room = Room { busy, ..room(100) };
        let waiting = [waits(1, false), waits(2, false), waits(3, true)];
        assert_eq!(shares(&room, &waiting), [(two, 1)]);
    }

    #[test]
    fn one_that_asked_to_be_left_alone_is_until_it_takes_something() {
        let resting = HashSet::from([endpoint(1), endpoint(2)]);
        let room = Room { resting, ..room(100) };
        let waiting = [waits(1, true), waits(2, false), waits(3, true)];
        assert_eq!(shares(&room, &waiting), [(endpoint(2), 4), (endpoint(3), 1)]);
    }

    #[test]
    fn everybody_gets_a_first_place_before_anybody_gets_a_second() {
        let waiting: Vec<_> = (1..=5).rev().map(|number| waits(number, false)).collect();
        let given = [(1, 2), (2, 2), (3, 1), (4, 1), (5, 1)];
        assert_eq!(shares(&room(7), &waiting), given.map(|(number, n)| (endpoint(number), n)));
        // With less room than endpoints the longest due go first.
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
        // The one that answers comes first even if there is one place in all.
        assert_eq!(shares(&room(1), &waiting), [(endpoint(99), 1)]);
    }
}
