//! Promises of [`dwar_event::EventFeed`]. A store may hold events back while other tests have open
//! transactions in the same server, so a reader that waits for events asks again.

use super::ROUNDS;
use crate::scene::Scene;
use crate::{CODE, MS, START, Stores, any_project, minutes, race, seconds};
use dwar_event::{
    ClaimCapacity, Event, EventKind, FeedBound, FeedCursor, FeedLimit, FeedPosition, FeedRefusal,
    Subject,
};
use dwar_kernel::{KeyMode, ProjectId, ProjectMode, Timestamp};
use dwar_otp::{GuessPolicy, Report, TestQuota};
use dwar_project::ProjectChange;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long no new event may come: longer than any transaction of another test.
const PATIENCE: Duration = seconds(20);
const ENDLESS: FeedBound = FeedBound { live: 1_000_000, test: 1_000_000 };

fn limit(most: u32) -> FeedLimit {
    most.to_string().parse().unwrap()
}

/// Reads the feed of a project and mode page by page.
struct Consumer {
    stores: Stores,
    project_mode: ProjectMode,
    run: u32,
    cursor: Option<FeedCursor>,
    limit: FeedLimit,
    seen: Vec<Event>,
}

impl Consumer {
    fn new(stores: &Stores, project_mode: ProjectMode) -> Self {
        let (stores, limit) = (stores.clone(), FeedLimit::default());
        Self { stores, project_mode, run: 1, cursor: None, limit, seen: Vec::new() }
    }

    async fn ask(&mut self) -> Result<bool, FeedRefusal> {
        let at = self.cursor.map_or(FeedPosition::default(), |cursor| cursor.at);
        let slice = self.stores.feed.read_feed(self.project_mode, at, self.limit).await.unwrap();
        let page = slice.page(self.cursor, self.run)?;
        assert!(page.events.len() <= self.limit.get() as usize);
        if page.events.is_empty() {
            assert!(self.cursor.is_none_or(|before| before == page.cursor) && !page.has_more);
        }
        self.cursor = Some(page.cursor);
        self.seen.extend(page.events);
        Ok(page.has_more)
    }

    /// Reads until it has `wanted` events, and once more; returns them.
    async fn sees(&mut self, wanted: usize) -> Vec<Event> {
        let (mut last, mut before) = (std::time::Instant::now(), 0);
        while self.seen.len() < wanted {
            if self.seen.len() > before {
                (last, before) = (std::time::Instant::now(), self.seen.len());
            }
            assert!(last.elapsed() < PATIENCE, "{} of {wanted} events", self.seen.len());
            if !self.ask().await.unwrap() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        self.ask().await.unwrap();
        assert_eq!(self.seen.len(), wanted, "{:?}", self.seen);
        std::mem::take(&mut self.seen)
    }
}

impl Scene {
    /// A new project with its feed switched on.
    async fn feeding(stores: &Stores) -> Self {
        let scene = Self::open(stores).await;
        scene.switch(scene.project, true).await;
        scene
    }

    async fn switch(&self, project: ProjectId, on: bool) -> u32 {
        let change = ProjectChange { events_feed: Some(on), ..ProjectChange::default() };
        let changed = self.stores.projects.change(project, change, any_project()).await.unwrap();
        changed.done().unwrap().events_feed.run
    }

    fn event(&self, project_mode: ProjectMode, at: Timestamp) -> Event {
        let (session, identity) = (self.make.id(), self.make.id());
        let subject = Subject::Session { session, identity };
        Event { project_mode, kind: EventKind::SessionRevoked, subject, at }
    }

    /// Records `count` events of a project and mode, one second apart.
    async fn records(&self, project_mode: ProjectMode, count: u32) -> Vec<Event> {
        let mut events = Vec::new();
        for second in 0..count {
            let event = self.event(project_mode, START + seconds(second.into()));
            self.stores.events.record(event.clone()).await.unwrap();
            events.push(event);
        }
        events
    }

