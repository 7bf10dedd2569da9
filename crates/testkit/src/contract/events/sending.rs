use super::{accepted, of_otp};
use crate::contract::ROUNDS;
use crate::scene::Scene;
use crate::{CODE, Line, START, Stores, WRONG_CODE, race, seconds};
use dwar_event::EventKind;
use dwar_kernel::KeyMode;
use dwar_login::Redemption;
use dwar_otp::{AttemptStatus, Channel, GuessPolicy, Otp, Reason, Report, ReportedRequest};
use std::sync::Arc;

/// Overdue, as noticed while a receipt was awaited.
const OVERDUE: Report = Report::Overdue { seen: AttemptStatus::Sent };

/// Fresh: a project without an endpoint records nothing, not even for a later endpoint.
pub async fn nothing_is_recorded_without_an_endpoint(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint_of(scene.another().await).await;
    let line = scene.line();
    let mut otp = scene.issued(&line).await;
    scene.hears(&mut otp, accepted(), START).await;
    scene.hears(&mut otp, Report::Delivered, START).await;
    scene.guess(&line, CODE).await;
    let session = scene.session(&line).await;
    let (project_mode, token) = (line.project_mode, session.access.token);
    let identity = session.identity;
    assert!(stores.sessions.revoke(session, token, START).await.unwrap());
    let erased = stores.identities.erase(project_mode, identity, START).await.unwrap();
    assert!(erased.is_some());
    scene.endpoint().await;
    assert_eq!(scene.told().await, []);
}

/// Fresh: every endpoint that the project has at that moment gets the event once, as a delivery of its own;
/// endpoints of other projects do not.
pub async fn each_endpoint_of_the_project_is_told(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint_of(scene.another().await).await;
    let mut wanted = vec![scene.endpoint().await, scene.endpoint().await];
    wanted.sort_by_key(|endpoint| endpoint.id);
    let mut otp = scene.issued(&scene.line()).await;
    scene.hears(&mut otp, accepted(), START + seconds(1)).await;
    scene.endpoint().await;

    let mut due = scene.claims(START + seconds(1), 9).await;
    due.sort_by_key(|dispatch| dispatch.endpoint.id);
    let event = of_otp(&otp, EventKind::OtpSent, Channel::Whatsapp, START + seconds(1));
    assert!(due.iter().all(|dispatch| dispatch.event == event && dispatch.failures == 0));
    assert_eq!(due.into_iter().map(|dispatch| dispatch.endpoint).collect::<Vec<_>>(), wanted);
    scene.delivers(&wanted[0], &event.id()).await;
    let rest = scene.told().await;
    assert_eq!(rest.len(), 1);
    assert_eq!((&rest[0].endpoint, &rest[0].event), (&wanted[1], &event));
    assert_eq!(scene.told().await, []);
}

/// Fresh: each step of a delivery is recorded with the channel that carries the code, in both modes.
pub async fn a_code_on_its_way_is_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    for mode in [KeyMode::Live, KeyMode::Test] {
        let mut otp = scene.issued(&scene.make.line(scene.project.in_mode(mode))).await;
        assert_eq!(scene.told_events().await, []);
        scene.hears(&mut otp, Report::Failed(Reason::NotOnChannel), START + seconds(1)).await;
        assert_eq!(scene.told_events().await, []);
        scene.hears(&mut otp, accepted(), START + seconds(2)).await;
        let sent = of_otp(&otp, EventKind::OtpSent, Channel::Sms, START + seconds(2));
        assert_eq!(scene.told_events().await, [sent]);
        scene.hears(&mut otp, Report::Delivered, START + seconds(3)).await;
        let delivered = of_otp(&otp, EventKind::OtpDelivered, Channel::Sms, START + seconds(3));
        assert_eq!(scene.told_events().await, [delivered]);
    }
    // The channel is the one that carried the code, although another was tried after it.
    let mut otp = scene.issued(&scene.line()).await;
    scene.hears(&mut otp, accepted(), START + seconds(1)).await;
    scene.hears(&mut otp, OVERDUE, START + seconds(21)).await;
    scene.hears_of(&mut otp, 0, Report::Delivered, START + seconds(22)).await;
    let wanted = [
        of_otp(&otp, EventKind::OtpSent, Channel::Whatsapp, START + seconds(1)),
        of_otp(&otp, EventKind::OtpDelivered, Channel::Whatsapp, START + seconds(22)),
    ];
    assert_eq!(scene.told_events().await, wanted);
}

