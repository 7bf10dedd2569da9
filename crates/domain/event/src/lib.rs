//! What happened, told to the addresses that a project names (webhooks out).

mod endpoint;
mod ports;
mod retry;
mod room;
mod secret;

pub use dwar_kernel::{Event, EventKind, EventPhone, Subject};
pub use endpoint::{Endpoint, Failing, NewSecret, PreviousSecret, SwitchOff};
pub use ports::{Dispatch, EventStore, FailedCall, SendFailure, WebhookRequest, WebhookSender};
#[cfg(feature = "mocks")]
pub use ports::{MockEventStore, MockWebhookSender};
pub use retry::wait_after;
pub use room::{Room, WaitingEndpoint};
pub use secret::{MalformedSecret, WebhookSecret};
