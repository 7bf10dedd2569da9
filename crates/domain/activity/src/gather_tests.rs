use super::*;
use crate::Share;
use dwar_kernel::KeyMode;
use std::time::Duration;

fn at(seconds: i64) -> Timestamp {
    let noon: Timestamp = "2027-01-15T12:30:00Z".parse().unwrap();
    Timestamp::from_timestamp(noon.timestamp() + seconds, 0).unwrap()
}

fn tried(provider: &str) -> Tried {
    Tried {
        channel: Channel::Sms,
        provider: provider.to_owned(),
        accepted: true,
        arrived: false,
        failed: false,
        carried: true,
    }
}

fn sent(seconds: i64, providers: &[&str]) -> Sent {
    let id = "00000000-0000-7000-8000-000000000001";
    let last = providers.len().saturating_sub(1);
    let all = providers.iter().enumerate();
    Sent {
        id: id.parse().unwrap(),
        world: ProjectMode { project: id.parse().unwrap(), mode: KeyMode::Live },
        at: at(seconds),
        relayed: false,
        delivered: true,
        verified: true,
        verified_at: Some(at(seconds + 8)),
        spent: Paise(20),
        tried: all.map(|(at, name)| Tried { carried: at == last, ..tried(name) }).collect(),
    }
}

fn hour(from: i64, until: i64) -> Window {
    Window { from: at(from), until: at(until) }
}

fn gathered(window: Window, all: &[Sent]) -> Chunk {
    let mut gathering = Gathering::of(window);
    let _ended = all.iter().try_for_each(|sent| gathering.push(sent));
    gathering.chunk()
}

#[test]
fn a_request_counts_once_at_its_carrier_and_each_message_at_its_provider() {
    let counts: Vec<_> = sent(0, &["meta", "msg91"]).counts().collect();
    let [(first, meta), (second, msg91)] = counts.as_slice() else { panic!("{counts:?}") };
    assert_eq!((first.provider.as_str(), second.provider.as_str()), ("meta", "msg91"));
    assert_eq!((meta.attempts, meta.requests, meta.verified, meta.spent), (1, 0, 0, Paise::ZERO));
    assert_eq!(meta.times.median(), None);
    assert_eq!((msg91.attempts, msg91.requests, msg91.delivered, msg91.verified), (1, 1, 1, 1));
    assert_eq!(msg91.spent, Paise(20));
    assert_eq!(msg91.times.median().unwrap().as_secs(), 8);
    assert_eq!(
        (meta.verification(), msg91.conversion()),
        (Share { part: 0, whole: 1 }, Share { part: 1, whole: 1 })
    );
}

#[test]
fn a_chunk_ends_with_the_hour() {
    let all = [sent(60, &["a"]), sent(3_599, &["a"]), sent(3_600, &["a"])];
    let chunk = gathered(hour(0, 7_200), &all);
    assert_eq!(chunk.window, hour(0, 3_600));
    let began: Vec<_> = chunk.minutes.iter().map(|figure| figure.began).collect();
    assert_eq!(began, [at(60), at(3_540)]);
    assert_eq!(gathered(hour(0, 7_200), &all[2..]).window, hour(0, 7_200));
    assert_eq!(gathered(hour(0, 7_200), &[]).window, hour(0, 7_200));
}

#[test]
fn a_chunk_ends_with_the_minute_in_which_it_grew_large() {
    let many: Vec<_> = (0..10_001).map(|_| sent(0, &["a"])).collect();
    let mut all = many.clone();
    all.extend([sent(59, &["a"]), sent(61, &["a"]), sent(62, &["a"])]);
    let chunk = gathered(hour(0, 3_600), &all);
    assert_eq!(chunk.window, hour(0, 60));
    assert_eq!(chunk.minutes[0].counts.requests, 10_002);
    let names: Vec<_> = (0..501).map(|number| format!("p{number}")).collect();
    let mut all: Vec<_> = names.iter().map(|name| sent(0, &[name])).collect();
    all.push(sent(600, &["a"]));
    assert_eq!(gathered(hour(0, 3_600), &all).window, hour(0, 600));
}

#[test]
fn hours_and_days_are_the_sum_of_their_minutes() {
    let chunk = gathered(hour(0, 3_600), &[sent(0, &["a"]), sent(61, &["a"]), sent(61, &["b"])]);
    assert_eq!(chunk.minutes.len(), 3);
    let rolled = chunk.rolled_up(vec![]);
    let sums: Vec<_> = rolled
        .iter()
        .map(|figure| (figure.grain, figure.key.provider.as_str(), figure.counts.requests))
        .collect();
    let of = |grain| [(grain, "a", 2), (grain, "b", 1)];
    assert_eq!(sums, [of(Grain::Hour), of(Grain::Day)].concat());
    assert_eq!(rolled[0].began, at(0));
    assert_eq!(rolled[2].began, at(0) - Duration::from_secs(18 * 3_600));
    assert_eq!(rolled[0].counts.times.median().unwrap().as_secs(), 8);
    let twice = chunk.rolled_up(rolled.clone());
    assert_eq!(twice[0].counts.requests, 4);
    assert_eq!(twice.len(), rolled.len());
    assert_eq!(gathered(hour(0, 3_600), &[]).rolled_up(rolled), []);
}
