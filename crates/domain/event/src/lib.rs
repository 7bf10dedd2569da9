//! What happened, told to the addresses that a project names (webhooks out).

mod endpoint;
mod event;
mod ports;
mod secret;

pub use endpoint::{Endpoint, NewSecret, PreviousSecret};
pub use event::{Event, EventKind, EventPhone, Subject};
pub use ports::{Dispatch, EventStore, SendFailure, WebhookRequest, WebhookSender};
#[cfg(feature = "mocks")]
pub use ports::{MockEventStore, MockWebhookSender};
pub use secret::{MalformedSecret, WebhookSecret};
