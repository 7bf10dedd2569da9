use crate::overview::count;
use crate::support::{Browser, House};
use dwar_kernel::KeyMode;
use dwar_operator::{Requester, Role};
use dwar_otp::GuessPolicy;
use dwar_project::{KeyUsage, KeyUse, ProjectChange};
use dwar_testkit::{CODE, Fixtures, START, seconds};
use std::time::Duration;

/// The number of finished steps on the page.
async fn done(viewer: &Browser<'_>) -> usize {
    let page = viewer.get(&viewer.house().page("overview")).await.body;
    let ticked = page.matches("<li class=\"done\">").count();
    assert!(page.contains(&format!("{ticked} of 5 done")), "{page}");
    ticked
}

async fn verify_one(house: &House, mode: KeyMode) {
    let (make, line) = (Fixtures::random(), Fixtures::random().line(house.project.in_mode(mode)));
    let logins = &*house.parts.stores.logins;
    make.issue(logins, make.otp(&line)).await;
    make.judge(logins, &line, CODE, GuessPolicy::OFF, START + seconds(8)).await;
    count(house).await;
}

#[actix_web::test]
async fn each_step_is_ticked_by_what_happened_and_the_list_goes_when_all_is_done() {
    let house = House::new().await;
    let (by, stores) = (Requester::command_line(), &house.parts.stores);
    let viewer = house.with_role(Role::Viewer).await;
    assert_eq!(done(&viewer).await, 0);
    verify_one(&house, KeyMode::Test).await;
    assert_eq!(done(&viewer).await, 1);
    let key = house.keys().await[1].id;
    stores
        .key_uses
        .note(vec![KeyUse { key, used: KeyUsage { at: START, from: None } }])
        .await
        .unwrap();
    assert_eq!(done(&viewer).await, 2);
    let carry = |name: &str| ProjectChange {
        sms_providers: Some(Some(vec![name.to_owned()])),
        ..ProjectChange::default()
    };
    house.manage.projects.change(&by, house.project, carry("msg91")).await.unwrap();
    assert_eq!(done(&viewer).await, 3);
    let url = "https://example.com/x";
    house.manage.endpoints.add(&by, house.project, url, false).await.unwrap();
    assert_eq!(done(&viewer).await, 4);
    verify_one(&house, KeyMode::Live).await;
    let page = viewer.get(&house.page("overview")).await.body;
    assert!(!page.contains("Get started"), "{page}");
}

#[actix_web::test]
async fn steps_lead_to_where_a_role_may_do_them_and_are_for_new_projects() {
    let house = House::new().await;
    let own = |page| house.page(page);
    let places = [
        own("playground"),
        own("keys"),
        own("settings/delivery#routing"),
        "/help/operations/install#smoke-test".to_owned(),
        own("settings/events#endpoints"),
    ];
    for (role, leads) in [
        (Role::Owner, [true; 5]),
        (Role::Member, [true, false, true, true, false]),
        (Role::Viewer, [false, false, false, true, false]),
    ] {
        let page = house.with_role(role).await.get(&house.page("overview")).await.body;
        let card = page.split("first-steps").nth(1).unwrap().split("</section>").next().unwrap();
        for (place, leads) in places.iter().zip(leads) {
            let link = format!("href=\"{place}\"");
            assert_eq!(card.contains(&link), leads, "{role:?} {place}: {card}");
        }
    }
    house.clock.set(START + Duration::from_secs(63 * 24 * 3_600));
    let page = house.owner().await.get(&house.page("overview")).await.body;
    assert!(!page.contains("Get started") && page.contains("Send one in the playground"));
}
