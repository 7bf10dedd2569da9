use crate::{FeedCursor, FeedLife, FeedPosition};
use async_trait::async_trait;
use derive_more::Display;
use dwar_kernel::{Event, KeyMode, ProjectMode, StoreError, Timestamp};
use std::str::FromStr;

/// Number of events that one request asks for: 1 to 500.
#[derive(Clone, Copy, Debug, Display, PartialEq, Eq)]
pub struct FeedLimit(u32);

/// Parse error: the text is not a number from 1 to 500.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a number from 1 to {}", FeedLimit::MOST)]
pub struct InvalidFeedLimit;

impl FeedLimit {
    /// Most events that one request may ask for.
    pub const MOST: u32 = 500;

    pub const fn get(self) -> u32 {
        self.0
    }
}

impl Default for FeedLimit {
    fn default() -> Self {
        Self(100)
    }
}

impl FromStr for FeedLimit {
    type Err = InvalidFeedLimit;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let limit = text.parse().ok().filter(|limit| digits && (1..=Self::MOST).contains(limit));
        limit.map(Self).ok_or(InvalidFeedLimit)
    }
}

/// Most events that the feed of a project keeps, by mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedBound {
    pub live: u32,
    pub test: u32,
}

impl FeedBound {
    /// The bound on the feed of a project in `mode`.
    pub const fn of(self, mode: KeyMode) -> u32 {
        match mode {
            KeyMode::Live => self.live,
            KeyMode::Test => self.test,
        }
    }
}

/// How many of the oldest events to remove from a feed of `kept` events: those beyond `bound`, and those that
/// happened before `before`. `oldest` are their times, in the order of the feed. Events are only removed from
/// the front.
pub fn leaving(kept: u64, bound: u32, oldest: &[Timestamp], before: Timestamp) -> usize {
    let beyond = kept.saturating_sub(bound.into());
    (0_u64..).zip(oldest).take_while(|(place, at)| *place < beyond || **at < before).count()
}

/// Part of a feed, as a store read it at one instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedSlice {
    pub life: FeedLife,
    /// Position of the last event that was removed from the feed.
    pub dropped: FeedPosition,
    /// No event that was read has a position after this one.
    pub end: FeedPosition,
    /// Events after the requested position, in order. Unreadable events are left out.
    pub events: Vec<Event>,
    /// Position of the last event after the requested position, even if it was left out; `None` if there is
    /// none.
    pub last: Option<FeedPosition>,
    pub has_more: bool,
}

/// A page of the feed, as a consumer gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeedPage {
    pub events: Vec<Event>,
    pub cursor: FeedCursor,
    pub has_more: bool,
}

/// Why a cursor is refused, so that its consumer has to start again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeedRefusal {
    /// The cursor belongs to another life of the database.
    Restored,
    /// Events after the cursor are no longer kept, or were not recorded.
    Expired,
}

impl FeedSlice {
    /// The page for a consumer that asked with the cursor `after`; the feed is in its `run`th run.
    ///
    /// # Errors
    /// [`FeedRefusal`] if events may be missing between the cursor and the slice.
    pub fn page(self, after: Option<FeedCursor>, run: u32) -> Result<FeedPage, FeedRefusal> {
        let Self { life, dropped, end, events, last, has_more } = self;
        if let Some(FeedCursor { life: theirs, run: of, at }) = after {
            if theirs != life || at > end || of > run {
                return Err(FeedRefusal::Restored);
            }
            if of < run || at < dropped {
                return Err(FeedRefusal::Expired);
            }
        }
        let at = last.or(after.map(|cursor| cursor.at)).unwrap_or(dropped);
        Ok(FeedPage { events, cursor: FeedCursor { life, run, at }, has_more })
    }
}

