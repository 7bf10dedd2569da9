use crate::overview::with_sends;
use crate::support::House;
use dwar_operator::{Requester, Role};
use dwar_project::Project;
use dwar_testkit::START;
use dwar_wallet::Amount;

/// The first API key with this prefix in a page.
fn key<'a>(page: &'a str, prefix: &str) -> &'a str {
    let start = page.find(prefix).unwrap();
    page[start..].split('<').next().unwrap()
}

impl House {
    async fn acme(&self) -> Project {
        self.parts.stores.projects.find(self.project).await.unwrap().unwrap()
    }
}

#[actix_web::test]
async fn a_project_is_made_on_the_page_and_its_keys_are_shown_once() {
    let house = House::new().await;
    let owner = house.owner().await;
    assert!(owner.get("/projects").await.body.contains("action=\"/projects\""));
    let refused = owner.post("/projects", &[("name", &"x".repeat(61))]).await;
    assert_eq!(refused.status, 422);
    for part in [
        "class=\"notice bad\"",
        "id=\"name-error\"",
        "<details class=\"new-project\" open",
        "xxx\"",
    ] {
        assert!(refused.body.contains(part), "{part}: {}", refused.body);
    }
    assert_eq!(owner.post("/projects", &[("name", " ")]).await.status, 422);
    assert_eq!(house.manage.projects.list(&Requester::command_line()).await.unwrap().len(), 2);

    let made = owner.post("/projects", &[("name", " Chai & Co ")]).await;
    assert_eq!(made.status, 200);
    let keys = ["svc_test_", "svc_live_"].map(|prefix| key(&made.body, prefix));
    for key in keys {
        assert!(house.opens(key).await, "{key}");
    }
    let list = house.manage.projects.list(&Requester::command_line()).await.unwrap();
    assert_eq!((list.len(), list[2].name.as_str()), (3, "Chai & Co"));
    let page = owner.get(&format!("/p/{}/keys", list[2].id)).await;
    assert_eq!(page.status, 200);
    assert!(keys.iter().all(|key| !page.body.contains(key)));
}

#[actix_web::test]
async fn only_owners_of_the_installation_make_projects() {
    let house = House::new().await;
    for role in Role::ALL {
        let browser = house.with_role(role).await;
        let list = browser.get("/projects").await.body;
        assert!(!list.contains("action=\"/projects\""), "{role:?}");
        assert_eq!(browser.post("/projects", &[("name", "Zoo")]).await.status, 403, "{role:?}");
        assert_eq!(browser.post("/projects", &[("name", "")]).await.status, 403, "{role:?}");
    }
    assert_eq!(house.manage.projects.list(&Requester::command_line()).await.unwrap().len(), 2);
}

#[actix_web::test]
async fn a_project_is_renamed_by_whoever_changes_its_settings() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let path = house.page("settings/project");
    assert_eq!(member.post(&path, &[("name", " Dabba ")]).await.status, 303);
    assert_eq!(house.acme().await.name, "Dabba");
    for bad in ["", "\u{7}", &"x".repeat(61)] {
        let refused = member.post(&path, &[("name", bad)]).await;
        assert_eq!(refused.status, 422, "{bad:?}");
        assert!(refused.body.contains("id=\"name-error\""));
    }
    assert_eq!(house.acme().await.name, "Dabba");
}

#[actix_web::test]
async fn an_archived_project_says_so_on_each_page_and_comes_back() {
    let house = House::new().await;
    let (owner, member) = (house.with_role(Role::Owner).await, house.with_role(Role::Member).await);
    let (archive, restore) = (house.page("settings/archive"), house.page("settings/restore"));
    let settings = house.page("settings/project");
    assert!(owner.get(&settings).await.body.contains("Archive project…"));
    assert!(!member.get(&settings).await.body.contains("Archive project…"));
    assert_eq!(owner.post(&archive, &[("word", "acme")]).await.status, 422, "to the letter");
    assert!(house.opens(&house.live_key).await);

    for _ in 0..2 {
        let done = owner.post(&archive, &[("word", "Acme")]).await;
        assert_eq!((done.status, done.header("location")), (303, settings.as_str()));
        assert!(!house.opens(&house.live_key).await);
        assert_eq!(house.acme().await.archived_at, Some(START));
    }
    for page in
        ["overview", "playground", "activity", "keys", "settings/tokens", "wallet", "identities"]
    {
        for (browser, may) in [(&owner, true), (&member, false)] {
            let reply = browser.get(&house.page(page)).await;
            if reply.status != 403 {
                assert_eq!(reply.status, 200, "{page}");
                assert!(reply.body.contains("Its API keys are refused"), "{page}");
                assert_eq!(reply.body.contains(&restore), may, "{page}");
            }
        }
    }
    let playground = owner.get(&house.page("playground")).await.body;
    assert!(!playground.contains("data-call"), "nothing there would work: {playground}");
    let list = owner.get("/projects").await.body;
    assert!(!list.contains("class=\"tile\"") && list.contains("Archived (1)"), "{list}");
    assert!(owner.get("/projects?archived=yes").await.body.contains("<strong>Acme</strong>"));
    assert_eq!(owner.get("/").await.header("location"), "/projects", "none is in use");
    let credit = [("rupees", "5"), ("reference", "x"), ("confirmed", "yes")];
    assert_eq!(owner.post(&house.page("wallet/credit"), &credit).await.status, 303);

    assert_eq!(owner.post(&restore, &[]).await.status, 303);
    assert!(house.opens(&house.live_key).await);
    assert!(!owner.get(&settings).await.body.contains("Its API keys are refused"));
    let list = owner.get("/projects").await.body;
    assert!(list.contains("class=\"tile\"") && !list.contains("Archived ("), "{list}");
}

