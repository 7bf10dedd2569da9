//! Promises of [`dwar_identity::IdentityStore`].

use super::{ROUNDS, count};
use crate::scene::{Scene, stored_session};
use crate::{CODE, Line, START, Stores, WRONG_CODE, minutes, race, seconds};
use dwar_identity::{Erased, Identity};
use dwar_kernel::{IdentityId, KeyMode, Sealed};
use dwar_login::{LoginStore, NewSend, Prepared, Redeemed, Redemption};
use dwar_otp::idempotency::{IdempotencyDecision, Lifetimes};
use dwar_otp::{GuessPolicy, Report, ReportedRequest};
use dwar_ratelimit::{Quota, SendQuota};
use dwar_session::{Login, RotationPolicy, Session};
use std::sync::Arc;

async fn by_id(stores: &Stores, line: &Line, id: IdentityId) -> Option<Identity> {
    stores.identities.find(line.project_mode, id).await.unwrap()
}

async fn by_phone(stores: &Stores, line: &Line) -> Option<Identity> {
    stores.identities.find_by_phone(line.project_mode, line.index).await.unwrap()
}

async fn erase(stores: &Stores, line: &Line, id: IdentityId) -> Option<Erased> {
    stores.identities.erase(line.project_mode, id, START + seconds(1)).await.unwrap()
}

/// The first login of a phone creates its identity; later logins keep its id and its first date.
pub async fn logins_make_once_and_then_recognise(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let first = scene.make.login(&line);
    let id = scene.log_in_by(&line, first.clone()).await;
    assert_eq!(id, first.session.identity);
    let mut identity = Identity {
        id,
        project_mode: line.project_mode,
        phone: first.sealed_phone,
        created_at: START,
        last_verified_at: START,
    };
    assert_eq!(by_id(stores, &line, id).await.as_ref(), Some(&identity));
    assert_eq!(by_phone(stores, &line).await.as_ref(), Some(&identity));

    // Sealed again, as under another master key; the second login comes late and does not set a date back.
    for (at, last, seal) in [(minutes(1), minutes(1), 7), (seconds(1), minutes(1), 8)] {
        let session =
            Session { created_at: START + at, ..scene.make.session(&line, scene.make.id()) };
        let login =
            Login { sealed_phone: Sealed(vec![seal; 40]), ..scene.make.login_of(&line, session) };
        let (fresh, named) = (login.session.identity, login.session.id);
        identity.phone = login.sealed_phone.clone();
        identity.last_verified_at = START + last;
        assert_eq!(scene.log_in_by(&line, login).await, id);
        assert_eq!(by_id(stores, &line, id).await.as_ref(), Some(&identity));
        assert_eq!(by_phone(stores, &line).await.as_ref(), Some(&identity));
        assert_eq!(by_id(stores, &line, fresh).await, None);
        let session = stored_session(stores, line.project_mode, named).await.unwrap();
        assert_eq!(session.identity, id);
    }
}

/// The same phone elsewhere is another identity, and none is found across projects or modes.
pub async fn identities_stay_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let id = scene.identity(&line).await;
    for elsewhere in scene.elsewhere(&line).await {
        assert_eq!(by_id(stores, &elsewhere, id).await, None);
        assert_eq!(by_phone(stores, &elsewhere).await, None);
        assert_eq!(erase(stores, &elsewhere, id).await, None);
        assert_ne!(scene.identity(&elsewhere).await, id);
    }
    assert_eq!(by_phone(stores, &scene.line()).await, None);
    assert_eq!(by_phone(stores, &line).await.map(|identity| identity.id), Some(id));
}

/// A login with a code of its own, and the guess at that code.
#[derive(Clone)]
struct Entering {
    send: NewSend,
    redemption: Redemption,
}

impl Entering {
    fn of(scene: &Scene, line: &Line) -> Self {
        let (send, redemption) = (scene.make.new_send(line), scene.make.redemption(line, CODE));
        Self { send, redemption }
    }

    /// The identity that it logs in, unless another code has replaced its own.
    async fn enter(self, store: &dyn LoginStore) -> Option<IdentityId> {
        let Self { send, mut redemption } = self;
        redemption.guess = redemption.guess.meant_for(Some(send.otp.id));
        assert!(matches!(store.prepare(send, START).await.unwrap(), Prepared::Ready(_)));
        match store.redeem(redemption, START).await.unwrap() {
            Redeemed::LoggedIn(_, identity, _) => Some(identity),
            Redeemed::Verified(..) | Redeemed::NotFound | Redeemed::Locked(_) => None,
            Redeemed::Wrong(_) => panic!("it was the right code"),
        }
    }
}

/// After any number of concurrent logins of one phone there is one identity.
pub async fn logins_at_once_make_one_identity(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let answers = race(100, |_| {
            let (store, entering) = (Arc::clone(&stores.logins), Entering::of(&scene, &line));
            async move { entering.enter(&*store).await }
        })
        .await;
        let id = by_phone(stores, &line).await.unwrap().id;
        let logged_in = count(&answers, Option::is_some);
        assert!(logged_in > 0, "the last code of all was in force");
        assert_eq!(count(&answers, |answer| *answer == Some(id)), logged_in);
    }
}

