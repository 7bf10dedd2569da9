//! Promises of the stores of an installation: [`dwar_activity::installation::InstanceStore`], `AlertStore`,
//! `QueueStore`.

use crate::contract::count;
use crate::scene::Scene;
use crate::{MS, START, Stores, minutes, race, seconds};
use dwar_activity::installation::{
    AlertChanges, Backlog, COUNTED, Instance, InstanceTrouble, OpenAlert, Queues, ReportedTrouble,
};
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{AlertKind, KeyMode, Timestamp};
use dwar_otp::Report;
use std::sync::Arc;

fn instance(scene: &Scene, seen_at: Timestamp) -> Instance {
    Instance {
        id: scene.make.id(),
        started_at: START,
        seen_at,
        version: "0.1.0".to_owned(),
        host: "node-1".to_owned(),
        pid: u32::MAX,
        api: "0.0.0.0:8080".to_owned(),
        dashboard: Some("127.0.0.1:8081".to_owned()),
    }
}

/// Fresh: an instance is as it reported last, the latest seen comes first, and an instance that was silent
/// for long is deleted at the exact instant.
pub async fn instances_are_what_they_said_last(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let store = &stores.console.instances;
    assert_eq!(store.instances(9).await.unwrap(), []);
    let (mut first, second) = (instance(&scene, START), instance(&scene, START + MS));
    let mut shown = Vec::new();
    for beat in [&first, &second] {
        shown.push(store.beat(beat.clone(), START - MS).await.unwrap());
    }
    // The store's own clock, if it has one, advances, and does not show the reported time.
    assert!(shown[0] <= shown[1] && shown[0].is_none_or(|at| at != START), "{shown:?}");
    assert_eq!(store.instances(9).await.unwrap(), [second.clone(), first.clone()]);
    first = Instance { seen_at: START + MS * 2, dashboard: None, ..first };
    store.beat(first.clone(), START).await.unwrap();
    assert_eq!(store.instances(9).await.unwrap(), [first.clone(), second.clone()]);
    assert_eq!(store.instances(1).await.unwrap(), [first.clone()]);
    store.beat(first.clone(), second.seen_at).await.unwrap();
    assert_eq!(store.instances(9).await.unwrap().len(), 2);
    store.beat(first.clone(), second.seen_at + MS).await.unwrap();
    assert_eq!(store.instances(9).await.unwrap(), [first.clone()]);
    for _ in 0..2 {
        store.leave(second.id).await.unwrap();
        assert_eq!(store.instances(9).await.unwrap(), [first.clone()]);
    }
    store.leave(first.id).await.unwrap();
    assert_eq!(store.instances(9).await.unwrap(), []);
}

/// Fresh: instances that report and delete concurrently are all on record afterwards.
pub async fn instances_beat_at_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    stores.console.instances.beat(instance(&scene, START), START).await.unwrap();
    race(20, |_| {
        let (store, own) = (Arc::clone(&stores.console.instances), instance(&scene, START + MS));
        async move {
            for _ in 0..3 {
                store.beat(own.clone(), START + MS).await.unwrap();
            }
        }
    })
    .await;
    let known = stores.console.instances.instances(100).await.unwrap();
    assert_eq!((known.len(), count(&known, |it| it.seen_at == START + MS)), (20, 20));
}

fn trouble(kind: AlertKind, about: &str, since: Option<Timestamp>) -> InstanceTrouble {
    let (about, detail) = (about.to_owned(), format!("{about}: ₹ and 'quotes'"));
    InstanceTrouble { kind, about, detail, since }
}

/// Fresh: the problems of an instance are those that it reported last, as long as it is on record and was
/// seen.
pub async fn troubles_are_what_an_instance_reported_last(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (store, alerts) = (&stores.console.instances, &stores.console.alerts);
    let (first, second) = (instance(&scene, START), instance(&scene, START + MS));
    let second = Instance { host: "node-2".to_owned(), ..second };
    let auth = || trouble(AlertKind::ProviderAuth, "meta", Some(START));
    let clock = || trouble(AlertKind::ClockDiffers, "", None);
    alerts.report(first.id, vec![auth()]).await.unwrap();
    assert_eq!(alerts.reported(START).await.unwrap(), [], "it is not on record");
    for beat in [&first, &second] {
        store.beat(beat.clone(), START - MS).await.unwrap();
    }
    alerts.report(first.id, vec![auth(), clock()]).await.unwrap();
    alerts.report(second.id, vec![auth()]).await.unwrap();
    let of = |host: &str, trouble| ReportedTrouble { host: host.to_owned(), trouble };
    let all = [of("node-1", clock()), of("node-1", auth()), of("node-2", auth())];
    assert_eq!(alerts.reported(START).await.unwrap(), all);
    assert_eq!(alerts.reported(START + MS).await.unwrap(), all[2..], "the first is silent");
    // A heartbeat alone does not change them.
    store.beat(first.clone(), START - MS).await.unwrap();
    alerts.report(second.id, vec![]).await.unwrap();
    assert_eq!(alerts.reported(START).await.unwrap(), all[..2]);
    store.leave(first.id).await.unwrap();
    assert_eq!(alerts.reported(START).await.unwrap(), []);
    store.beat(first.clone(), START - MS).await.unwrap();
    assert_eq!(alerts.reported(START).await.unwrap(), [], "it went with the instance");
}

