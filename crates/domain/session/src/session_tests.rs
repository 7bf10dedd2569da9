use super::*;
use dwar_kernel::KeyMode;

const DAY: i64 = 86_400;
const POLICY: RotationPolicy =
    RotationPolicy { leeway: Duration::from_secs(10), replay: Duration::from_secs(60) };

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn token(number: u8) -> TokenId {
    format!("00000000-0000-7000-8000-0000000000{number:02}").parse().unwrap()
}

fn access(number: u8, seconds: i64) -> CurrentAccess {
    CurrentAccess { token: token(number), issued_at: at(seconds), expires_at: at(seconds + 900) }
}

fn session() -> Session {
    Session {
        id: "00000000-0000-7000-8000-000000000001".parse().unwrap(),
        project_mode: ProjectMode {
            project: "00000000-0000-7000-8000-000000000002".parse().unwrap(),
            mode: KeyMode::Live,
        },
        identity: "00000000-0000-7000-8000-000000000003".parse().unwrap(),
        created_at: at(0),
        expires_at: at(90 * DAY),
        refresh: Digest([1; 32]),
        generation: 0,
        refresh_expires_at: at(30 * DAY),
        access: access(1, 0),
        rotations: Rotations::default(),
        replay: None,
        revoked_at: None,
    }
}

fn present(session: &mut Session, number: u8, key: Option<u8>, seconds: i64) -> Rotation {
    present_at(session, number, key, at(seconds))
}

fn present_at(session: &mut Session, number: u8, key: Option<u8>, now: Timestamp) -> Rotation {
    let key = key.map(|key| Digest([key; 32]));
    let current = session.generation + 1 == u32::from(number);
    let next = Successor {
        refresh: Digest([if current { number + 1 } else { 255 }; 32]),
        refresh_expires_at: session.refresh_end(Duration::from_secs(30 * 86_400), now),
        access: CurrentAccess {
            token: token(number + 1),
            issued_at: now,
            expires_at: now + Duration::from_secs(900),
        },
        replay: key.map(|key| Replay { key, answer: Sealed(vec![number]) }),
    };
    let generation = u32::from(number) - 1;
    let presented = PresentedRefreshToken { generation, refresh: Digest([number; 32]), key };
    session.rotate(&presented, next, POLICY, now)
}

/// A session whose first tokens were exchanged at these seconds.
fn rotated(seconds: impl IntoIterator<Item = i64>) -> Session {
    let mut session = session();
    for (number, second) in (1..).zip(seconds) {
        assert_eq!(present(&mut session, number, None, second), Rotation::Rotated);
    }
    session
}

#[test]
fn rotation_makes_the_old_pair_invalid() {
    let mut session = session();
    assert_eq!(present(&mut session, 1, None, 5), Rotation::Rotated);
    assert!(!session.honours(token(1), at(6)));
    assert!(session.honours(token(2), at(6)));
}

#[test]
fn the_predecessor_is_refused_inside_the_leeway_and_ends_the_session_after_it() {
    let mut session = session();
    present(&mut session, 1, None, 100);
    assert_eq!(present(&mut session, 1, None, 110), Rotation::Refused);
    assert!(session.is_alive(at(110)));
    assert_eq!(present(&mut session, 1, None, 111), Rotation::Reused);
    assert!(!session.honours(token(2), at(111)));
    assert_eq!(present(&mut session, 2, None, 112), Rotation::Refused);
}

#[test]
fn a_used_token_is_judged_by_its_own_exchange_however_many_followed() {
    let later = Duration::from_millis(2);
    let mut tabs = rotated([0, 0]);
    assert_eq!(present_at(&mut tabs, 1, None, at(0) + later), Rotation::Refused);
    assert!(tabs.is_alive(at(0) + later));

    for (second, answer) in [(10, Rotation::Refused), (11, Rotation::Reused)] {
        assert_eq!(present(&mut rotated([0, 5, 9]), 1, None, second), answer);
        assert_eq!(present(&mut rotated([0, 5, 9]), 2, None, second + 5), answer);
        assert_eq!(present(&mut rotated([0, 5, 9]), 3, None, second + 9), answer);
    }
    let end = at(10) + Duration::from_millis(1);
    assert_eq!(present_at(&mut rotated([0, 10]), 1, None, end), Rotation::Reused);
}

#[test]
fn of_more_than_sixteen_exchanges_the_oldest_that_is_kept_stands_for_those_before() {
    let session = rotated(0..20);
    assert_eq!(session.rotations.to_bytes().len(), 16 * 8);
    // It keeps the instants 4 to 19, at which the tokens 5 to 20 were exchanged.
    for number in 1..=5 {
        assert_eq!(present(&mut session.clone(), number, None, 14), Rotation::Refused);
        assert_eq!(present(&mut session.clone(), number, None, 15), Rotation::Reused);
    }
    assert_eq!(present(&mut session.clone(), 6, None, 15), Rotation::Refused);
    assert_eq!(present(&mut session.clone(), 6, None, 16), Rotation::Reused);
}

