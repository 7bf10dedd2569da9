use super::*;
use proptest::prelude::*;

const QUICK: Duration = Duration::from_millis(50);
const MS: Duration = Duration::from_millis(1);

fn endpoint(number: u32) -> EndpointId {
    format!("00000000-0000-7000-8000-{number:012}").parse().unwrap()
}

fn start() -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000, 0).unwrap()
}

fn limit(places: &CallPlaces, number: u32) -> u32 {
    places.endpoints[&endpoint(number)].limit.get()
}

/// Claims this many deliveries and begins as many calls as are admitted; returns how many.
fn begin(places: &mut CallPlaces, number: u32, count: u32, now: Timestamp) -> u32 {
    for _ in 0..count {
        places.claimed(endpoint(number), false, now);
    }
    (0..count).map(|_| u32::from(places.begin(endpoint(number), now))).sum()
}

/// Makes rounds of as many calls as are admitted, each accepted quickly.
fn answers(places: &mut CallPlaces, number: u32, rounds: u32, mut now: Timestamp) {
    for _ in 0..rounds {
        let begun = begin(places, number, 64, now);
        for _ in 0..begun {
            places.ended(endpoint(number), now, Some(true), QUICK);
        }
        now += QUICK;
    }
}

#[test]
fn a_call_without_an_answer_shrinks_its_endpoint_alone_and_it_recovers() {
    let mut places = CallPlaces::default();
    answers(&mut places, 1, 9, start());
    answers(&mut places, 2, 9, start());
    assert_eq!((limit(&places, 1), limit(&places, 2)), (64, 64));
    let now = start() + CallLimit::HANGS;
    // One of 64 calls hangs; the others are answered.
    assert_eq!(begin(&mut places, 1, 64, now), 64);
    for _ in 0..63 {
        places.ended(endpoint(1), now, Some(true), QUICK);
    }
    let late = now + CallLimit::HANGS;
    assert_eq!(begin(&mut places, 1, 9, late - MS), 9);
    for _ in 0..9 {
        places.ended(endpoint(1), late - MS, Some(true), QUICK);
    }
    assert_eq!(begin(&mut places, 1, 9, late), 0, "the one that hangs has its only place");
    assert_eq!(begin(&mut places, 2, 9, late), 9);
    let room = places.room(0, late);
    assert_eq!(room.known[&endpoint(1)], KnownEndpoint { places: 1, sound: false });
    assert_eq!(room.known[&endpoint(2)], KnownEndpoint { places: 128, sound: true });
    places.ended(endpoint(1), now, Some(false), Duration::from_secs(15));
    answers(&mut places, 1, 12, now + Duration::from_secs(15));
    assert_eq!(limit(&places, 1), 64);
}

#[test]
fn many_that_hang_leave_places_for_the_others() {
    let mut places = CallPlaces::default();
    let greedy = 1..=20;
    for number in greedy.clone() {
        answers(&mut places, number, 9, start());
    }
    let now = start() + Duration::from_secs(9);
    let begun: u32 = greedy.map(|number| begin(&mut places, number, 64, now)).sum();
    // Beyond three quarters of all places, each endpoint gets only its first four.
    assert_eq!((begun, places.calling), (6 * 64 + 14 * 4, 440));
    assert_eq!(begin(&mut places, 99, 9, now), 4);
}

#[test]
fn it_is_forgotten_when_nothing_was_called_for_a_while() {
    let mut places = CallPlaces::default();
    answers(&mut places, 1, 1, start());
    places.endpoints.get_mut(&endpoint(1)).unwrap().waiting = 0;
    let end = start() + CallPlaces::REMEMBERED;
    assert_eq!(places.room(0, end - MS).known.len(), 1);
    assert_eq!(places.room(0, end).known.len(), 0);
}

#[derive(Clone, Debug)]
enum Step {
    Claim(u32, u32),
    Begin(u32),
    End(usize, bool),
    Wait(u64),
    Room(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..12_u32, 0..80_u32).prop_map(|(number, count)| Step::Claim(number, count)),
        (0..12_u32).prop_map(Step::Begin),
        (any::<usize>(), prop::bool::weighted(0.9)).prop_map(|(index, ok)| Step::End(index, ok)),
        (0..1_500_u64).prop_map(Step::Wait),
        (0..2_000_u32).prop_map(Step::Room),
    ];
    prop::collection::vec(step, 0..400)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn the_bounds_hold_whatever_happens(steps in steps()) {
        let (mut places, mut now) = (CallPlaces::default(), start());
        let mut calls: Vec<(u32, Timestamp)> = Vec::new();
        for step in steps {
            match step {
                Step::Claim(number, count) => {
                    (0..count).for_each(|_| places.claimed(endpoint(number), false, now));
                }
                Step::Begin(number) => {
                    while places.begin(endpoint(number), now) {
                        calls.push((number, now));
                    }
                }
                Step::End(index, accepted) if !calls.is_empty() => {
                    let (number, began) = calls.swap_remove(index % calls.len());
                    let (before, took) = (limit(&places, number), (now - began).to_std().unwrap());
                    places.ended(endpoint(number), began, Some(accepted), took);
                    let after = limit(&places, number);
                    if took >= CallLimit::HANGS {
                        prop_assert_eq!(after, 1);
                    } else if accepted {
                        prop_assert!((before..=before + 1).contains(&after));
                    } else {
                        prop_assert_eq!(after, (before / 2).max(1));
                    }
                }
                Step::End(..) => {}
                Step::Wait(ms) => now += MS * u32::try_from(ms).unwrap(),
                Step::Room(unwritten) => {
                    let room = places.room(unwritten, now);
                    for (number, began) in &calls {
                        let hangs = now >= *began + CallLimit::HANGS;
                        prop_assert!(!hangs || room.known[&endpoint(*number)].places == 1);
                    }
                    let held: u32 = places.endpoints.values().map(EndpointPlaces::held).sum();
                    prop_assert!(room.total <= CallPlaces::CLAIMED.saturating_sub(held));
                }
            }
            prop_assert!(calls.len() <= CallPlaces::MOST as usize);
            prop_assert_eq!(places.calling as usize, calls.len());
            for known in places.endpoints.values() {
                prop_assert!((1..=CallLimit::MOST).contains(&known.limit.get()));
                prop_assert!(known.under_way() <= CallLimit::MOST);
            }
        }
        // After any number of failures, an endpoint that answers gets all its places again.
        for (number, began) in calls {
            places.ended(endpoint(number), began, None, Duration::ZERO);
        }
        answers(&mut places, 0, 12, now);
        prop_assert_eq!(limit(&places, 0), CallLimit::MOST);
    }
}