/// Erasing deletes the identity and its sessions, and counts the sessions that were valid.
pub async fn erase_takes_identity_and_sessions(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (line, other) = (scene.line(), scene.line());
    let alive = [scene.session(&line).await, scene.session(&line).await];
    let revoked = scene.session(&line).await;
    let id = revoked.identity;
    let token = revoked.access.token;
    stores.sessions.revoke(revoked.clone(), token, START).await.unwrap();
    let over = Session { expires_at: START + seconds(1), ..scene.make.session(&line, id) };
    let over = scene.log_in(&line, over).await;
    let bystander = scene.session(&other).await;

    assert_eq!(erase(stores, &line, id).await, Some(Erased { sessions_revoked: 2 }));
    assert_eq!(by_id(stores, &line, id).await, None);
    assert_eq!(by_phone(stores, &line).await, None);
    for session in alive.into_iter().chain([revoked, over]) {
        assert_eq!(find_session(stores, &session).await, None);
    }
    assert_eq!(erase(stores, &line, id).await, None);
    assert_eq!(find_session(stores, &bystander).await, Some(bystander));
    assert_ne!(scene.identity(&line).await, id);
}

/// All records of a phone except its identity.
struct Traces {
    line: Line,
    otp: dwar_otp::Otp,
    slot: dwar_otp::idempotency::IdempotencySlot,
}

const LIFETIMES: Lifetimes = Lifetimes { lease: minutes(1), keep: minutes(1_440) };
const ONE_SEND: SendQuota =
    SendQuota { places: Quota { limit: 1, window: minutes(10) }, reach: None };

impl Traces {
    async fn leave(scene: &Scene, line: &Line) -> Self {
        let (stores, line) = (&scene.stores, line.clone());
        let (otp, slot) = (scene.make.otp(&line), scene.make.slot(&line));
        scene.issue(otp.clone()).await;
        let accepted =
            Report::Accepted { provider_ref: Some(otp.id.to_string()), awaits_receipt: true };
        scene.reports(&otp, 0, accepted, START).await.unwrap();
        scene.judge(&line, WRONG_CODE, GuessPolicy::OFF, START).await;
        stores
            .inbox
            .deposit(line.project_mode.project, scene.make.message(&otp, START))
            .await
            .unwrap();
        let record = scene.make.record(&line);
        stores.idempotency.begin(slot, record, LIFETIMES).await.unwrap();
        stores.idempotency.complete(slot, START, scene.make.sealed()).await.unwrap();
        Self { line, otp, slot }
    }

    /// Asserts that all records are there, or none; limits stay either way.
    async fn assert(&self, scene: &Scene, there: bool) {
        let (stores, otp) = (&scene.stores, &self.otp);
        let Line { project_mode, index, .. } = self.line;
        assert_eq!(stores.otps.find(project_mode, otp.id).await.unwrap().is_some(), there);
        let attempt = stores.otps.find_attempt("meta".to_owned(), otp.id.to_string()).await;
        assert_eq!(attempt.unwrap().is_some(), there);
        let inbox = stores.inbox.messages(project_mode.project, index, 9).await.unwrap();
        assert_eq!(inbox.iter().any(|message| message.otp == otp.id), there);
        let pace = minutes(180);
        let once = GuessPolicy { slow_from: 1, slow_pace: pace, ..GuessPolicy::OFF };
        let next = NewSend { quota: ONE_SEND, guesses: once, ..scene.make.new_send(&self.line) };
        // Both the place and the wrong guess are still counted.
        let counted = scene.admission(next, START).await.counted;
        assert_eq!((counted.admitted, counted.reset), (false, pace));
        let record = scene.make.record(&self.line);
        let beginning = stores.idempotency.begin(self.slot, record, LIFETIMES).await.unwrap();
        assert_eq!(beginning == IdempotencyDecision::Reused, there);
        assert_eq!(beginning == IdempotencyDecision::Fresh, !there);
    }
}

/// Erasing deletes every trace of the phone in this project and mode; limits are not reset.
pub async fn erase_takes_every_trace_of_the_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let id = scene.identity(&line).await;
    let other = scene.another().await;
    let bystanders = [
        scene.line(),
        scene.make.line(scene.project.in_mode(KeyMode::Test)),
        Line { project_mode: other.in_mode(line.project_mode.mode), ..line.clone() },
    ];
    let traces = Traces::leave(&scene, &line).await;
    let mut kept = Vec::new();
    for bystander in &bystanders {
        scene.identity(bystander).await;
        kept.push(Traces::leave(&scene, bystander).await);
    }
    assert_eq!(erase(stores, &line, id).await, Some(Erased { sessions_revoked: 1 }));
    traces.assert(&scene, false).await;
    for (bystander, traces) in bystanders.iter().zip(kept) {
        assert!(by_phone(stores, bystander).await.is_some());
        traces.assert(&scene, true).await;
    }
}

