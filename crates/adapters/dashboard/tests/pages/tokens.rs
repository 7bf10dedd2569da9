use crate::support::House;
use dwar_operator::{Access, Requester, Role};
use dwar_testkit::new_token;
use std::time::Duration;

#[actix_web::test]
async fn a_token_is_made_shown_once_listed_and_revoked_by_its_name() {
    let house = House::new().await;
    let owner = house.owner().await;
    let boxed = format!("project-{}", house.project);
    let form = |days: &'static str| {
        [("name", "deploy"), ("role", "member"), ("days", days), (boxed.as_str(), "on")]
    };
    for days in ["0", "367", "x", ""] {
        assert_eq!(owner.post("/tokens", &form(days)).await.status, 422, "{days}");
    }
    let nowhere = [("name", "deploy"), ("role", "member"), ("days", "1")];
    assert_eq!(owner.post("/tokens", &nowhere).await.status, 422, "no project");
    let made = owner.post("/tokens", &form("366")).await;
    let start = made.body.find("svc_adm_").unwrap();
    let shown = &made.body[start..start + made.body[start..].find('<').unwrap()];
    let token = house.manage.tokens.authenticate(shown, None).await.unwrap().unwrap();
    assert_eq!(token.access, Access::one(house.project, Role::Member));
    assert_eq!(token.expires_at - token.made_at, chrono_days(366));

    let list = owner.get("/tokens").await.body;
    assert!(!list.contains(shown) && list.contains("deploy") && list.contains("Acme</a>: Member"));
    let revoke = format!("/tokens/{}/revoke", token.id);
    assert_eq!(owner.post(&revoke, &[("word", "Deploy")]).await.status, 422, "to the letter");
    assert!(house.manage.tokens.authenticate(shown, None).await.unwrap().is_some());
    assert_eq!(owner.post(&revoke, &[("word", "deploy")]).await.status, 303);
    assert!(house.manage.tokens.authenticate(shown, None).await.unwrap().is_none());
    assert_eq!(owner.post(&revoke, &[("word", "deploy")]).await.status, 404);
    let log = owner.get("/audit").await.body;
    assert!(log.contains("token.made") && log.contains("token.revoked") && !log.contains(shown));
}

#[actix_web::test]
async fn a_token_that_may_delegate_is_made_by_a_box_of_its_own_and_shown_in_red() {
    let house = House::new().await;
    let owner = house.owner().await;
    let red = "pill bad\">Can create what keeps working after it expires: keys, hooks, \
               endpoints of events, people, tokens";
    let form = [("name", "plain"), ("role", "everything"), ("days", "1")];
    assert_eq!(owner.post("/tokens", &form).await.status, 200);
    assert!(!owner.get("/tokens").await.body.contains(red));
    let form = [("name", "maker"), ("role", "everything"), ("days", "1"), ("may_delegate", "on")];
    assert_eq!(owner.post("/tokens", &form).await.status, 200);
    let page = owner.get("/tokens").await.body;
    assert_eq!(page.matches(red).count(), 1, "{page}");
    let tokens = house.manage.tokens.list(&Requester::command_line()).await.unwrap();
    let mut may: Vec<_> = tokens.iter().map(|it| (it.name.as_str(), it.may_delegate)).collect();
    may.sort_unstable();
    assert_eq!(may, [("maker", true), ("plain", false)]);
}

fn chrono_days(days: u64) -> chrono::TimeDelta {
    chrono::TimeDelta::from_std(Duration::from_secs(days * 86_400)).unwrap()
}

#[actix_web::test]
async fn tokens_are_for_owners_of_the_installation_alone() {
    let house = House::new().await;
    let by = Requester::command_line();
    let day = Duration::from_secs(86_400);
    let viewer = Access::one(house.project, Role::Viewer);
    let made = house.manage.tokens.make(&by, new_token("ci", viewer, day));
    let (token, _) = made.await.unwrap();
    let form = [("name", "mine"), ("role", "everything"), ("days", "1")];
    for role in Role::ALL {
        let browser = house.with_role(role).await;
        assert_eq!(browser.get("/tokens").await.status, 403, "{role:?}");
        assert!(!browser.get("/account").await.body.contains("/tokens"), "led there");
        assert_eq!(browser.post("/tokens", &form).await.status, 403, "{role:?}");
        let revoke = format!("/tokens/{}/revoke", token.id);
        assert_eq!(browser.post(&revoke, &[("word", "ci")]).await.status, 403, "{role:?}");
    }
    assert_eq!(house.manage.tokens.list(&by).await.unwrap().len(), 1);
    assert!(house.owner().await.get("/account").await.body.contains(r#"href="/tokens""#));
}
