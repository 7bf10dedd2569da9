//! Promises of [`dwar_project::ProjectStore`].

use super::{ROUNDS, count};
use crate::scene::Scene;
use crate::{Fixtures, MS, START, Stores, any_project, race, seconds};
use dwar_kernel::{FixedClaims, KeyMode, Paise, PriceList, ProjectId, TokenType};
use dwar_project::{
    Caller, InvalidSetting, KeyRecord, Messages, NewProject, Project, ProjectChange,
    ProjectChangeResult, ProjectRules, Routing,
};
use std::collections::BTreeSet;
use std::sync::Arc;

async fn created(stores: &Stores, make: &Fixtures) -> (Project, [KeyRecord; 2]) {
    let (project, keys) = (make.project(), make.keys());
    stores.projects.create(project.clone(), keys.clone()).await.unwrap();
    (project.into_project(), keys)
}

async fn knows(stores: &Stores, key: &KeyRecord) -> bool {
    stores.projects.caller(key.digest).await.unwrap().is_some()
}

/// A created project is found with its settings and its keys, live first.
pub async fn create_keeps_project_and_keys(stores: &Stores) {
    let make = Fixtures::random();
    let [live, test] = make.keys();
    let project = make.project();
    stores.projects.create(project.clone(), [test.clone(), live.clone()]).await.unwrap();
    let project = project.into_project();
    assert_eq!(stores.projects.find(project.id).await.unwrap().as_ref(), Some(&project));
    assert_eq!(stores.projects.keys(project.id).await.unwrap(), [live.clone(), test.clone()]);
    for key in [live, test] {
        let caller = Caller { project: project.clone(), mode: key.mode, key: key.id };
        assert_eq!(stores.projects.caller(key.digest).await.unwrap(), Some(caller));
    }
}

/// Unknown keys and ids find nothing, and create nothing.
pub async fn the_unknown_stay_unknown(stores: &Stores) {
    let make = Fixtures::random();
    let (nobody, key) = (make.id::<ProjectId>(), make.key(KeyMode::Live));
    let change = ProjectChange { name: Some("Nobody".to_owned()), ..ProjectChange::default() };
    assert!(!knows(stores, &key).await);
    assert!(!stores.projects.replace_key(nobody, key.clone()).await.unwrap());
    assert!(!knows(stores, &key).await);
    let answer = stores.projects.change(nobody, change, any_project()).await.unwrap();
    assert_eq!(answer, ProjectChangeResult::NoSuchProject);
    assert_eq!(stores.projects.find(nobody).await.unwrap(), None);
    assert_eq!(stores.projects.keys(nobody).await.unwrap(), []);
}