#[test]
fn what_this_record_never_gave_out_is_refused_and_ends_nothing() {
    let before = rotated([0]);
    let unknown = [
        PresentedRefreshToken { generation: 2, refresh: Digest([3; 32]), key: None },
        PresentedRefreshToken { generation: u32::MAX, refresh: Digest([2; 32]), key: None },
        PresentedRefreshToken { generation: 1, refresh: Digest([9; 32]), key: None },
    ];
    for presented in unknown {
        let mut session = before.clone();
        let next = Successor {
            refresh: Digest([7; 32]),
            refresh_expires_at: at(DAY),
            access: access(7, DAY),
            replay: None,
        };
        let rotation = session.rotate(&presented, next, POLICY, at(DAY));
        assert_eq!((rotation, &session), (Rotation::Refused, &before));
    }
}

#[test]
fn the_same_call_again_is_the_same_exchange() {
    let mut session = session();
    let presented = PresentedRefreshToken { generation: 0, refresh: session.refresh, key: None };
    let next = Successor {
        refresh: Digest([7; 32]),
        refresh_expires_at: at(DAY),
        access: access(7, 0),
        replay: None,
    };
    for _ in 0..2 {
        let rotation = session.rotate(&presented, next.clone(), POLICY, at(0));
        assert_eq!((rotation, session.generation), (Rotation::Rotated, 1));
    }
}

#[test]
fn a_clock_that_went_back_takes_no_session_for_stolen() {
    assert_eq!(present(&mut rotated([100]), 1, None, 50), Rotation::Refused);
}

#[test]
fn only_the_token_that_counts_revokes_and_once() {
    let mut session = rotated([0]);
    assert!(!session.revoke(token(1), at(1)));
    assert!(!session.revoke(token(2), at(900)));
    assert_eq!(session.revoked_at, None);
    let before = session.clone();
    assert_eq!(session.event(&before), None);
    assert!(session.revoke(token(2), at(899)));
    assert_eq!(session.revoked_at, Some(at(899)));
    let told = session.event(&before).unwrap();
    assert_eq!((told.kind, told.at), (EventKind::SessionRevoked, at(899)));
    assert_eq!(session.event(&session), None);
    assert!(!session.revoke(token(2), at(899)));
}

#[test]
fn rotations_are_read_as_they_were_written_and_nothing_else_is() {
    for count in [0, 1, 15, 16, 17, 40] {
        let session = rotated((0..count).map(i64::from));
        let bytes = session.rotations.to_bytes();
        assert_eq!(Rotations::from_bytes(&bytes, count), Some(session.rotations));
        let other = if count < 16 { count + 1 } else { 15 };
        assert_eq!(Rotations::from_bytes(&bytes, other), None);
        assert_eq!(Rotations::from_bytes(&[&bytes[..], b"\0"].concat(), count), None);
    }
    assert_eq!(Rotations::from_bytes(&i64::MAX.to_be_bytes(), 1), None);
}

#[test]
fn the_same_key_gets_the_same_pair_again_for_a_minute() {
    let mut session = session();
    present(&mut session, 1, Some(9), 0);
    let again = Rotation::Replayed(Sealed(vec![1]));
    assert_eq!(present(&mut session, 1, Some(9), 59), again);
    assert_eq!(present(&mut session, 1, Some(8), 5), Rotation::Refused);
    assert_eq!(present(&mut session, 1, Some(9), 60), Rotation::Reused);
}

#[test]
fn only_the_last_exchange_is_answered_again() {
    let mut session = session();
    present(&mut session, 1, Some(9), 0);
    present(&mut session, 2, Some(9), 1);
    assert_eq!(present(&mut session, 1, Some(9), 2), Rotation::Refused);
    assert_eq!(present(&mut session, 2, Some(9), 2), Rotation::Replayed(Sealed(vec![2])));
}

#[test]
fn a_refresh_token_and_a_session_end_at_the_exact_instant() {
    assert_eq!(present(&mut session(), 1, None, 30 * DAY), Rotation::Refused);
    assert_eq!(present(&mut session(), 1, None, 30 * DAY - 1), Rotation::Rotated);

    let mut old = session();
    present(&mut old, 1, None, 29 * DAY);
    present(&mut old, 2, None, 58 * DAY);
    present(&mut old, 3, None, 87 * DAY);
    assert_eq!(old.refresh_expires_at, at(90 * DAY));
    assert_eq!(present(&mut old, 4, None, 90 * DAY), Rotation::Refused);
}

#[test]
fn an_access_token_ends_at_the_exact_instant() {
    assert!(session().honours(token(1), at(899)));
    assert!(!session().honours(token(1), at(900)));
}
