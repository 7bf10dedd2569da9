//! What happened, told to the addresses that a project names (webhooks out).

mod endpoint;
mod event;
mod ports;
mod room;
mod secret;

pub use endpoint::{Endpoint, Failing, NewSecret, PreviousSecret, SwitchOff};
pub use event::{Event, EventKind, EventPhone, Subject};
pub use ports::{Dispatch, EventStore, FailedCall, SendFailure, WebhookRequest, WebhookSender};
#[cfg(feature = "mocks")]
pub use ports::{MockEventStore, MockWebhookSender};
pub use room::{Room, WaitingEndpoint};
pub use secret::{MalformedSecret, WebhookSecret};
