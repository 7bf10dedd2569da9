use crate::{Entropy, Timestamp};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// The hyphenated form; the parser would also take braces, URNs and bare digits.
const CANONICAL: usize = 36;

/// The text is not an id in canonical form.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct MalformedId;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            /// A fresh id, made by the caller of a port and never by a store.
            pub fn new(now: Timestamp, entropy: &dyn Entropy) -> Self {
                Self(entropy.uuid(now))
            }

            /// The id's UUID.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        /// Reads the canonical text form only: 36 characters, lower or upper case.
        impl FromStr for $name {
            type Err = MalformedId;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match Uuid::try_parse(text) {
                    Ok(uuid) if text.len() == CANONICAL => Ok(Self(uuid)),
                    _ => Err(MalformedId),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    )+};
}

ids! {
    /// A customer's project: the tenant.
    ProjectId;
    /// One API key of a project, not the key itself.
    ApiKeyId;
    /// One request to send a code.
    OtpId;
    /// One try to deliver a code over one channel.
    AttemptId;
    /// One login: a refresh-token line and its current access token.
    SessionId;
    /// One access token (the `jti` claim).
    TokenId;
    /// A phone number seen by a project.
    IdentityId;
    /// One row of the ledger.
    EntryId;
    /// One receipt of a provider.
    ReceiptId;
    /// One address that a project's events go to.
    EndpointId;
}
