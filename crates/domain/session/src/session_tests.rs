use super::*;

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
        project: "00000000-0000-7000-8000-000000000002".parse().unwrap(),
        mode: KeyMode::Live,
        identity: "00000000-0000-7000-8000-000000000003".parse().unwrap(),
        created_at: at(0),
        expires_at: at(90 * DAY),
        refresh: Digest([1; 32]),
        refresh_expires_at: at(30 * DAY),
        access: access(1, 0),
        predecessor: None,
        revoked_at: None,
    }
}

fn present(session: &mut Session, number: u8, key: Option<u8>, seconds: i64) -> Rotation {
    let key = key.map(|key| Digest([key; 32]));
    let next = Successor {
        refresh: Digest([number + 1; 32]),
        refresh_expires_at: session.refresh_end(Duration::from_secs(30 * 86_400), at(seconds)),
        access: access(number + 1, seconds),
        replay: key.map(|key| Replay { key, answer: Sealed(vec![number]) }),
    };
    session.rotate(&Presented { refresh: Digest([number; 32]), key }, next, POLICY, at(seconds))
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
fn an_older_token_ends_the_session_at_once() {
    let mut session = session();
    present(&mut session, 1, None, 1);
    present(&mut session, 2, None, 2);
    assert_eq!(present(&mut session, 1, None, 3), Rotation::Reused);
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
