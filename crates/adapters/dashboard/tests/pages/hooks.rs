//! Hooks, and tokens that other systems verify, under Settings.

use crate::support::House;
use dwar_kernel::TokenType;
use dwar_operator::{Requester, Role};

const NEW: [(&str, &str); 3] = [("kind", "supabase"), ("mode", "live"), ("expires_in", "300")];

#[actix_web::test]
async fn a_hook_is_made_shown_once_renewed_and_removed() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    let path = house.page("settings/hooks");
    let made = owner.post(&path, &NEW).await;
    assert_eq!(made.status, 200);
    assert!(made.body.contains("v1,whsec_"), "{}", made.body);
    let hook =
        house.manage.hooks.list(&Requester::command_line(), house.project).await.unwrap().remove(0);
    let settings = owner.get(&house.page("settings/events")).await.body;
    assert!(settings.contains(&format!("/hooks/{}", hook.id)) && !settings.contains("whsec_"));

    let renewed = owner.post(&format!("{path}/{}/rotate", hook.id), &[]).await;
    assert!(renewed.body.contains("v1,whsec_"), "{}", renewed.body);
    let remove = format!("{path}/{}/remove", hook.id);
    assert_eq!(owner.post(&remove, &[("word", "gone")]).await.status, 422);
    assert_eq!(owner.post(&remove, &[("word", "remove")]).await.status, 303);
    assert_eq!(owner.post(&remove, &[("word", "remove")]).await.status, 404);
    assert_eq!(
        house.manage.hooks.list(&Requester::command_line(), house.project).await.unwrap(),
        []
    );
}

#[actix_web::test]
async fn what_a_hook_cannot_be_is_marked() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    for seconds in ["59", "3601", "five", ""] {
        let form = [NEW[0], NEW[1], ("expires_in", seconds)];
        let refused = owner.post(&house.page("settings/hooks"), &form).await;
        assert_eq!(refused.status, 422, "{seconds}");
        assert!(refused.body.contains(r#"id="expires_in-error""#), "{}", refused.body);
    }
    for role in [Role::Member, Role::Support, Role::Viewer] {
        let browser = house.with_role(role).await;
        assert_eq!(browser.post(&house.page("settings/hooks"), &NEW).await.status, 403);
    }
}

/// A hook works without its creator, as a key does. Members can see it, but not change it.
#[actix_web::test]
async fn a_member_sees_hooks_and_is_told_who_changes_them() {
    let house = House::new().await;
    house.with_role(Role::Owner).await.post(&house.page("settings/hooks"), &NEW).await;
    let hook =
        house.manage.hooks.list(&Requester::command_line(), house.project).await.unwrap().remove(0);
    let member = house.with_role(Role::Member).await;
    let settings = member.get(&house.page("settings/events")).await.body;
    assert!(settings.contains(&format!("/hooks/{}", hook.id)), "{settings}");
    let sentence = "An owner of the project adds, replaces and removes them";
    assert_eq!(settings.matches(sentence).count(), 2, "of hooks, and of webhooks: {settings}");
    let add = format!("action=\"{}\"", house.page("settings/events"));
    for dead in ["settings/hooks\"", "/rotate\"", "/remove\"", &add] {
        assert!(!settings.contains(dead), "{dead}: {settings}");
    }
    for rest in ["rotate", "remove"] {
        let path = house.page(&format!("settings/hooks/{}/{rest}", hook.id));
        assert_eq!(member.post(&path, &[("word", "remove")]).await.status, 403, "{rest}");
    }
    assert_eq!(
        house.manage.hooks.list(&Requester::command_line(), house.project).await.unwrap(),
        [hook]
    );
}

/// The twenty-first is refused in words, and nothing is recorded.
#[actix_web::test]
async fn a_project_has_twenty_hooks_and_twenty_webhooks_at_most() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    let url = [("url", "https://example.com/x")];
    for _ in 0..20 {
        assert_eq!(owner.post(&house.page("settings/hooks"), &NEW).await.status, 200);
        assert_eq!(owner.post(&house.page("settings/events"), &url).await.status, 200);
    }
    for (path, form, word) in
        [("settings/hooks", &NEW[..], "20 hooks"), ("settings/events", &url[..], "20 endpoints")]
    {
        let refused = owner.post(&house.page(path), form).await;
        assert_eq!(refused.status, 409);
        assert!(refused.body.contains(word), "{}", refused.body);
    }
}

#[actix_web::test]
async fn claims_are_kept_and_an_issuer_is_refused_where_nobody_could_find_it() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let path = house.page("settings/tokens");
    let kept = member.post(&path, &[("token_claims", "role=authenticated\r\ntier=gold")]).await;
    assert_eq!(kept.status, 303);
    let project =
        house.manage.projects.show(&Requester::command_line(), house.project).await.unwrap();
    assert_eq!(project.token_profile.claims.to_string(), "role=authenticated\ntier=gold");
    let typed = [("token_claims", "role=authenticated"), ("token_type", "JWT")];
    assert_eq!(member.post(&path, &typed).await.status, 303);
    // A page that was opened before the field existed leaves it unchanged.
    assert_eq!(member.post(&path, &typed[..1]).await.status, 303);
    let project =
        house.manage.projects.show(&Requester::command_line(), house.project).await.unwrap();
    assert_eq!(project.token_profile.token_type, TokenType::Jwt);
    let page = member.get(&house.page("settings/tokens")).await.body;
    assert!(page.contains(r#"<option value="JWT" selected>JWT</option>"#), "{page}");
    let refused = member.post(&path, &[typed[0], ("token_type", "jwt")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains(r#"id="token_type-error""#), "{}", refused.body);
    let refused = member.post(&path, &[("token_claims", "role=service_role")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains(r#"id="token_claims-error""#), "{}", refused.body);
    // The installation's issuer is not an address, which the page says in advance.
    let page = member.get(&house.page("settings/tokens")).await.body;
    assert!(
        page.contains("cannot give projects an issuer of their own yet: tokens.issuer"),
        "{page}"
    );
    let refused = member.post(&path, &[("own_issuer", "on"), ("token_claims", "")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("tokens.issuer"), "{}", refused.body);
}
