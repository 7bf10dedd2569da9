use super::{Answer, stored};
use crate::contract::{ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, START, Stores, WRONG_CODE, race, seconds};
use dwar_kernel::{AttemptId, OtpId};
use dwar_otp::{
    AttemptStatus, Channel, Charge, Delivery, DeliveryStatus, DeliveryStep, GuessPolicy, Otp,
    OtpState, Reason, ReceiptTarget, Report, ReportedRequest,
};
use std::sync::Arc;

/// Overdue, as noticed while a receipt was awaited.
const OVERDUE: Report = Report::Overdue { seen: AttemptStatus::Sent };

fn accepted(provider_ref: &str) -> Report {
    Report::Accepted { provider_ref: Some(provider_ref.to_owned()), awaits_receipt: true }
}

impl Scene {
    /// Reports to the store and to `otp` itself; both must agree, in the answer and on record.
    async fn report(
        &self,
        otp: &mut Otp,
        attempt: usize,
        report: Report,
        second: u64,
    ) -> DeliveryStep {
        let report = self.make.send_report(otp.delivery.attempts[attempt].id, report);
        let (request, now) =
            (ReportedRequest::Id(otp.project_mode.project, otp.id), START + seconds(second));
        let step = report.apply(otp, now).step;
        let answer = self.stores.logins.report(request, report, now).await;
        assert_eq!(answer.unwrap(), Some((otp.clone(), step.clone())));
        assert_eq!(stored(&self.stores, otp).await.as_ref(), Some(&*otp));
        step
    }
}

/// A refusal records the next attempt before it is returned; the report on that attempt ends the delivery.
pub async fn a_refusal_opens_the_next_attempt(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut otp = scene.issued(&scene.line()).await;
    let step = scene.report(&mut otp, 0, Report::Failed(Reason::NotOnChannel), 1).await;
    assert!(matches!(step, DeliveryStep::Try(attempt) if attempt.channel == Channel::Sms));
    assert_eq!(stored(stores, &otp).await.unwrap().delivery.attempts.len(), 2);
    let step = scene.report(&mut otp, 1, accepted("a"), 2).await;
    assert_eq!(step, DeliveryStep::Settle(Charge::Channel(Channel::Sms)));
    assert_eq!(otp.sealed_code, None);
    scene.report(&mut otp, 1, Report::Delivered, 3).await;
    assert_eq!(otp.delivery.status, DeliveryStatus::Delivered);
}

/// A missing or late receipt is applied as the domain says.
pub async fn late_reports_are_applied_as_the_domain_says(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut otp = scene.issued(&scene.line()).await;
    assert_eq!(scene.report(&mut otp, 0, accepted("b"), 1).await, DeliveryStep::Wait);
    assert!(matches!(scene.report(&mut otp, 0, OVERDUE, 21).await, DeliveryStep::Try(_)));
    assert_eq!(
        scene.report(&mut otp, 0, Report::Failed(Reason::Blocked), 22).await,
        DeliveryStep::Wait
    );
    scene.report(&mut otp, 1, accepted("c"), 23).await;
    scene.report(&mut otp, 0, Report::Delivered, 24).await;
}

/// An overdue report on an attempt with a newer report changes nothing.
pub async fn an_overdue_report_after_a_later_word_changes_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (queued, sent) = (AttemptStatus::Queued, AttemptStatus::Sent);
    for (words, seen) in [
        (vec![accepted("d")], queued),
        (vec![Report::Delivered], queued),
        (vec![Report::Failed(Reason::NotOnChannel)], queued),
        (vec![accepted("e"), Report::Delivered], sent),
        (vec![accepted("f"), Report::Failed(Reason::Blocked)], sent),
    ] {
        let mut otp = scene.issued(&scene.line()).await;
        for word in words {
            scene.report(&mut otp, 0, word, 1).await;
        }
        let before = otp.clone();
        assert_eq!(
            scene.report(&mut otp, 0, Report::Overdue { seen }, 31).await,
            DeliveryStep::Wait
        );
        assert_eq!(otp, before);
    }
}

