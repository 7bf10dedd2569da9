//! Promises of the stores that operators' lists read: [`dwar_otp::OtpHistory`], [`dwar_otp::RefusalStore`],
//! [`dwar_project::KeyUseStore`], [`dwar_wallet::ChargeStore`] and the log of
//! [`dwar_ratelimit::SendLimiter`].

use super::wallet::hold;
use crate::scene::Scene;
use crate::{Line, MS, START, Stores, minutes, race, seconds};
use dwar_app::Limits;
use dwar_kernel::{KeyMode, OtpId, Paise, ProjectId, RecorderId, Timestamp};
use dwar_login::NewSend;
use dwar_otp::{DeliveryStatus, Otp, Refusal, RefusedSends, Report};
use dwar_project::{KeyUsage, KeyUse};
use dwar_wallet::{EntryKind, Reference, Settlement};
use std::cmp::Reverse;
use std::collections::HashSet;

fn refused(line: &Line, reason: Refusal, minute: u64, count: u32) -> RefusedSends {
    let minute = RefusedSends::minute_of(START) + minutes(minute);
    let Line { project_mode, index, .. } = *line;
    RefusedSends { project_mode, phone: Some(index), reason, minute, count }
}

async fn refused_of(stores: &Stores, line: &Line) -> Vec<RefusedSends> {
    stores.refusals.of_phone(line.project_mode, line.index, 100).await.unwrap()
}

fn newest_first(mut otps: Vec<Otp>) -> Vec<Otp> {
    otps.sort_by_key(|otp| Reverse(otp.id));
    otps
}

/// Requests of one mode come back whole and newest first, page after page, none twice and none of the other
/// mode or of another project; so do only the failed ones.
pub async fn requests_come_back_in_pages(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut issued = Vec::new();
    for number in 0..7_u32 {
        let mode = if number % 3 == 0 { KeyMode::Test } else { KeyMode::Live };
        let line = scene.make.line(scene.project.in_mode(mode));
        let otp = scene.make.otp_with(&line, crate::CODE, START + MS * number);
        let mut otp = scene.issue(otp).await;
        // After a failure on one channel the request goes on to the other.
        let refused = || Report::Failed(dwar_otp::Reason::Blocked);
        let reports =
            if number % 2 == 0 { vec![refused(), refused()] } else { vec![Report::Delivered] };
        for (attempt, report) in reports.into_iter().enumerate() {
            otp = scene.reports(&otp, attempt, report, START + seconds(1)).await.unwrap().0;
        }
        issued.push(otp);
    }
    let other = scene.another().await;
    let foreign = scene.issued(&scene.make.line(other.in_mode(KeyMode::Live))).await;
    for (mode, failed) in KeyMode::ALL.into_iter().flat_map(|mode| [(mode, false), (mode, true)]) {
        let (mut pages, mut before) = (Vec::new(), None);
        let project_mode = scene.project.in_mode(mode);
        loop {
            let page =
                stores.console.activity.newest(project_mode, failed, before, 2).await.unwrap();
            assert!(page.len() <= 2);
            let Some(last) = page.last() else { break };
            before = Some(last.id);
            pages.extend(page);
        }
        let has_failed = |otp: &&Otp| otp.delivery.status == DeliveryStatus::Failed;
        let own = issued.iter().filter(|otp| otp.project_mode == project_mode);
        let own: Vec<_> = own.filter(|otp| !failed || has_failed(otp)).cloned().collect();
        assert!(!own.is_empty());
        assert_eq!(pages, newest_first(own), "{mode:?} {failed}");
    }
    let project_mode = other.in_mode(KeyMode::Live);
    assert_eq!(
        stores.console.activity.newest(project_mode, false, None, 9).await.unwrap(),
        [foreign]
    );
}

/// The newest requests of a phone come back; another phone, mode or project sees none of them.
pub async fn requests_of_a_phone_stay_inside_it(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let mut own = Vec::new();
    for _ in 0..4 {
        own.push(scene.issued(&line).await.id);
    }
    for elsewhere in scene.elsewhere(&line).await.iter().chain([&scene.line()]) {
        scene.issued(elsewhere).await;
    }
    own.sort_by_key(|id| Reverse(*id));
    let of_phone = |limit| stores.console.activity.of_phone(line.project_mode, line.index, limit);
    let ids = |otps: Vec<Otp>| -> Vec<OtpId> { otps.into_iter().map(|otp| otp.id).collect() };
    assert_eq!(ids(of_phone(9).await.unwrap()), own);
    assert_eq!(ids(of_phone(3).await.unwrap()), own[..3]);
}

