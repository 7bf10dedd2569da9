use crate::{Operator, PasswordHash};
use dwar_kernel::{Digest, OperatorId, Timestamp, words};
use std::time::Duration;

words! {
    LinkKind {
        /// Lets an operator choose a password, the first or a new one.
        Password = "password",
        /// Signs in at once, as on the first start on a developer's machine.
        SignIn = "sign_in",
    }
}

/// A link that works once. Its secret is in the fragment of the address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneTimeLink {
    pub digest: Digest,
    pub operator: OperatorId,
    pub kind: LinkKind,
    pub made_at: Timestamp,
    /// The first instant at which it no longer works.
    pub expires_at: Timestamp,
}

impl OneTimeLink {
    /// Validity of an invitation or reset: three days.
    pub const INVITE: Duration = Duration::from_secs(72 * 3_600);
    /// Validity of the link of a first start: one hour.
    pub const FIRST: Duration = Duration::from_secs(3_600);

    /// Whether the link is still valid, unless it was used.
    pub fn is_open(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// Signs in the operator and sets the chosen password, which must be given exactly for a password link.
    /// `false` changes nothing.
    pub fn spend(
        &self,
        operator: &mut Operator,
        password: Option<PasswordHash>,
        now: Timestamp,
    ) -> bool {
        let fits = (self.kind == LinkKind::Password) == password.is_some();
        if !fits || !self.is_open(now) || self.operator != operator.id {
            return false;
        }
        operator.password = password.or_else(|| operator.password.take());
        operator.signed_in_at = Some(now);
        true
    }
}
