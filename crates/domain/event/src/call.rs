use crate::SendFailure;
use dwar_kernel::{CallId, EndpointId, EventKind, Timestamp};
use std::time::Duration;

/// Calls kept per endpoint, the newest; see [`EndpointCall::asks_for_a_trim`].
pub const CALLS_KEPT: u32 = 1_000;
/// Least time between the last call with an event and sending the same event to the endpoint again.
const PAUSE: Duration = Duration::from_secs(10);
/// Longer than any call to an endpoint takes: a delivery without an outcome after this was abandoned.
pub const CALL_LEASE: Duration = Duration::from_secs(60);

/// A call made to an endpoint, and its outcome. Of the address, the request and the answer it holds nothing
/// except the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointCall {
    pub id: CallId,
    pub endpoint: EndpointId,
    /// The `webhook-id` of the event.
    pub event: String,
    pub kind: EventKind,
    /// Counts from 1; an event that is sent again begins a new series.
    pub number: u32,
    pub at: Timestamp,
    pub took: Duration,
    /// The HTTP status if the endpoint accepted the event.
    pub outcome: Result<u16, SendFailure>,
    /// When the next call of the series is due; `None` if this was the last.
    pub again: Option<Timestamp>,
}

impl EndpointCall {
    /// When the call ended: its start plus its duration.
    pub fn ended(&self) -> Timestamp {
        self.at + self.took
    }

    /// Whether the process that recorded this call has to trim the log of its endpoint. About one call in 64
    /// does, so that the log stays near [`CALLS_KEPT`] and each call pays for counting about 16.
    pub fn asks_for_a_trim(&self) -> bool {
        let [.., last] = self.id.uuid().into_bytes();
        last.is_multiple_of(64)
    }
}

/// A call on record, and whether its event can be sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    pub call: EndpointCall,
    /// Whether the event is still on record, to be sent again.
    pub on_record: bool,
}

/// Filter of the calls to one endpoint; the default matches all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFilter {
    pub failed: bool,
    pub before: Option<CallId>,
}

/// The facts that decide whether an event may be sent to an endpoint again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResendState {
    pub off: bool,
    pub on_record: bool,
    /// The last call to the endpoint with this event; `None` if none is on record.
    pub last: Option<Timestamp>,
    /// When a waiting delivery of the event is due.
    pub due_at: Option<Timestamp>,
}

/// Result of asking to send an event again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    /// The event is queued with the other due events.
    Queued,
    /// The event is about to be sent anyway, or was sent a moment ago.
    UnderWay,
    /// The endpoint is disabled, so nothing is sent.
    Off,
    Gone,
}

impl ResendState {
    /// Decides at `now`.
    ///
    /// An event that waits for its next attempt becomes due at once. An event that is due within the lease of
    /// a call counts as under way, because a call may be.
    pub fn resend(&self, now: Timestamp) -> Resend {
        match *self {
            Self { off: true, .. } => Resend::Off,
            Self { on_record: false, .. } | Self { last: None, .. } => Resend::Gone,
            Self { due_at: Some(due), .. } if due <= now + CALL_LEASE => Resend::UnderWay,
            Self { last: Some(last), .. } if now < last + PAUSE => Resend::UnderWay,
            Self { .. } => Resend::Queued,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn an_event_is_sent_again_unless_that_would_pile_up() {
        let now = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let told =
            ResendState { off: false, on_record: true, last: Some(now - PAUSE), due_at: None };
        assert_eq!(told.resend(now), Resend::Queued);
        assert_eq!(told.resend(now - MS), Resend::UnderWay, "a click after a click");
        assert_eq!(ResendState { off: true, ..told }.resend(now), Resend::Off);
        assert_eq!(ResendState { on_record: false, ..told }.resend(now), Resend::Gone);
        assert_eq!(ResendState { last: None, ..told }.resend(now), Resend::Gone);
        // One waits for an attempt in the far future, the other is leased by a call that may be under way.
        let waits = |due_at| ResendState { due_at: Some(due_at), ..told };
        assert_eq!(waits(now + CALL_LEASE + MS).resend(now), Resend::Queued);
        assert_eq!(waits(now + CALL_LEASE).resend(now), Resend::UnderWay);
        assert_eq!(waits(now).resend(now), Resend::UnderWay);
    }
}
