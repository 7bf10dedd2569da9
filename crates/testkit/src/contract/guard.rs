//! Promises of [`dwar_ratelimit::GuardStore`], and of [`dwar_login::LoginStore`] about the marks of guarded
//! sends.

use super::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, Line, MS, START, Stores, minutes, race, seconds};
use dwar_kernel::GuardVerdict::{self, Admitted, Day, Device, Series, Trusted};
use dwar_kernel::{Digest, GuessPolicy, ProjectId, Timestamp};
use dwar_login::{NewSend, Prepared, Redeemed};
use dwar_ratelimit::guard::{
    GuardLevel, GuardMark, GuardSubject, GuardSubjectKind, GuardedSend, LevelChange, StoredLevel,
    TOKEN,
};
use dwar_ratelimit::{DayBound, Quota, SendAdmission, SendBound};
use std::collections::BTreeMap;
use std::sync::Arc;

const CAPACITY: i64 = GuardLevel::SERIES_CAPACITY;
const HOME: Digest = Digest([1; 32]);
const OTHER: Digest = Digest([2; 32]);
const GUARDED: GuardedSend = GuardedSend { visitor: Some(HOME), verdict: Admitted };

const fn series(byte: u8) -> GuardSubject {
    GuardSubject { kind: GuardSubjectKind::Series, digest: Digest([byte; 32]) }
}

const fn change(project: ProjectId, subject: GuardSubject, by: i64) -> LevelChange {
    LevelChange { project, subject, by, capacity: CAPACITY }
}

async fn exchange(
    stores: &Stores,
    changes: Vec<LevelChange>,
    projects: &[ProjectId],
    since: Timestamp,
    now: Timestamp,
) -> BTreeMap<(ProjectId, GuardSubject), GuardLevel> {
    let wanted: Vec<_> = changes.iter().map(|it| (it.project, it.subject)).collect();
    let left = stores.guard.change_levels(changes, now).await.unwrap();
    assert_eq!(left.iter().map(|it| (it.project, it.subject)).collect::<Vec<_>>(), wanted);
    let levels = stores.guard.changed_levels(projects.to_vec(), since).await.unwrap();
    assert!(left.iter().all(|it| !projects.contains(&it.project) || levels.contains(it)));
    levels.into_iter().map(|it| ((it.project, it.subject), it.level)).collect()
}

/// A change is applied as the domain says. Only what changed since an instant is read, and only of the named
/// projects.
pub async fn levels_change_as_the_domain_says(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (project, other) = (scene.project, scene.another().await);
    let kinds = GuardSubjectKind::ALL.map(|kind| GuardSubject { kind, digest: HOME });
    let taken: Vec<_> = kinds.map(|subject| change(project, subject, -3 * TOKEN)).into();
    let read = exchange(stores, taken.clone(), &[project], START, START).await;
    let first = |change: &LevelChange| change.apply(None, START);
    let wanted: Vec<StoredLevel> = taken.iter().map(first).collect();
    assert_eq!(read, wanted.iter().map(|it| ((it.project, it.subject), it.level)).collect());

    let later = START + seconds(500);
    let more = change(project, kinds[1], -30 * TOKEN);
    let second = more.apply(Some(wanted[1].level), later).level;
    assert!(second.level < 0);
    let own = ((project, kinds[1]), second);
    let read = exchange(stores, vec![more], &[project, other], later, later).await;
    assert_eq!(read, BTreeMap::from([own]));
    // To the millisecond, without a change, and of no other project.
    assert_eq!(exchange(stores, vec![], &[project], later, later).await, BTreeMap::from([own]));
    assert!(exchange(stores, vec![], &[project], later + MS, later).await.is_empty());
    assert!(exchange(stores, vec![], &[other], START, later).await.is_empty());
    let foreign = vec![change(other, kinds[1], -TOKEN)];
    let foreign = exchange(stores, foreign, &[other], START, later).await;
    assert_eq!(foreign[&(other, kinds[1])].level, CAPACITY - TOKEN);
    for since in [START, Timestamp::UNIX_EPOCH] {
        assert_eq!(exchange(stores, vec![], &[project], since, later).await.len(), 3);
        assert_eq!(exchange(stores, vec![], &[other], since, later).await.len(), 1);
    }
}

