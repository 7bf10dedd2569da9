use crate::dialect::{Conn, Failure, SWEEP_BATCH, Store};
use crate::event::feed::{drop_fed, newer, oldest, slice};
use crate::event::told::lock_events;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_event::{EventFeed, FeedBound, FeedLimit, FeedPosition, FeedSlice, leaving};
use dwar_kernel::{KeyMode, ProjectId, ProjectMode, StoreError, Timestamp};
use dwar_sql::schema::{event_feeds, events, feed_life, projects};
use dwar_sql::{FeedStateRow, Id, OldestRow, Row};

#[async_trait]
impl EventFeed for Store {
    async fn read_feed(
        &self,
        project_mode: ProjectMode,
        after: FeedPosition,
        limit: FeedLimit,
    ) -> Result<FeedSlice, StoreError> {
        self.of(project_mode.project)
            .scan("feed.read", move |conn| slice(conn, project_mode, after, limit))
            .await
    }

    async fn trim_feeds(&self, bound: FeedBound, before: Timestamp) -> Result<u64, StoreError> {
        let owners = self.scan("feed.projects", |conn| {
            let ever_on = projects::table.filter(projects::events_feed_run.gt(0));
            Ok(ever_on.select(projects::id).load::<Id>(conn)?)
        });
        let mut gone = 0;
        for owner in owners.await? {
            let project: ProjectId = Row::new("projects", owner).id("id", owner)?;
            for mode in KeyMode::ALL {
                gone += self.trim_feed(project.in_mode(mode), bound.of(mode), before).await?;
            }
        }
        Ok(gone)
    }

    async fn begin_life(&self, name: String) -> Result<(), StoreError> {
        self.changing_no_look_up()
            .write("feed.begin_life", move |conn| {
                diesel::update(feed_life::table).set(feed_life::name.eq(&name)).execute(conn)?;
                // No valid cursor remains, so the record of dropped events is not needed. The
                // others are counted anew.
                diesel::delete(event_feeds::table).execute(conn)?;
                Ok(())
            })
            .await
    }
}

/// The result of one turn of a sweep of a feed.
pub(crate) struct TrimTurn {
    /// Number of events that the turn examined; fewer than a batch means that it was the last turn.
    pub(crate) taken: usize,
    pub(crate) gone: usize,
}

/// Counts some events that are not counted yet, and removes some of the oldest ones beyond the
/// limit from the feed.
pub(crate) fn trim_some(
    conn: &mut Conn,
    project_mode: ProjectMode,
    bound: u32,
    before: Timestamp,
) -> Result<TrimTurn, Failure> {
    let mut state = lock_state(conn, project_mode)?;
    let new = newer(conn, project_mode, state.counted()?, SWEEP_BATCH)?;
    if let Some(last) = new.last() {
        state.count(new.len(), last.position()?);
    }
    let rows = oldest(conn, project_mode, state.counted()?, SWEEP_BATCH)?;
    let times: Vec<Timestamp> = rows.iter().map(OldestRow::happened_at).collect();
    let kept = u64::try_from(state.kept).unwrap_or_default();
    let gone = &rows[..leaving(kept, bound, &times, before)];
    if let Some(last) = gone.last() {
        state.drop_oldest(gone.len(), last.position()?);
        leave(conn, gone.iter().map(|row| row.id.clone()).collect())?;
    }
    if !new.is_empty() || !gone.is_empty() {
        let known = event_feeds::table.find((state.project_id, state.mode.clone()));
        diesel::update(known).set(&state).execute(conn)?;
    }
    Ok(TrimTurn { taken: new.len().max(gone.len()), gone: gone.len() })
}

/// The counters of the feed, locked against other sweeps.
fn lock_state(conn: &mut Conn, project_mode: ProjectMode) -> Result<FeedStateRow, Failure> {
    let of = || {
        event_feeds::table
            .find((Id::from(project_mode.project), project_mode.mode.as_str().to_owned()))
    };
    let known = for_update!(of().select(FeedStateRow::as_select()));
    if let Some(known) = known.first(conn).optional()? {
        return Ok(known);
    }
    let new = FeedStateRow::new(project_mode);
    diesel::insert_into(event_feeds::table).values(new).on_conflict_do_nothing().execute(conn)?;
    Ok(for_update!(of().select(FeedStateRow::as_select())).first(conn)?)
}

/// Removes events from the feed, and deletes those that nothing else needs.
fn leave(conn: &mut Conn, ids: Vec<String>) -> Result<(), Failure> {
    let ids = lock_events(conn, ids)?;
    drop_fed(conn, &ids)?;
    let others = events::table.filter(events::id.eq_any(&ids));
    diesel::update(others).set(events::in_feed.eq(false)).execute(conn)?;
    Ok(())
}
