use crate::overview::with_sends;
use crate::support::{Browser, House, Reply};
use actix_web::cookie::Cookie;
use actix_web::http::Method;
use dwar_kernel::KeyMode;
use dwar_operator::Role;
use dwar_testkit::Fixtures;

/// A page for a browser in which this mode was chosen.
async fn in_mode(browser: &Browser<'_>, path: &str, chosen: &str) -> Reply {
    let asked = browser.request(Method::GET, path);
    let asked = asked.cookie(Cookie::new("dwar_mode", chosen.to_owned()));
    browser.house().send(asked).await
}

fn is_testing(page: &Reply) -> bool {
    let pressed = r#"value="test" aria-pressed="true""#;
    assert_eq!(page.body.contains(pressed), page.body.contains("framed testing"));
    page.body.contains(pressed)
}

#[actix_web::test]
async fn one_choice_counts_on_every_page_of_a_project() {
    let house = with_sends().await;
    let owner = house.owner().await;
    for page in
        ["overview", "activity", "identities", "wallet", "keys", "settings/project", "audit"]
    {
        for (chosen, testing) in [("live", false), ("test", true), ("nonsense", false)] {
            let page = in_mode(&owner, &house.page(page), chosen).await;
            assert_eq!(is_testing(&page), testing, "{chosen}: {}", page.body);
        }
    }
    let figures = |page: Reply| page.body.contains("<svg class=\"chart");
    assert!(figures(in_mode(&owner, &house.page("overview"), "live").await));
    assert!(!figures(in_mode(&owner, &house.page("overview"), "test").await));
    // The mode in an address has priority for that page.
    let asked = in_mode(&owner, &house.page("overview?mode=live"), "test").await;
    assert!(!is_testing(&asked) && figures(asked));
    assert!(!owner.get("/projects").await.body.contains("action=\"/mode\""), "no project");
}

#[actix_web::test]
async fn the_switch_leads_back_to_the_page_in_the_other_mode() {
    let house = House::new().await;
    let owner = house.owner().await;
    let page = owner.get(&house.page("overview?period=hour&mode=live")).await.body;
    let back = house.page("overview?period=hour");
    assert!(page.contains(&format!("name=\"back\" value=\"{back}\"")), "{page}");
    let switched = owner.post("/mode", &[("mode", "test"), ("back", &back)]).await;
    assert_eq!(switched.header("location"), back);
    assert!(switched.cookie("dwar_mode").starts_with("dwar_mode=test;"));
    assert!(switched.cookie("dwar_mode").contains("HttpOnly; SameSite=Lax"));
    let strayed = owner.post("/mode", &[("mode", "test"), ("back", "//evil.example")]).await;
    assert_eq!(strayed.header("location"), "/");
    assert_eq!(owner.post("/mode", &[("mode", "both"), ("back", "/")]).await.status, 400);
    // A page about something of one mode does not exist in the other.
    let sessions = house.page(&format!("identities/test/{}/sessions", house.project));
    assert_eq!(owner.get(&sessions).await.status, 404);
    let playground = in_mode(&owner, &house.page("playground"), "live").await;
    let overview = house.page("overview");
    assert!(is_testing(&playground), "it is always in test mode");
    assert!(playground.body.contains(&format!("name=\"back\" value=\"{overview}\"")));
}

#[actix_web::test]
async fn activity_lists_and_streams_the_requests_of_the_mode_alone() {
    let house = House::new().await;
    let make = Fixtures::random();
    let live = make.otp(&make.line(house.project.in_mode(KeyMode::Live)));
    let test = make.otp(&make.line(house.project.in_mode(KeyMode::Test)));
    for otp in [&live, &test] {
        make.issue(&*house.parts.stores.logins, otp.clone()).await;
    }
    let support = house.with_role(Role::Support).await;
    for (mode, shown, hidden) in [("live", &live, &test), ("test", &test, &live)] {
        let page = in_mode(&support, &house.page("activity"), mode).await.body;
        assert!(page.contains(&format!("r-{}", shown.id)), "{page}");
        assert!(!page.contains(&format!("r-{}", hidden.id)), "{page}");
        let address = page.split("data-live=\"").nth(1).unwrap().split('"').next().unwrap();
        let newest = shown.id;
        let expected = house.page(&format!("activity/live?mode={mode}&amp;after={newest}"));
        assert_eq!(address, expected);
        let mut events = support.events(&address.replace("&amp;", "&"), None).await;
        let told = events.next().await;
        assert!(told.contains(&format!("r-{}", shown.id)), "{told}");
        assert!(!told.contains(&format!("r-{}", hidden.id)), "{told}");
    }
}

#[actix_web::test]
async fn a_first_start_begins_in_test_mode_unless_one_was_chosen() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    assert!(member.get("/?start").await.cookie("dwar_mode").starts_with("dwar_mode=test;"));
    assert_eq!(in_mode(&member, "/?start", "live").await.cookie("dwar_mode"), "");
    assert_eq!(member.get("/").await.cookie("dwar_mode"), "");
}
