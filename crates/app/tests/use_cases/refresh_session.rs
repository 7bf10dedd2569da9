use crate::common::{World, down};
use dwar_app::{RefreshSession, RefreshSessionError, TokenPair};
use dwar_kernel::{Digest, KeyMode, ProjectId, Purpose, Sealed, Vault};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_session::{
    PresentedRefreshToken, RefreshToken, RefreshTokenId, Rotation, RotationPolicy, Session,
    Successor,
};
use dwar_testkit::{ClearVault, START, minutes, seconds};
use std::mem::take;
use std::sync::{Arc, Mutex};

type Answer = Result<TokenPair, RefreshSessionError>;
type Rotations = Arc<Mutex<Vec<(PresentedRefreshToken, Successor)>>>;

const POLICY: RotationPolicy = RotationPolicy { leeway: seconds(10), replay: seconds(60) };

fn refresh_session(world: &mut World) -> RefreshSession {
    RefreshSession { sessions: Arc::new(take(&mut world.sessions)), tokens: world.tokens() }
}

async fn refresh(
    world: &mut World,
    found: Option<&Session>,
    token: &RefreshToken,
    key: Option<&str>,
) -> Answer {
    let key = key.map(|key| key.parse::<IdempotencyKey>().unwrap());
    let caller = world.key_and_session(found.cloned());
    refresh_session(world).refresh(caller, token.expose(), key.as_ref()).await
}

fn token(world: &World, session: &Session, generation: u32) -> RefreshToken {
    let token_id =
        RefreshTokenId { project_mode: session.project_mode, session: session.id, generation };
    RefreshToken::generate(token_id, &ClearVault, &world.make.entropy)
}

/// A caller with a live session and its refresh token.
fn logged_in() -> (World, Session, RefreshToken) {
    let mut world = World::live();
    world.signs();
    let mut session = world.make.session(&world.line, world.make.id());
    let token = token(&world, &session, 0);
    session.refresh = token.digest(&ClearVault);
    (world, session, token)
}

/// The store answers every exchange like this; returns what it was asked.
fn rotates(world: &mut World, outcome: Option<Rotation>) -> Rotations {
    let asked = Rotations::default();
    let (seen, line) = (Arc::clone(&asked), world.line.clone());
    world
        .sessions
        .expect_rotate()
        .withf(move |seen, _, _, policy, _| {
            (seen.project_mode, *policy) == (line.project_mode, POLICY)
        })
        .times(1)
        .returning(move |_, presented, next, _, _| {
            seen.lock().unwrap().push((presented, next));
            Ok(outcome.clone())
        });
    asked
}

fn expired(answer: &Answer) -> bool {
    matches!(answer, Err(RefreshSessionError::Expired))
}

#[tokio::test]
async fn a_malformed_token_is_expired() {
    let (mut world, session, _) = logged_in();
    let caller = world.key_and_session(Some(session));
    let use_case = refresh_session(&mut world);
    for token in ["", "svc_rt_", "eyJhbGciOi.J9.x"] {
        assert!(expired(&use_case.refresh(caller.clone(), token, None).await), "{token}");
    }
}

#[tokio::test]
async fn a_token_of_another_project_or_mode_or_an_altered_one_is_expired() {
    let (mut world, session, token) = logged_in();
    let caller = world.key_and_session(Some(session.clone()));
    let strangers = [
        Session {
            project_mode: world.make.id::<ProjectId>().in_mode(session.project_mode.mode),
            ..session.clone()
        },
        Session {
            project_mode: session.project_mode.project.in_mode(KeyMode::Test),
            ..session.clone()
        },
    ];
    let strangers = strangers.map(|session| self::token(&world, &session, 0));
    let mut texts: Vec<_> = strangers.iter().map(|token| token.expose().to_owned()).collect();
    // A later generation, another session, other random bits, another MAC.
    for at in [46, 20, 80, 142] {
        let mut text = token.expose().to_owned();
        let other = if text.as_bytes()[at] == b'7' { "8" } else { "7" };
        text.replace_range(at..=at, other);
        texts.push(text);
    }
    let use_case = refresh_session(&mut world);
    for text in texts {
        assert!(expired(&use_case.refresh(caller.clone(), &text, None).await), "{text}");
    }
}

#[tokio::test]
async fn a_token_whose_session_is_gone_is_expired_and_rotates_nothing() {
    let (mut world, session, token) = logged_in();
    assert!(expired(&refresh(&mut world, None, &token, None).await));
    // The token names a session before anything has verified it.
    let other = Session { id: world.make.id(), ..session };
    assert!(expired(&refresh(&mut world, Some(&other), &token, None).await));
}

#[tokio::test]
async fn the_present_token_gets_the_pair_that_was_put_on_record() {
    let (mut world, session, token) = logged_in();
    let asked = rotates(&mut world, Some(Rotation::Rotated));
    let pair = refresh(&mut world, Some(&session), &token, None).await.unwrap();
    let (presented, next) = asked.lock().unwrap().remove(0);
    assert_eq!(
        presented,
        PresentedRefreshToken { generation: 0, refresh: session.refresh, key: None }
    );
    assert_eq!(next.refresh, pair.refresh.digest(&ClearVault));
    assert_eq!(pair.refresh.id(), RefreshTokenId { generation: 1, ..token.id() });
    assert_eq!(next.access.token.to_string(), pair.access.expose());
    assert_ne!((next.refresh, next.access.token), (session.refresh, session.access.token));
    assert_eq!((pair.session, pair.identity), (session.id, session.identity));
    assert_eq!((pair.expires_in, pair.refresh_expires_in), (900, 30 * 86_400));
    assert_eq!(next.replay, None);
}

