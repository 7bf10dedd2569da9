use crate::SendFailure;
use dwar_kernel::{CallId, EndpointId, EventKind, Timestamp};
use std::time::Duration;

/// How many calls to one endpoint are kept on record, the newest; see [`EndpointCall::asks_for_a_trim`].
pub const CALLS_KEPT: u32 = 1_000;
/// The same event is not sent to an endpoint again within this time of its last call.
const PAUSE: Duration = Duration::from_secs(10);
/// Longer than a call to an endpoint may take, so a delivery without an outcome by then was
/// abandoned.
pub const CALL_LEASE: Duration = Duration::from_secs(60);

/// A call made to an endpoint, and what came of it. It holds nothing of the address, of what was
/// sent or of what was answered except the status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointCall {
    pub id: CallId,
    pub endpoint: EndpointId,
    /// The `webhook-id` of what was told.
    pub event: String,
    pub kind: EventKind,
    /// 1 is the first of a series; an event that is sent again begins another one.
    pub number: u32,
    pub at: Timestamp,
    pub took: Duration,
    /// The status if it was taken.
    pub outcome: Result<u16, SendFailure>,
    /// When the next one of the series is due; `None` if this was the last.
    pub again: Option<Timestamp>,
}

impl EndpointCall {
    /// When it was over.
    pub fn ended(&self) -> Timestamp {
        self.at + self.took
    }

    /// Whether the caller that recorded this has to trim the log of its endpoint: about one in 64,
    /// so that the log stays near [`CALLS_KEPT`] and each call pays for counting about 16.
    pub fn asks_for_a_trim(&self) -> bool {
        let [.., last] = self.id.uuid().into_bytes();
        last.is_multiple_of(64)
    }
}

/// A call on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCall {
    pub call: EndpointCall,
    /// Whether its event is still there to be sent again.
    pub on_record: bool,
}

/// Which calls are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFilter {
    pub failed: bool,
    /// Only those that are older than this one.
    pub before: Option<CallId>,
}

/// What decides whether an endpoint gets an event again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResendState {
    pub off: bool,
    pub on_record: bool,
    /// When the endpoint was called with it last; `None` if no such call is on record.
    pub last: Option<Timestamp>,
    /// When a call with it is due, if one waits.
    pub due_at: Option<Timestamp>,
}

/// The outcome of a request to send an event again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resend {
    /// It is queued and goes out with the other events that are due.
    Queued,
    /// It is about to go out anyway, or was sent a moment ago.
    UnderWay,
    /// Its endpoint is switched off, so nothing goes there.
    Off,
    Gone,
}

impl ResendState {
    /// Decides on the request at `now`.
    ///
    /// An event that waits for its next try becomes due at once; one that is due within the lease
    /// of a call counts as under way, because it may be.
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
        // Waiting for a try in the far future, and leased by a call that may be under way.
        let waits = |due_at| ResendState { due_at: Some(due_at), ..told };
        assert_eq!(waits(now + CALL_LEASE + MS).resend(now), Resend::Queued);
        assert_eq!(waits(now + CALL_LEASE).resend(now), Resend::UnderWay);
        assert_eq!(waits(now).resend(now), Resend::UnderWay);
    }
}
