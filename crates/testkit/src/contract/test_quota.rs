//! Promises of [`dwar_otp::TestQuotaStore`]. All need a fresh store: a trim covers every project.

use crate::scene::{Scene, stored_session};
use crate::{CODE, Line, MS, START, Stores, WRONG_CODE, minutes, race, seconds};
use dwar_event::ClaimCapacity;
use dwar_kernel::{IdentityId, KeyMode, ProjectMode, SessionId, Timestamp};
use dwar_login::NewSend;
use dwar_otp::idempotency::{IdempotencyDecision, Lifetimes};
use dwar_otp::{GuessPolicy, Otp, Report, TestQuota};
use dwar_ratelimit::{Quota, SendQuota};
use dwar_session::Session;
use std::sync::Arc;
use std::time::Duration;

const THREE: TestQuota = TestQuota { kept: 3, in_use: minutes(10) };
const LIFETIME: Duration = minutes(10);
/// Everything that these tests make has expired by then.
const LATER: Timestamp = match Timestamp::from_timestamp_millis(1_800_100_000_123) {
    Some(later) => later,
    None => START,
};

impl Scene {
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> u64 {
        self.stores.test_quota.trim(quota, now).await.unwrap()
    }

    fn tester(&self) -> Line {
        self.make.line(self.project.in_mode(KeyMode::Test))
    }

    /// Makes a request per instant, each of a new phone, in this order.
    async fn asks(&self, project_mode: ProjectMode, at: &[Timestamp]) -> Vec<Otp> {
        let mut made = Vec::new();
        for at in at {
            let line = self.make.line(project_mode);
            made.push(self.issue(self.make.otp_with(&line, CODE, *at)).await);
        }
        made
    }

    /// For each of these requests, whether it is still on record.
    async fn left(&self, otps: &[Otp]) -> Vec<bool> {
        let mut left = Vec::new();
        for otp in otps {
            let found = self.stores.otps.find(otp.project_mode, otp.id).await.unwrap();
            left.push(found.is_some());
        }
        left
    }

    /// A session of a new phone that begins, and is verified, at this instant.
    async fn logs_in(&self, line: &Line, at: Timestamp) -> (IdentityId, SessionId) {
        let session = Session { created_at: at, ..self.make.login(line).session };
        let session = self.log_in(line, session).await;
        (session.identity, session.id)
    }

    async fn recalls(&self, line: &Line, identity: IdentityId) -> bool {
        let found = self.stores.identities.find(line.project_mode, identity).await;
        found.unwrap().is_some()
    }

    async fn is_logged_in(&self, line: &Line, session: SessionId) -> bool {
        stored_session(&self.stores, line.project_mode, session).await.is_some()
    }
}

fn at(second: u64) -> Timestamp {
    START + seconds(second)
}

/// Exactly the records beyond the quota are deleted, the oldest ones, each with its place; once.
pub async fn trim_keeps_the_newest_requests(stores: &Stores) {
    let scene = Scene::open(stores).await;
    // Not in the order of their age.
    let made = scene
        .asks(scene.project.in_mode(KeyMode::Test), &[at(3), at(0), at(4), at(1), at(2)])
        .await;
    assert_eq!(scene.trim(TestQuota { kept: 5, ..THREE }, LATER).await, 0);
    assert_eq!(scene.left(&made).await, [true; 5]);
    assert_eq!(scene.trim(TestQuota { kept: 4, ..THREE }, LATER).await, 2);
    assert_eq!(scene.left(&made).await, [true, false, true, true, true]);
    assert_eq!(scene.trim(THREE, LATER).await, 2);
    assert_eq!(scene.left(&made).await, [true, false, true, false, true]);
    assert_eq!(scene.trim(THREE, LATER).await, 0);
    assert_eq!(scene.trim(TestQuota { kept: 0, ..THREE }, LATER).await, 6);
}

