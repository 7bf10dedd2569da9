use derive_more::Debug;
use dwar_kernel::GuardVerdict;
use std::net::IpAddr;
use std::str::FromStr;

/// The address of a visitor, as far as the guard tells visitors apart: one of IPv4, or the first 56 bits of one
/// of IPv6, which is what a household gets. `Debug` hides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[debug("VisitorAddress(…)")]
pub struct VisitorAddress(IpAddr);

/// Parse error: the text is not an IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an IPv4 or IPv6 address")]
pub struct InvalidVisitorAddress;

impl VisitorAddress {
    /// The bytes that tell this visitor from others.
    pub fn network(&self) -> Vec<u8> {
        match self.0 {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets()[..7].to_vec(),
        }
    }
}

impl From<IpAddr> for VisitorAddress {
    fn from(address: IpAddr) -> Self {
        Self(address.to_canonical())
    }
}

/// Parses an address without a port. An IPv4 address that is written as IPv6 is the IPv4 address.
impl FromStr for VisitorAddress {
    type Err = InvalidVisitorAddress;

    fn from_str(text: &str) -> Result<Self, InvalidVisitorAddress> {
        text.parse::<IpAddr>().map(Self::from).map_err(|_| InvalidVisitorAddress)
    }
}

/// Why a send passes the guard unjudged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardPass {
    /// The backend of the customer vouches for the visitor (`visitor.trusted`).
    Trusted,
    /// The device is known to the phone.
    Device,
}

impl From<GuardPass> for GuardVerdict {
    fn from(pass: GuardPass) -> Self {
        match pass {
            GuardPass::Trusted => Self::Trusted,
            GuardPass::Device => Self::Device,
        }
    }
}

/// Who asks for a code, as far as the caller knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visitor {
    pub address: Option<VisitorAddress>,
    pub pass: Option<GuardPass>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Vec<u8> {
        text.parse::<VisitorAddress>().unwrap().network()
    }

    #[test]
    fn a_household_is_one_visitor() {
        assert_eq!(network("203.0.113.7"), [203, 0, 113, 7]);
        assert_eq!(network("::ffff:203.0.113.7"), network("203.0.113.7"));
        assert_eq!(network("2001:db8:0:12ff::1"), network("2001:db8:0:1200:ffff::"));
        assert_ne!(network("2001:db8:0:1200::1"), network("2001:db8:0:1300::1"));
        assert_ne!(network("203.0.113.7"), network("203.0.113.8"));
        for text in
            ["", "203.0.113", "203.0.113.7:80", "[::1]", "fe80::1%eth0", " ::1", "localhost"]
        {
            assert_eq!(text.parse::<VisitorAddress>(), Err(InvalidVisitorAddress), "{text:?}");
        }
        let address: VisitorAddress = "::1".parse().unwrap();
        assert_eq!(format!("{address:?}"), "VisitorAddress(…)");
    }
}
