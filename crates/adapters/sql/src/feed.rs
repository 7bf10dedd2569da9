//! Rows of the event feed and of the counters of its sweep.

use crate::schema::event_feeds;
use crate::{At, EventRow, Id, Row};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use dwar_event::{Event, FeedLife, FeedLimit, FeedPosition, FeedSlice};
use dwar_kernel::{ProjectMode, StoreError, Timestamp};

/// The state of a feed, joined with one of its events if any follows.
#[derive(QueryableByName)]
pub struct FeedRow {
    #[diesel(sql_type = Text)]
    life: String,
    #[diesel(sql_type = BigInt)]
    dropped_transaction: i64,
    #[diesel(sql_type = BigInt)]
    dropped_number: i64,
    #[diesel(sql_type = BigInt)]
    end_transaction: i64,
    #[diesel(sql_type = BigInt)]
    end_number: i64,
    #[diesel(sql_type = Nullable<BigInt>)]
    at_transaction: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    at_number: Option<i64>,
    #[diesel(sql_type = Nullable<Text>)]
    id: Option<String>,
    #[diesel(sql_type = Nullable<Id>)]
    project_id: Option<Id>,
    #[diesel(sql_type = Nullable<Text>)]
    mode: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    kind: Option<String>,
    #[diesel(sql_type = Nullable<Id>)]
    subject_id: Option<Id>,
    #[diesel(sql_type = Nullable<Id>)]
    related_id: Option<Id>,
    #[diesel(sql_type = Nullable<Text>)]
    channel: Option<String>,
    #[diesel(sql_type = Nullable<diesel::sql_types::Binary>)]
    phone_index: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<diesel::sql_types::Binary>)]
    phone_sealed: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<BigInt>)]
    amount: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    threshold: Option<i64>,
    #[diesel(sql_type = Nullable<At>)]
    happened_at: Option<At>,
    #[diesel(sql_type = Nullable<Text>)]
    provider: Option<String>,
}

impl FeedRow {
    /// The position of the row's event, if it has one.
    fn position(&self) -> Result<Option<FeedPosition>, StoreError> {
        let at = self.at_transaction.zip(self.at_number);
        at.map(|(transaction, number)| position("events", transaction, number)).transpose()
    }

    /// The row's event, if it has one.
    fn event(self) -> Option<EventRow> {
        Some(EventRow {
            id: self.id?,
            project_id: self.project_id?,
            mode: self.mode?,
            kind: self.kind?,
            subject_id: self.subject_id?,
            related_id: self.related_id,
            channel: self.channel,
            phone_index: self.phone_index,
            phone_sealed: self.phone_sealed,
            amount: self.amount,
            threshold: self.threshold,
            happened_at: self.happened_at?,
            provider: self.provider,
        })
    }
}

/// Builds a feed slice from these rows. There is one row more than `limit` if more events follow.
/// Events for which `legible` returns `None` are left out.
///
/// # Errors
/// [`StoreError::Inconsistent`] if there is no row, or the row has no valid position.
pub fn feed_slice(
    mut rows: Vec<FeedRow>,
    limit: FeedLimit,
    legible: impl Fn(EventRow) -> Option<Event>,
) -> Result<FeedSlice, StoreError> {
    let most = usize::try_from(limit.get()).unwrap_or(usize::MAX);
    let has_more = rows.len() > most;
    rows.truncate(most);
    let lives = Row::new("feed_life", "");
    let (first, last) = (lives.known("name", rows.first())?, lives.known("name", rows.last())?);
    Ok(FeedSlice {
        life: FeedLife::of(&first.life),
        dropped: position("event_feeds", first.dropped_transaction, first.dropped_number)?,
        end: position("event_feeds", first.end_transaction, first.end_number)?,
        last: last.position()?,
        has_more,
        events: rows.into_iter().filter_map(FeedRow::event).filter_map(legible).collect(),
    })
}

fn position(
    table: &'static str,
    transaction: i64,
    number: i64,
) -> Result<FeedPosition, StoreError> {
    let read = Row::new(table, number);
    let transaction = read.known("transaction", u64::try_from(transaction).ok())?;
    Ok(FeedPosition { transaction, number: read.known("number", u64::try_from(number).ok())? })
}

/// Converts one number of a feed position for storage.
pub fn stored_place(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// An event that may be removed from its feed.
#[derive(QueryableByName)]
pub struct OldestRow {
    #[diesel(sql_type = BigInt)]
    at_transaction: i64,
    #[diesel(sql_type = BigInt)]
    at_number: i64,
    #[diesel(sql_type = Text)]
    pub id: String,
    #[diesel(sql_type = At)]
    happened_at: At,
}

impl OldestRow {
    /// When the event happened. An unreadable time becomes the earliest one, because no caller
    /// could be told of it.
    pub fn happened_at(&self) -> Timestamp {
        self.happened_at.0.unwrap_or(Timestamp::MIN_UTC)
    }

    /// The position of the event in its feed.
    pub fn position(&self) -> Result<FeedPosition, StoreError> {
        position("events", self.at_transaction, self.at_number)
    }
}

/// Row of `event_feeds`: the counters of a feed as of the last sweep.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = event_feeds)]
pub struct FeedStateRow {
    pub project_id: Id,
    pub mode: String,
    pub kept: i64,
    counted_transaction: i64,
    counted_number: i64,
    dropped_transaction: i64,
    dropped_number: i64,
}

impl FeedStateRow {
    /// The counters of a feed that no sweep has examined yet.
    pub fn new(project_mode: ProjectMode) -> Self {
        Self {
            project_id: project_mode.project.into(),
            mode: project_mode.mode.as_str().to_owned(),
            kept: 0,
            counted_transaction: 0,
            counted_number: 0,
            dropped_transaction: 0,
            dropped_number: 0,
        }
    }

    /// The position of the last event that is counted.
    pub fn counted(&self) -> Result<FeedPosition, StoreError> {
        position("event_feeds", self.counted_transaction, self.counted_number)
    }

    /// Counts `events` more events, of which `last` is the newest.
    pub fn count(&mut self, events: usize, last: FeedPosition) {
        self.kept = self.kept.saturating_add(i64::try_from(events).unwrap_or(i64::MAX));
        self.counted_transaction = stored_place(last.transaction);
        self.counted_number = stored_place(last.number);
    }

    /// Uncounts the `events` oldest events, of which `last` is the newest.
    pub fn drop_oldest(&mut self, events: usize, last: FeedPosition) {
        self.kept = self.kept.saturating_sub(i64::try_from(events).unwrap_or(i64::MAX));
        self.dropped_transaction = stored_place(last.transaction);
        self.dropped_number = stored_place(last.number);
    }
}
