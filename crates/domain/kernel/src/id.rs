use crate::{Entropy, Timestamp};
use derive_more::{Debug, Display, From};
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
        #[derive(Clone, Copy, Debug, Display, From, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[debug("{_0}")]
        pub struct $name(Uuid);

        impl $name {
            /// A fresh id, made by the caller of a port and never by a store.
            pub fn new(now: Timestamp, entropy: &dyn Entropy) -> Self {
                Self(entropy.uuid(now))
            }

            /// Comes before every id that is made at `at`, and after all that were made earlier.
            ///
            /// An id begins with the milliseconds since 1970 (RFC 9562, section 5.7).
            pub fn first_at(at: Timestamp) -> Self {
                let since_1970 = u128::try_from(at.timestamp_millis()).unwrap_or_default();
                Self(Uuid::from_u128(since_1970 << 80))
            }

            /// The UUID that it is.
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// When it was made, to the millisecond (RFC 9562, section 5.7); `None` if it does not
            /// say.
            pub fn made_at(self) -> Option<Timestamp> {
                let (seconds, nanos) = self.0.get_timestamp()?.to_unix();
                Timestamp::from_timestamp(i64::try_from(seconds).ok()?, nanos)
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
    )+};
}

ids! {
    ProjectId;
    /// One API key of a project, not the key itself.
    ApiKeyId;
    OtpId;
    /// One try to deliver a code over one channel.
    AttemptId;
    /// One login: a refresh-token line and its current access token.
    SessionId;
    /// One access token (the `jti` claim).
    TokenId;
    /// A phone number seen by a project.
    IdentityId;
    EntryId;
    ReceiptId;
    /// One address that a project's events go to.
    EndpointId;
    /// One address at which another system asks for codes to be delivered.
    HookId;
    /// One call to an address that events go to.
    CallId;
    /// One process that runs the service, from its start to its end.
    InstanceId;
    OperatorId;
    /// One token of the admin API, not the token itself.
    AdminTokenId;
    AuditId;
    /// Somebody who searches for phone numbers: the id of an operator, or of a token.
    SearcherId;
    KeeperId;
    TallyId;
}