    /// Trims until `wanted` events have left their feeds.
    async fn trims(&self, bound: FeedBound, before: Timestamp, wanted: u64) {
        let (begun, mut gone) = (std::time::Instant::now(), 0);
        while gone < wanted {
            assert!(begun.elapsed() < PATIENCE, "{gone} of {wanted} left");
            gone += self.stores.feed.trim_feeds(bound, before).await.unwrap();
        }
        gone += self.stores.feed.trim_feeds(bound, before).await.unwrap();
        assert_eq!(gone, wanted);
    }
}

/// Events while a feed is off are in no feed; events from the moment it is on are, even without an endpoint.
/// Each switching on counts, so that no cursor skips the missing events.
pub async fn a_feed_has_what_happens_while_it_is_on(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let project_mode = scene.project.in_mode(KeyMode::Live);
    let mut consumer = Consumer::new(stores, project_mode);
    scene.records(project_mode, 2).await;
    assert_eq!(scene.switch(scene.project, true).await, 1);
    assert_eq!(scene.switch(scene.project, true).await, 1, "it was on");
    let first = scene.records(project_mode, 2).await;
    assert_eq!(consumer.sees(2).await, first);
    assert_eq!(scene.switch(scene.project, false).await, 1);
    scene.records(project_mode, 1).await;
    assert_eq!(scene.switch(scene.project, true).await, 2);
    let second = scene.records(project_mode, 1).await;
    consumer.run = 2;
    assert_eq!(consumer.ask().await, Err(FeedRefusal::Expired));
    let mut anew = Consumer { run: 2, ..Consumer::new(stores, project_mode) };
    assert_eq!(anew.sees(3).await, [first, second].concat());
}

/// Every kind of change comes into the feed by itself, in the order of events; recording an event again
/// changes nothing.
pub async fn every_change_comes_into_the_feed(stores: &Stores) {
    let scene = Scene::feeding(stores).await;
    let line = scene.line();
    let change = ProjectChange {
        low_balance: Some(Some(dwar_wallet::Paise(1_000))),
        ..ProjectChange::default()
    };
    stores.projects.change(scene.project, change, any_project()).await.unwrap();
    let otp = scene.issued(&line).await;
    scene.reports(&otp, 0, Report::Delivered, START + MS).await;
    scene.judge(&line, CODE, GuessPolicy::OFF, START + MS * 2).await;
    let session = scene.session(&line).await;
    let (sessions, identity) = (&stores.console.identity_sessions, session.identity);
    assert!(
        sessions.end_one(line.project_mode, identity, session.id, START + MS * 3).await.unwrap()
    );
    stores.identities.erase(line.project_mode, session.identity, START + MS * 4).await.unwrap();
    let own = scene.event(line.project_mode, START + MS * 5);
    for _ in 0..2 {
        stores.events.record(own.clone()).await.unwrap();
    }
    let seen = Consumer::new(stores, line.project_mode).sees(6).await;
    let kinds: Vec<_> = seen.iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [
            EventKind::OtpDelivered,
            EventKind::OtpVerified,
            EventKind::OtpVerified,
            EventKind::SessionRevoked,
            EventKind::IdentityDeleted,
            EventKind::SessionRevoked,
        ]
    );
    assert_eq!(seen[5], own);
}

/// A project and mode read only their own events, whole and in order, with any page size and as often as they
/// ask.
pub async fn a_feed_is_read_in_order_and_inside_its_world(stores: &Stores) {
    let scene = Scene::feeding(stores).await;
    let other = scene.another().await;
    scene.switch(other, true).await;
    let project_modes = [
        scene.project.in_mode(KeyMode::Live),
        scene.project.in_mode(KeyMode::Test),
        other.in_mode(KeyMode::Live),
    ];
    let mut own: Vec<Vec<Event>> = vec![Vec::new(); 3];
    for _ in 0..7 {
        for (project_mode, own) in project_modes.into_iter().zip(&mut own) {
            own.extend(scene.records(project_mode, 1).await);
        }
    }
    for (project_mode, own) in project_modes.into_iter().zip(own) {
        for most in [1, 2, 6, 7, 8, 500] {
            let mut consumer =
                Consumer { limit: limit(most), ..Consumer::new(stores, project_mode) };
            assert_eq!(consumer.sees(7).await, own, "{most} at a time");
        }
    }
    let nobody = Consumer::new(stores, scene.make.id::<ProjectId>().in_mode(KeyMode::Live));
    assert_eq!(Consumer { run: 0, ..nobody }.ask().await, Ok(false));
}

