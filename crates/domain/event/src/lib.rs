//! Events, posted to the endpoints of a project (webhooks out) or read by the project (the feed).
//!
//! ```
//! use dwar_event::wait_after;
//! use std::time::Duration;
//!
//! // How long deliveries to an endpoint that does not answer pause after each failure, for about a day.
//! let waits: Vec<Duration> = (1..).map_while(|failures| wait_after(failures, None)).collect();
//! assert_eq!(waits[0], Duration::from_secs(5));
//! assert_eq!(waits.iter().sum::<Duration>().as_secs() / 3_600, 23);
//! // An endpoint that asked for a longer wait (`Retry-After`) gets it.
//! let asked = Some(Duration::from_secs(60));
//! assert_eq!(wait_after(1, asked), asked);
//! ```

mod call;
mod call_log;
mod claim_capacity;
mod endpoint;
mod event_id;
mod failure;
mod feed;
mod feed_cursor;
mod feed_position;
mod limit;
mod places;
mod ports;
mod retry;

pub use call::{CALL_LEASE, CALLS_KEPT, CallFilter, EndpointCall, LoggedCall, Resend, ResendState};
pub use call_log::*;
pub use claim_capacity::{ClaimCapacity, KnownEndpoint, WaitingEndpoint};
pub use dwar_kernel::{Event, EventKind, EventPhone, NewSecret, Subject, WebhookSecret};
pub use endpoint::{DisablePolicy, Endpoint, Failing};
pub use event_id::{EventId, MalformedEventId};
pub use failure::SendFailure;
pub use feed::*;
pub use feed_cursor::{FeedCursor, MalformedCursor};
pub use feed_position::{FeedLife, FeedPosition};
pub use limit::CallLimit;
pub use places::CallPlaces;
pub use ports::*;
pub use retry::{latest_due, rest_of, wait_after};
