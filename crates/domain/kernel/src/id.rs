use crate::{Entropy, Timestamp};
use derive_more::{Debug, Display, From};
use std::str::FromStr;
use uuid::Uuid;

/// Length of the hyphenated form; the UUID parser would also accept braces, URNs and bare digits.
const CANONICAL: usize = 36;

/// Parse error: the text is not an id in canonical form.
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
            /// Makes a fresh UUIDv7. Callers of ports make ids; stores never do.
            pub fn new(now: Timestamp, entropy: &dyn Entropy) -> Self {
                Self(entropy.uuid(now))
            }

            /// The smallest id of `at`: it sorts before every id made at `at`, and after all that were made
            /// earlier.
            ///
            /// An id begins with the milliseconds since 1970 (RFC 9562, section 5.7).
            pub fn first_at(at: Timestamp) -> Self {
                let since_1970 = u128::try_from(at.timestamp_millis()).unwrap_or_default();
                Self(Uuid::from_u128(since_1970 << 80))
            }

            /// The id as a UUID, for stores and digests.
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// When the id was made, to the millisecond (RFC 9562, section 5.7); `None` if it is not
            /// time-based.
            pub fn made_at(self) -> Option<Timestamp> {
                let (seconds, nanos) = self.0.get_timestamp()?.to_unix();
                Timestamp::from_timestamp(i64::try_from(seconds).ok()?, nanos)
            }
        }

        /// Parses only the canonical form: 36 characters, lower or upper case.
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
    /// Id of an API key of a project; not the key itself.
    ApiKeyId;
    OtpId;
    /// Id of one attempt to deliver a code over one channel.
    AttemptId;
    /// Id of a login: a line of refresh tokens and its current access token.
    SessionId;
    /// Id of an access token (the `jti` claim).
    TokenId;
    /// Id of a phone number within a project and mode.
    IdentityId;
    /// Id of an entry of a wallet's ledger.
    EntryId;
    ReceiptId;
    /// Id of an endpoint that receives a project's events.
    EndpointId;
    /// Id of a hook that another login system calls to have its codes delivered.
    HookId;
    /// Id of one call to an endpoint.
    CallId;
    /// Id of a process that runs the service, from its start to its end.
    InstanceId;
    OperatorId;
    /// Id of a token of the admin API; not the token itself.
    AdminTokenId;
    /// Id of an entry of the audit log.
    AuditId;
    /// Id of a searcher of phone numbers: an operator or an admin token.
    SearcherId;
    /// Id of a process in the lease on the figures; only the process that holds the lease computes them.
    KeeperId;
    /// Id of a process in the counts of refused sends, so that each process writes its own rows.
    RecorderId;
}
