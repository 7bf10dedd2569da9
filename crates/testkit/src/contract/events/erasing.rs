use super::{accepted, of_otp};
use crate::contract::ROUNDS;
use crate::scene::Scene;
use crate::{CODE, Line, START, Stores, race, seconds};
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{IdentityId, KeyMode, ProjectId, Timestamp};
use dwar_otp::{Channel, GuessPolicy, Report, ReportedRequest};

const fn deleted(line: &Line, identity: IdentityId, sessions: u64, at: Timestamp) -> Event {
    let subject = Subject::Identity { identity, sessions_revoked: sessions };
    let (project_mode, kind) = (line.project_mode, EventKind::IdentityDeleted);
    Event { project_mode, kind, subject, at }
}

impl Scene {
    async fn erase(&self, line: &Line, id: IdentityId, now: Timestamp) -> bool {
        let identities = &self.stores.identities;
        identities.erase(line.project_mode, id, now).await.unwrap().is_some()
    }
}

/// Fresh: an erasure is recorded once, with the number of sessions that ended with it and without an event
/// for each of them.
pub async fn an_erasure_is_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    for (mode, alive) in [(KeyMode::Live, 2), (KeyMode::Test, 0)] {
        let line = scene.make.line(scene.project.in_mode(mode));
        let id = scene.told_session(&line).await.identity;
        for _ in 0..alive {
            scene.told_session(&line).await;
        }
        let now = START + seconds(1);
        let [other_mode, _] =
            scene.elsewhere(&line).await.map(|elsewhere| elsewhere.project_mode.project);
        assert!(
            !scene
                .erase(
                    &Line {
                        project_mode: scene.make.id::<ProjectId>().in_mode(line.project_mode.mode),
                        ..line.clone()
                    },
                    id,
                    now
                )
                .await
        );
        assert_eq!(other_mode, scene.project);
        assert_eq!(scene.told().await, []);
        assert!(scene.erase(&line, id, now).await);
        assert!(!scene.erase(&line, id, now).await);
        assert_eq!(scene.told_events().await, [deleted(&line, id, alive + 1, now)]);
    }
}

/// Fresh: recorded events of an erased phone are still delivered, without the number; nothing more is
/// recorded of its requests. The same phone elsewhere keeps its number.
pub async fn an_erasure_takes_the_phone_from_what_was_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    let line = scene.line();
    let id = scene.told_session(&line).await.identity;
    let mut bystanders: Vec<Line> = scene.elsewhere(&line).await.into();
    scene.endpoint_of(bystanders[1].project_mode.project).await;
    bystanders.push(scene.line());
    let mut erased = scene.issued(&line).await;
    let now = START + seconds(1);
    scene.hears(&mut erased, accepted(), now).await;
    scene.judge(&line, CODE, GuessPolicy::OFF, now).await;
    let mut kept = Vec::new();
    for bystander in &bystanders {
        let mut otp = scene.issued(bystander).await;
        scene.hears(&mut otp, accepted(), now).await;
        kept.push(of_otp(&otp, EventKind::OtpSent, Channel::Whatsapp, now));
    }
    // Claimed but not delivered: the present claimer may still deliver the number, the next one does not have
    // it.
    assert_eq!(scene.claims(now, 100).await.len(), 5);
    assert!(scene.erase(&line, id, START + seconds(2)).await);
    assert_eq!(scene.reports(&erased, 0, Report::Delivered, now).await, None);

    let told = scene.told_events().await;
    assert_eq!(told.len(), 6);
    assert!(told.contains(&deleted(&line, id, 2, START + seconds(2))));
    assert!(kept.iter().all(|event| told.contains(event)));
    for kind in [EventKind::OtpSent, EventKind::OtpVerified] {
        let wanted = of_otp(&erased, kind, Channel::Whatsapp, now);
        let event = told.iter().find(|event| event.id() == wanted.id()).unwrap();
        let Subject::Otp { otp, channel, phone } = &event.subject else {
            panic!("{event:?} is about a request");
        };
        assert_eq!((*otp, *channel), (erased.id, Some(Channel::Whatsapp)));
        assert_eq!((event.project_mode, event.at), (line.project_mode, now));
        assert_eq!(*phone, None);
    }
}

/// Fresh: no report or guess in flight during an erasure leaves the number in an event.
pub async fn nothing_in_flight_keeps_an_erased_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    for round in 0..ROUNDS * 5 {
        let line = scene.line();
        let id = scene.identity(&line).await;
        let otp = scene.issued(&line).await;
        let now = START + seconds(1);
        race(9, |number| {
            let (stores, project_mode) = (stores.clone(), line.project_mode);
            let right = scene.make.redemption(&line, CODE);
            let report = if number % 3 == 1 { accepted() } else { Report::Delivered };
            let report = scene.make.send_report(otp.delivery.attempts[0].id, report);
            let (request, erasing) = (ReportedRequest::Id(project_mode.project, otp.id), round % 9);
            async move {
                if number == erasing {
                    let erased = stores.identities.erase(project_mode, id, now).await.unwrap();
                    assert!(erased.is_some());
                } else if number % 3 == 0 {
                    stores.logins.redeem(right, now).await.unwrap();
                } else {
                    stores.logins.report(request, report, now).await.unwrap();
                }
            }
        })
        .await;
        let told = scene.told_events().await;
        let deletions = told.iter().filter(|event| event.kind == EventKind::IdentityDeleted);
        assert_eq!(deletions.count(), 1);
        for event in told {
            if let Subject::Otp { phone, .. } = event.subject {
                assert_eq!(phone, None);
            }
        }
    }
}
