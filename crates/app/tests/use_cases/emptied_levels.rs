use crate::common::House;
use crate::guard::{another_instance, guarded, number, trusted};
use dwar_app::{SendExtras, SendOtp};
use dwar_event::{ClaimCapacity, Event, EventKind, FeedLimit, FeedPosition, Subject};
use dwar_kernel::{Amount, Clock, GuardMode, GuardSubjectKind, KeyMode, StoreError};
use dwar_project::{Caller, ProjectChange};
use dwar_ratelimit::guard::Visitor;
use dwar_testkit::{Fixtures, MS, SeededEntropy, any_project, minutes, parts, seconds};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

const RECORD: &str = "EventStore::record";
/// The clock of a house begins this long after an hour.
const PAST_THE_HOUR: Duration = MS.saturating_mul(123);

/// A house that is guarded in this mode and has an endpoint.
async fn told(mode: GuardMode) -> House {
    let house = guarded(mode).await;
    let endpoint = Fixtures::seeded(0).endpoint(house.caller.project.id);
    assert!(house.stores.events.add_endpoint(endpoint).await.unwrap());
    house
}

/// Sends to the next numbers of a series; those that are asked for a proof are refused in `enforce`.
async fn sends(send_otp: &SendOtp, caller: &Caller, series: u32, numbers: Range<u32>) {
    for next in numbers {
        let _asked = send_otp.send(caller, &number(series, next), None, None).await;
    }
}

async fn sends_of(house: &House, series: u32, numbers: Range<u32>) {
    sends(&house.service.use_cases.send_otp, &house.caller, series, numbers).await;
}

async fn tell(house: &House) -> Result<(), StoreError> {
    house.service.guard.tell_emptied().await
}

/// The events of the guard that endpoints have not been called with yet.
async fn events(house: &House) -> Vec<Event> {
    let (now, room) = (house.clock.now(), ClaimCapacity::of(1_000));
    let due = house.stores.events.claim_due(now, minutes(1_000), room).await.unwrap();
    let mut events: Vec<Event> = due.into_iter().map(|dispatch| dispatch.event).collect();
    events.retain(|event| event.kind == EventKind::GuardEmptied);
    events.sort_by_key(|event| event.at);
    events
}

async fn subjects(house: &House) -> Vec<GuardSubjectKind> {
    let subject = |event: Event| match event.subject {
        Subject::Guard { subject, .. } => subject,
        other => panic!("{other:?}"),
    };
    events(house).await.into_iter().map(subject).collect()
}

#[tokio::test]
async fn an_empty_level_is_told_once_however_many_sends_find_it() {
    for mode in [GuardMode::Watch, GuardMode::Enforce] {
        let house = told(mode).await;
        sends_of(&house, 1, 0..20).await;
        tell(&house).await.unwrap();
        assert_eq!(events(&house).await, [], "the level is empty, but nobody was asked");
        let at = house.clock.now();
        sends_of(&house, 1, 20..25).await;
        assert_eq!(house.store.faults().calls(RECORD), 0, "a send records nothing");
        tell(&house).await.unwrap();
        house.clock.advance(seconds(1));
        sends_of(&house, 1, 25..30).await;
        tell(&house).await.unwrap();
        assert_eq!(house.store.faults().calls(RECORD), 1);
        let project_mode = house.caller.project.id.in_mode(KeyMode::Live);
        let subject = Subject::Guard { subject: GuardSubjectKind::Series, guard: mode };
        let event = Event { project_mode, kind: EventKind::GuardEmptied, subject, at };
        assert_eq!(events(&house).await, [event], "{mode}");
    }
}

#[tokio::test]
async fn each_kind_of_subject_is_told() {
    let house = told(GuardMode::Watch).await;
    let address = Some("203.0.113.7".parse().unwrap());
    let extras = || {
        let visitor = Visitor { address, pass: None };
        Some(SendExtras { visitor, ..SendExtras::default() })
    };
    let send_otp = &house.service.use_cases.send_otp;
    for series in 0..51 {
        send_otp.send(&house.caller, &number(series, 0), extras(), None).await.unwrap();
    }
    house.clock.advance(seconds(1));
    sends_of(&house, 1_000, 0..21).await;
    house.clock.advance(seconds(1));
    for series in 2_000..2_131 {
        sends_of(&house, series, 0..1).await;
    }
    tell(&house).await.unwrap();
    assert_eq!(subjects(&house).await, GuardSubjectKind::ALL);
}