/// Fresh: attempts of live requests of all projects come back newest first, those of one request
/// from last to first, and none older than the given instant.
pub async fn newest_attempts_are_those_of_live_requests(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let other = scene.another().await;
    let mut wanted = Vec::new();
    for (number, project) in (0..).zip([scene.project, other, scene.project]) {
        let line = scene.make.line(project.in_mode(KeyMode::Live));
        let at = START + minutes(number);
        let otp = scene.issue(scene.make.otp_with(&line, crate::CODE, at)).await;
        let failed = Report::Failed(dwar_otp::Reason::ProviderUnavailable);
        let otp = scene.reports(&otp, 0, failed, at + seconds(1)).await.unwrap().0;
        assert_eq!(otp.delivery.attempts.len(), 2);
        wanted.splice(0..0, otp.delivery.attempts.into_iter().rev());
        let test = scene.make.line(project.in_mode(KeyMode::Test));
        scene.issue(scene.make.otp_with(&test, crate::CODE, at)).await;
    }
    let newest = |since, limit| stores.console.attempts.newest_attempts(since, limit);
    assert_eq!(newest(START, 9).await.unwrap(), wanted);
    assert_eq!(newest(START, 3).await.unwrap(), wanted[..3]);
    assert_eq!(newest(START + minutes(1), 9).await.unwrap(), wanted[..4]);
    assert_eq!(newest(START + minutes(3), 9).await.unwrap(), []);
}

/// A recorder's new count of a minute replaces its earlier one, no matter how often and in which order
/// it is written; counts of several tallies add up.
pub async fn counts_of_several_tallies_add_up(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let [one, other]: [RecorderId; 2] = [scene.make.id(), scene.make.id()];
    let count = |usage_recorder, counts| stores.refusals.count(usage_recorder, counts);
    count(one, vec![refused(&line, Refusal::Limit, 0, 2)]).await.unwrap();
    count(one, vec![refused(&line, Refusal::Limit, 0, 5)]).await.unwrap();
    count(one, vec![refused(&line, Refusal::Limit, 0, 5)]).await.unwrap();
    count(one, vec![refused(&line, Refusal::Limit, 0, 3)]).await.unwrap();
    assert_eq!(refused_of(stores, &line).await, [refused(&line, Refusal::Limit, 0, 5)]);
    let more = vec![refused(&line, Refusal::Limit, 0, 4), refused(&line, Refusal::Balance, 1, 1)];
    count(other, more).await.unwrap();
    let sum = [refused(&line, Refusal::Balance, 1, 1), refused(&line, Refusal::Limit, 0, 9)];
    assert_eq!(refused_of(stores, &line).await, sum);
}

/// No count is lost when tallies write at the same time.
pub async fn counts_at_once_lose_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let lines: Vec<Line> = (0..20).map(|_| scene.line()).collect();
    race(8, |number| {
        let (stores, usage_recorder) = (stores.clone(), scene.make.id());
        let mut counts: Vec<_> =
            lines.iter().map(|line| refused(line, Refusal::Pace, 0, 3)).collect();
        counts.rotate_left(number * 2);
        async move { stores.refusals.count(usage_recorder, counts).await.unwrap() }
    })
    .await;
    for line in &lines {
        assert_eq!(refused_of(stores, line).await, [refused(line, Refusal::Pace, 0, 24)]);
    }
}

