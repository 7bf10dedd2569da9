use crate::common::{Office, PASSWORD};
use dwar_console::{AccountError, Credentials, SignInError, SignedIn, SignedInOperator};
use dwar_kernel::StoreError;
use dwar_memory::Fault;
use dwar_operator::{
    Access, Client, EndSessions, Hashing, InvalidPassword, LockoutRule, OneTimeLink,
    OperatorSession, Origin, Password, PasswordHash, Requester,
};
use dwar_testkit::{MS, START, minutes, race, seconds};
use std::sync::Arc;

pub const WRONG: &str = "wrong wrong wrong";

pub fn is_wrong(answer: &Result<SignedIn, SignInError>) -> bool {
    matches!(answer, Err(SignInError::Wrong))
}

pub fn present(signed_in: &SignedIn) -> SignedInOperator {
    SignedInOperator { operator: signed_in.operator.clone(), session: signed_in.session.clone() }
}

#[tokio::test]
async fn an_invitation_becomes_a_password_once() {
    let office = Office::open();
    let invited = office.invite("Asha", Access::everything()).await;
    assert!(is_wrong(&office.sign_in("Asha", PASSWORD, None).await), "no password yet");
    let (sign_in, secret) = (&office.admin.sign_in, invited.secret.expose());
    let welcome = sign_in.read_link(secret).await.unwrap();
    assert_eq!((welcome.name.as_str(), welcome.expires_at), ("Asha", START + OneTimeLink::INVITE));
    let easy = sign_in.follow_link(secret, Some("short"), Client::default()).await;
    assert!(matches!(easy, Err(SignInError::Password(InvalidPassword::TooShort))));
    let none = sign_in.follow_link(secret, None, Client::default()).await;
    assert!(matches!(none, Err(SignInError::LinkGone)), "an invitation does not sign in");
    let asha = sign_in.follow_link(secret, Some(PASSWORD), Client::default()).await.unwrap();
    assert!(office.is_in(&asha).await);
    for again in [secret, "svc_lnk_x", ""] {
        let gone = sign_in.follow_link(again, Some(PASSWORD), Client::default()).await;
        assert!(matches!(gone, Err(SignInError::LinkGone)));
        assert!(matches!(sign_in.read_link(again).await, Err(SignInError::LinkGone)));
    }
    let back = office.sign_in("aSHA ", PASSWORD, None).await.unwrap();
    assert_ne!(back.token, asha.token, "each sign-in has a session of its own");
}

#[tokio::test]
async fn an_invitation_is_over_after_three_days_to_the_instant() {
    let office = Office::open();
    let invited = office.invite("Asha", Access::everything()).await;
    let secret = invited.secret.expose();
    office.clock.set(START + OneTimeLink::INVITE - MS);
    assert!(office.admin.sign_in.read_link(secret).await.is_ok());
    office.clock.set(START + OneTimeLink::INVITE);
    let gone = office.admin.sign_in.follow_link(secret, Some(PASSWORD), Client::default()).await;
    assert!(matches!(gone, Err(SignInError::LinkGone)));
}

#[tokio::test]
async fn failures_lock_and_a_success_forgets_them() {
    let office = Office::open();
    office.join("Asha", Access::everything()).await;
    for _ in 0..4 {
        assert!(is_wrong(&office.sign_in("Asha", WRONG, None).await));
    }
    office.sign_in("Asha", PASSWORD, None).await.unwrap();
    for _ in 0..5 {
        assert!(is_wrong(&office.sign_in("Asha", WRONG, None).await));
    }
    let judged = office.hasher.verified();
    let until = START + seconds(30);
    for password in [PASSWORD, WRONG] {
        let locked = office.sign_in("Asha", password, None).await;
        assert!(matches!(locked, Err(SignInError::Locked { until: told }) if told == until));
    }
    assert_eq!(office.hasher.verified(), judged, "a lock costs no hash");
    office.clock.set(until);
    office.sign_in("Asha", PASSWORD, None).await.unwrap();
}

/// The attack: five wrong passwords with a known name, and one more whenever the lock ends.
#[tokio::test]
async fn a_stranger_who_fails_under_a_name_keeps_nobody_else_out() {
    let office = Office::open();
    let asha = office.join("Asha", Access::everything()).await;
    for _ in 0..5 {
        assert!(is_wrong(&office.sign_in_from(1, ("Asha", WRONG)).await));
    }
    for hour in 1..48 {
        let stranger = office.sign_in_from(1, ("Asha", WRONG)).await;
        assert!(matches!(stranger, Err(SignInError::Locked { .. })), "{hour}");
        office.sign_in_from(2, ("Asha", PASSWORD)).await.unwrap();
        office.sign_in_at(&asha, ("Asha", PASSWORD)).await.unwrap();
        office.clock.advance(minutes(60));
        assert!(is_wrong(&office.sign_in_from(1, ("Asha", WRONG)).await));
    }
}

