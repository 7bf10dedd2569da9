//! The feed during long transactions, and after restoring a dump of another server.

use crate::events::Scene;
use diesel::connection::SimpleConnection;
use dwar_activity::installation::{Backlog, QueueStore};
use dwar_event::{
    Event, EventFeed, EventKind, EventStore, FeedBound, FeedLimit, FeedPosition, FeedSlice, Subject,
};
use dwar_kernel::{KeyMode, ProjectMode, Timestamp};
use dwar_project::{ProjectChange, ProjectStore};
use dwar_testkit::{START, any_project, seconds};
use std::time::{Duration, Instant};

const ENDLESS: FeedBound = FeedBound { live: 1_000, test: 1_000 };

impl Scene {
    async fn with_feed() -> Self {
        let scene = Self::open().await;
        let on = ProjectChange { events_feed: Some(true), ..ProjectChange::default() };
        scene.store.change(scene.project, on, any_project()).await.unwrap();
        scene
    }

    fn project_mode(&self) -> ProjectMode {
        self.project.in_mode(KeyMode::Live)
    }

    async fn records(&self, at: Timestamp) -> String {
        let subject = Subject::Session { session: self.make.id(), identity: self.make.id() };
        let event = Event {
            project_mode: self.project_mode(),
            kind: EventKind::SessionRevoked,
            subject,
            at,
        };
        self.store.record(event.clone()).await.unwrap();
        event.id()
    }

    async fn slice(&self) -> FeedSlice {
        let (begin, limit) = (FeedPosition::default(), FeedLimit::default());
        self.store.read_feed(self.project_mode(), begin, limit).await.unwrap()
    }

    async fn feed(&self) -> Vec<String> {
        self.slice().await.events.iter().map(Event::id).collect()
    }

    /// Transactions of other tests also hold events back for a moment.
    async fn becomes(&self, wanted: &[&String]) {
        let begun = Instant::now();
        while !self.feed().await.iter().eq(wanted.iter().copied()) {
            assert!(begun.elapsed() < seconds(20), "{:?}", self.feed().await);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn what_an_open_transaction_may_come_in_front_of_is_held_back() {
    let scene = Scene::with_feed().await;
    let before = scene.records(START).await;
    scene.becomes(&[&before]).await;
    let mut open = scene.database.connection();
    open.batch_execute("BEGIN; SELECT pg_current_xact_id()").unwrap();
    let later = scene.records(START + seconds(1)).await;
    assert_eq!(scene.feed().await, std::slice::from_ref(&before));
    let queues = scene.store.queues(START, 9).await.unwrap();
    assert_eq!(queues.feed, Backlog { count: 1, oldest: Some(START + seconds(1)) });
    // It has the greater number and comes first, because its transaction is older.
    let project = scene.project;
    open.batch_execute(&format!(
        "SELECT record_event(event => 'session_revoked_1', project => '{project}', event_mode => 'live', \
             event_kind => 'session.revoked', moment => now(), \
             subject => '{project}', related => '{project}')"
    ))
    .unwrap();
    assert_eq!(scene.feed().await, std::slice::from_ref(&before));
    open.batch_execute("COMMIT").unwrap();
    // The id of an event is derived from its subject.
    let first = format!("session_revoked_{}", project.uuid().simple());
    scene.becomes(&[&before, &first, &later]).await;
    assert_eq!(scene.store.queues(START, 9).await.unwrap().feed.count, 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_transaction_that_only_reads_holds_nothing_back() {
    let scene = Scene::with_feed().await;
    let mut open = scene.database.connection();
    open.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM events")
        .unwrap();
    let event = scene.records(START).await;
    scene.becomes(&[&event]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn rows_of_a_server_that_had_come_further_are_given_after_the_next_sweep() {
    let scene = Scene::with_feed().await;
    let first = scene.records(START).await;
    let second = scene.records(START + seconds(1)).await;
    scene.becomes(&[&first, &second]).await;
    scene.store.trim_feeds(ENDLESS, START).await.unwrap();
    let further = "(pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1000000)";
    let mut conn = scene.database.connection();
    conn.batch_execute(&format!(
        "UPDATE events SET transaction = {further}::text::xid8; \
         UPDATE event_feeds SET counted_transaction = {further}, dropped_transaction = {further}"
    ))
    .unwrap();
    let third = scene.records(START + seconds(2)).await;
    scene.becomes(&[&third]).await;
    scene.store.trim_feeds(ENDLESS, START).await.unwrap();
    scene.becomes(&[&third, &first, &second]).await;
    let slice = scene.slice().await;
    assert_eq!(slice.dropped, FeedPosition::default());
    assert!(slice.page(None, 1).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_failover_is_another_life() {
    let scene = Scene::with_feed().await;
    let before = scene.slice().await.life;
    let mut conn = scene.database.connection();
    // The result of the function after a change of timeline: the timeline is the last part.
    conn.batch_execute(
        "DO $$ BEGIN ASSERT feed_place() ~ '^[0-9]+/[0-9]+/00000001$', feed_place(); END $$; \
         CREATE OR REPLACE FUNCTION feed_place() RETURNS text LANGUAGE sql AS 'SELECT ''5/7/00000002''';",
    )
    .unwrap();
    assert_ne!(scene.slice().await.life, before);
}