/// An acceptance by a provider stays on record, no matter what is reported later.
pub async fn an_acceptance_outlives_a_later_failure(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut otp = scene.issued(&scene.line()).await;
    scene.report(&mut otp, 0, accepted("g"), 1).await;
    scene.report(&mut otp, 0, Report::Failed(Reason::Blocked), 2).await;
    scene.report(&mut otp, 1, Report::Failed(Reason::Blocked), 3).await;
    let attempts = stored(stores, &otp).await.unwrap().delivery.attempts;
    assert_eq!(attempts.iter().map(|a| a.accepted).collect::<Vec<_>>(), [true, false]);
}

pub async fn a_repeated_report_changes_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut otp = scene.issued(&scene.line()).await;
    scene.report(&mut otp, 0, Report::Delivered, 1).await;
    let once = otp.clone();
    for report in [Report::Delivered, Report::Failed(Reason::Blocked), Report::Delivered] {
        assert_eq!(scene.report(&mut otp, 0, report, 2).await, DeliveryStep::Wait);
    }
    assert_eq!(otp, once);
}

/// When every channel failed, the code is void.
pub async fn a_code_that_reached_nobody_is_void(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let mut otp = scene.issued(&line).await;
    scene.report(&mut otp, 0, Report::Failed(Reason::RejectedNumber), 1).await;
    let step = scene.report(&mut otp, 1, Report::Failed(Reason::ProviderThrottled), 1).await;
    assert_eq!(step, DeliveryStep::Settle(Charge::Nothing));
    assert_eq!((otp.state, otp.delivery.status), (OtpState::Void, DeliveryStatus::Failed));
    assert_eq!(scene.try_code(&line, CODE).await, Answer::NotFound);
}

/// A report on a request of another project returns `None`; a report on an unknown attempt changes nothing.
pub async fn a_report_stays_inside_its_project(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let otp = scene.issued(&scene.line()).await;
    let report = async |project, id: OtpId, attempt: AttemptId| {
        let report = scene.make.send_report(attempt, Report::Delivered);
        stores.logins.report(ReportedRequest::Id(project, id), report, START).await.unwrap()
    };
    let attempt = otp.delivery.attempts[0].id;
    assert_eq!(report(scene.another().await, otp.id, attempt).await, None);
    assert_eq!(report(scene.project, scene.make.id(), attempt).await, None);
    let unknown = report(scene.project, otp.id, scene.make.id()).await;
    assert_eq!(unknown, Some((otp.clone(), DeliveryStep::Wait)));
    assert_eq!(stored(stores, &otp).await, Some(otp));
}

/// A reference leads to its attempt, per provider.
pub async fn a_reference_leads_to_its_attempt(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut otp = scene.issued(&scene.line()).await;
    let reference = format!("ref-{}", otp.id);
    let find = async |provider: &str, reference: &str| {
        stores.otps.find_attempt(provider.to_owned(), reference.to_owned()).await.unwrap()
    };
    assert_eq!(find("meta", &reference).await, None);
    scene.report(&mut otp, 0, accepted(&reference), 1).await;
    let attempt = otp.delivery.attempts[0].id;
    let target = ReceiptTarget { project_mode: otp.project_mode, otp: otp.id, attempt };
    assert_eq!(find("meta", &reference).await, Some(target));
    assert_eq!(find("msg91", &reference).await, None);
    assert_eq!(find("meta", &reference[1..]).await, None);
}

/// A reference that a provider used more than once leads to the attempt made last, no matter what
/// was reported on the others since.
pub async fn a_repeated_reference_leads_to_the_newest_attempt(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let reference = format!("ref-{}", scene.make.id::<OtpId>());
    let at = |second| AttemptId::new(START + seconds(second), &scene.make.entropy);
    // The attempts are recorded and reported in other orders than the one in which they were made.
    let mut made = Vec::new();
    for (second, reported) in [(2, 10), (3, 11), (1, 12)] {
        let delivery = Delivery::begin(&scene.make.route(), at(second), START);
        let mut otp = scene.issue(Otp { delivery, ..scene.make.otp(&scene.line()) }).await;
        scene.report(&mut otp, 0, accepted(&reference), reported).await;
        made.push(otp);
    }
    scene.report(&mut made[0], 0, Report::Delivered, 13).await;
    let found = stores.otps.find_attempt("meta".to_owned(), reference).await.unwrap();
    assert_eq!(found.map(|target| target.otp), Some(made[1].id));
}

