use super::*;
use crate::Ratio;
use dwar_kernel::KeyMode;
use std::time::Duration;

fn at(seconds: i64) -> Timestamp {
    let noon: Timestamp = "2027-01-15T12:30:00Z".parse().unwrap();
    Timestamp::from_timestamp(noon.timestamp() + seconds, 0).unwrap()
}

fn tried(provider: &str) -> AttemptFacts {
    AttemptFacts {
        channel: Channel::Sms,
        provider: provider.to_owned(),
        accepted: true,
        arrived: None,
        failed: None,
        carried: true,
    }
}

fn sent(seconds: i64, providers: &[&str]) -> RequestFacts {
    let id = "00000000-0000-7000-8000-000000000001";
    let last = providers.len().saturating_sub(1);
    let all = providers.iter().enumerate();
    RequestFacts {
        id: id.parse().unwrap(),
        project_mode: ProjectMode { project: id.parse().unwrap(), mode: KeyMode::Live },
        at: at(seconds),
        relayed: false,
        delivered: true,
        verified: true,
        guard: None,
        verified_at: Some(at(seconds + 8)),
        spent: Paise(20),
        tried: all.map(|(at, name)| AttemptFacts { carried: at == last, ..tried(name) }).collect(),
    }
}

fn provider(key: &Key) -> &str {
    key.carrier.as_ref().map_or("nobody", |(_, name)| name)
}

fn refused(seconds: i64, count: u64) -> RefusalFigure {
    let RequestFacts { project_mode, at, .. } = sent(seconds, &[]);
    RefusalFigure { project_mode, minute: Grain::Minute.begin(at), reason: Refusal::Balance, count }
}

fn hour(from: i64, until: i64) -> Interval {
    Interval { from: at(from), until: at(until) }
}

fn gathered(window: Interval, all: &[RequestFacts]) -> FigureChunk {
    let mut gathering = FiguresBuilder::of(window);
    let _ended = all.iter().try_for_each(|sent| gathering.push(sent));
    gathering.chunk()
}

#[test]
fn a_request_counts_once_at_its_carrier_and_each_message_at_its_provider() {
    let counts: Vec<_> = sent(0, &["meta", "msg91"]).counts().collect();
    let [(first, meta), (second, msg91)] = counts.as_slice() else { panic!("{counts:?}") };
    assert_eq!((provider(first), provider(second)), ("meta", "msg91"));
    assert_eq!((meta.attempts, meta.requests, meta.verified, meta.spent), (1, 0, 0, Paise::ZERO));
    assert_eq!(meta.times.median(), None);
    assert_eq!((msg91.attempts, msg91.requests, msg91.delivered, msg91.verified), (1, 1, 1, 1));
    assert_eq!(msg91.spent, Paise(20));
    assert_eq!(msg91.times.median().unwrap().as_secs(), 8);
    assert_eq!(
        (meta.verification(), msg91.conversion()),
        (Ratio { part: 0, whole: 1 }, Ratio { part: 1, whole: 1 })
    );
}

#[test]
fn why_a_message_failed_counts_at_its_provider_and_its_way_to_the_phone_at_the_carrier() {
    let mut request = sent(0, &["meta", "msg91"]);
    request.tried[0].failed = Some(Reason::ProviderUnavailable);
    request.tried[1].arrived = Some(at(3));
    let counts: Vec<_> = request.counts().map(|(_, counts)| counts).collect();
    let failed = Cause::Failed(Reason::ProviderUnavailable);
    assert_eq!((counts[0].failed, counts[0].causes.of(failed)), (1, 1));
    assert_eq!((counts[1].failed, counts[1].causes.sum()), (0, 0));
    assert_eq!(counts[0].delivery_times.median(), None);
    assert_eq!(counts[1].delivery_times.median().unwrap().as_secs(), 3);
}

#[test]
fn a_request_without_a_provider_counts_and_says_so() {
    let request = RequestFacts { delivered: false, verified: false, ..sent(0, &[]) };
    let counts: Vec<_> = request.counts().collect();
    let [(key, counts)] = counts.as_slice() else { panic!("{counts:?}") };
    assert_eq!((key.carrier.as_ref(), counts.requests, counts.attempts), (None, 1, 0));
    assert_eq!((counts.causes.of(Cause::NoProvider), counts.causes.refused()), (1, 0));
}

#[test]
fn what_was_refused_counts_in_its_minute_and_is_no_request() {
    let mut gathering = FiguresBuilder::of(hour(0, 3_600));
    assert!(gathering.push(&sent(60, &["a"])).is_continue());
    gathering.refused(&[refused(60, 2), refused(120, 3)]);
    let chunk = gathering.chunk();
    assert_eq!(chunk.window, hour(0, 3_600));
    let minutes = chunk.minutes.iter();
    let minutes: Vec<_> = minutes
        .map(|it| (it.began, provider(&it.key), it.counts.requests, it.counts.causes.refused()))
        .collect();
    assert_eq!(minutes, [(at(60), "nobody", 0, 2), (at(60), "a", 1, 0), (at(120), "nobody", 0, 3)]);
}

/// Refused sends of another hour than the requests are left to the next chunk, and the other way round.
#[test]
fn a_chunk_stays_within_one_hour_whatever_was_refused_when() {
    let of = |requests: &[i64], refusals: &[i64]| {
        let mut gathering = FiguresBuilder::of(hour(0, 86_400));
        let _ended = requests.iter().try_for_each(|it| gathering.push(&sent(*it, &["a"])));
        gathering.refused(&refusals.iter().map(|it| refused(*it, 1)).collect::<Vec<_>>());
        let chunk = gathering.chunk();
        (chunk.window.until, chunk.minutes.len(), chunk.parents().len())
    };
    assert_eq!(of(&[60], &[3_600]), (at(3_600), 1, 2));
    assert_eq!(of(&[7_200], &[60, 120]), (at(3_600), 2, 2));
    assert_eq!(of(&[], &[40_000]), (at(86_400), 1, 2));
    assert_eq!(of(&[60], &[60]), (at(86_400), 2, 2));
    assert_eq!(of(&[60, 9_000], &[3_600]), (at(3_600), 1, 2));
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
        .map(|figure| (figure.grain, provider(&figure.key), figure.counts.requests))
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