/// Changes of many instances at once to the same and to different levels all count.
pub async fn changes_of_levels_at_once_all_count(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        let project = scene.project;
        let answers = race(60, |number| {
            let store = Arc::clone(&stores.guard);
            let own = series(u8::try_from(number).unwrap() + 10);
            let changes =
                vec![change(project, series(1), -TOKEN), change(project, own, -2 * TOKEN)];
            async move { store.change_levels(changes, START).await.unwrap() }
        })
        .await;
        let shared = |it: &&StoredLevel| it.subject == series(1);
        let mut seen: Vec<i64> = answers
            .iter()
            .filter_map(|all| all.iter().find(shared))
            .map(|it| it.level.level)
            .collect();
        seen.sort_unstable();
        let wanted: Vec<i64> = (1..=60).rev().map(|taken| CAPACITY - taken * TOKEN).collect();
        assert_eq!(seen, wanted);
        let all = exchange(stores, vec![], &[project], START, START).await;
        assert_eq!(all.len(), 61);
        assert_eq!(all.values().filter(|it| it.level == CAPACITY - 2 * TOKEN).count(), 60);
    }
}

/// Fresh: a level goes once it is full and every instance knows.
pub async fn full_levels_go_and_others_stay(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let project = scene.project;
    let changes = vec![
        change(project, series(1), -TOKEN),
        change(project, series(2), -CAPACITY),
        change(project, series(3), TOKEN),
    ];
    exchange(stores, changes, &[project], START, START).await;
    let left = async |now| {
        stores.guard.sweep_levels(now).await.unwrap();
        exchange(stores, vec![], &[project], START, START).await.len()
    };
    let known = GuardLevel::KNOWN_AFTER;
    assert_eq!(left(START + known - MS).await, 3);
    assert_eq!(left(START + known).await, 2);
    // A token of twenty takes 72 minutes, all of them a day.
    assert_eq!(left(START + known + minutes(72) - MS).await, 2);
    assert_eq!(left(START + known + minutes(72)).await, 1);
    assert_eq!(left(START + known + minutes(24 * 60) - MS).await, 1);
    assert_eq!(left(START + known + minutes(24 * 60)).await, 0);
}

async fn prepared(stores: &Stores, send: NewSend, now: Timestamp) -> Option<GuardMark> {
    match stores.logins.prepare(send, now).await.unwrap() {
        Prepared::Ready(SendAdmission { guard, .. }) => guard,
        other => panic!("{other:?}"),
    }
}

fn send(scene: &Scene, line: &Line, guard: Option<GuardedSend>, now: Timestamp) -> NewSend {
    NewSend { guard, ..scene.make.new_send_of(scene.make.otp_with(line, CODE, now)) }
}

async fn verified(scene: &Scene, line: &Line, logs_in: bool, now: Timestamp) -> Option<GuardMark> {
    let redemption = match logs_in {
        true => scene.make.redemption(line, CODE),
        false => scene.make.check(line, CODE),
    };
    match scene.stores.logins.redeem(redemption, now).await.unwrap() {
        Redeemed::LoggedIn(_, _, mark) | Redeemed::Verified(_, mark) => mark,
        other => panic!("{other:?}"),
    }
}