/// The same attack from many addresses, for a day: the guesses are bounded, and Asha can sign in at any time
/// in a browser that she has used before.
#[tokio::test]
async fn a_day_of_guesses_from_many_addresses_is_bounded_and_known_browsers_are_let_pass() {
    let office = Office::open();
    let mut asha = office.join("Asha", Access::everything()).await;
    let (end, mut wrong) = (START + minutes(24 * 60), 0);
    for number in 0.. {
        match office.sign_in_from(number, ("Asha", WRONG)).await {
            Err(SignInError::Wrong) => wrong += 1,
            Err(SignInError::Locked { until }) if until >= end => break,
            Err(SignInError::Locked { until }) => office.clock.set(until),
            other => panic!("{other:?}"),
        }
        if number % 50 == 0 {
            asha = office.sign_in_at(&asha, ("Asha", PASSWORD)).await.unwrap();
        }
    }
    assert!((2_400..=LockoutRule::MOST_A_DAY).contains(&wrong), "{wrong}");
    let elsewhere = office.sign_in_from(u32::MAX, ("Asha", PASSWORD)).await;
    assert!(matches!(elsewhere, Err(SignInError::Locked { .. })), "an unknown browser waits");
}

#[tokio::test]
async fn a_known_browser_is_locked_by_its_own_failures() {
    let office = Office::open();
    let asha = office.join("Asha", Access::everything()).await;
    for _ in 0..5 {
        assert!(is_wrong(&office.sign_in_at(&asha, ("Asha", WRONG)).await));
    }
    let locked = office.sign_in_at(&asha, ("Asha", PASSWORD)).await;
    assert!(matches!(locked, Err(SignInError::Locked { .. })));
    office.sign_in("Asha", PASSWORD, None).await.unwrap();
}

/// The cookie of a known browser is valid for one operator and one password.
#[tokio::test]
async fn a_browser_is_known_for_its_operator_until_the_password_changes() {
    let office = Office::open();
    let asha = office.join("Asha", Access::everything()).await;
    let ravi = office.join("Ravi", Access::everything()).await;
    let new = "another good one";
    let by = Requester::operator(&asha.operator, None);
    let fresh = office.admin.account.change_password(&by, &present(&asha), PASSWORD, new).await;
    let fresh =
        SignedIn { browser: fresh.unwrap(), ..office.sign_in("Asha", new, None).await.unwrap() };
    for _ in 0..5 {
        assert!(is_wrong(&office.sign_in("Asha", WRONG, None).await));
    }
    for unknown in [&ravi, &asha] {
        let locked = office.sign_in_at(unknown, ("Asha", new)).await;
        assert!(matches!(locked, Err(SignInError::Locked { .. })), "as any other browser");
    }
    office.sign_in_at(&fresh, ("Asha", new)).await.unwrap();
    office.clock.advance(dwar_operator::BrowserToken::LIFETIME);
    for _ in 0..5 {
        assert!(is_wrong(&office.sign_in("Asha", WRONG, None).await));
    }
    let over = office.sign_in_at(&fresh, ("Asha", new)).await;
    assert!(matches!(over, Err(SignInError::Locked { .. })));
}

/// Checks of the present password count for the session that asks, and for no other.
#[tokio::test]
async fn a_session_that_guesses_the_password_locks_itself_alone() {
    let office = Office::open();
    let asha = office.join("Asha", Access::everything()).await;
    let (account, by) = (&office.admin.account, Requester::operator(&asha.operator, None));
    for _ in 0..5 {
        let wrong = account.remove_totp(&by, &present(&asha), WRONG).await;
        assert!(matches!(wrong, Err(AccountError::WrongPassword)));
    }
    let locked = account.remove_totp(&by, &present(&asha), PASSWORD).await;
    assert!(matches!(locked, Err(AccountError::Locked { .. })));
    let other = office.sign_in("Asha", PASSWORD, None).await.unwrap();
    account.remove_totp(&by, &present(&other), PASSWORD).await.unwrap();
}