/// Fresh: an alert is on record from its beginning to its end and keeps its time; each change is returned to
/// one caller.
pub async fn alerts_are_on_record_until_they_are_over(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let alerts = Arc::clone(&stores.console.alerts);
    let alert = |kind, about: &str, project, age| OpenAlert {
        kind,
        about: about.to_owned(),
        project,
        since: START + MS * age,
    };
    let wallet = alert(AlertKind::WalletEmpty, &scene.project.to_string(), Some(scene.project), 1);
    let auth = alert(AlertKind::ProviderAuth, "meta", None, 2);
    assert_eq!(alerts.open_alerts().await.unwrap(), []);
    let both = vec![auth.clone(), wallet.clone()];
    let told = race(9, |_| {
        let (alerts, both) = (Arc::clone(&alerts), both.clone());
        async move { alerts.settle_alerts(both).await.unwrap() }
    })
    .await;
    let opened = AlertChanges { opened: both.clone(), over: vec![] };
    assert_eq!(count(&told, |it| *it == opened), 1, "{told:?}");
    assert_eq!(count(&told, |it| *it == AlertChanges::default()), 8, "{told:?}");
    assert_eq!(alerts.open_alerts().await.unwrap(), both);
    let later = OpenAlert { since: START + MS * 9, ..auth.clone() };
    let disk = alert(AlertKind::DiskFull, "The database", None, 3);
    let changes = alerts.settle_alerts(vec![later, disk.clone()]).await.unwrap();
    assert_eq!(changes, AlertChanges { opened: vec![disk.clone()], over: vec![wallet] });
    assert_eq!(alerts.open_alerts().await.unwrap(), [disk, auth], "it keeps since when");
    alerts.settle_alerts(vec![]).await.unwrap();
    assert_eq!(alerts.open_alerts().await.unwrap(), []);
}

/// Fresh: each queue reports its length and its longest wait, from the instant at which work is due.
pub async fn queues_tell_what_waits(stores: &Stores) {
    let (scene, other) = (Scene::open(stores).await, Scene::open(stores).await);
    let queues = async |now| stores.console.queues.queues(now, 9).await.unwrap();
    assert_eq!(queues(START + minutes(60)).await, Queues::default());
    for (scene, events) in [(&scene, 2), (&other, 1)] {
        stores.events.add_endpoint(scene.make.endpoint(scene.project)).await.unwrap();
        for age in 0..events {
            let subject = Subject::Session { session: scene.make.id(), identity: scene.make.id() };
            let (project_mode, kind) =
                (scene.project.in_mode(KeyMode::Live), EventKind::SessionRevoked);
            let at =
                START + MS * age + if project_mode.project == other.project { MS * 7 } else { MS };
            stores.events.record(Event { project_mode, kind, subject, at }).await.unwrap();
        }
    }
    let later = START + seconds(1);
    let two = Backlog { count: 2, oldest: Some(START + MS) };
    let one = Backlog { count: 1, oldest: Some(START + MS * 7) };
    let found = queues(later).await.events;
    assert_eq!(found, [(scene.project, two), (other.project, one)].into());
    // Events whose next attempt comes later are counted too, even if none is due.
    let early = queues(START).await;
    assert_eq!(early.events, [].into());
    assert_eq!(early.retries, [(scene.project, two), (other.project, one)].into());
    let between = queues(START + MS).await;
    let [due, retried] =
        [START + MS, START + MS * 2].map(|at| Backlog { count: 1, oldest: Some(at) });
    assert_eq!(between.events, [(scene.project, due)].into());
    assert_eq!(between.retries, [(scene.project, retried), (other.project, one)].into());
    let longest = stores.console.queues.queues(later, 1).await.unwrap().events;
    assert_eq!(longest, [(scene.project, two)].into());
    for (archived, left) in [
        (Some(START), vec![(other.project, one)]),
        (None, vec![(scene.project, two), (other.project, one)]),
    ] {
        stores.projects.set_archived(scene.project, archived).await.unwrap().unwrap();
        assert_eq!(queues(later).await.events, left.clone().into_iter().collect());
        assert_eq!(queues(START).await.retries, left.into_iter().collect());
    }

    let otp = scene.issued(&scene.line()).await;
    let due = otp.delivery.due_at.unwrap();
    assert_eq!(queues(due - MS).await.overdue_sends, Backlog::default());
    assert_eq!(queues(due).await.overdue_sends, Backlog { count: 1, oldest: Some(due) });
    scene.credit(1_000).await;
    scene.held(10).await;
    assert_eq!(queues(later).await.open_holds, Backlog { count: 1, oldest: Some(START) });

    // Receipts about unknown messages are not waiting to be applied.
    let accepted = Report::Accepted { provider_ref: Some("ours".to_owned()), awaits_receipt: true };
    scene.reports(&otp, 0, accepted, START).await.unwrap();
    let mut receipt = scene.make.receipt(Report::Delivered);
    receipt.receipt.provider = otp.delivery.attempts[0].provider.clone();
    receipt.receipt.provider_ref = "ours".to_owned();
    let strange = scene.make.receipt(Report::Delivered);
    let since = receipt.received_at;
    stores.receipts.keep(vec![receipt, strange]).await.unwrap();
    assert_eq!(queues(later).await.receipts, Backlog { count: 1, oldest: Some(since) });
}

/// Fresh: a long queue is not counted to its end.
pub async fn a_long_queue_is_not_counted_to_its_end(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.credit(100_000).await;
    for _ in 0..=COUNTED + 4 {
        scene.held(1).await;
    }
    let found = stores.console.queues.queues(START, 9).await.unwrap().open_holds;
    assert_eq!(found, Backlog { count: COUNTED + 1, oldest: Some(START) });
}
