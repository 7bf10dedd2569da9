use crate::CommonPorts;
use crate::refusals::refusals;
use dwar_event::{
    Event, EventFeed, FeedCursor, FeedLimit, FeedPage, FeedPosition, FeedRefusal, Subject,
    WebhookSender,
};
use dwar_kernel::{TRACE, with_causes};
use dwar_project::Caller;
use std::sync::Arc;
use tracing::instrument;

/// Lists the events of a project in the order of its feed (`GET /v1/events`).
pub struct ListEvents {
    pub tools: CommonPorts,
    pub feed: Arc<dyn EventFeed>,
    pub sender: Arc<dyn WebhookSender>,
}

/// The requested page of the feed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventsQuery {
    /// Cursor of the previous page; `None` begins with the oldest event that is kept.
    pub after: Option<String>,
    pub limit: FeedLimit,
}

/// A page of the events of a project and mode, oldest first.
#[derive(Debug, PartialEq, Eq)]
pub struct EventPage {
    pub events: Vec<ListedEvent>,
    /// Cursor for the next request; the given one if there are no events.
    pub cursor: String,
    pub has_more: bool,
}

/// An event with its phone number masked. Its body has no `Debug`, since logs must not show it.
#[derive(PartialEq, Eq, derive_more::Debug)]
pub struct ListedEvent {
    /// The `webhook-id` that endpoints get.
    pub id: String,
    #[debug(skip)]
    pub body: Vec<u8>,
}

refusals! {
    ListEventsError {
        NotACursor = "not a cursor of this project and mode",
        Disabled = "the feed of events is not enabled",
        Restored = "the cursor is of another life of the database",
        Expired = "events after the cursor are no longer kept",
    }
}

impl From<FeedRefusal> for ListEventsError {
    fn from(refusal: FeedRefusal) -> Self {
        match refusal {
            FeedRefusal::Restored => Self::Restored,
            FeedRefusal::Expired => Self::Expired,
        }
    }
}

impl ListEvents {
    /// The page of events after the cursor, or from the beginning without one.
    #[instrument(name = "list_events", target = TRACE, level = "error", skip_all)]
    pub async fn list(
        &self,
        caller: &Caller,
        query: EventsQuery,
    ) -> Result<EventPage, ListEventsError> {
        let (project_mode, feed) = (caller.project_mode(), caller.project.events_feed);
        let after = query.after.map(|text| FeedCursor::read(&text, project_mode)).transpose();
        let after = after.map_err(|_| ListEventsError::NotACursor)?;
        if !feed.on {
            return Err(ListEventsError::Disabled);
        }
        let at = after.map_or(FeedPosition::default(), |cursor| cursor.at);
        let slice = self.feed.read_feed(project_mode, at, query.limit).await?;
        let FeedPage { events, cursor, has_more } = slice.page(after, feed.run)?;
        let events = events.iter().map(|event| self.listed(event)).collect();
        Ok(EventPage { events, cursor: cursor.text(project_mode), has_more })
    }

    fn listed(&self, event: &Event) -> ListedEvent {
        ListedEvent { id: event.id(), body: self.sender.body(event, self.masked_phone(event)) }
    }

    /// The masked phone of an event; `None` once it is erased. A phone that no key of this process opens is
    /// left out, so that one unreadable event does not stop a consumer.
    fn masked_phone(&self, event: &Event) -> Option<String> {
        let Subject::Otp { phone: Some(phone), .. } = &event.subject else { return None };
        let opened = self.tools.vault.open_phone(event.project_mode.project, &phone.sealed);
        let opened = opened.inspect_err(|cause| {
            tracing::error!(event = event.id(), error = %with_causes(cause),
                "the phone number of an event cannot be opened");
        });
        opened.ok().map(|phone| phone.to_string())
    }
}
