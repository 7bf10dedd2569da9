//! Phone numbers and addresses, spread about as in India.

use crate::dice::Dice;
use dwar_kernel::Phone;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Ten digits.
pub type Number = u64;

/// India has some 1.15 billion mobile numbers, which fill so many prefixes of four digits.
pub const PREFIXES: u64 = 1_150;
/// Numbers with the same first four digits.
pub const OF_A_PREFIX: u64 = 1_000_000;
/// Public addresses of mobile carriers, each shared by thousands of people.
const SHARED: u64 = 20;
const HOMES: u64 = 200_000;

/// The first number of a prefix; prefixes are counted round and round.
pub const fn first_of_prefix(index: u64) -> Number {
    (6_000 + index % PREFIXES * 4_000 / PREFIXES) * OF_A_PREFIX
}

pub const fn prefix_of(number: Number) -> u64 {
    number / OF_A_PREFIX
}

/// A number of anyone in India.
pub fn anyone(dice: &Dice) -> Number {
    first_of_prefix(dice.below(PREFIXES)) + dice.below(OF_A_PREFIX)
}

pub fn phone(number: Number) -> Phone {
    number.to_string().parse().unwrap()
}

/// An address of a mobile carrier.
pub fn shared(index: u64) -> IpAddr {
    v4(49, index % SHARED)
}

pub fn any_shared(dice: &Dice) -> IpAddr {
    shared(dice.below(SHARED))
}

/// A home: one IPv4 address, or 256 networks of IPv6.
pub fn any_home(dice: &Dice) -> IpAddr {
    let home = dice.below(HOMES);
    if home.is_multiple_of(2) {
        return v4(103, home);
    }
    let [.., high, low, last] = home.to_be_bytes();
    let middle = u16::from_be_bytes([high, low]);
    Ipv6Addr::new(0x2405, 0x201, middle, u16::from_be_bytes([last, 0]), 0, 0, 0, 1).into()
}

/// An address that attackers rent.
pub fn rented(index: u64) -> IpAddr {
    v4(185, index)
}

fn v4(first: u8, index: u64) -> IpAddr {
    let [.., high, middle, low] = index.to_be_bytes();
    Ipv4Addr::new(first, high, middle, low).into()
}