/// Counts stay inside project, mode and phone; counts of a whole project name no phone.
pub async fn counts_stay_inside_project_mode_and_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let [test, other] = scene.elsewhere(&line).await;
    let unknown = RefusedSends { phone: None, ..refused(&line, Refusal::Ceiling, 2, 7) };
    let all = [&line, &test, &other].map(|line| refused(line, Refusal::Limit, 1, 1));
    let counts = [&all[..], &[unknown.clone(), refused(&line, Refusal::Limit, 0, 2)]].concat();
    stores.refusals.count(scene.make.id(), counts).await.unwrap();
    let own = [refused(&line, Refusal::Limit, 1, 1), refused(&line, Refusal::Limit, 0, 2)];
    assert_eq!(refused_of(stores, &line).await, own);
    assert_eq!(refused_of(stores, &test).await, [refused(&test, Refusal::Limit, 1, 1)]);
    let one = stores.refusals.of_phone(line.project_mode, line.index, 1).await.unwrap();
    assert_eq!(one, own[..1]);
    let since = RefusedSends::minute_of(START) + minutes(1);
    let of_project =
        stores.refusals.of_project(line.project_mode.project, since, None, 100).await.unwrap();
    let nameless = |it: RefusedSends| RefusedSends { phone: None, ..it };
    let live = nameless(refused(&line, Refusal::Limit, 1, 1));
    assert_eq!(of_project, [unknown.clone(), live, nameless(refused(&test, Refusal::Limit, 1, 1))]);
    let newest =
        stores.refusals.of_project(line.project_mode.project, since, None, 1).await.unwrap();
    assert_eq!(newest, [unknown]);
    let before = Some(since + minutes(1));
    let earlier =
        stores.refusals.of_project(line.project_mode.project, since, before, 100).await.unwrap();
    assert_eq!(earlier, of_project[1..]);
}

/// An erased phone leaves no count behind; counts of other phones stay.
pub async fn an_erasure_takes_the_counts(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (line, other) = (scene.line(), scene.line());
    let identity = scene.identity(&line).await;
    let counts = [&line, &other].map(|line| refused(line, Refusal::Limit, 0, 1));
    stores.refusals.count(scene.make.id(), counts.to_vec()).await.unwrap();
    stores.identities.erase(line.project_mode, identity, START).await.unwrap().unwrap();
    assert_eq!(refused_of(stores, &line).await, []);
    assert_eq!(refused_of(stores, &other).await.len(), 1);
}

/// A sweep deletes counts of old minutes, however many there are.
pub async fn sweep_drops_old_counts(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let old = (0..1_200).map(|_| refused(&scene.line(), Refusal::Limit, 0, 1));
    stores.refusals.count(scene.make.id(), old.collect()).await.unwrap();
    let line = scene.line();
    stores
        .refusals
        .count(scene.make.id(), vec![refused(&line, Refusal::Limit, 1, 1)])
        .await
        .unwrap();
    let before = RefusedSends::minute_of(START) + minutes(1);
    assert_eq!(stores.refusals.sweep(before).await.unwrap(), 1_200);
    assert_eq!(stores.refusals.sweep(before).await.unwrap(), 0);
    assert_eq!(refused_of(stores, &line).await.len(), 1);
}

async fn used(stores: &Stores, project: ProjectId) -> [Option<KeyUsage>; 2] {
    let keys = stores.projects.keys(project).await.unwrap();
    [keys[0].used, keys[1].used]
}

fn at(at: Timestamp) -> KeyUsage {
    KeyUsage { at, from: Some([203, 0, 113, 7].into()) }
}

/// A use is recorded at most once a minute, to the exact instant, by whichever process, and never backwards.
/// The key works as before.
pub async fn a_key_use_is_noted_once_a_minute(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (project, other) = (scene.project, scene.another().await);
    let keys = stores.projects.keys(project).await.unwrap();
    let note = |used| stores.key_uses.note(vec![KeyUse { key: keys[0].id, used }]);
    assert_eq!(used(stores, project).await, [None, None]);
    note(at(START)).await.unwrap();
    note(at(START + minutes(1) - MS)).await.unwrap();
    note(at(START - seconds(90))).await.unwrap();
    assert_eq!(used(stores, project).await, [Some(at(START)), None]);
    let later = KeyUsage { from: None, ..at(START + minutes(1)) };
    let both = [(keys[0].id, later), (keys[1].id, at(START))];
    let both = both.map(|(key, used)| KeyUse { key, used });
    stores.key_uses.note(both.to_vec()).await.unwrap();
    assert_eq!(used(stores, project).await, [Some(later), Some(at(START))]);
    assert_eq!(used(stores, other).await, [None, None]);
    let caller = stores.projects.caller(keys[0].digest).await.unwrap().unwrap();
    assert_eq!((caller.key, caller.mode), (keys[0].id, KeyMode::Live));
}

