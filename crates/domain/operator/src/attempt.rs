use crate::{AttemptAdmission, FailureCounter, LockoutRule};
use dwar_kernel::{Digest, OperatorId, Purpose, Timestamp, Vault};
use std::net::{IpAddr, Ipv6Addr};
use uuid::Uuid;

/// Where a password comes from. Attempts of one origin share a lock and a turn at the password hasher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A browser in which the operator has signed in before, or is signed in now.
    Browser(Digest),
    /// Any other browser, identified by its network.
    Network(Network),
}

/// An IPv4 address, or the first 64 bits of an IPv6 address, which providers assign as one block. All unknown
/// addresses form one network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Network(Option<IpAddr>);

impl Network {
    /// The network of an address; IPv4-mapped IPv6 addresses count as IPv4.
    pub fn of(address: Option<IpAddr>) -> Self {
        Self(address.map(|address| match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address @ IpAddr::V4(_) => address,
        }))
    }

    fn text(self) -> String {
        self.0.map(|address| address.to_string()).unwrap_or_default()
    }
}

/// Identifies one count of failures: operator, subject and rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailureKey {
    /// The operator concerned; for an unknown name an id that no operator has.
    pub operator: OperatorId,
    pub subject: Digest,
    pub rule: LockoutRule,
}

/// Subject of the count per name, over all networks; sorts first among an operator's counts.
const NAME: Digest = Digest([0; 32]);
/// Subject of the count for codes of an authenticator app.
const CODES: Digest = Digest([1; 32]);
/// Subject of the count per unknown name and network.
const NOBODYS: Digest = Digest([2; 32]);

/// An attempt to sign in with a password or a code, as the set of counts that it affects.
///
/// It counts as a failure when it begins, and is taken back if it succeeds. So concurrent attempts
/// are not judged more often than attempts one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt(Vec<FailureKey>);

impl Attempt {
    /// An attempt with the password of an operator. A known browser has a count of its own; any other attempt
    /// counts for its network and for the name.
    pub fn with_password(operator: OperatorId, origin: Origin, vault: &dyn Vault) -> Self {
        match origin {
            Origin::Browser(browser) => {
                Self(vec![FailureKey { operator, subject: browser, rule: LockoutRule::Lock }])
            }
            Origin::Network(network) => {
                let (id, network) = (operator.uuid(), network.text());
                let parts = [id.as_bytes().as_slice(), network.as_bytes()];
                let subject = vault.digest(Purpose::OperatorOrigin, &parts);
                Self(vec![
                    FailureKey { operator, subject: NAME, rule: LockoutRule::Pace },
                    FailureKey { operator, subject, rule: LockoutRule::Lock },
                ])
            }
        }
    }

    /// An attempt with an unknown name, answered like one with a known name.
    ///
    /// Unknown names share 65,536 ids, and so do unknown names with a network: a flood of them leaves at most
    /// 131,072 counts.
    pub fn of_nobody(name: &str, network: Network, vault: &dyn Vault) -> Self {
        let (name, network) = (name.trim().to_lowercase(), network.text());
        let of_name = vault.digest(Purpose::OperatorName, &[name.as_bytes()]);
        let of_both = vault.digest(Purpose::OperatorOrigin, &[name.as_bytes(), network.as_bytes()]);
        let mut counts = vec![
            FailureKey { operator: nobody(&of_name), subject: NAME, rule: LockoutRule::Pace },
            FailureKey { operator: nobody(&of_both), subject: NOBODYS, rule: LockoutRule::Lock },
        ];
        counts.sort_unstable();
        Self(counts)
    }

    /// An attempt with a code of an authenticator app, after the right password, from an unknown browser.
    /// There are few codes, so their lock applies to all origins together.
    pub fn with_code(operator: OperatorId) -> Self {
        Self(vec![FailureKey { operator, subject: CODES, rule: LockoutRule::Lock }])
    }

    /// Both attempts as one, which affects the counts of both.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self.0.sort_unstable();
        self
    }

    /// The affected counts, in the order in which stores lock them.
    pub fn counts(&self) -> &[FailureKey] {
        &self.0
    }

    /// Begins the attempt; `counter` loads the state of each count. Returns the admission and the counts to
    /// save: none if the attempt is refused. Counts after the one that refuses are not loaded.
    ///
    /// # Errors
    /// Those of `counter`.
    pub fn admit<E>(
        &self,
        now: Timestamp,
        mut counter: impl FnMut(FailureKey) -> Result<FailureCounter, E>,
    ) -> Result<(AttemptAdmission, Vec<(FailureKey, FailureCounter)>), E> {
        let mut counted = Vec::with_capacity(self.0.len());
        for count in &self.0 {
            let mut after = counter(*count)?;
            if let AttemptAdmission::Locked(until) = after.admit(count.rule, now) {
                return Ok((AttemptAdmission::Locked(until), Vec::new()));
            }
            counted.push((*count, after));
        }
        Ok((AttemptAdmission::Admitted, counted))
    }
}

impl FailureKey {
    /// Subject of the counts per name, over all networks.
    pub const NAME: Digest = NAME;

    /// The count that a store keeps under this operator and subject.
    pub fn stored(operator: OperatorId, subject: Digest) -> Self {
        let rule = if subject == NAME { LockoutRule::Pace } else { LockoutRule::Lock };
        Self { operator, subject, rule }
    }

    /// Whether this is the count per name, over all networks.
    pub fn is_of_name(&self) -> bool {
        self.subject == NAME
    }

    /// The count after a successful attempt. Under [`LockoutRule::Lock`] failures in a row are forgotten (`None`).
    /// Under [`LockoutRule::Pace`] only this attempt is taken back, so that the bound holds however often the
    /// operator signs in.
    pub fn after_success(self, mut counter: FailureCounter) -> Option<FailureCounter> {
        counter.withdraw();
        (self.rule == LockoutRule::Pace).then_some(counter)
    }
}

/// One of the 65,536 ids that no operator has.
fn nobody(digest: &Digest) -> OperatorId {
    let [high, low, ..] = digest.0;
    let mut bytes = [0; 16];
    bytes[14..].copy_from_slice(&[high, low]);
    Uuid::from_bytes(bytes).into()
}

#[cfg(test)]
#[path = "attempt_tests.rs"]
mod tests;
