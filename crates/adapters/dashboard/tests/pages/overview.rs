use crate::support::House;
use dwar_console::KeepFigures;
use dwar_kernel::KeyMode;
use dwar_operator::{Access, Role};
use dwar_otp::{GuessPolicy, Report, Reported};
use dwar_testkit::{CODE, Fixtures, START, minutes, seconds};
use std::time::Duration;

/// Three codes by WhatsApp with the live key: two of them arrive, one is verified after eight
/// seconds. They are counted half a minute later.
pub async fn with_sends() -> House {
    let (house, make) = (House::new().await, Fixtures::random());
    let logins = &*house.parts.stores.logins;
    for number in 0..3 {
        let line = make.line(house.project.in_mode(KeyMode::Live));
        let otp = make.issue(logins, make.otp(&line)).await;
        if number < 2 {
            let (request, now) = (Reported::Id(otp.world.project, otp.id), START + seconds(1));
            make.report(logins, request, &otp, Report::Delivered, now).await;
        }
        if number == 0 {
            make.judge(logins, &line, CODE, GuessPolicy::OFF, START + seconds(8)).await;
        }
    }
    count(&house).await;
    house
}

/// The same whenever it counts, so that none waits for the lease of another.
const KEEPER: &str = "00000000-0000-7000-8000-000000000001";

/// Counts what there is, half a minute later.
pub async fn count(house: &House) {
    house.clock.set(START + seconds(30));
    let (tools, store) = (house.parts.tools.clone(), house.kept.figures.clone());
    let keep = KeepFigures { tools, store, keeper: KEEPER.parse().unwrap() };
    assert!(keep.run().await.unwrap());
}

#[actix_web::test]
async fn what_was_sent_is_shown_as_figures_chart_and_tables() {
    let house = with_sends().await;
    let viewer = house.with_role(Role::Viewer).await;
    for period in ["hour", "day", "month"] {
        let page = viewer.get(&house.page(&format!("overview?period={period}"))).await;
        assert_eq!(page.status, 200);
        for expected in [
            "<dt>Sends</dt><dd>3</dd>",
            "<dt>Delivered</dt><dd>2</dd>",
            "of 3 sent",
            "<dt>Verified</dt><dd>1</dd>",
            "<dt>Sent → verified</dt><dd>1 of 3</dd>",
            "<td class=\"amount\" data-label=\"Delivered\">2 of 3</td>",
            "<td class=\"amount\" data-label=\"Sent → verified\">1 of 3</td>",
            "<th scope=\"row\">meta</th>",
            "Updated 0 s ago",
            "role=\"img\"",
            "Peak: 3 sends, 2 delivered, 1 verified at ",
            "3 sends, 2 delivered, 1 verified",
            "None before",
        ] {
            assert!(page.body.contains(expected), "{period}: {expected} in {}", page.body);
        }
    }
}

#[actix_web::test]
async fn a_percentage_needs_cases_and_deliveries_need_receipts() {
    let (house, make) = (House::new().await, Fixtures::random());
    let logins = &*house.parts.stores.logins;
    for number in 0..40 {
        let line = make.line(house.project.in_mode(KeyMode::Live));
        let otp = make.issue(logins, make.otp(&line)).await;
        let request = Reported::Id(otp.world.project, otp.id);
        let outcome = Report::Accepted { provider_ref: None, awaits_receipt: false };
        if number < 30 {
            make.report(logins, request, &otp, outcome, START).await;
        }
    }
    count(&house).await;
    let owner = house.owner().await;
    let page = owner.get(&house.page("overview")).await.body;
    for expected in [
        "<dt>Sent → verified</dt><dd>0.0 %</dd>",
        "0 of 40</span>",
        "<dt>Delivered</dt><dd>–</dd>",
        "<span class=\"muted\">No receipts from this provider</span>",
        "40 sends, 0 verified",
    ] {
        assert!(page.contains(expected), "{expected} in {page}");
    }
    assert!(!page.contains("0 delivered") && !page.contains("class=\"delivered\""), "{page}");
}

#[actix_web::test]
async fn figures_stay_in_their_project_and_mode() {
    let house = with_sends().await;
    let owner = house.owner().await;
    let elsewhere = [house.page("overview?mode=test"), format!("/p/{}/overview", house.other)];
    for path in elsewhere {
        let page = owner.get(&path).await.body;
        assert!(!page.contains("<svg class=\"chart"), "{path}");
        assert!(page.contains("No codes sent"), "{path}");
    }
}

#[actix_web::test]
async fn an_empty_page_leads_to_what_can_be_done_by_this_role() {
    let house = House::new().await;
    let owner = house.owner().await;
    assert!(owner.get(&house.page("overview")).await.body.contains("Not available yet"));
    // A new project has its first steps instead.
    house.clock.set(START + Duration::from_secs(63 * 24 * 3_600));
    let page = house.browser(&house.joined("later", Access::everything()).await);
    let page = page.get(&house.page("overview")).await.body;
    for next in ["playground", "keys"] {
        assert!(page.contains(&format!(
            "class=\"button {}\"",
            if next == "keys" { "plain" } else { "primary" }
        )));
        assert!(page.contains(&house.page(next)), "{next}");
    }
    let page = house.with_role(Role::Viewer).await.get(&house.page("overview")).await.body;
    assert!(page.contains("No codes sent"));
    assert!(!page.contains(&house.page("playground")) && !page.contains(&house.page("keys")));
}

#[actix_web::test]
async fn figures_that_are_late_say_so() {
    let house = with_sends().await;
    let owner = house.owner().await;
    let path = house.page("overview");
    house.clock.set(START + seconds(90));
    let page = owner.get(&path).await.body;
    assert!(page.contains("Updated 1 min ago") && !page.contains("fallen behind"));
    house.clock.set(START + seconds(91));
    let page = owner.get(&path).await.body;
    assert!(page.contains("fallen behind"), "{page}");
    house.clock.set(START + minutes(30));
    let page = owner.get(&path).await.body;
    assert!(page.contains("still being filled in"), "{page}");
}

#[actix_web::test]
async fn what_the_address_asks_for_is_never_repeated_unread() {
    let house = with_sends().await;
    let owner = house.owner().await;
    let asked = house.page("overview?mode=%22%3E%3Cscript%3E&period=year");
    let page = owner.get(&asked).await;
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("<script>") && page.body.contains("Last 24 hours"));
}

#[actix_web::test]
async fn the_page_is_light() {
    let house = with_sends().await;
    let page = house.owner().await.get(&house.page("overview?period=month")).await.body;
    assert!(page.len() < 60_000, "{} bytes", page.len());
}

#[actix_web::test]
async fn a_first_start_leads_to_the_playground_and_later_ones_to_the_overview() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let led = async |path: &str| member.get(path).await.header("location").to_owned();
    assert_eq!(led("/?start").await, house.page("playground"));
    assert_eq!(led("/").await, house.page("overview"));
    let viewer = house.with_role(Role::Viewer).await;
    assert_eq!(viewer.get("/?start").await.header("location"), house.page("overview"));
}