/// A replaced key is unknown to every later request; the other mode and other projects keep their keys.
pub async fn a_replaced_key_is_unknown_at_once(stores: &Stores) {
    let make = Fixtures::random();
    let (project, [live, test]) = created(stores, &make).await;
    let (_, others) = created(stores, &make).await;
    for old in [live, test] {
        let new = KeyRecord { created_at: START + seconds(9), ..make.key(old.mode) };
        assert!(stores.projects.replace_key(project.id, new.clone()).await.unwrap());
        let answers = race(20, |_| {
            let (projects, digest) = (Arc::clone(&stores.projects), old.digest);
            async move { projects.caller(digest).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, Option::is_some), 0);
        assert!(knows(stores, &new).await);
        let keys = stores.projects.keys(project.id).await.unwrap();
        assert_eq!(keys.len(), 2);
        assert!(keys.contains(&new) && !keys.contains(&old));
    }
    for key in others {
        assert!(knows(stores, &key).await);
    }
}

/// After concurrent replacements of a key, exactly one key works.
pub async fn replacements_at_once_leave_one_key(stores: &Stores) {
    let make = Fixtures::random();
    let (project, [_, test]) = created(stores, &make).await;
    for _ in 0..ROUNDS {
        let keys: Vec<_> = (0..20).map(|_| make.key(KeyMode::Live)).collect();
        let answers = race(keys.len(), |number| {
            let (projects, key) = (Arc::clone(&stores.projects), keys[number].clone());
            async move { projects.replace_key(project.id, key).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |replaced| *replaced), keys.len());
        let present = stores.projects.keys(project.id).await.unwrap();
        assert_eq!(present.len(), 2);
        assert_eq!(present[1], test);
        for key in keys {
            assert_eq!(knows(stores, &key).await, key == present[0]);
        }
    }
}

/// A change sets the settings that it names, for the very next request, and nothing else.
pub async fn a_change_sets_what_it_names(stores: &Stores) {
    let make = Fixtures::random();
    let (mut project, [key, _]) = created(stores, &make).await;
    let (other, _) = created(stores, &make).await;
    let none = ProjectChange::default;
    let changes = [
        none(),
        ProjectChange { name: Some("Dabbawala".to_owned()), ..none() },
        ProjectChange { identity_lookup: Some(true), sms_price: Some(Some(Paise(25))), ..none() },
        ProjectChange {
            identity_delete: Some(true),
            whatsapp_price: Some(Some(Paise::ZERO)),
            ..none()
        },
        ProjectChange { identity_lookup: Some(false), ..none() },
        ProjectChange { whatsapp_price: Some(None), sms_price: Some(None), ..none() },
    ];
    for change in changes {
        project = project.with(change.clone());
        let answer = stores.projects.change(project.id, change, any_project()).await.unwrap();
        assert_eq!(answer, ProjectChangeResult::Done(Box::new(project.clone())));
        assert_eq!(stores.projects.find(project.id).await.unwrap().as_ref(), Some(&project));
        let caller = stores.projects.caller(key.digest).await.unwrap().unwrap();
        assert_eq!(caller.project, project);
    }
    assert_eq!(stores.projects.find(other.id).await.unwrap(), Some(other));
}

fn every_text() -> Messages {
    Messages {
        brand: Some("चाय & Co".to_owned()),
        language: Some("hi".to_owned()),
        text: Some("{code} आपका {brand} कोड है।\nValid: {minutes} min".to_owned()),
        template_id: Some("1107160000000012345".to_owned()),
        domain: Some("login.example.com".to_owned()),
        app_hash: Some("FA+9qCX9VSu".to_owned()),
        last_lines: vec!["shop.example.com".to_owned(), "FA+9qCX9VSv".to_owned()],
    }
}

fn every_route() -> Routing {
    let names = |names: &[&str]| Some(names.iter().map(|&name| name.to_owned()).collect());
    Routing {
        whatsapp: names(&["meta"]),
        sms: names(&["twilio", "msg91", "http_2"]),
        fallback_seconds: Some(45),
    }
}

fn own<T>(value: T) -> Option<Option<T>> {
    Some(Some(value))
}

fn texts(messages: Messages) -> ProjectChange {
    ProjectChange {
        brand: Some(messages.brand),
        language: Some(messages.language),
        sms_text: Some(messages.text),
        sms_template_id: Some(messages.template_id),
        webotp_domain: Some(messages.domain),
        app_hash: Some(messages.app_hash),
        last_lines: Some(messages.last_lines),
        ..ProjectChange::default()
    }
}

fn routes(routing: Routing) -> ProjectChange {
    ProjectChange {
        whatsapp_providers: Some(routing.whatsapp),
        sms_providers: Some(routing.sms),
        fallback_seconds: Some(routing.fallback_seconds),
        ..ProjectChange::default()
    }
}

/// Texts, routes and threshold are read as they were set, by every reader: each separately and all
/// together, an empty list and no list, zero and none.
pub async fn texts_routes_and_threshold_come_back(stores: &Stores) {
    let make = Fixtures::random();
    let (mut project, keys) = created(stores, &make).await;
    let (other, _) = created(stores, &make).await;
    let none = ProjectChange::default;
    let threshold = |low_balance| ProjectChange { low_balance: Some(low_balance), ..none() };
    let whole = every_text();
    let claims: FixedClaims = "role=authenticated\nhttps://a.example/b=c = d".parse().unwrap();
    let all = every_route();
    let changes = [
        texts(whole.clone()),
        routes(all.clone()),
        threshold(Some(Paise(5_000))),
        none(),
        ProjectChange { name: Some("Dabbawala".to_owned()), ..none() },
        texts(Messages { brand: whole.brand, ..Messages::default() }),
        texts(Messages { language: whole.language, ..Messages::default() }),
        texts(Messages { text: whole.text, ..Messages::default() }),
        texts(Messages { template_id: whole.template_id, ..Messages::default() }),
        texts(Messages { domain: whole.domain, ..Messages::default() }),
        texts(Messages { app_hash: whole.app_hash, ..Messages::default() }),
        texts(Messages { last_lines: whole.last_lines, ..Messages::default() }),
        ProjectChange { own_issuer: Some(true), ..none() },
        ProjectChange { token_claims: Some(claims), ..none() },
        ProjectChange { token_type: Some(TokenType::Jwt), ..none() },
        ProjectChange { token_claims: Some(FixedClaims::default()), ..none() },
        ProjectChange { own_issuer: Some(false), ..none() },
        ProjectChange { token_type: Some(TokenType::AccessToken), ..none() },
        routes(Routing { whatsapp: Some(Vec::new()), sms: None, fallback_seconds: Some(0) }),
        routes(Routing { whatsapp: None, sms: Some(Vec::new()), fallback_seconds: None }),
        routes(Routing { whatsapp: all.sms, ..Routing::default() }),
        threshold(Some(Paise(0))),
        threshold(Some(Paise(-1))),
        threshold(Some(Paise(i64::MAX))),
        texts(Messages::default()),
        routes(Routing::default()),
        threshold(None),
    ];
    for change in changes {
        project = project.with(change.clone());
        let answer = stores.projects.change(project.id, change, any_project()).await.unwrap();
        assert_eq!(answer, ProjectChangeResult::Done(Box::new(project.clone())));
        assert_eq!(stores.projects.find(project.id).await.unwrap().as_ref(), Some(&project));
        for key in &keys {
            let caller = stores.projects.caller(key.digest).await.unwrap().unwrap();
            assert_eq!(caller.project, project);
            let sought =
                stores.sessions.find_key_and_session(key.digest, None).await.unwrap().unwrap();
            assert_eq!(sought.own_profile.as_ref(), project.own_profile(key.mode));
        }
        assert!(stores.projects.list().await.unwrap().contains(&project));
    }
    assert_eq!(stores.projects.find(other.id).await.unwrap(), Some(other));
}

/// Concurrent changes of different settings are all kept.
pub async fn changes_at_once_lose_nothing(stores: &Stores) {
    let make = Fixtures::random();
    for _ in 0..ROUNDS {
        let (mut project, _) = created(stores, &make).await;
        let none = ProjectChange::default;
        let changes = [
            ProjectChange { name: Some("Dabbawala".to_owned()), ..none() },
            ProjectChange { identity_lookup: Some(true), ..none() },
            ProjectChange { identity_delete: Some(true), ..none() },
            ProjectChange { whatsapp_price: Some(Some(Paise(40))), ..none() },
            ProjectChange { sms_price: Some(Some(Paise(25))), ..none() },
            texts(every_text()),
            routes(every_route()),
            ProjectChange { low_balance: Some(Some(Paise(5_000))), ..none() },
        ];
        race(changes.len(), |number| {
            let (projects, change) = (Arc::clone(&stores.projects), changes[number].clone());
            async move { projects.change(project.id, change, any_project()).await.unwrap() }
        })
        .await;
        project = changes.into_iter().fold(project, Project::with);
        assert_eq!(stores.projects.find(project.id).await.unwrap(), Some(project));
    }
}

/// Two concurrent changes of different settings are both kept, a thousand times.
pub async fn two_settings_changed_at_once_are_both_kept(stores: &Stores) {
    let make = Fixtures::random();
    let (project, _) = created(stores, &make).await;
    for round in 0..1_000 {
        let brand =
            ProjectChange { brand: own(format!("Chai {round}")), ..ProjectChange::default() };
        let sms = ProjectChange { sms_price: Some(Some(Paise(round))), ..ProjectChange::default() };
        let changes = [brand, sms];
        race(2, |number| {
            let (projects, change) = (Arc::clone(&stores.projects), changes[number].clone());
            async move { projects.change(project.id, change, any_project()).await.unwrap() }
        })
        .await;
        let found = stores.projects.find(project.id).await.unwrap().unwrap();
        assert_eq!(found.messages.brand, Some(format!("Chai {round}")));
        assert_eq!(found.prices.sms, Some(Paise(round)));
    }
}

/// A change that the rules refuse changes nothing. The rules judge the project as it would be
/// stored: of two concurrent changes that are valid separately but not together, one is refused.
pub async fn a_change_is_judged_as_it_is_kept(stores: &Stores) {
    let make = Fixtures::random();
    let not_both: ProjectRules = Arc::new(|project| match &project.messages {
        Messages { domain: Some(_), app_hash: Some(_), .. } => {
            vec![InvalidSetting { field: "app_hash", reason: "not both".to_owned() }]
        }
        _ => Vec::new(),
    });
    for _ in 0..ROUNDS {
        let (project, _) = created(stores, &make).await;
        let whole = every_text();
        let domain =
            ProjectChange { webotp_domain: Some(whole.domain), ..ProjectChange::default() };
        let hash = ProjectChange { app_hash: Some(whole.app_hash), ..ProjectChange::default() };
        let changes = [domain, hash];
        let answers = race(2, |number| {
            let (projects, change) = (Arc::clone(&stores.projects), changes[number].clone());
            let rules = not_both.clone();
            async move { projects.change(project.id, change, rules).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| matches!(answer, ProjectChangeResult::Done(_))), 1);
        let refused = InvalidSetting { field: "app_hash", reason: "not both".to_owned() };
        assert_eq!(
            count(&answers, |answer| *answer == ProjectChangeResult::Refused(refused.clone())),
            1
        );
        let found = stores.projects.find(project.id).await.unwrap();
        let kept = answers.into_iter().find_map(ProjectChangeResult::done);
        assert_eq!(found, kept);
    }
}

pub async fn the_list_is_oldest_first(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let ages = [2_u32, 0, 1];
    let projects =
        ages.map(|age| NewProject { created_at: START + MS * age, ..scene.make.project() });
    for project in projects.clone() {
        stores.projects.create(project, scene.make.keys()).await.unwrap();
    }
    let [third, first, second] = projects.map(NewProject::into_project);
    let wanted = [first, second, third];
    let mut list = stores.projects.list().await.unwrap();
    list.retain(|project| wanted.contains(project));
    assert_eq!(list, wanted);
}

/// Finds projects with too little for a channel, or less than their threshold, and those that are
/// named. Never finds an archived project, and one that never had money only if it is named.
pub async fn only_projects_short_of_money_are_found(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let none = ProjectChange::default;
    let paid = async |paise, change: ProjectChange| {
        let project = scene.another().await;
        let credit = scene.make.credit(Paise(paise));
        stores.wallets.credit(project, credit, START).await.unwrap();
        stores.projects.change(project, change, any_project()).await.unwrap();
        project
    };
    let price = |paise| ProjectChange { sms_price: Some(Some(Paise(paise))), ..none() };
    let threshold = |paise| ProjectChange { low_balance: Some(Some(Paise(paise))), ..none() };
    let held = paid(100, none()).await;
    let line = scene.make.line(held.in_mode(KeyMode::Live));
    assert!(scene.make.hold(stores.logins.as_ref(), scene.make.otp(&line), Paise(76)).await);
    let short = [
        held,
        paid(24, none()).await,
        paid(100, price(101)).await,
        paid(100, threshold(101)).await,
    ];
    let enough = [
        paid(25, none()).await,
        paid(24, price(24)).await,
        paid(100, threshold(100)).await,
        scene.another().await,
    ];
    let archived = paid(1, none()).await;
    stores.projects.set_archived(archived, Some(START)).await.unwrap();
    let own: BTreeSet<_> = short.into_iter().chain(enough).chain([archived]).collect();
    let told = async |others: Vec<ProjectId>| -> BTreeSet<ProjectId> {
        let prices = PriceList { whatsapp: Paise(20), sms: Paise(25) };
        let mut told = stores.projects.short_of_money(prices, others).await.unwrap();
        told.retain(|project| own.contains(&project.id));
        for project in &told {
            assert_eq!(stores.projects.find(project.id).await.unwrap().as_ref(), Some(project));
        }
        told.into_iter().map(|project| project.id).collect()
    };
    assert_eq!(told(Vec::new()).await, short.into());
    let others = enough.into_iter().chain([archived]).collect();
    assert_eq!(told(others).await, short.into_iter().chain(enough).collect());
}

/// Fresh: of any number of first projects at once exactly one is created.
pub async fn create_first_answers_true_once(stores: &Stores) {
    let make = Fixtures::random();
    let firsts: Vec<_> = (0..50).map(|_| (make.project(), make.keys())).collect();
    let answers = race(firsts.len(), |number| {
        let (projects, (project, keys)) = (Arc::clone(&stores.projects), firsts[number].clone());
        async move { projects.create_first(project, keys).await.unwrap() }
    })
    .await;
    assert_eq!(count(&answers, |created| *created), 1);
    let list = stores.projects.list().await.unwrap();
    assert_eq!(list.len(), 1);
    for ((project, keys), created) in firsts.into_iter().zip(answers) {
        assert_eq!(project.into_project() == list[0], created);
        for key in keys {
            assert_eq!(knows(stores, &key).await, created);
        }
    }
}

/// Fresh: if a project exists, no first project is created.
pub async fn create_first_yields_to_any_project(stores: &Stores) {
    let make = Fixtures::random();
    let (project, _) = created(stores, &make).await;
    let keys = make.keys();
    assert!(!stores.projects.create_first(make.project(), keys.clone()).await.unwrap());
    assert!(!knows(stores, &keys[0]).await);
    assert_eq!(stores.projects.list().await.unwrap(), [project]);
}