#[tokio::test]
async fn it_is_told_again_in_the_next_hour() {
    let house = told(GuardMode::Watch).await;
    sends_of(&house, 1, 0..21).await;
    tell(&house).await.unwrap();
    house.clock.advance(minutes(60) - PAST_THE_HOUR - MS);
    sends_of(&house, 1, 21..22).await;
    tell(&house).await.unwrap();
    assert_eq!(subjects(&house).await, [GuardSubjectKind::Series]);
    house.clock.advance(MS);
    sends_of(&house, 1, 22..23).await;
    tell(&house).await.unwrap();
    assert_eq!(subjects(&house).await, [GuardSubjectKind::Series]);
    // What the process still knows of the hour before is not told again.
    house.clock.advance(minutes(30));
    tell(&house).await.unwrap();
    assert_eq!(house.store.faults().calls(RECORD), 2);
}

#[tokio::test]
async fn instances_and_restarts_make_one_event_of_an_hour() {
    let house = told(GuardMode::Watch).await;
    sends_of(&house, 1, 0..21).await;
    let other = another_instance(&house);
    // It knows the project, and reads its levels, since it has judged a send.
    sends(&other.use_cases.send_otp, &house.caller, 2, 0..1).await;
    for guard in [&house.service.guard, &other.guard] {
        guard.exchange().await.unwrap();
    }
    house.clock.advance(minutes(40));
    sends(&other.use_cases.send_otp, &house.caller, 1, 21..22).await;
    tell(&house).await.unwrap();
    other.guard.tell_emptied().await.unwrap();
    assert_eq!(house.store.faults().calls(RECORD), 2, "both instances noticed");
    assert_eq!(subjects(&house).await, [GuardSubjectKind::Series]);
}

#[tokio::test]
async fn what_cannot_be_recorded_is_told_later() {
    let house = told(GuardMode::Watch).await;
    sends_of(&house, 1, 0..21).await;
    let first = house.clock.now();
    house.fail(RECORD);
    tell(&house).await.unwrap_err();
    // It is an event of its own hour, also after that is over.
    house.clock.advance(minutes(61));
    sends_of(&house, 1, 21..22).await;
    for _ in 0..2 {
        tell(&house).await.unwrap();
    }
    let times: Vec<_> = events(&house).await.into_iter().map(|event| event.at).collect();
    assert_eq!(times, [first, house.clock.now()]);
    assert_eq!(house.store.faults().calls(RECORD), 3);
}

#[tokio::test]
async fn nothing_is_told_of_what_the_guard_does_not_judge() {
    let house = told(GuardMode::Off).await;
    sends_of(&house, 1, 0..25).await;
    let (mut test, mut watched) = (house.caller.clone(), house.caller.clone());
    for caller in [&mut test, &mut watched] {
        caller.project.guard = GuardMode::Watch;
    }
    test.mode = KeyMode::Test;
    let send_otp = &house.service.use_cases.send_otp;
    sends(send_otp, &test, 1, 0..25).await;
    for next in 0..25 {
        let extras = Some(SendExtras { visitor: trusted(), ..SendExtras::default() });
        send_otp.send(&watched, &number(2, next), extras, None).await.unwrap();
    }
    tell(&house).await.unwrap();
    assert_eq!(house.store.faults().calls(RECORD), 0);
}

#[tokio::test]
async fn each_project_is_told_of_its_own_levels() {
    let house = told(GuardMode::Watch).await;
    let other = another_project(&house).await;
    let send_otp = &house.service.use_cases.send_otp;
    sends(send_otp, &other, 1, 0..25).await;
    // It has neither an endpoint nor a feed.
    tell(&house).await.unwrap();
    assert_eq!(events(&house).await, []);
    sends_of(&house, 1, 0..25).await;
    tell(&house).await.unwrap();
    assert_eq!(subjects(&house).await, [GuardSubjectKind::Series]);
    // It is told from the next hour on, once it reads its feed.
    let change = ProjectChange { events_feed: Some(true), ..ProjectChange::default() };
    let projects = &house.stores.projects;
    projects.change(other.project.id, change, any_project()).await.unwrap().done().unwrap();
    house.clock.advance(minutes(61));
    sends(send_otp, &other, 1, 25..26).await;
    tell(&house).await.unwrap();
    let live = other.project.id.in_mode(KeyMode::Live);
    let (start, limit) = (FeedPosition::default(), FeedLimit::default());
    let mut feed = house.stores.feed.read_feed(live, start, limit).await.unwrap().events;
    feed.retain(|event| event.kind == EventKind::GuardEmptied);
    assert_eq!(feed.len(), 1);
    assert_eq!(events(&house).await, []);
}

async fn another_project(house: &House) -> Caller {
    let mut parts = parts(house.stores.clone(), &house.clock);
    parts.tools.entropy = Arc::new(SeededEntropy::new(13));
    let create = parts.create_project();
    let made = create.create(&"Other".parse().unwrap(), Amount::from(0)).await.unwrap();
    let mut caller = house.caller.clone();
    caller.project.id = made.id;
    caller
}
