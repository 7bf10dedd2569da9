//! Use cases of the public HTTP API, one file each.

mod admit_request;
mod authenticate;
mod delete_identity;
mod deliver;
mod find_identity;
mod idempotency;
mod known_devices;
mod list_events;
mod logout;
mod message_text;
mod otp_status;
mod project_issuer;
mod public_keys;
mod receive_hook;
mod receive_webhook;
mod refresh_session;
mod relay_otp;
mod routes;
mod sandbox_messages;
mod send_otp;
mod sent_otp;
mod tokens;
mod validate_session;
mod verify_otp;

pub use admit_request::AdmitRequest;
pub use authenticate::{Authenticate, AuthenticateError, Claim};
pub use delete_identity::{DeleteIdentity, DeleteIdentityError};
pub use deliver::Deliver;
pub use find_identity::{FindIdentity, FindIdentityError, FoundIdentity};
pub use idempotency::Idempotency;
pub use known_devices::KnownDevices;
pub use list_events::{EventPage, EventsQuery, ListEvents, ListEventsError, ListedEvent};
pub use logout::{Logout, LogoutError};
pub use message_text::{SmsPreview, check_sms_texts, sms_preview, sms_text_of};
pub use otp_status::{OtpStatus, OtpStatusError};
pub use project_issuer::{ProjectIssuer, ProjectIssuerError, PublishedIssuer};
pub use public_keys::PublicKeys;
pub use receive_hook::{AdmittedHook, HookFormats, HookRequest, ReceiveHook, ReceiveHookError};
pub use receive_webhook::{ReceiveWebhook, ReceiveWebhookError};
pub use refresh_session::{RefreshSession, RefreshSessionError};
pub use relay_otp::{RelayOtp, RelayOtpError};
pub use routes::{Routes, dearest};
pub use sandbox_messages::{SandboxMessage, SandboxMessages, SandboxMessagesError};
pub use send_otp::{SendExtras, SendOtp};
pub use sent_otp::{SendOtpError, SendRefusal, SentOtp};
pub(crate) use tokens::whole_second;
pub use tokens::{SessionPolicy, TokenPair, Tokens};
pub use validate_session::{
    IntrospectedToken, ValidSession, ValidateSession, ValidateSessionError,
};
pub use verify_otp::{GuessExtras, VerifiedOtp, VerifyOtp, VerifyOtpError};
