use crate::activity::{NATIONAL, failed_send};
use crate::support::{Browser, House};
use dwar_kernel::KeyMode;
use dwar_operator::{Action, AuditFilter, Requester, Role};
use dwar_testkit::Fixtures;

/// The list that the palette shows for a text.
async fn list(browser: &Browser<'_>, project: &str, text: &str) -> String {
    let form = [("q", text), ("project", project), ("mode", "live"), ("part", "1")];
    let found = browser.post("/find", &form).await;
    assert_eq!(found.status, 200, "{}", found.body);
    assert!(!found.body.contains("<html"), "a list alone");
    found.body
}

#[actix_web::test]
async fn pages_and_projects_are_found_by_name_and_things_by_id() {
    let house = House::new().await;
    let (owner, make) = (house.owner().await, Fixtures::random());
    let (_, otp) = failed_send(&house, house.project).await;
    let line = make.line(house.project.in_mode(KeyMode::Test));
    let login = make.login(&line);
    let identity = make.log_in(&*house.parts.stores.logins, &line, login).await;
    let by = Requester::command_line();
    let url = "https://example.com/x";
    let (endpoint, _) = house.manage.endpoints.add(&by, house.project, url, false).await.unwrap();
    let key = house.keys().await[0].id;
    let at = house.project.to_string();
    for (text, place) in [
        ("wall", house.page("wallet")),
        ("TEAM", "/team".to_owned()),
        ("oth", format!("/p/{}/overview", house.other)),
        (&house.other.to_string(), format!("/p/{}/overview", house.other)),
        (&otp.to_string(), house.page(&format!("activity/{otp}"))),
        (&format!(" {} ", identity), house.page(&format!("identities/test/{}/sessions", identity))),
        (&endpoint.id.to_string(), house.page(&format!("settings/events/{}", endpoint.id))),
        (&key.to_string(), house.page("keys")),
    ] {
        let found = list(&owner, &at, text).await;
        assert_eq!(found.matches("<li>").count(), 1, "{text}: {found}");
        assert!(found.contains(&format!("href=\"{place}\"")), "{text}: {found}");
        assert_eq!(owner.get(&place).await.status, 200, "{place}");
    }
    for (text, place) in [
        ("regenerate the test", house.page("keys#regenerate-test-word")),
        ("invite", "/team#invite".to_owned()),
        ("NEW PROJECT", "/projects#name".to_owned()),
        ("add credit", house.page("wallet")),
    ] {
        let found = list(&owner, &at, text).await;
        assert_eq!(found.matches("<small>Action</small>").count(), 1, "{text}: {found}");
        assert!(found.contains(&format!("href=\"{place}\"")), "{text}: {found}");
    }
    let all = list(&owner, &at, "").await;
    let places = all.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    for (page, anchor) in places.filter_map(|place| place.split_once('#')) {
        let shown = owner.get(page).await.body;
        assert!(shown.contains(&format!("id=\"{anchor}\"")), "{page} has no {anchor}");
    }
    assert!(list(&owner, &at, "<script>").await.contains("Nothing found"));
    // Without a script it is a page, and no address contains the search text.
    let page = owner.get(&format!("/find?project={at}")).await.body;
    assert!(page.contains("action=\"/find\"") && page.contains(&house.page("wallet")), "{page}");
    let page = owner.post("/find", &[("q", &otp.to_string()), ("project", &at)]).await.body;
    assert!(page.contains("<html") && page.contains(&house.page(&format!("activity/{otp}"))));
}

#[actix_web::test]
async fn nothing_is_found_that_the_reader_may_not_see() {
    let house = House::new().await;
    let support = house.with_role(Role::Support).await;
    let (_, own) = failed_send(&house, house.project).await;
    let (_, foreign) = failed_send(&house, house.other).await;
    let (at, other) = (house.project.to_string(), house.other.to_string());
    let everything = list(&support, &at, "").await;
    assert!(everything.contains(&house.page("activity")) && everything.contains("Acme"));
    for hidden in ["Invite", "Regenerate", "Add credit", "Settings", "New project"] {
        assert!(!everything.contains(hidden), "{hidden}: {everything}");
    }
    for hidden in ["/wallet", "/keys", "/team\"", "/operations", "Other", other.as_str()] {
        assert!(!everything.contains(hidden), "{hidden}: {everything}");
    }
    assert!(list(&support, &at, &own.to_string()).await.contains("Request"));
    let key = house.keys().await[0].id.to_string();
    for (at, text) in [
        (&at, key.as_str()),
        (&at, &other),
        (&at, &foreign.to_string()),
        (&other, &foreign.to_string()),
    ] {
        assert!(list(&support, at, text).await.contains("Nothing found"), "{text}");
    }
    assert_eq!(house.stranger().get("/find").await.status, 303);
}

#[actix_web::test]
async fn a_number_is_searched_for_when_the_form_is_sent_and_under_the_limit_of_any_search() {
    let house = House::new().await;
    failed_send(&house, house.project).await;
    let support = house.with_role(Role::Support).await;
    let searches = async || {
        let filter = AuditFilter { action: Some(Action::PhoneSearched), ..AuditFilter::default() };
        house.kept.audit.page(filter, None, 99).await.unwrap().len()
    };
    let at = house.project.to_string();
    let typed = list(&support, &at, NATIONAL).await;
    assert!(typed.contains("Press Enter") && !typed.contains("<a"), "{typed}");
    assert_eq!(searches().await, 0, "typing does not search");
    let form = |number: &str| {
        [("q", number.to_owned()), ("project", at.clone()), ("mode", "live".to_owned())]
    };
    let send = async |number: &str| {
        let form = form(number);
        let form: Vec<_> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        support.post("/find", &form).await
    };
    let told = send("+91 98112-23344").await;
    assert_eq!(told.status, 200);
    assert!(told.body.contains("the number has no account on WhatsApp"), "{}", told.body);
    assert!(!told.body.contains(NATIONAL) && told.body.contains("59 searches left"));
    assert_eq!(searches().await, 1);
    for number in 0..59 {
        assert_eq!(send(&format!("98112200{number:02}")).await.status, 200, "{number}");
    }
    assert_eq!(send("9811229999").await.status, 429);
    assert_eq!(searches().await, 60);
}

#[actix_web::test]
async fn who_may_search_for_no_number_is_offered_none() {
    let house = House::new().await;
    let owner = house.owner().await;
    // On a page without a project, with several to choose from.
    assert!(list(&owner, "", NATIONAL).await.contains("Nothing found"));
    let page = owner.post("/find", &[("q", NATIONAL)]).await.body;
    assert!(page.contains("Nothing found"), "{page}");
    // The only project is the one that is searched.
    let support = house.with_role(Role::Support).await;
    assert!(list(&support, "", NATIONAL).await.contains("Press Enter"));
}
