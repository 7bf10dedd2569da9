//! The use cases, one file each; together they read like the endpoint table.
//!
//! A use case is a struct of the ports it needs (public fields, filled in by whoever wires the
//! program) with one method per thing a caller can ask. Refusals are the variants of its error.

mod admit_request;
mod authenticate;
mod delete_identity;
mod deliver;
mod find_identity;
mod first_start;
mod idempotency;
mod limits;
mod logout;
mod manage_endpoints;
mod manage_projects;
mod manage_signing_keys;
mod manage_wallets;
mod message_text;
mod otp_status;
mod public_keys;
mod receive_webhook;
mod record_receipt;
mod refresh_session;
mod routes;
mod sandbox_messages;
mod send_otp;
mod sweep;
mod tell_events;
mod tokens;
mod toolbox;
mod unlock_phone;
mod validate_session;
mod verify_otp;

pub use admit_request::AdmitRequest;
pub use authenticate::{Authenticate, AuthenticateError};
pub use delete_identity::{DeleteIdentity, DeleteIdentityError};
pub use deliver::Deliver;
pub use find_identity::{FindIdentity, FindIdentityError, FoundIdentity};
pub use first_start::{Demo, FirstStart};
pub use idempotency::{Begun, Idempotency, IdempotencyError, Ticket};
pub use limits::{Limits, ModeLimits};
pub use logout::{Logout, LogoutError};
pub use manage_endpoints::{EndpointError, ManageEndpoints};
pub use manage_projects::{CreatedProject, ManageProjects, RegenerateKeyError};
pub use manage_signing_keys::{ManageSigningKeys, SigningKeyPolicy};
pub use manage_wallets::{CreditError, ManageWallets};
pub use message_text::sms_text_of;
pub use otp_status::{OtpStatus, OtpStatusError};
pub use public_keys::PublicKeys;
pub use receive_webhook::{ReceiveWebhook, ReceiveWebhookError};
pub use record_receipt::RecordReceipt;
pub use refresh_session::{RefreshSession, RefreshSessionError};
pub use routes::{PriceList, Routes};
pub use sandbox_messages::{SandboxMessage, SandboxMessages, SandboxMessagesError};
pub use send_otp::{OtpPolicy, SendOtp, SendOtpError, SentOtp};
pub use sweep::{Retention, Sweep, Swept};
pub use tell_events::TellEvents;
pub use tokens::{SessionPolicy, TokenPair, Tokens};
pub use toolbox::Toolbox;
pub use unlock_phone::{UnlockPhone, UnlockPhoneError, Unlocked};
pub use validate_session::{ValidSession, ValidateSession, ValidateSessionError};
pub use verify_otp::{VerifiedOtp, VerifyOtp, VerifyOtpError};