/// A code that has not expired stays, to the exact instant and for any quota, and is still
/// accepted.
pub async fn trim_never_drops_a_live_code(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let none = TestQuota { kept: 0, ..THREE };
    let line = scene.tester();
    let live = scene.issue(scene.make.otp_with(&line, CODE, START)).await;
    let mut made = scene.asks(scene.project.in_mode(KeyMode::Test), &[at(0), at(1), at(2)]).await;
    made.push(live.clone());
    assert_eq!(scene.trim(none, START + LIFETIME - MS).await, 0);
    assert_eq!(scene.left(&made).await, [true; 4]);
    let judged = scene.judge(&line, CODE, GuessPolicy::OFF, START + LIFETIME - MS).await;
    assert!(matches!(judged, dwar_otp::GuessVerdict::Accepted(_)));
    // Two requests with their places, and the login of one of them: a session and an identity.
    assert_eq!(scene.trim(none, START + LIFETIME).await, 6);
    assert_eq!(scene.left(&made).await, [false, true, true, false]);
}

/// Attempts and messages are deleted with their request; those of other requests stay.
pub async fn trim_takes_attempts_and_messages_along(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let made = scene.asks(scene.project.in_mode(KeyMode::Test), &[at(0), at(1)]).await;
    for (number, otp) in made.iter().enumerate() {
        let message = scene.make.message(otp, otp.created_at);
        stores.inbox.deposit(scene.project, message).await.unwrap();
        let accepted = Report::Accepted {
            provider_ref: Some(format!("reference {number}")),
            awaits_receipt: true,
        };
        scene.reports(otp, 0, accepted, otp.created_at).await.unwrap();
    }
    assert_eq!(scene.trim(TestQuota { kept: 1, ..THREE }, LATER).await, 2);
    for (number, kept) in [(0, false), (1, true)] {
        let messages = stores.inbox.messages(scene.project, made[number].phone, 9).await.unwrap();
        assert_eq!(messages.len(), usize::from(kept));
        let reference = format!("reference {number}");
        let attempt = stores.otps.find_attempt("meta".to_owned(), reference).await.unwrap();
        assert_eq!(attempt.is_some(), kept);
    }
}

/// Records of other projects and of live keys are neither counted nor deleted.
pub async fn trim_stays_inside_test_mode_and_each_project(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let other = scene.another().await;
    let times = [at(0), at(1), at(2), at(3), at(4)];
    let live = scene.asks(scene.project.in_mode(KeyMode::Live), &times).await;
    let others = scene.asks(other.in_mode(KeyMode::Test), &times[..3]).await;
    let own = scene.asks(scene.project.in_mode(KeyMode::Test), &times).await;
    let mut sessions = Vec::new();
    for time in times {
        let line = scene.line();
        sessions.push((scene.logs_in(&line, time).await, line));
    }
    assert_eq!(scene.trim(THREE, LATER).await, 4);
    assert_eq!(scene.left(&live).await, [true; 5]);
    assert_eq!(scene.left(&others).await, [true; 3]);
    assert_eq!(scene.left(&own).await, [false, false, true, true, true]);
    for ((identity, session), line) in &sessions {
        assert!(scene.recalls(line, *identity).await);
        assert!(scene.is_logged_in(line, *session).await);
    }
}

/// Sessions are ordered by start, identities by last verification; identities are deleted with their
/// sessions.
pub async fn trim_bounds_sessions_and_identities(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let lines: Vec<Line> = (0..5).map(|_| scene.tester()).collect();
    let mut made = Vec::new();
    for (second, line) in (0..).zip(&lines) {
        made.push(scene.logs_in(line, at(second)).await);
    }
    // The first phone comes back, so that the second is the longest unseen.
    let (back, again) = scene.logs_in(&lines[0], at(9)).await;
    assert_eq!(back, made[0].0);
    // Deletes the three oldest of six sessions, codes and places, and the two longest unseen of five
    // identities.
    assert_eq!(scene.trim(THREE, START + minutes(20)).await, 3 * 3 + 2);
    let (mut known, mut logged_in) = (Vec::new(), Vec::new());
    for (line, (identity, session)) in lines.iter().zip(&made) {
        known.push(scene.recalls(line, *identity).await);
        logged_in.push(scene.is_logged_in(line, *session).await);
    }
    assert_eq!(known, [true, false, false, true, true]);
    assert_eq!(logged_in, [false, false, false, true, true]);
    assert!(scene.is_logged_in(&lines[0], again).await);
}

