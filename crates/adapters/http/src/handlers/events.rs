use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::error::ApiError;
use crate::json::events::EventList;
use crate::json::schema;
use crate::operation::get;
use dwar_app::EventsQuery;
use dwar_event::FeedLimit;
use dwar_wire::openapi::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/v1/events", "listEvents", list)
            .summary("List events")
            .description(
                "Returns the events of the project in the mode of the key, oldest first, as \
                 webhooks receive them, with phones masked. Pass the cursor of each answer to \
                 the next request: no event is missed and none comes twice. Off until the \
                 project switches its feed on.",
            )
            .optional_parameter(
                "after",
                "Cursor of the previous answer. Absent or empty: start from the oldest event \
                 that is kept.",
                schema::after(),
            )
            .optional_parameter(
                "limit",
                "Largest number of events to return.",
                schema::event_limit(),
            )
            .response::<EventList>("The events, and the cursor for the next request.")
            .refuses([
                ErrorCode::InvalidField,
                ErrorCode::EventsFeedDisabled,
                ErrorCode::CursorInvalidated,
                ErrorCode::CursorExpired,
            ]),
    ]
}

pub(crate) async fn list(call: ApiCall) -> Answer {
    let caller = call.general_caller().await?;
    let query = call.events_query()?;
    let page = call.use_cases()?.list_events.list(&caller, query).await?;
    ok(EventList::try_from(page)?)
}

impl ApiCall {
    /// Parses the query; `INVALID_FIELD` names a parameter that is wrong or repeated. An empty
    /// cursor counts as none, as in the first call of a script that keeps the cursor in a file.
    fn events_query(&self) -> Result<EventsQuery, ApiError> {
        let pairs = self.query_pairs()?;
        let one = |wanted: &'static str| {
            let mut values =
                pairs.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value);
            match (values.next(), values.next()) {
                (_, Some(_)) => Err(ApiError::field(wanted, "given twice")),
                (value, None) => Ok(value.cloned()),
            }
        };
        let after = one("after")?.filter(|text| !text.is_empty());
        let limit = one("limit")?.map(|text| text.parse::<FeedLimit>()).transpose();
        let limit = limit.map_err(|rule| ApiError::field("limit", rule))?;
        Ok(EventsQuery { after, limit: limit.unwrap_or_default() })
    }
}
