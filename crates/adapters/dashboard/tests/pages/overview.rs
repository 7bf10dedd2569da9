use crate::activity::failed_send;
use crate::support::House;
use dwar_console::KeepFigures;
use dwar_kernel::KeyMode;
use dwar_operator::{Access, Role};
use dwar_otp::{GuessPolicy, Report, ReportedRequest};
use dwar_testkit::{CODE, Fixtures, START, minutes, seconds};
use std::time::Duration;

/// Three codes by WhatsApp with the live key: two of them arrive, and one is verified after eight
/// seconds. They are counted half a minute later.
pub async fn with_sends() -> House {
    let (house, make) = (House::new().await, Fixtures::random());
    let logins = &*house.parts.stores.logins;
    for number in 0..3 {
        let line = make.line(house.project.in_mode(KeyMode::Live));
        let otp = make.issue(logins, make.otp(&line)).await;
        if number < 2 {
            let (request, now) =
                (ReportedRequest::Id(otp.project_mode.project, otp.id), START + seconds(1));
            make.report(logins, request, &otp, Report::Delivered, now).await;
        }
        if number == 0 {
            make.judge(logins, &line, CODE, GuessPolicy::OFF, START + seconds(8)).await;
        }
    }
    count(&house).await;
    house
}

/// Always the same instance, so that no count waits for the lease of another.
const KEEPER: &str = "00000000-0000-7000-8000-000000000001";

/// Counts every record, half a minute later.
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
            "<dt>Median time to deliver</dt><dd>1.1 s</dd>",
            "<dt>Refused sends</dt><dd>0</dd>",
            "No message failed, and no send was refused.",
            "circle class=\"rate\"",
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
        let request = ReportedRequest::Id(otp.project_mode.project, otp.id);
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
    // A new project shows its first steps instead.
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
    failed_send(&house, house.project).await;
    count(&house).await;
    let owner = house.owner().await;
    for range in ["period=month", "from=2027-01-13T14:00", "from=2020-01-01"] {
        let page = owner.get(&house.page(&format!("overview?{range}"))).await.body;
        assert!(page.len() < 80_000, "{range}: {} bytes", page.len());
    }
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

/// The bar, the table and the reasons of the overview link to the requests that they count, in the
/// same time range.
#[actix_web::test]
async fn what_failed_and_what_was_refused_is_told_by_reason_and_leads_to_it() {
    let house = House::new().await;
    let (_, otp) = failed_send(&house, house.project).await;
    count(&house).await;
    let owner = house.owner().await;
    for range in ["period=hour", "period=day", "from=2027-01-15T13:00&until=2027-01-15T14:00"] {
        let page = owner.get(&house.page(&format!("overview?{range}"))).await.body;
        for expected in [
            "<dt>Refused sends</dt><dd>2</dd>",
            "The number has no account on WhatsApp",
            "The user or their mobile network blocks such messages",
            "Limit for one number",
            "Have the user wait, then request one code.",
            "class=\"cause-1\"",
        ] {
            assert!(page.contains(expected), "{range}: {expected} in {page}");
        }
        let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let links: Vec<String> = links.map(|it| it.replace("&amp;", "&")).collect();
        let to = |what: &str| {
            let found =
                links.iter().rfind(|link| link.starts_with("activity?") && link.ends_with(what));
            house.page(found.unwrap_or_else(|| panic!("{range}: {what} in {links:?}")))
        };
        for reason in ["&reason=blocked", "&reason=not_on_channel", "&reason=any"] {
            let there = owner.get(&to(reason)).await.body;
            assert!(there.contains(&otp.to_string()), "{range} {reason}: {there}");
        }
        let none = to("&reason=blocked").replace("reason=blocked", "reason=timeout");
        assert!(!owner.get(&none).await.body.contains(&otp.to_string()));
        let refused = owner.get(&to("&view=refused&reason=limit")).await.body;
        assert!(
            refused.contains("Limit for one number") && refused.contains(">2</td>"),
            "{refused}"
        );
        let other = to("&view=refused&reason=limit").replace("reason=limit", "reason=pace");
        assert!(owner.get(&other).await.body.contains("No send was refused"));
    }
}

#[actix_web::test]
async fn any_range_that_is_kept_is_shown_and_another_one_says_so() {
    let house = with_sends().await;
    let owner = house.owner().await;
    let page = async |range: &str| owner.get(&house.page(&format!("overview?{range}"))).await.body;
    // It is half past one in India.
    let now = page("from=2027-01-15T13:20&until=2027-01-15T13:40").await;
    assert!(
        now.contains("<dt>Sends</dt><dd>3</dd>")
            && now.contains("the same length of time before it"),
        "{now}"
    );
    assert!(now.contains("value=\"2027-01-15T13:20\""), "{now}");
    let before = page("from=2027-01-14&until=2027-01-14").await;
    assert!(before.contains("No codes sent"), "{before}");
    let whole = page("from=2020-01-01").await;
    assert!(whole.contains("there is no comparison") && !whole.contains("None before"), "{whole}");
    for void in [
        "from=2027-01-15T13:40&until=2027-01-15T13:20",
        "from=2028-01-01",
        "from=2020-01-01&until=2020-01-02",
    ] {
        let page = page(void).await;
        assert!(page.contains("There are no figures for that time range"), "{void}");
        assert!(page.contains("<dt>Sends</dt><dd>3</dd>"), "{void}");
    }
    assert!(page("from=%3Cscript%3E").await.contains("Last 24 hours"));
}