/// Consumers that read while many writers write get each event once, all in the same order.
pub async fn consumers_beside_writers_get_each_event_once(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::feeding(stores).await;
        let project_mode = scene.project.in_mode(KeyMode::Live);
        let (writers, each) = (8, 20);
        let all = race(writers + 4, |number| {
            let (stores, most) = (stores.clone(), [1, 3, 100, 500][number % 4]);
            let events: Vec<Event> = (0..each).map(|_| scene.event(project_mode, START)).collect();
            async move {
                if number < writers {
                    for event in &events {
                        stores.events.record(event.clone()).await.unwrap();
                    }
                    return (events, false);
                }
                let consumer = Consumer::new(&stores, project_mode);
                (Consumer { limit: limit(most), ..consumer }.sees(writers * each).await, true)
            }
        })
        .await;
        let ids = |events: &[Event]| events.iter().map(Event::id).collect::<Vec<_>>();
        let made = all.iter().filter(|(_, read)| !read).flat_map(|(events, _)| ids(events));
        let made: BTreeSet<String> = made.collect();
        let read: Vec<_> = all.iter().filter(|(_, read)| *read).map(|(it, _)| ids(it)).collect();
        for seen in &read {
            assert_eq!(seen.iter().cloned().collect::<BTreeSet<_>>(), made);
            assert_eq!(seen, &read[0]);
        }
    }
}

/// Events of an erased phone come without the number; the same phone elsewhere keeps its number.
pub async fn an_erasure_takes_the_phone_from_the_feed(stores: &Stores) {
    let scene = Scene::feeding(stores).await;
    let line = scene.line();
    let identity = scene.identity(&line).await;
    let elsewhere = scene.elsewhere(&line).await;
    scene.switch(elsewhere[1].project_mode.project, true).await;
    for line in &elsewhere {
        scene.session(line).await;
    }
    let named = |event: &Event| matches!(&event.subject, Subject::Otp { phone: Some(_), .. });
    assert!(Consumer::new(stores, line.project_mode).sees(1).await.iter().all(named));
    stores.identities.erase(line.project_mode, identity, START).await.unwrap();
    let left = Consumer::new(stores, line.project_mode).sees(2).await;
    assert_eq!(left[0].kind, EventKind::OtpVerified);
    assert!(!left.iter().any(named));
    for line in elsewhere {
        assert!(Consumer::new(stores, line.project_mode).sees(1).await.iter().all(named));
    }
}

/// Fresh: events leave by age, to the exact instant, and by number, the oldest first, with a bound per mode.
/// A cursor before the removed events is refused, a cursor at them is continued.
pub async fn the_oldest_leave_a_feed(stores: &Stores) {
    let scene = Scene::feeding(stores).await;
    let project_modes = KeyMode::ALL.map(|mode| scene.project.in_mode(mode));
    let mut made = Vec::new();
    for project_mode in project_modes {
        made.push(scene.records(project_mode, 6).await);
    }
    let mut consumers = Vec::new();
    for most in [1, 2, 3] {
        let mut consumer =
            Consumer { limit: limit(most), ..Consumer::new(stores, project_modes[0]) };
        while consumer.seen.len() < most as usize {
            consumer.ask().await.unwrap();
        }
        consumers.push(consumer);
    }
    // The first two happened before this instant, the third at it.
    scene.trims(ENDLESS, START + seconds(2), 4).await;
    assert_eq!(consumers[0].ask().await, Err(FeedRefusal::Expired));
    for consumer in &mut consumers[1..] {
        consumer.limit = limit(500);
        consumer.ask().await.unwrap();
        assert_eq!(consumer.seen, made[0]);
    }
    let bound = FeedBound { live: 3, test: 1 };
    scene.trims(bound, START, 1 + 3).await;
    for ((project_mode, made), kept) in project_modes.into_iter().zip(&made).zip([3, 1]) {
        assert_eq!(Consumer::new(stores, project_mode).sees(kept).await, made[6 - kept..]);
    }
    // A consumer that has read everything misses nothing, no matter what is removed.
    scene.trims(FeedBound { live: 0, test: 0 }, START, 4).await;
    assert_eq!(consumers[2].ask().await, Ok(false));
    let mut new = Consumer::new(stores, project_modes[0]);
    assert_eq!((new.ask().await, new.ask().await), (Ok(false), Ok(false)));
    let more = scene.records(project_modes[0], 1).await;
    assert_eq!((new.sees(1).await, consumers[2].seen.len()), (more, 6));
}

