use crate::ErrorCode;
use crate::json::schema;
use dwar_app::{EventPage, ListedEvent};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Events of a project and mode, the oldest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventList {
    #[schema(max_items = 500)]
    events: Vec<Event>,
    /// Cursor for the next request.
    #[schema(schema_with = schema::cursor)]
    cursor: String,
    /// Whether more events follow.
    #[schema(example = false)]
    has_more: bool,
}

/// An event of a project.
#[derive(Serialize, ToSchema)]
struct Event {
    /// `webhook-id` of the event.
    #[schema(
        min_length = 1,
        max_length = 200,
        example = "otp_sent_01a1fd52d7e27a00a93b6b5a18a1ae06"
    )]
    id: String,
    /// Type of the event.
    #[schema(min_length = 1, max_length = 64, example = "otp.sent")]
    r#type: String,
    #[schema(schema_with = schema::instant)]
    timestamp: String,
    /// Project, mode, and the members of the event type.
    #[schema(schema_with = schema::event_data)]
    data: Map<String, Value>,
}

/// The body of an event, as endpoints receive it.
#[derive(Deserialize)]
struct Body {
    r#type: String,
    timestamp: String,
    data: Map<String, Value>,
}

impl TryFrom<EventPage> for EventList {
    type Error = ErrorCode;

    fn try_from(page: EventPage) -> Result<Self, ErrorCode> {
        let event = |listed: ListedEvent| {
            let Body { r#type, timestamp, data } =
                serde_json::from_slice(&listed.body).map_err(|_| ErrorCode::InternalError)?;
            Ok(Event { id: listed.id, r#type, timestamp, data })
        };
        let events = page.events.into_iter().map(event).collect::<Result<_, _>>()?;
        Ok(Self { events, cursor: page.cursor, has_more: page.has_more })
    }
}