/// A caller may report with a view of the request from before a guess or another report: the stored request
/// decides, and nothing is lost.
pub async fn a_report_by_an_old_view_loses_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let seen = scene.issued(&line).await;
    let mut otp = seen.clone();
    let report = async |report: Report, second| {
        let request = ReportedRequest::Seen(Box::new(seen.clone()));
        let report = scene.make.send_report(seen.delivery.attempts[0].id, report);
        let now = START + seconds(second);
        let answer = stores.logins.report(request, report.clone(), now);
        (answer.await.unwrap().unwrap(), report, now)
    };
    let judged = scene.judge(&line, WRONG_CODE, GuessPolicy::OFF, START + seconds(1)).await;
    assert!(matches!(judged, dwar_otp::GuessVerdict::Wrong(_)));
    (otp.wrong, otp.guesses) = (1, vec![START + seconds(1)]);
    for (word, second) in
        [(accepted("h"), 2), (Report::Failed(Reason::Blocked), 3), (accepted("h"), 4)]
    {
        let (answer, word, now) = report(word, second).await;
        let step = word.apply(&mut otp, now).step;
        assert_eq!(answer, (otp.clone(), step));
        assert_eq!(stored(stores, &otp).await.as_ref(), Some(&otp));
    }
}

/// Concurrent reports with the same view of a request are applied one after another.
pub async fn reports_by_one_view_at_once_are_applied_in_turn(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let seen = scene.issued(&scene.line()).await;
        let answers = race(50, |number| {
            let (store, request) =
                (Arc::clone(&stores.logins), ReportedRequest::Seen(Box::new(seen.clone())));
            let report =
                if number % 2 == 0 { accepted("i") } else { Report::Failed(Reason::Timeout) };
            let report = scene.make.send_report(seen.delivery.attempts[0].id, report);
            async move { store.report(request, report, START).await.unwrap().unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |(_, step)| matches!(step, DeliveryStep::Try(_))), 1);
        let otp = stored(stores, &seen).await.unwrap();
        assert_eq!(otp.delivery.attempts.len(), 2);
        assert!(answers.iter().any(|(last, _)| *last == otp));
    }
}

/// If one failure is reported many times concurrently, exactly one report opens the next attempt.
pub async fn failures_at_once_open_one_attempt(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let otp = scene.issued(&scene.line()).await;
        let answers = race(50, |_| {
            let (store, request) =
                (Arc::clone(&stores.logins), ReportedRequest::Id(otp.project_mode.project, otp.id));
            let (first, timeout) = (otp.delivery.attempts[0].id, Report::Failed(Reason::Timeout));
            let report = scene.make.send_report(first, timeout);
            async move { store.report(request, report, START + seconds(1)).await.unwrap().unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |(_, step)| matches!(step, DeliveryStep::Try(_))), 1);
        assert_eq!(count(&answers, |(_, step)| *step == DeliveryStep::Wait), answers.len() - 1);
        assert_eq!(stored(stores, &otp).await.unwrap().delivery.attempts.len(), 2);
    }
}

/// Concurrent guesses and reports do not undo each other.
pub async fn guesses_and_reports_at_once_lose_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let otp = scene.issue(Otp { max_wrong: 20, ..scene.make.otp(&line) }).await;
        race(20, |number| {
            let (store, request) =
                (Arc::clone(&stores.logins), ReportedRequest::Id(otp.project_mode.project, otp.id));
            let wrong = scene.make.redemption(&line, WRONG_CODE);
            let report = scene.make.send_report(otp.delivery.attempts[0].id, Report::Delivered);
            let now = START + seconds(1);
            async move {
                if number % 2 == 0 {
                    store.redeem(wrong, now).await.map(drop).unwrap();
                } else {
                    store.report(request, report, now).await.map(drop).unwrap();
                }
            }
        })
        .await;
        let otp = stored(stores, &otp).await.unwrap();
        assert_eq!((otp.wrong, otp.delivery.status), (10, DeliveryStatus::Delivered));
    }
}
