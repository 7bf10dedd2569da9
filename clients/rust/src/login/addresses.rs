use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

const WINDOW: Duration = Duration::from_secs(600);
const ADDRESSES: usize = 100_000;

/// Counts sends per IPv4 address or IPv6 /64 in any ten minutes, for at most 100,000 of them: the oldest sends are
/// forgotten first.
pub struct AddressLimit {
    most: usize,
    sends: Mutex<Sends>,
}

#[derive(Default)]
struct Sends {
    by_network: HashMap<IpAddr, VecDeque<Instant>>,
    in_order: VecDeque<Taken>,
}

/// One send.
#[derive(Clone, Copy, PartialEq)]
pub struct Taken {
    network: IpAddr,
    at: Instant,
}

impl AddressLimit {
    pub fn new(most: usize) -> Self {
        Self { most, sends: Mutex::default() }
    }

    /// Counts a send, or gives the time to wait if there is no room for it.
    pub fn take(&self, address: IpAddr, now: Instant) -> Result<Taken, Duration> {
        let network = network(address);
        let sends = &mut *self.sends();
        while sends.in_order.front().is_some_and(|first| first.at + WINDOW <= now) {
            sends.forget_first();
        }
        let of_network = sends.by_network.entry(network).or_default();
        if of_network.len() >= self.most {
            return Err(of_network[0] + WINDOW - now);
        }
        of_network.push_back(now);
        let taken = Taken { network, at: now };
        sends.in_order.push_back(taken);
        while sends.by_network.len() > ADDRESSES {
            sends.forget_first();
        }
        Ok(taken)
    }

    /// The send was none.
    pub fn give_back(&self, taken: Taken) {
        let mut sends = self.sends();
        if let Some(index) = sends.in_order.iter().rposition(|one| *one == taken) {
            sends.in_order.remove(index);
            sends.forget(taken);
        }
    }

    fn sends(&self) -> MutexGuard<'_, Sends> {
        self.sends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sends {
    fn forget_first(&mut self) {
        if let Some(first) = self.in_order.pop_front() {
            self.forget(first);
        }
    }

    fn forget(&mut self, taken: Taken) {
        let Some(of_network) = self.by_network.get_mut(&taken.network) else { return };
        if let Some(index) = of_network.iter().position(|at| *at == taken.at) {
            of_network.remove(index);
        }
        if of_network.is_empty() {
            self.by_network.remove(&taken.network);
        }
    }
}

/// An IPv4 address, also one that is written as IPv6, or the first 64 bits of an IPv6 address.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn five() -> AddressLimit {
        AddressLimit::new(5)
    }

    /// How many of six sends at once there is room for.
    fn room(limit: &AddressLimit, from: &str, at: Instant) -> usize {
        (0..6).filter(|_| limit.take(address(from), at).is_ok()).count()
    }

    #[test]
    fn there_are_five_sends_in_any_ten_minutes() {
        let (limit, start) = (five(), Instant::now());
        limit.take(address("192.0.2.1"), start).ok().unwrap();
        let later = start + Duration::from_secs(400);
        assert_eq!(room(&limit, "192.0.2.1", later), 4);
        let wait = limit.take(address("192.0.2.1"), later).err();
        assert_eq!(wait, Some(Duration::from_secs(200)));
        assert_eq!(room(&limit, "192.0.2.1", start + WINDOW), 1);
        assert_eq!(room(&limit, "192.0.2.1", later + WINDOW), 4);
    }

    #[test]
    fn a_send_that_was_none_leaves_its_room() {
        let (limit, now) = (five(), Instant::now());
        for _ in 0..20 {
            let taken = limit.take(address("192.0.2.1"), now).ok().unwrap();
            limit.give_back(taken);
        }
        assert!(limit.sends().by_network.is_empty() && limit.sends().in_order.is_empty());
    }

    #[test]
    fn an_address_of_ipv6_is_its_first_64_bits() {
        let (limit, now) = (five(), Instant::now());
        assert_eq!(room(&limit, "2001:db8:0:1::1", now), 5);
        assert_eq!(room(&limit, "2001:db8:0:1:ffff::2", now), 0);
        assert_eq!(room(&limit, "2001:db8:0:2::1", now), 5);
        assert_eq!(room(&limit, "192.0.2.1", now), 5);
        assert_eq!(room(&limit, "::ffff:192.0.2.1", now), 0);
        assert_eq!(room(&limit, "::ffff:192.0.2.2", now), 5);
    }

    #[test]
    fn the_oldest_of_too_many_addresses_are_forgotten() {
        let (limit, now) = (five(), Instant::now());
        assert_eq!(room(&limit, "192.0.2.1", now), 5);
        for number in 0..u32::try_from(ADDRESSES).unwrap() {
            let from = IpAddr::from((0x0a00_0000 + number).to_be_bytes());
            limit.take(from, now).ok().unwrap();
        }
        assert_eq!(limit.sends().by_network.len(), ADDRESSES);
        assert_eq!(room(&limit, "192.0.2.1", now), 5);
        assert_eq!(room(&limit, "10.0.200.1", now), 4);
    }
}