/// First answers and places of sends stay while a send may need them.
pub async fn trim_bounds_first_answers_and_places(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.tester();
    let places = Quota { limit: 100, window: minutes(525_600) };
    let year = SendQuota { places, reach: None };
    let lifetimes = Lifetimes { lease: minutes(525_600), keep: minutes(525_600) };
    let mut slots = Vec::new();
    for second in 0..5 {
        let (slot, record) = (scene.make.slot(&line), scene.make.record(&line));
        let record = dwar_otp::idempotency::IdempotencyRecord { began_at: at(second), ..record };
        stores.idempotency.begin(slot, record.clone(), lifetimes).await.unwrap();
        slots.push((slot, record));
        scene.issue(scene.make.otp_with(&line, CODE, at(second))).await;
    }
    assert_eq!(scene.trim(THREE, START + THREE.in_use - MS).await, 0);
    // Each time an answer, a place and its request.
    assert_eq!(scene.trim(THREE, START + THREE.in_use).await, 3);
    assert_eq!(scene.trim(THREE, LATER).await, 3);
    for (number, (slot, record)) in slots.into_iter().enumerate() {
        let begun = stores.idempotency.begin(slot, record, lifetimes).await.unwrap();
        let wanted =
            if number < 2 { IdempotencyDecision::Fresh } else { IdempotencyDecision::Running };
        assert_eq!(begun, wanted, "{number}");
    }
    let otp = scene.make.otp_with(&line, CODE, at(9));
    let next = NewSend { quota: year, ..scene.make.new_send_of(otp) };
    let next = scene.admission(next, at(9)).await;
    assert_eq!(next.counted.remaining, 100 - 3 - 1);
}

/// The oldest undelivered events are deleted.
pub async fn trim_bounds_events(stores: &Stores) {
    let scene = Scene::open(stores).await;
    stores.events.add_endpoint(scene.make.endpoint(scene.project)).await.unwrap();
    for second in 0..5 {
        scene.logs_in(&scene.tester(), at(second)).await;
    }
    // Two events, and the sessions and identities of the logins that they are about.
    assert_eq!(scene.trim(THREE, START + LIFETIME - MS).await, 6);
    let told = stores.events.claim_due(LATER, minutes(1), ClaimCapacity::of(9)).await.unwrap();
    let mut told: Vec<_> = told.into_iter().map(|dispatch| dispatch.event.at).collect();
    told.sort_unstable();
    assert_eq!(told, [at(2), at(3), at(4)]);
}

/// Guess budgets of test keys are deleted, since test keys have none.
pub async fn trim_drops_counts_of_test_guesses(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for (line, counted) in [(scene.tester(), 0), (scene.line(), 1)] {
        scene.issued(&line).await;
        scene.judge(&line, WRONG_CODE, GuessPolicy::OFF, START).await;
        let Line { project_mode, index, .. } = line;
        assert_eq!(scene.trim(THREE, START).await, 0);
        let left = stores.otps.forget_guesses(project_mode, index).await.unwrap();
        assert_eq!(left.map_or(0, |left| left.wrong), counted);
    }
}

/// Instances that trim concurrently together delete what one would, also beyond one batch.
pub async fn trims_at_once_drop_what_one_would(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let times: Vec<_> = (0..620).map(at).collect();
    let made = scene.asks(scene.project.in_mode(KeyMode::Test), &times).await;
    let dropped = race(4, |_| {
        let store = Arc::clone(&stores.test_quota);
        async move { store.trim(TestQuota { kept: 20, ..THREE }, LATER).await.unwrap() }
    })
    .await;
    assert_eq!(dropped.iter().sum::<u64>(), 600 * 2);
    let left = scene.left(&made).await;
    assert!(left[..600].iter().all(|left| !left) && left[600..].iter().all(|left| *left));
}