/// A guarded send is marked with what is on record of its phone, and its verification tells the mark.
pub async fn a_guarded_send_is_marked_and_its_verification_tells(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let other = GuardedSend { visitor: Some(OTHER), ..GUARDED };
    let at = |after: u64| START + seconds(after);
    let guarded =
        |guard, after| prepared(stores, send(&scene, &line, Some(guard), at(after)), at(after));
    let first = GuardMark { visitor: Some(HOME), taken_at: Some(START), is_new: true, earns: true };
    assert_eq!(guarded(GUARDED, 0).await, Some(first));
    // The same token, and the address that it was taken from, until ten minutes are over.
    assert_eq!(guarded(other, 599).await, Some(first));
    let again = GuardMark { visitor: Some(OTHER), taken_at: Some(at(600)), ..first };
    assert_eq!(guarded(other, 600).await, Some(again));
    // A proof takes nothing; the token of the code before stands.
    let trusted = GuardedSend { verdict: Trusted, ..GUARDED };
    assert_eq!(guarded(trusted, 700).await, Some(again));
    assert_eq!(verified(&scene, &line, false, at(701)).await, Some(again));
    // A check makes no identity. The number has earned, for a day.
    let known = GuardMark { visitor: Some(HOME), taken_at: Some(at(800)), earns: false, ..first };
    assert_eq!(guarded(GUARDED, 800).await, Some(known));
    assert_eq!(verified(&scene, &line, true, at(801)).await, Some(known));
    let day = 700 + 86_400;
    let known = GuardMark { taken_at: Some(at(day - 1)), is_new: false, ..known };
    assert_eq!(guarded(GUARDED, day - 1).await, Some(known));
    assert_eq!(verified(&scene, &line, true, at(day - 1)).await, Some(known));
    let asked = GuardedSend { visitor: None, verdict: Series };
    let later = 2 * 86_400 + 700;
    let marked = GuardMark { visitor: None, taken_at: None, is_new: false, earns: true };
    assert_eq!(guarded(asked, later).await, Some(marked));
    // Where the guard was off, nothing is told.
    assert_eq!(
        prepared(stores, send(&scene, &line, None, at(later + 1)), at(later + 1)).await,
        None
    );
    assert_eq!(verified(&scene, &line, true, at(later + 2)).await, None);
}

/// What is on record of a phone in another mode or project means nothing here.
pub async fn marks_stay_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    scene.identity(&line).await;
    prepared(stores, send(&scene, &line, Some(GUARDED), START), START).await;
    for elsewhere in scene.elsewhere(&line).await {
        let other = GuardedSend { visitor: Some(OTHER), ..GUARDED };
        let now = START + seconds(1);
        let mark = prepared(stores, send(&scene, &elsewhere, Some(other), now), now).await.unwrap();
        assert!(mark.is_new && mark.earns && mark.took(now), "{mark:?}");
        assert_eq!(mark.visitor, Some(OTHER));
    }
}

/// A repeated send has the mark of the first time.
pub async fn a_repeated_guarded_send_has_its_mark(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let asked = send(&scene, &line, Some(GUARDED), START);
    let first = prepared(stores, asked.clone(), START).await;
    assert!(first.is_some_and(|mark| mark.took(START)));
    for _ in 0..2 {
        assert_eq!(prepared(stores, asked.clone(), START).await, first);
    }
}

/// Of many sends to one phone at once, one takes the token, and all stand for it.
pub async fn guarded_sends_at_once_take_one_token(stores: &Stores) {
    for _ in 0..ROUNDS {
        let scene = Scene::open(stores).await;
        let line = scene.line();
        let marks = race(CROWD / 4, |number| {
            let visitor = Some(Digest([u8::try_from(number).unwrap(); 32]));
            let now = START + MS * u32::try_from(number).unwrap();
            let send = send(&scene, &line, Some(GuardedSend { visitor, ..GUARDED }), now);
            let store = Arc::clone(&stores.logins);
            async move {
                match store.prepare(send, now).await.unwrap() {
                    Prepared::Ready(admission) => (now, admission.guard.unwrap()),
                    other => panic!("{other:?}"),
                }
            }
        })
        .await;
        assert_eq!(count(&marks, |(now, mark)| mark.took(*now)), 1);
        let (_, first) = marks[0];
        assert!(marks.iter().all(|(_, mark)| *mark == first), "{marks:?}");
        assert_eq!(verified(&scene, &line, true, START + seconds(1)).await, Some(first));
    }
}