/// Exactly one of many concurrent deletions finds the identity.
pub async fn erasures_at_once_erase_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let id = scene.session(&line).await.identity;
        let answers = race(20, |_| {
            let (store, project_mode) = (Arc::clone(&stores.identities), line.project_mode);
            async move { store.erase(project_mode, id, START).await.unwrap() }
        })
        .await;
        let erased = Some(Erased { sessions_revoked: 1 });
        assert_eq!(count(&answers, |answer| *answer == erased), 1);
        assert_eq!(count(&answers, Option::is_none), answers.len() - 1);
    }
}

async fn find_session(stores: &Stores, session: &Session) -> Option<Session> {
    stored_session(stores, session.project_mode, session.id).await
}

/// No login or refresh in flight during an erasure leaves a session behind.
pub async fn nothing_in_flight_survives_an_erasure(stores: &Stores) {
    const POLICY: RotationPolicy = RotationPolicy { leeway: seconds(10), replay: seconds(60) };
    let scene = Scene::open(stores).await;
    for round in 0..ROUNDS * 5 {
        let line = scene.line();
        let present = scene.session(&line).await;
        let id = present.identity;
        let fresh: Vec<_> = (0..30).map(|_| Entering::of(&scene, &line)).collect();
        let erasing = round % fresh.len();
        race(fresh.len(), |number| {
            let (stores, fresh) = (stores.clone(), fresh[number].clone());
            let next = scene.make.successor(&present, START);
            let (seen, presented) = (present.clone(), scene.make.presented(&present));
            let project_mode = line.project_mode;
            async move {
                if number == erasing {
                    let erased = stores.identities.erase(project_mode, id, START).await.unwrap();
                    assert!(erased.is_some());
                } else if number % 2 == 0 {
                    fresh.enter(&*stores.logins).await;
                } else {
                    let sessions = &stores.sessions;
                    sessions.rotate(seen, presented, next, POLICY, START).await.unwrap();
                }
            }
        })
        .await;
        assert_eq!(by_id(stores, &line, id).await, None);
        assert_eq!(find_session(stores, &present).await, None);
        // A later login belongs to a new identity.
        let now = by_phone(stores, &line).await.map(|identity| identity.id);
        for entering in fresh {
            let left = find_session(stores, entering.redemption.session().unwrap()).await;
            assert!(left.is_none_or(|left| left.identity != id && Some(left.identity) == now));
        }
    }
}

/// A verification in flight during an erasure creates a new identity or has no effect.
pub async fn a_verification_survives_an_erasure_only_as_a_new_identity(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let id = scene.identity(&line).await;
        race(10, |number| {
            let (stores, entering) = (stores.clone(), Entering::of(&scene, &line));
            let project_mode = line.project_mode;
            async move {
                if number == 0 {
                    let erased = stores.identities.erase(project_mode, id, START).await;
                    assert!(erased.unwrap().is_some());
                } else {
                    entering.enter(&*stores.logins).await;
                }
            }
        })
        .await;
        assert_eq!(by_id(stores, &line, id).await, None);
        assert_ne!(by_phone(stores, &line).await.map(|identity| identity.id), Some(id));
    }
}

/// Concurrent steps on one phone never make each other fail: no deadlock, no conflict.
pub async fn all_steps_on_one_phone_get_along(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let id = scene.session(&line).await.identity;
        let first = scene.issued(&line).await;
        race(60, |number| {
            let (stores, line) = (stores.clone(), line.clone());
            let send = NewSend { quota: ONE_SEND, ..scene.make.new_send(&line) };
            let (free, entering) = (scene.make.new_send(&line), Entering::of(&scene, &line));
            let wrong = scene.make.redemption(&line, WRONG_CODE);
            let failed = Report::Failed(dwar_otp::Reason::Blocked);
            let report = scene.make.send_report(first.delivery.attempts[0].id, failed);
            let (about, slot) =
                (ReportedRequest::Id(line.project_mode.project, first.id), scene.make.slot(&line));
            let record = scene.make.record(&line);
            async move {
                let logins = &*stores.logins;
                let step = match number % 8 {
                    0 => logins.prepare(free, START).await.map(drop),
                    1 => logins.redeem(wrong, START).await.map(drop),
                    2 => logins.report(about, report, START).await.map(drop),
                    3 | 4 => {
                        entering.enter(logins).await;
                        Ok(())
                    }
                    5 => stores.idempotency.begin(slot, record, LIFETIMES).await.map(drop),
                    6 => logins.prepare(send, START).await.map(drop),
                    _ => {
                        let Line { project_mode, .. } = line;
                        stores.identities.erase(project_mode, id, START).await.map(drop)
                    }
                };
                step.unwrap();
            }
        })
        .await;
        assert_eq!(by_id(stores, &line, id).await, None);
    }
}
