//! Shared vocabulary of the domain, and nothing else.

mod clock;
mod entropy;
mod error;
mod id;
mod mode;
mod phone;
mod secret_text;
mod vault;

pub use clock::{Clock, Timestamp};
pub use entropy::Entropy;
pub use error::StoreError;
pub use id::{
    ApiKeyId, AttemptId, EndpointId, EntryId, IdentityId, MalformedId, OtpId, ProjectId, ReceiptId,
    SessionId, TokenId,
};
pub use mode::{KeyMode, UnknownMode};
pub use phone::{InvalidPhone, Phone};
pub use secret_text::SecretText;
pub use vault::{BlindIndex, Digest, Purpose, Sealed, Unsealable, Vault};