/// Keeps the events of projects with a feed, in a stable order: no event is ever inserted before one that was
/// already read.
///
/// The stores of the changes record events here in the same step as the change itself, while the project has
/// its feed switched on.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait EventFeed: Send + Sync {
    /// At most `limit` events after a position in the feed of a project and mode, read at one instant.
    ///
    /// MUST hold back an event while an earlier one may still be recorded.
    async fn read_feed(
        &self,
        project_mode: ProjectMode,
        after: FeedPosition,
        limit: FeedLimit,
    ) -> Result<FeedSlice, StoreError>;

    /// Removes from every feed what [`leaving`] says, in bounded steps; returns how many events. Events that
    /// an endpoint waits for, or that a recorded call needs, stay for that purpose.
    async fn trim_feeds(&self, bound: FeedBound, before: Timestamp) -> Result<u64, StoreError>;

    /// Begins a new life of the database with this name: all earlier cursors become invalid.
    async fn begin_life(&self, name: String) -> Result<(), StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(number: u64) -> FeedPosition {
        FeedPosition { transaction: 7, number }
    }

    fn cursor(number: u64) -> FeedCursor {
        FeedCursor { life: FeedLife::of("one"), run: 2, at: at(number) }
    }

    /// Of a feed whose first five events are gone, and that ends at the ninth.
    fn slice(last: Option<u64>) -> FeedSlice {
        FeedSlice {
            life: FeedLife::of("one"),
            dropped: at(5),
            end: at(9),
            events: Vec::new(),
            last: last.map(at),
            has_more: false,
        }
    }

    #[test]
    fn a_page_ends_where_the_next_one_begins() {
        let cursor_of = |last, after| slice(last).page(after, 2).map(|page| page.cursor);
        assert_eq!(cursor_of(Some(8), Some(cursor(6))), Ok(cursor(8)));
        assert_eq!(cursor_of(None, Some(cursor(6))), Ok(cursor(6)), "an empty page");
        assert_eq!(cursor_of(Some(8), None), Ok(cursor(8)));
        assert_eq!(cursor_of(None, None), Ok(cursor(5)), "an empty feed");
    }

    #[test]
    fn a_cursor_is_refused_exactly_if_events_may_be_missing() {
        let of = |after| slice(None).page(Some(after), 2).map(drop);
        assert_eq!(of(cursor(4)), Err(FeedRefusal::Expired));
        assert_eq!((of(cursor(5)), of(cursor(9))), (Ok(()), Ok(())));
        assert_eq!(of(cursor(10)), Err(FeedRefusal::Restored), "nothing was ever there");
        assert_eq!(of(FeedCursor { run: 1, ..cursor(7) }), Err(FeedRefusal::Expired));
        assert_eq!(of(FeedCursor { run: 3, ..cursor(7) }), Err(FeedRefusal::Restored));
        let other = FeedLife::of("two");
        assert_eq!(of(FeedCursor { life: other, ..cursor(7) }), Err(FeedRefusal::Restored));
        assert_eq!(of(FeedCursor { life: other, ..cursor(4) }), Err(FeedRefusal::Restored));
    }

    #[test]
    fn the_oldest_leave_by_age_and_by_number_and_none_before_those_in_front() {
        let times = [3, 1, 9, 2, 8].map(|seconds| Timestamp::from_timestamp(seconds, 0).unwrap());
        let gone = |kept, bound, before| {
            leaving(kept, bound, &times, Timestamp::from_timestamp(before, 0).unwrap())
        };
        assert_eq!([gone(5, 5, 0), gone(5, 4, 0), gone(5, 1, 0), gone(5, 0, 0)], [0, 1, 4, 5]);
        assert_eq!([gone(5, 9, 3), gone(5, 9, 4), gone(5, 9, 10)], [0, 2, 5]);
        assert_eq!([gone(5, 2, 4), gone(5, 4, 4)], [4, 2], "whichever is more");
        assert_eq!(gone(900, 1, 0), 5);
    }

    #[test]
    fn a_limit_is_a_number_from_one_to_five_hundred() {
        for (text, limit) in [("1", 1), ("500", 500), ("007", 7)] {
            assert_eq!(text.parse().map(FeedLimit::get), Ok(limit));
        }
        for text in ["", "0", "501", "-1", "+1", "1.0", "ten", "4294967297", "１"] {
            assert_eq!(text.parse::<FeedLimit>(), Err(InvalidFeedLimit), "{text}");
        }
    }
}
