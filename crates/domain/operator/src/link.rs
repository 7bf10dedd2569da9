use crate::{Operator, PasswordHash};
use dwar_kernel::{Digest, OperatorId, Timestamp, words};
use std::time::Duration;

words! {
    LinkKind {
        /// To choose a password, the first one or another.
        Password = "password",
        /// To be signed in, as on the first start on a developer's machine.
        SignIn = "sign_in",
    }
}

/// A link that works once: its secret is in the fragment of an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The digest of its secret.
    pub digest: Digest,
    pub operator: OperatorId,
    pub kind: LinkKind,
    pub made_at: Timestamp,
    /// The first instant at which it no longer works.
    pub expires_at: Timestamp,
}

impl Link {
    /// An invitation and a reset are good for three days.
    pub const INVITE: Duration = Duration::from_secs(72 * 3_600);
    /// The link of a first start is good for an hour.
    pub const FIRST: Duration = Duration::from_secs(3_600);

    /// Whether it still works, if nobody has used it.
    pub fn is_open(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// Lets the operator in: with the password that they chose if the link is for that, and without
    /// one if it signs in. `false` changes nothing.
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