/// Fresh: a failure of every channel is recorded, with the channel that was tried last.
pub async fn a_code_that_reached_nobody_is_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    let mut otp = scene.issued(&scene.line()).await;
    scene.hears(&mut otp, Report::Failed(Reason::Timeout), START + seconds(1)).await;
    scene.hears(&mut otp, Report::Failed(Reason::Blocked), START + seconds(2)).await;
    let failed = of_otp(&otp, EventKind::OtpFailed, Channel::Sms, START + seconds(2));
    assert_eq!(scene.told_events().await, [failed]);
    // A late delivery receipt overrides the failure.
    scene.hears(&mut otp, Report::Delivered, START + seconds(3)).await;
    let delivered = of_otp(&otp, EventKind::OtpDelivered, Channel::Sms, START + seconds(3));
    assert_eq!(scene.told_events().await, [delivered]);
}

/// Fresh: a report that does not change the status of the request is not recorded.
pub async fn a_report_that_changes_nothing_is_not_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    let mut otp = scene.issued(&scene.line()).await;
    scene.hears(&mut otp, accepted(), START + seconds(1)).await;
    assert_eq!(scene.told().await.len(), 1);
    scene.hears(&mut otp, accepted(), START + seconds(2)).await;
    scene.hears(&mut otp, OVERDUE, START + seconds(21)).await;
    // A second provider accepts a message that was sent already, and the first one fails after all.
    scene.hears(&mut otp, accepted(), START + seconds(22)).await;
    scene.hears_of(&mut otp, 0, Report::Failed(Reason::Blocked), START + seconds(23)).await;
    assert_eq!(scene.told().await, []);
    scene.hears(&mut otp, Report::Delivered, START + seconds(24)).await;
    assert_eq!(scene.told().await.len(), 1);
    for report in [Report::Delivered, Report::Failed(Reason::Blocked), accepted()] {
        scene.hears(&mut otp, report, START + seconds(25)).await;
    }
    assert_eq!(scene.told().await, []);
}

/// Fresh: a report that comes many times concurrently is recorded once.
pub async fn reports_at_once_are_recorded_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    scene.endpoint().await;
    for _ in 0..ROUNDS {
        let otp = scene.issued(&scene.line()).await;
        race(40, |number| {
            let (store, request) =
                (Arc::clone(&stores.logins), ReportedRequest::Id(otp.project_mode.project, otp.id));
            let report = if number % 2 == 0 { accepted() } else { Report::Delivered };
            let report = scene.make.send_report(otp.delivery.attempts[0].id, report);
            async move {
                let answer = store.report(request, report, START + seconds(1)).await;
                assert!(answer.unwrap().is_some());
            }
        })
        .await;
        let mut told: Vec<_> =
            scene.told().await.into_iter().map(|told| (told.endpoint.id, told.event)).collect();
        let count = |kind| told.iter().filter(|(_, event)| event.kind == kind).count();
        assert_eq!(count(EventKind::OtpDelivered), 2);
        // Sent and delivered, or only delivered if the receipt came first.
        assert!(matches!(count(EventKind::OtpSent), 0 | 2));
        let all = told.len();
        told.sort_by_key(|(endpoint, event)| (*endpoint, event.id()));
        told.dedup();
        assert_eq!(told.len(), all);
    }
}

impl Scene {
    async fn guess(&self, line: &Line, code: &str) {
        self.judge(line, code, GuessPolicy::OFF, START + seconds(9)).await;
    }
}

/// Fresh: the right code is recorded once; wrong ones are not.
pub async fn an_accepted_code_is_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    for mode in [KeyMode::Live, KeyMode::Test] {
        let line = scene.make.line(scene.project.in_mode(mode));
        let otp: Otp = scene.issued(&line).await;
        scene.guess(&line, WRONG_CODE).await;
        assert_eq!(scene.told().await, []);
        for code in [CODE, CODE, WRONG_CODE] {
            scene.guess(&line, code).await;
        }
        let verified = of_otp(&otp, EventKind::OtpVerified, Channel::Whatsapp, START + seconds(9));
        assert_eq!(scene.told_events().await, [verified]);
    }
}

/// Fresh: the wrong code that reaches the stop is recorded with its phone, once per period, also if many come
/// concurrently.
pub async fn a_stop_is_recorded_once_in_a_period(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    let policy =
        GuessPolicy { stop_at: 7, stop_for: seconds(60), period: seconds(300), ..GuessPolicy::OFF };
    let line = scene.line();
    for (period, second) in [(0, 0), (0, 100), (1, 300)] {
        let now = START + seconds(second);
        let otp = scene.make.otp_with(&line, CODE, now);
        scene.issue(Otp { max_wrong: 50, ..otp.clone() }).await;
        race(30, |_| {
            let store = Arc::clone(&stores.logins);
            let wrong = Redemption { policy, ..scene.make.redemption(&line, WRONG_CODE) };
            async move { store.redeem(wrong, now).await.unwrap() }
        })
        .await;
        let told = scene.told_events().await;
        let attacked = of_otp(&otp, EventKind::OtpUnderAttack, Channel::Whatsapp, now);
        let first_of_its_period = second == period * 300;
        assert_eq!(told, if first_of_its_period { vec![attacked] } else { vec![] }, "{second}");
    }
}