#[actix_web::test]
async fn many_projects_are_looked_for_by_name_and_leafed_through() {
    let house = House::new().await;
    let (projects, by) = (&house.manage.projects, Requester::command_line());
    let owner = house.owner().await;
    assert!(!owner.get("/projects").await.body.contains("id=\"find\""), "two need no search");
    for number in 0..70 {
        let name = format!("Shop & {number:02}").parse().unwrap();
        projects.create(&by, &name, Amount::ZERO).await.unwrap();
    }

    let first = owner.get("/projects").await.body;
    assert_eq!(first.matches("class=\"tile\"").count(), 60);
    assert!(first.contains("Shop &amp; 57") && !first.contains("Shop &amp; 58"));
    let rest = owner.get(&more(&first).unwrap()).await.body;
    assert_eq!(rest.matches("class=\"tile\"").count(), 12);
    assert!(rest.contains("Shop &amp; 58") && rest.contains("Shop &amp; 69"));
    assert_eq!(more(&rest), None);

    let found = owner.get("/projects?name=sHOP%20%26%200").await.body;
    assert_eq!(found.matches("class=\"tile\"").count(), 10);
    assert!(found.contains("value=\"sHOP &amp; 0\""), "the field keeps the words of the search");
    let all = owner.get("/projects?name=shop+%26").await.body;
    let rest = owner.get(&more(&all).unwrap()).await.body;
    assert_eq!(rest.matches("class=\"tile\"").count(), 10, "the name is kept");
    let id = house.other.to_string();
    for (part, tiles) in [(&id[..], 1), (&id[..3], 0)] {
        let found = owner.get(&format!("/projects?name={part}")).await.body;
        assert_eq!(found.matches("class=\"tile\"").count(), tiles, "{part}");
    }
    let nobody = owner.get("/projects?name=%22%3E%3Cb%3E").await.body;
    assert!(nobody.contains("No projects match this name") && !nobody.contains("\"><b>"));
}

/// Each row shows the sends of the live key, the balance and problems, to operators with the right
/// to see them.
#[actix_web::test]
async fn the_list_tells_traffic_balance_and_state_of_each() {
    let house = with_sends().await;
    let (owner, member) = (house.owner().await, house.with_role(Role::Member).await);
    let tile = |page: &str, name: &str| {
        let strong = format!("<strong>{name}</strong>");
        let mut tiles = page.split("class=\"tile\"").skip(1);
        tiles.find(|tile| tile.contains(&strong)).unwrap().to_owned()
    };
    let page = owner.get("/projects").await.body;
    let (acme, other) = (tile(&page, "Acme"), tile(&page, "Other"));
    assert!(acme.contains("₹1,23,456.50") && !acme.contains("class=\"pill"), "{acme}");
    assert!(acme.contains("3 live sends in 24 hours, 1 of 3 verified"), "{acme}");
    assert!(other.contains("No live sends in 24 hours"), "{other}");
    assert!(!other.contains("class=\"pill"), "it never had money: {other}");
    let low =
        [("whatsapp_price", ""), ("sms_price", ""), ("low_balance", "200000"), ("daily_spend", "")];
    assert_eq!(owner.post(&house.page("settings/money"), &low).await.status, 303);
    house.manage.alerts.refresh().await.unwrap();
    assert!(tile(&owner.get("/projects").await.body, "Acme").contains("Wallet low"));
    let acme = tile(&member.get("/projects").await.body, "Acme");
    assert!(
        acme.contains("3 live sends") && !acme.contains('₹') && !acme.contains("Wallet"),
        "{acme}"
    );
    let support = house.with_role(Role::Support).await.get("/projects").await.body;
    assert!(!tile(&support, "Acme").contains("live sends"), "no figures for them");
}

fn more(page: &str) -> Option<String> {
    let link = page.split("<p class=\"more\"><a class=\"button\" href=\"").nth(1)?;
    Some(format!("/projects{}", link.split('"').next()?.replace("&amp;", "&")))
}

#[actix_web::test]
async fn the_name_of_a_project_leads_to_its_first_page() {
    let house = House::new().await;
    let owner = house.owner().await;
    house.with_role(Role::Viewer).await;
    let link =
        format!("<a href=\"{}\" title=\"{}\">Acme</a>", house.page("overview"), house.project);
    let boxed = format!("project-{}", house.project);
    let form = [("name", "deploy"), ("role", "viewer"), ("days", "9"), (boxed.as_str(), "on")];
    let made = owner.post("/tokens", &form).await;
    assert_eq!(made.status, 200, "{}", made.body);
    for page in ["/team", "/tokens", "/audit"] {
        let shown = owner.get(page).await.body;
        assert!(shown.contains(&link), "{page}: {shown}");
    }
}