#[tokio::test]
async fn a_refresh_token_ends_with_its_session() {
    let (mut world, mut session, token) = logged_in();
    session.expires_at = START + minutes(60);
    let asked = rotates(&mut world, Some(Rotation::Rotated));
    let pair = refresh(&mut world, Some(&session), &token, None).await.unwrap();
    assert_eq!(asked.lock().unwrap()[0].1.refresh_expires_at, session.expires_at);
    assert_eq!(pair.refresh_expires_in, 3_600);
}

#[tokio::test]
async fn an_access_token_ends_with_its_session() {
    let (mut world, mut session, token) = logged_in();
    session.expires_at = START + minutes(5);
    let asked = rotates(&mut world, Some(Rotation::Rotated));
    let pair = refresh(&mut world, Some(&session), &token, None).await.unwrap();
    let ends = asked.lock().unwrap()[0].1.access.expires_at;
    assert_eq!(ends.timestamp(), session.expires_at.timestamp());
    assert!(ends <= session.expires_at);
    assert_eq!(pair.expires_in, 300);
}

#[tokio::test]
async fn whatever_is_not_exchanged_is_expired() {
    for outcome in [None, Some(Rotation::Refused), Some(Rotation::Reused)] {
        let (mut world, session, token) = logged_in();
        rotates(&mut world, outcome);
        assert!(expired(&refresh(&mut world, Some(&session), &token, Some("key-1")).await));
    }
}

#[tokio::test]
async fn a_replay_gives_the_same_pair_with_what_is_left_of_its_life() {
    let (mut world, session, token) = logged_in();
    let asked = rotates(&mut world, Some(Rotation::Rotated));
    let first = refresh(&mut world, Some(&session), &token, Some("key-1")).await.unwrap();
    let replay = asked.lock().unwrap().remove(0).1.replay.unwrap();

    world.clock.advance(seconds(40));
    world.signs();
    let again = rotates(&mut world, Some(Rotation::Replayed(replay.answer)));
    let second = refresh(&mut world, Some(&session), &token, Some("key-1")).await.unwrap();
    assert_eq!(again.lock().unwrap()[0].0.key, Some(replay.key));
    assert_eq!((&second.access, &second.refresh), (&first.access, &first.refresh));
    assert_eq!((second.session, second.identity), (session.id, session.identity));
    assert_eq!((second.expires_in, second.refresh_expires_in), (860, 30 * 86_400 - 40));
}

/// If two requests are concurrent, the older one may be answered with the result of the newer one.
#[tokio::test]
async fn a_replay_to_an_older_request_tells_no_more_than_a_lifetime() {
    let (mut world, session, token) = logged_in();
    world.clock.advance(seconds(40));
    let asked = rotates(&mut world, Some(Rotation::Rotated));
    refresh(&mut world, Some(&session), &token, Some("key-1")).await.unwrap();
    let replay = asked.lock().unwrap().remove(0).1.replay.unwrap();

    let (mut older, session, token) = logged_in();
    older.signs();
    rotates(&mut older, Some(Rotation::Replayed(replay.answer)));
    let second = refresh(&mut older, Some(&session), &token, Some("key-1")).await.unwrap();
    assert_eq!((second.expires_in, second.refresh_expires_in), (900, 30 * 86_400));
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_a_store_failure() {
    let unreadable = [
        Sealed(b"of another session".to_vec()),
        ClearVault.seal(Purpose::Answer, logged_in().1.id.uuid().as_bytes(), b"only one line"),
    ];
    for answer in unreadable {
        let (mut world, session, token) = logged_in();
        rotates(&mut world, Some(Rotation::Replayed(answer)));
        let answer = refresh(&mut world, Some(&session), &token, Some("key-1")).await;
        assert!(matches!(answer, Err(RefreshSessionError::Store(_))));
    }
}

#[tokio::test]
async fn the_digest_of_a_key_differs_per_key_token_and_project() {
    async fn digest(
        world: &mut World,
        session: &Session,
        key: &str,
        token: &RefreshToken,
    ) -> Digest {
        let asked = rotates(world, None);
        world.signs();
        assert!(expired(&refresh(world, Some(session), token, Some(key)).await));
        let (presented, next) = asked.lock().unwrap().remove(0);
        assert_eq!(presented.key, next.replay.map(|replay| replay.key));
        presented.key.unwrap()
    }
    let (mut world, mut session, token) = logged_in();
    let first = digest(&mut world, &session, "key-1", &token).await;
    assert_eq!(digest(&mut world, &session, "key-1", &token).await, first);
    assert_ne!(digest(&mut world, &session, "key-2", &token).await, first);
    let other = self::token(&world, &session, 0);
    assert_ne!(digest(&mut world, &session, "key-1", &other).await, first);
    world.caller = world.stranger();
    world.line.project_mode.project = world.caller.project.id;
    session.project_mode.project = world.caller.project.id;
    let token = self::token(&world, &session, 0);
    assert_ne!(digest(&mut world, &session, "key-1", &token).await, first);
}

#[tokio::test]
async fn a_store_failure_is_never_an_expiry() {
    let (mut stuck, session, token) = logged_in();
    stuck.sessions.expect_rotate().returning(|_, _, _, _, _| Err(down()));
    let answer = refresh(&mut stuck, Some(&session), &token, None).await;
    assert!(matches!(answer, Err(RefreshSessionError::Store(_))));
}