/// Trying names reveals nothing, neither by the answer nor by the amount of work.
#[tokio::test]
async fn a_name_that_nobody_has_is_refused_as_one_that_somebody_has() {
    let office = Office::open();
    office.join("Asha", Access::everything()).await;
    office.invite("Ravi", Access::everything()).await;
    for name in ["Asha", "Ravi", "Nobody", "<script>", ""] {
        let before = office.hasher.verified();
        for _ in 0..5 {
            assert!(is_wrong(&office.sign_in(name, WRONG, None).await), "{name}");
        }
        assert_eq!(office.hasher.verified() - before, 5, "{name}");
        let locked = office.sign_in(name, WRONG, None).await;
        assert!(matches!(locked, Err(SignInError::Locked { .. })), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_guesses_at_once_no_more_are_judged_than_of_as_many_in_turn() {
    let office = Office::open();
    office.join("Asha", Access::everything()).await;
    let before = office.hasher.verified();
    let sign_in = Arc::clone(&office.admin.sign_in);
    let answers = race(100, |_| {
        let sign_in = Arc::clone(&sign_in);
        async move {
            let typed = Credentials { name: "Asha", password: WRONG, browser: None };
            sign_in.sign_in(typed, Client::default()).await
        }
    })
    .await;
    assert_eq!(answers.iter().filter(|answer| is_wrong(answer)).count(), 5);
    assert_eq!(office.hasher.verified() - before, 5);
}

#[tokio::test]
async fn a_session_ends_when_nobody_uses_it_and_after_twelve_hours_anyway() {
    let office = Office::open();
    let asha = office.join("Asha", Access::everything()).await;
    office.clock.set(START + OperatorSession::IDLE - MS);
    assert!(office.is_in(&asha).await);
    let writes = || office.store.faults().calls("OperatorStore::record_session_use");
    let noted = writes();
    for _ in 0..9 {
        assert!(office.is_in(&asha).await);
    }
    assert_eq!(writes(), noted, "once a minute at most");
    office.clock.advance(OperatorSession::NOTED_EVERY);
    office.store.faults().next("OperatorStore::record_session_use", Fault::Fails);
    assert!(office.is_in(&asha).await, "a store that takes no writes keeps nobody out");
    for half_hours in 3..24 {
        office.clock.set(START + minutes(30) * half_hours);
        assert!(office.is_in(&asha).await, "{half_hours}");
    }
    office.clock.set(START + OperatorSession::LIFETIME);
    assert!(!office.is_in(&asha).await);
    let idle = office.sign_in("Asha", PASSWORD, None).await.unwrap();
    office.clock.advance(OperatorSession::IDLE);
    assert!(!office.is_in(&idle).await);
}

#[tokio::test]
async fn a_new_password_ends_every_other_session() {
    let office = Office::open();
    let here = office.join("Asha", Access::everything()).await;
    let there = office.sign_in("Asha", PASSWORD, None).await.unwrap();
    let (account, by) = (&office.admin.account, Requester::operator(&here.operator, None));
    let here_now = present(&here);
    let wrong = account.change_password(&by, &here_now, WRONG, "another good one").await;
    assert!(matches!(wrong, Err(AccountError::WrongPassword)));
    account.change_password(&by, &here_now, PASSWORD, "another good one").await.unwrap();
    assert_eq!((office.is_in(&here).await, office.is_in(&there).await), (true, false));
    assert!(is_wrong(&office.sign_in("Asha", PASSWORD, None).await));
    office.sign_in("Asha", "another good one", None).await.unwrap();
}

#[tokio::test]
async fn somebody_signs_out_here_or_everywhere() {
    let office = Office::open();
    let first = office.join("Asha", Access::everything()).await;
    let second = office.sign_in("Asha", PASSWORD, None).await.unwrap();
    let ravi = office.join("Ravi", Access::everything()).await;
    let (sign_in, one) = (&office.admin.sign_in, EndSessions::One(first.session.digest));
    let theirs = EndSessions::One(ravi.session.digest);
    assert_eq!(sign_in.sign_out(&present(&first), theirs, None).await.unwrap(), 0);
    assert_eq!(sign_in.sign_out(&present(&first), one, None).await.unwrap(), 1);
    assert_eq!((office.is_in(&first).await, office.is_in(&second).await), (false, true));
    office.sign_in("Asha", PASSWORD, None).await.unwrap();
    assert_eq!(sign_in.sign_out(&present(&second), EndSessions::All, None).await.unwrap(), 2);
    assert_eq!((office.is_in(&second).await, office.is_in(&ravi).await), (false, true));
}

/// A busy hasher refuses soon, and that does not count as a failed sign-in.
#[tokio::test]
async fn a_busy_hasher_is_no_failure() {
    struct Busy;
    #[async_trait::async_trait]
    impl dwar_operator::PasswordHasher for Busy {
        async fn hash(&self, _: Password, _: Origin) -> Result<Hashing<PasswordHash>, StoreError> {
            Ok(Hashing::Busy)
        }
        async fn verify(
            &self,
            _: Password,
            _: Option<PasswordHash>,
            _: Origin,
        ) -> Result<Hashing<bool>, StoreError> {
            Ok(Hashing::Busy)
        }
    }
    let office = Office::open();
    office.join("Asha", Access::everything()).await;
    let sign_in = &office.admin.sign_in;
    let busy = dwar_console::SignIn {
        tools: sign_in.tools.clone(),
        operators: sign_in.operators.clone(),
        hasher: Arc::new(Busy),
        audit: sign_in.audit.clone(),
    };
    for _ in 0..20 {
        let typed = Credentials { name: "Asha", password: PASSWORD, browser: None };
        let refused = busy.sign_in(typed, Client::default()).await;
        assert!(matches!(refused, Err(SignInError::Busy)));
    }
    office.sign_in("Asha", PASSWORD, None).await.unwrap();
}
