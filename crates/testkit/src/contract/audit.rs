//! Promises of [`dwar_operator::AuditStore`].

use crate::{Fixtures, MS, START, Stores, seconds};
use dwar_kernel::{AdminTokenId, OperatorId, ProjectId, Timestamp};
use dwar_operator::{Action, Actor, ActorFilter, AuditEntry, AuditFilter};
use std::cmp::Reverse;

fn of(project: ProjectId) -> AuditFilter {
    AuditFilter { project: Some(project), ..AuditFilter::default() }
}

fn newest_first(mut entries: Vec<AuditEntry>) -> Vec<AuditEntry> {
    entries.sort_by_key(|entry| Reverse((entry.at, entry.id)));
    entries
}

/// Entries with all fields set and with hardly any come back unchanged, newest first, and stay inside their
/// project.
pub async fn entries_come_back_newest_first(stores: &Stores) {
    let make = Fixtures::random();
    let (project, other) = (make.id(), make.id());
    let token = Actor::Token { id: make.id(), name: "deploy".to_owned() };
    let entries = vec![
        make.audit_entry(project, START),
        AuditEntry { actor: token, from: None, ..make.audit_entry(project, START + MS) },
        AuditEntry {
            actor: Actor::CommandLine,
            before: None,
            after: None,
            subject: String::new(),
            ..make.audit_entry(project, START + MS)
        },
    ];
    let elsewhere = make.audit_entry(other, START);
    let nowhere = AuditEntry { project: None, ..make.audit_entry(project, START + MS) };
    for entry in entries.iter().chain([&elsewhere, &nowhere]) {
        stores.console.audit.append(entry.clone()).await.unwrap();
    }
    let page = stores.console.audit.page(of(project), None, 9).await.unwrap();
    assert_eq!(page, newest_first(entries));
    assert_eq!(stores.console.audit.page(of(other), None, 9).await.unwrap(), [elsewhere]);
    let until = AuditFilter { until: Some(START + MS * 2), ..AuditFilter::default() };
    let mut all = stores.console.audit.page(until, None, 10_000).await.unwrap();
    all.retain(|entry| entry.id == nowhere.id);
    assert_eq!(all, [nowhere]);
}

/// Each page begins after the previous one, also within one instant; no entry is shown twice or left out.
pub async fn pages_follow_one_another(stores: &Stores) {
    let make = Fixtures::random();
    let project = make.id();
    let mut entries = Vec::new();
    for number in 0..25_u32 {
        let entry = make.audit_entry(project, START + MS * (number / 7));
        stores.console.audit.append(entry.clone()).await.unwrap();
        entries.push(entry);
    }
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = stores.console.audit.page(of(project), after, 4).await.unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 4);
        after = Some(last.cursor());
        seen.extend(page);
    }
    assert_eq!(seen, newest_first(entries));
}

/// A page holds exactly what [`AuditFilter::wants`], to the instant.
pub async fn a_page_is_what_the_filter_wants(stores: &Stores) {
    let make = Fixtures::random();
    let project: ProjectId = make.id();
    let (asha, deploy): (OperatorId, AdminTokenId) = (make.id(), make.id());
    let actors = [
        Actor::Operator { id: asha, name: "Asha".to_owned() },
        Actor::Token { id: deploy, name: "deploy".to_owned() },
        Actor::CommandLine,
    ];
    let actions = [Action::KeyRegenerated, Action::WalletCredited, Action::KeyRegenerated];
    let mut entries = Vec::new();
    for (second, (actor, action)) in (0..).zip(actors.into_iter().zip(actions)) {
        let made = make.audit_entry(project, START + seconds(second));
        let entry = AuditEntry { actor, action, ..made };
        stores.console.audit.append(entry.clone()).await.unwrap();
        entries.push(entry);
    }
    let ids = [asha.uuid(), deploy.uuid(), project.uuid()].map(ActorFilter::Id);
    let actors = ids.into_iter().chain([ActorFilter::CommandLine]).map(Some);
    let actors: Vec<_> = [None].into_iter().chain(actors).collect();
    let instants = [None, Some(START + seconds(1)), Some(START + seconds(1) + MS)];
    for action in [None, Some(Action::KeyRegenerated), Some(Action::TokenMade)] {
        for (actor, since, until) in product(&actors, instants) {
            let filter = AuditFilter { project: Some(project), actor, action, since, until };
            let mut wanted = newest_first(entries.clone());
            wanted.retain(|entry| filter.wants(entry));
            assert_eq!(stores.console.audit.page(filter, None, 9).await.unwrap(), wanted);
        }
    }
}

type Instants = [Option<Timestamp>; 3];

fn product(
    actors: &[Option<ActorFilter>],
    instants: Instants,
) -> impl Iterator<Item = (Option<ActorFilter>, Option<Timestamp>, Option<Timestamp>)> {
    actors.iter().flat_map(move |actor| {
        let pairs = instants.into_iter().flat_map(move |from| instants.map(|to| (from, to)));
        pairs.map(|(since, until)| (*actor, since, until))
    })
}

/// Fresh: a sweep deletes entries only by age, to the instant, no matter what they are about.
pub async fn sweep_drops_by_age_alone(stores: &Stores) {
    let make = Fixtures::random();
    let project = make.id();
    let old = AuditEntry { project: None, ..make.audit_entry(project, START - MS) };
    let kept = make.audit_entry(project, START);
    for entry in [&old, &kept, &make.audit_entry(project, START - MS)] {
        stores.console.audit.append(entry.clone()).await.unwrap();
    }
    assert_eq!(stores.console.audit.sweep(START).await.unwrap(), 2);
    assert_eq!(stores.console.audit.page(AuditFilter::default(), None, 9).await.unwrap(), [kept]);
}
