//! What needs a person now, and how little is read to find that out.

use crate::common::{BY, Office};
use dwar_activity::{Counts, Figure, FigureChunk, Grain, GuardCounts, Interval, Key};
use dwar_event::{Endpoint, Event, EventKind, Failing, Subject};
use dwar_kernel::{AlertKind, Channel, KeeperId, KeyMode, Paise, ProjectId};
use dwar_memory::Fault;
use dwar_testkit::{START, minutes, seconds};

async fn alerts(office: &Office) -> Vec<(AlertKind, Option<ProjectId>)> {
    office.manage.alerts.refresh().await.unwrap();
    office.manage.alerts.latest().iter().map(|it| (it.kind, it.project)).collect()
}

async fn pay(office: &Office, project: ProjectId, paise: i64) {
    let credit = office.make.credit(Paise(paise));
    office.stores.wallets.credit(project, credit, START).await.unwrap();
}

/// The figures of the minute before [`START`] say that the project spent this much.
async fn spent(office: &Office, project: ProjectId, paise: i64) {
    counted(office, project, Counts { requests: 1, spent: Paise(paise), ..Counts::default() })
        .await;
}

/// These are the figures of the minute before [`START`].
async fn counted(office: &Office, project: ProjectId, counts: Counts) {
    let figures = &office.stores.console.figures;
    let keeper: KeeperId = "00000000-0000-7000-8000-000000000001".parse().unwrap();
    let until = Grain::Minute.begin(START);
    figures.acquire_lease(keeper, START, seconds(60)).await.unwrap();
    let window = Interval { from: until - minutes(1), until };
    let project_mode = project.in_mode(KeyMode::Live);
    let figure = Figure {
        key: Key { project_mode, carrier: Some((Channel::Sms, "one".to_owned())) },
        grain: Grain::Minute,
        began: window.from,
        counts,
    };
    assert!(figures.replace(keeper, FigureChunk { window, minutes: vec![figure] }).await.unwrap());
}

#[tokio::test]
async fn trusted_visitors_who_do_not_verify_are_told_and_it_ends() {
    let office = Office::open();
    let project = office.project().await;
    let sends = |trusted, trusted_verified| Counts {
        requests: trusted,
        guard: GuardCounts { judged: trusted, trusted, trusted_verified, ..GuardCounts::default() },
        ..Counts::default()
    };
    let open = [(AlertKind::TrustedUnverified, Some(project))];
    for (trusted, verified, is_open) in [(49, 0, false), (50, 24, true), (50, 25, false)] {
        counted(&office, project, sends(trusted, verified)).await;
        let wanted = if is_open { &open[..] } else { &[] };
        assert_eq!(alerts(&office).await, wanted, "{verified} of {trusted}");
        // The sums of a day are a minute old at most.
        office.clock.advance(seconds(60));
    }
}

#[tokio::test]
async fn all_projects_are_read_once_a_minute_and_else_those_that_may_be_short_of_money() {
    let office = Office::open();
    let (poor, fast) = (office.project().await, office.project().await);
    for _ in 0..20 {
        let rich = office.project().await;
        pay(&office, rich, 10_000).await;
    }
    pay(&office, poor, 24).await;
    pay(&office, fast, 150).await;
    spent(&office, fast, 100).await;
    let empty = (AlertKind::WalletEmpty, Some(poor));
    assert_eq!(alerts(&office).await, [empty]);

    let lists = || office.store.faults().calls("ProjectStore::list");
    let before = lists();
    // Less than it spent in a day: told at once, although what was spent is not read again.
    let out = dwar_wallet::Correction::try_from(-60).unwrap();
    let wallets = &office.manage.wallets;
    wallets.adjust(&BY, fast, out, "T-1".parse().unwrap()).await.unwrap();
    let asked = lists() - before;
    let soon = (AlertKind::WalletEmptySoon, Some(fast));
    for _ in 0..3 {
        office.clock.advance(seconds(5));
        assert_eq!(alerts(&office).await, [empty, soon]);
    }
    assert_eq!(lists() - before, asked, "nobody asks for all projects");
    pay(&office, poor, 1).await;
    pay(&office, fast, 10).await;
    assert_eq!(alerts(&office).await, []);
    office.clock.advance(minutes(1));
    assert_eq!(alerts(&office).await, []);
    assert_eq!(lists() - before, asked + 1);
}

/// However many there are; nobody can mend those of an archived project.
#[tokio::test]
async fn each_endpoint_of_a_project_in_use_is_told_and_each_queue() {
    const PROJECTS: usize = 60;
    let office = Office::open();
    let mut projects = Vec::new();
    for _ in 0..PROJECTS {
        let project = office.project().await;
        let failing = Some(Failing { failures: 3, since: START });
        let off = Endpoint { disabled_at: Some(START), ..office.make.endpoint(project) };
        for endpoint in [Endpoint { failing, ..office.make.endpoint(project) }, off] {
            assert!(office.stores.events.add_endpoint(endpoint).await.unwrap());
        }
        let (session, identity) = (office.make.id(), office.make.id());
        let subject = Subject::Session { session, identity };
        let (project_mode, kind) = (project.in_mode(KeyMode::Live), EventKind::SessionRevoked);
        office
            .stores
            .events
            .record(Event { project_mode, kind, subject, at: START })
            .await
            .unwrap();
        projects.push(project);
    }
    office.clock.advance(minutes(6));
    let told = async || {
        let told = alerts(&office).await;
        [AlertKind::EndpointDisabled, AlertKind::EndpointFailing, AlertKind::EventsBehind]
            .map(|kind| told.iter().filter(|(its, _)| *its == kind).count())
    };
    assert_eq!(told().await, [PROJECTS; 3]);
    for project in &projects[..9] {
        office.manage.projects.archive(&BY, *project).await.unwrap();
    }
    assert_eq!(told().await, [PROJECTS - 9; 3]);
}

#[tokio::test]
async fn a_database_is_away_after_two_reads_in_vain() {
    let office = Office::open();
    let faults = office.store.faults();
    faults.next("QueueStore::queues", Fault::Fails);
    assert_eq!(alerts(&office).await, []);
    faults.next("QueueStore::queues", Fault::Fails);
    faults.next("AlertStore::open_alerts", Fault::Fails);
    assert_eq!(alerts(&office).await, [(AlertKind::DatabaseAway, None)]);
}