/// A new key has no recorded use, even if its predecessor had one; uses of the replaced key are not recorded
/// any more.
pub async fn a_new_key_was_never_used(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let old = stores.projects.keys(scene.project).await.unwrap()[0].id;
    let note = |key| stores.key_uses.note(vec![KeyUse { key, used: at(START) }]);
    note(old).await.unwrap();
    assert!(
        stores.projects.replace_key(scene.project, scene.make.key(KeyMode::Live)).await.unwrap()
    );
    assert_eq!(used(stores, scene.project).await, [None, None]);
    note(old).await.unwrap();
    assert_eq!(used(stores, scene.project).await, [None, None]);
}

/// Charges and refunds are those of the given sends of this project only.
pub async fn charges_are_those_of_the_sends(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (project, make, wallets) = (scene.project, &scene.make, &stores.wallets);
    let sends: [OtpId; 3] = [make.id(), make.id(), make.id()];
    wallets.credit(project, make.credit(Paise(1_000)), START).await.unwrap();
    for send in sends {
        hold(&*stores.logins, scene.holding(send, 30), START).await;
        let (spent, entries) = (Settlement::Capture(Paise(20)), [make.id(), make.id()]);
        wallets.settle(project, send, spent, entries, START).await.unwrap();
    }
    wallets.refund(project, sends[1], make.id(), START + MS).await.unwrap();
    let wanted = vec![sends[0], sends[1], make.id()];
    let found = stores.console.charges.charges(project, wanted.clone()).await.unwrap();
    let facts: HashSet<_> =
        found.into_iter().map(|it| (it.reference, it.kind.as_str(), it.amount.0)).collect();
    let [first, second] = [sends[0], sends[1]].map(Reference::from);
    let (capture, refund) = (EntryKind::Capture.as_str(), EntryKind::Refund.as_str());
    let told = [(first, capture, -20), (second.clone(), capture, -20), (second, refund, 20)];
    assert_eq!(facts, HashSet::from(told));
    let steps = stores.console.charges.steps(project, wanted.clone()).await.unwrap();
    let mut steps: Vec<_> = steps
        .into_iter()
        .map(|it| (it.reference.to_string(), it.kind.as_str(), it.amount.0, it.held.0))
        .collect();
    steps.sort_unstable();
    let mut of_both: Vec<_> = [sends[0], sends[1]]
        .into_iter()
        .flat_map(|send| {
            [("hold", 0, 30), ("capture", -20, -20), ("release", 0, -10)]
                .map(|(kind, amount, held)| (send.to_string(), kind, amount, held))
        })
        .collect();
    of_both.sort_unstable();
    assert_eq!(steps, of_both);
    let other = scene.another().await;
    assert_eq!(stores.console.charges.charges(other, wanted.clone()).await.unwrap(), []);
    assert_eq!(stores.console.charges.steps(other, wanted).await.unwrap(), []);
}

/// The log of a phone predicts the answer to its next send.
pub async fn the_log_says_what_the_next_send_is_told(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let Limits { live, guesses: policy, .. } = Limits::default();
    let quota = live.send;
    for number in 0..4_u32 {
        let now = START + seconds(60) * number;
        let mut log = stores.sends.log(line.send_key()).await.unwrap();
        let foretold = log.admit(&quota, &policy, now);
        let otp = scene.make.otp_with(&line, crate::CODE, now);
        let send = otp.id;
        let next = NewSend { quota, guesses: policy, ..scene.make.new_send_of(otp) };
        let told = scene.admission(next, now).await;
        assert_eq!(foretold, told, "send {number}");
        if number == 1 {
            stores.sends.forgive(line.send_key(), send).await.unwrap();
        }
    }
    for elsewhere in scene.elsewhere(&line).await {
        let mut log = stores.sends.log(elsewhere.send_key()).await.unwrap();
        assert_eq!(log.admit(&quota, &policy, START).counted.remaining, 2);
    }
}