/// The bound for a day is exact, counts kept places only, and ends to the millisecond.
pub async fn a_day_admits_as_many_as_its_bound(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let day = Quota { limit: 5, window: minutes(24 * 60) };
    let bound = Some(DayBound { places: day, is_enforced: true });
    let bounded = |now| NewSend { day: bound, ..send(&scene, &line, Some(GUARDED), now) };
    let answers = race(60, |_| {
        let (send, store) = (bounded(START), Arc::clone(&stores.logins));
        async move { store.prepare(send, START).await.unwrap() }
    })
    .await;
    assert_eq!(count(&answers, |answer| matches!(answer, Prepared::Ready(_))), 5);
    let refused = |answer: &Prepared| match answer {
        Prepared::Limited(it) => it.refused_by == Some(SendBound::Day),
        _ => false,
    };
    assert_eq!(count(&answers, refused), 55);
    let ask = async |now| stores.logins.prepare(bounded(now), now).await.unwrap();
    let end = START + day.window;
    assert!(refused(&ask(end - MS).await));
    // Without the bound the phone has places, and a forgiven one does not count for it.
    assert!(prepared(stores, send(&scene, &line, None, end - MS), end - MS).await.is_none());
    assert!(matches!(ask(end).await, Prepared::Ready(_)));
}

/// Each verdict of the guard is on record beside its code.
pub async fn the_verdict_of_the_guard_is_on_record(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let verdicts = GuardVerdict::ALL.into_iter().map(Some).chain([None]);
    for (number, verdict) in (0_u64..).zip(verdicts) {
        let (line, now) = (scene.line(), START + minutes(number));
        let guard = verdict.map(|verdict| GuardedSend { verdict, ..GUARDED });
        let send = send(&scene, &line, guard, now);
        let (project_mode, id) = (send.otp.project_mode, send.otp.id);
        prepared(stores, send, now).await;
        let found = stores.otps.find(project_mode, id).await.unwrap().unwrap();
        assert_eq!(found.guard, verdict);
    }
}

/// Where the guard only watches, the bound for a day refuses nothing. The verdict says that it was reached, but for
/// a known device, which it does not bind, and where a level would have refused the send before.
pub async fn a_watched_day_refuses_nothing_and_is_on_record(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let places = Quota { limit: 2, window: minutes(24 * 60) };
    let day = Some(DayBound { places, is_enforced: false });
    let guesses = GuessPolicy { device_stop_at: 20, ..GuessPolicy::OFF };
    let ask = async |verdict, by_device, after| {
        let now = START + minutes(after);
        let send = send(&scene, &line, Some(GuardedSend { verdict, ..GUARDED }), now);
        let (project_mode, id) = (send.otp.project_mode, send.otp.id);
        let mark =
            prepared(stores, NewSend { by_device, day, guesses, ..send }, now).await.unwrap();
        let found = stores.otps.find(project_mode, id).await.unwrap().unwrap();
        (found.guard.unwrap(), mark.took(now))
    };
    assert_eq!(ask(Admitted, false, 0).await, (Admitted, true));
    assert_eq!(ask(Trusted, false, 20).await, (Trusted, false));
    assert_eq!(ask(Admitted, false, 40).await, (Day, false));
    assert_eq!(ask(Trusted, false, 60).await, (Day, false));
    assert_eq!(ask(Device, true, 80).await, (Device, false));
    assert_eq!(ask(Series, false, 100).await, (Series, false));
    // Two of the places are a day old.
    assert_eq!(ask(Admitted, false, 24 * 60 + 60 - 1).await, (Day, false));
}
