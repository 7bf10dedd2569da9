use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

const WINDOW: Duration = Duration::from_secs(600);
const ADDRESSES: usize = 100_000;

/// Counts sends per IPv4 address or IPv6 /64 in any ten minutes, for at most 100,000 of them: the
/// one that has not sent for the longest time is forgotten first.
pub struct AddressLimit {
    most: usize,
    sends: Mutex<Sends>,
}

type Sends = HashMap<IpAddr, Vec<Instant>>;

/// One send.
#[derive(Clone, Copy)]
pub struct Taken {
    network: IpAddr,
    at: Instant,
}

impl AddressLimit {
    pub fn new(most: usize) -> Self {
        Self { most, sends: Mutex::default() }
    }

    /// Counts a send, or returns the time to wait if the limit is reached.
    pub fn take(&self, address: IpAddr, now: Instant) -> Result<Taken, Duration> {
        let network = network(address);
        let sends = &mut *self.sends();
        if sends.len() >= ADDRESSES && !sends.contains_key(&network) {
            forget(sends, now);
        }
        let of_network = sends.entry(network).or_default();
        of_network.retain(|at| *at + WINDOW > now);
        if of_network.len() >= self.most {
            return Err(of_network[0] + WINDOW - now);
        }
        of_network.push(now);
        Ok(Taken { network, at: now })
    }

    /// Takes back a send that failed.
    pub fn give_back(&self, taken: Taken) {
        if let Some(of_network) = self.sends().get_mut(&taken.network)
            && let Some(index) = of_network.iter().position(|at| *at == taken.at)
        {
            of_network.remove(index);
        }
    }

    fn sends(&self) -> MutexGuard<'_, Sends> {
        self.sends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget(sends: &mut Sends, now: Instant) {
    sends.retain(|_, all| all.last().is_some_and(|at| *at + WINDOW > now));
    let oldest = sends.iter().min_by_key(|(_, all)| all.last()).map(|(network, _)| *network);
    if let Some(oldest) = oldest.filter(|_| sends.len() >= ADDRESSES) {
        sends.remove(&oldest);
    }
}

/// An IPv4 address, also one that is written as IPv6, or the first 64 bits of an IPv6 address.
pub fn network(address: IpAddr) -> IpAddr {
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

    /// How many of six sends at once the limit allows.
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
        assert_eq!(room(&limit, "192.0.2.1", now), 5);
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
        let (limit, start) = (five(), Instant::now());
        let at = |number: u32| start + Duration::from_millis(number.into());
        let from = |number: u32| IpAddr::from((0x0a00_0000 + number).to_be_bytes());
        let last = u32::try_from(ADDRESSES).unwrap();
        for number in 0..last {
            limit.take(from(number), at(number)).ok().unwrap();
        }
        limit.take(from(0), at(last)).ok().unwrap();
        limit.take(from(last), at(last)).ok().unwrap();
        assert_eq!(limit.sends().len(), ADDRESSES);
        assert!(limit.sends().contains_key(&from(0)) && !limit.sends().contains_key(&from(1)));
        limit.take(from(last + 1), at(last) + WINDOW).ok().unwrap();
        assert_eq!(limit.sends().len(), 1);
    }
}