/// Fresh: an event that leaves the feed stays for an endpoint that waits for it, and an event that was
/// delivered to an endpoint stays in the feed.
pub async fn a_feed_and_endpoints_do_not_take_events_from_each_other(stores: &Stores) {
    let scene = Scene::feeding(stores).await;
    let endpoint = scene.endpoint().await;
    let project_mode = scene.project.in_mode(KeyMode::Live);
    let made = scene.records(project_mode, 2).await;
    let told = stores
        .events
        .claim_due(START + minutes(1), seconds(9), ClaimCapacity::of(9))
        .await
        .unwrap();
    assert_eq!(told.len(), 2);
    let call = scene.make.call(endpoint.id, &made[0].id());
    stores.events.delivered(vec![call]).await.unwrap();
    stores.calls.trim_calls(endpoint.id, 0).await.unwrap();
    assert_eq!(Consumer::new(stores, project_mode).sees(2).await, made);
    scene.trims(FeedBound { live: 0, test: 0 }, START, 2).await;
    let due = stores
        .events
        .claim_due(START + minutes(9), seconds(9), ClaimCapacity::of(9))
        .await
        .unwrap();
    assert_eq!(due.into_iter().map(|it| it.event).collect::<Vec<_>>(), made[1..]);
    stores.events.remove_endpoint(scene.project, endpoint.id).await.unwrap();
    let more = scene.records(project_mode, 1).await;
    assert_eq!(Consumer::new(stores, project_mode).sees(1).await, more);
}

/// Fresh: concurrent sweeps beside writers leave exactly what the bound says, and no reader in between gets a
/// page with a gap.
pub async fn trims_at_once_keep_the_bound(stores: &Stores) {
    let scene = Scene::feeding(stores).await;
    let project_mode = scene.project.in_mode(KeyMode::Live);
    let bound = FeedBound { live: 10, test: 10 };
    let gone = race(9, |number| {
        let (stores, events) =
            (stores.clone(), [(); 20].map(|()| scene.event(project_mode, START)));
        async move {
            let mut gone = 0;
            for event in events {
                match number {
                    0..3 => stores.events.record(event).await.unwrap(),
                    3..6 => gone += stores.feed.trim_feeds(bound, START).await.unwrap(),
                    _ => {
                        let mut reader = Consumer::new(&stores, project_mode);
                        reader.ask().await.unwrap();
                        assert!(matches!(reader.ask().await, Ok(_) | Err(FeedRefusal::Expired)));
                    }
                }
            }
            gone
        }
    })
    .await;
    scene.trims(bound, START, 50 - gone.iter().sum::<u64>()).await;
    Consumer::new(stores, project_mode).sees(10).await;
}

/// Fresh: the quota of test keys does not count events that a feed keeps.
pub async fn the_quota_of_test_keys_leaves_feeds_alone(stores: &Stores) {
    let scene = Scene::feeding(stores).await;
    let project_mode = scene.project.in_mode(KeyMode::Test);
    let made = scene.records(project_mode, 5).await;
    let quota = TestQuota { kept: 2, in_use: minutes(1) };
    assert_eq!(stores.test_quota.trim(quota, START + minutes(9_000)).await.unwrap(), 0);
    assert_eq!(Consumer::new(stores, project_mode).sees(5).await, made);
}

/// Fresh: cursors of an earlier life of the database are refused; a cursor of the new life works.
pub async fn a_new_life_ends_every_cursor(stores: &Stores) {
    let scene = Scene::feeding(stores).await;
    let project_mode = scene.project.in_mode(KeyMode::Live);
    let made = scene.records(project_mode, 2).await;
    let mut consumer = Consumer::new(stores, project_mode);
    consumer.sees(2).await;
    stores.feed.begin_life("another".to_owned()).await.unwrap();
    assert_eq!(consumer.ask().await, Err(FeedRefusal::Restored));
    let mut anew = Consumer::new(stores, project_mode);
    assert_eq!(anew.sees(2).await, made);
    let more = scene.records(project_mode, 1).await;
    assert_eq!(anew.sees(1).await, more);
}
