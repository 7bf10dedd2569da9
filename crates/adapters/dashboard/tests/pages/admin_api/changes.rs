//! Changes by programs.

use super::{Program, code, json_of, text};
use crate::support::House;
use actix_web::http::Method;
use dwar_kernel::{KeyMode, Phone};
use dwar_operator::{Access, Role};
use dwar_testkit::{Fixtures, Line};
use serde_json::{Value, json};

#[actix_web::test]
async fn a_project_is_made_changed_and_repriced() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let made = owner.post("/projects", json!({"name": "Chai", "balance_paise": 500})).await;
    assert_eq!(made.status, 201);
    let made = json_of(&made);
    assert!(
        house.opens(text(&made["live_key"])).await && house.opens(text(&made["test_key"])).await
    );
    let path = format!("/projects/{}", text(&made["project_id"]));
    let change = json!({"brand": "Chai & Co", "identity_delete": true, "sms_providers": ["msg91"], "fallback_seconds": 30});
    let changed = json_of(&owner.ask(Method::PATCH, &path, change).await);
    assert_eq!(changed["brand"], "Chai & Co");
    assert_eq!(changed["sms_providers"], json!(["msg91"]));
    let kept = json_of(&owner.ask(Method::PATCH, &path, json!({"name": "Chai 2"})).await);
    assert_eq!((&kept["name"], &kept["fallback_seconds"]), (&json!("Chai 2"), &json!(30)));
    let reset = json!({"brand": null, "fallback_seconds": null});
    let reset = json_of(&owner.ask(Method::PATCH, &path, reset).await);
    assert_eq!((&reset["brand"], &reset["fallback_seconds"]), (&Value::Null, &Value::Null));
    for (wrong, field) in [
        (json!({"name": "a\nb"}), "name"),
        (json!({"sms_text": "no code"}), "sms_text"),
        (json!({"sms_providers": ["pigeon"]}), "sms_providers"),
        (json!({"whatsapp_price_paise": 5}), "whatsapp_price_paise"),
    ] {
        let reply = owner.ask(Method::PATCH, &path, wrong).await;
        assert_eq!(reply.status, 422, "{}", reply.body);
        assert!(text(&json_of(&reply)["error"]).starts_with(field), "{}", reply.body);
    }
    let prices =
        json!({"sms_price_paise": 31, "low_balance_paise": 10_000, "daily_spend_paise": 200_000});
    let priced = json_of(&owner.ask(Method::PATCH, &format!("{path}/prices"), prices).await);
    for (field, paise) in
        [("sms_price_paise", 31), ("low_balance_paise", 10_000), ("daily_spend_paise", 200_000)]
    {
        assert_eq!(priced[field], paise, "{field}");
    }
    assert_eq!(json_of(&owner.get(&path).await), priced);
}

#[actix_web::test]
async fn a_key_is_replaced_once_however_often_it_is_asked_for() {
    let house = House::new().await;
    let owner = Program::new(&house, Access::one(house.project, Role::Owner)).await;
    let keys = json_of(&owner.get(&owner.own("/keys")).await);
    let key = &keys["items"][0];
    assert!(house.live_key.ends_with(text(&key["ending"])));
    assert!(house.live_key.starts_with(text(&key["prefix"])));
    assert!(!keys.to_string().contains(&house.live_key));
    let path = owner.own("/keys/live/regenerate");
    let made = owner.post(&path, json!({"replaces": key["key_id"]})).await;
    assert_eq!((made.status, made.header("cache-control")), (201, "no-store"));
    let fresh = text(&json_of(&made)["key"]).to_owned();
    assert!(house.opens(&fresh).await && !house.opens(&house.live_key).await);
    let again = owner.post(&path, json!({"replaces": key["key_id"]})).await;
    assert_eq!((again.status, code(&again).as_str()), (409, "CONFLICT"));
    assert!(house.opens(&fresh).await);
    let other = owner.own("/keys/staging/regenerate");
    assert_eq!(owner.post(&other, json!({"replaces": key["key_id"]})).await.status, 404);
}

#[actix_web::test]
async fn a_webhook_is_added_rotated_and_removed_by_its_project_alone() {
    let house = House::new().await;
    let owner = Program::new(&house, Access::one(house.project, Role::Owner)).await;
    let base = owner.own("/webhooks");
    let added = owner.post(&base, json!({"url": "https://example.com/x"})).await;
    assert_eq!(added.status, 201);
    let added = json_of(&added);
    assert!(text(&added["secret"]).starts_with("whsec_"));
    let one = format!("{base}/{}", text(&added["webhook"]["webhook_id"]));
    let rotated = json_of(&owner.post(&format!("{one}/rotate-secret"), json!({})).await);
    assert_ne!(rotated["secret"], added["secret"]);
    assert_eq!(owner.post(&format!("{one}/enable"), json!({})).await.status, 200);
    let member = Program::new(&house, Access::one(house.project, Role::Member)).await;
    for (method, path) in [
        (Method::POST, base.clone()),
        (Method::POST, format!("{one}/rotate-secret")),
        (Method::POST, format!("{one}/enable")),
        (Method::DELETE, one.clone()),
    ] {
        assert_eq!(member.ask(method, &path, json!({})).await.status, 403, "{path}");
    }
    let stranger = Program::new(&house, Access::one(house.other, Role::Owner)).await;
    let through = one.replace(&house.project.to_string(), &house.other.to_string());
    for (method, path) in
        [(Method::DELETE, through.clone()), (Method::POST, through + "/rotate-secret")]
    {
        assert_eq!(stranger.ask(method, &path, json!({})).await.status, 404, "{path}");
    }
    assert_eq!(json_of(&owner.get(&base).await)["items"].as_array().unwrap().len(), 1);
    assert_eq!(owner.ask(Method::DELETE, &one, json!({})).await.status, 200);
    assert_eq!(owner.ask(Method::DELETE, &one, json!({})).await.status, 404);
}

#[actix_web::test]
async fn an_identity_is_found_by_number_in_a_body_masked_by_id_and_erased() {
    let house = House::new().await;
    let member = Program::new(&house, Access::one(house.project, Role::Member)).await;
    let phone: Phone = "9876543210".parse().unwrap();
    let index = house.parts.tools.vault.phone_index(house.project.in_mode(KeyMode::Live), &phone);
    let line = Line { project_mode: house.project.in_mode(KeyMode::Live), phone, index };
    let make = Fixtures::seeded(3);
    let login = make.login(&line);
    let id = make.log_in(&*house.parts.stores.logins, &line, login).await;
    let found =
        member.post(&member.own("/identities/live/find"), json!({"phone": "9876543210"})).await;
    assert_eq!(json_of(&found)["identity_id"], id.to_string());
    assert_eq!(json_of(&found)["phone"], "+919876543210");
    let one = member.own(&format!("/identities/live/{id}"));
    assert_eq!(json_of(&member.get(&one).await)["phone"], "+9198••••3210");
    let elsewhere = member.own(&format!("/identities/test/{id}"));
    assert_eq!(member.get(&elsewhere).await.status, 404, "the other mode has data of its own");
    let erased = json_of(&member.ask(Method::DELETE, &one, json!({})).await);
    assert_eq!((&erased["erased"], &erased["sessions_revoked"]), (&json!(true), &json!(1)));
    assert_eq!(member.get(&one).await.status, 404);
    let unlocked =
        json_of(&member.post(&member.own("/unlock"), json!({"phone": "9876543210"})).await);
    assert_eq!((&unlocked["was"], &unlocked["phone"]), (&json!("usual"), &json!("+9198••••3210")));
}

#[actix_web::test]
async fn somebody_is_invited_changed_and_removed_and_never_reset() {
    let house = House::new().await;
    let owner = Program::new(&house, Access::one(house.project, Role::Owner)).await;
    let access =
        |project: String, role: &str| json!({"projects": [{"project_id": project, "role": role}]});
    let ours = access(house.project.to_string(), "support");
    let invited = owner.post("/operators", json!({"name": "ravi", "access": ours})).await;
    assert_eq!(invited.status, 201, "{}", invited.body);
    let invited = json_of(&invited);
    assert!(text(&invited["link"]).starts_with("http://127.0.0.1:8081/invite#svc_lnk_"));
    let again = owner.post("/operators", json!({"name": "RAVI", "access": ours})).await;
    assert_eq!((again.status, code(&again).as_str()), (409, "CONFLICT"));
    for (access, status) in [
        (json!({"everything": true}), 403),
        (access(house.other.to_string(), "viewer"), 403),
        (json!({}), 403),
        (access("x".to_owned(), "viewer"), 422),
        (access(house.project.to_string(), "boss"), 422),
    ] {
        let body = json!({"name": "eve", "access": access});
        assert_eq!(owner.post("/operators", body).await.status, status, "{access}");
    }
    let one = format!("/operators/{}", text(&invited["operator"]["operator_id"]));
    let viewer = access(house.project.to_string(), "viewer");
    let changed = owner.ask(Method::PUT, &format!("{one}/access"), viewer.clone()).await;
    assert_eq!(json_of(&changed)["access"]["projects"], viewer["projects"]);
    assert_eq!(owner.post(&format!("{one}/reset"), json!({})).await.status, 404);
    // An operator with access to another project too is shown, but without the other project.
    let both = Access {
        projects: [(house.project, Role::Viewer), (house.other, Role::Owner)].into(),
        ..Access::default()
    };
    house.joined("meena", both).await;
    let chief = house.joined("chief", Access::everything()).await.operator.id;
    let list = owner.get("/operators").await;
    assert!(list.body.contains("meena") && !list.body.contains(&house.other.to_string()));
    assert!(!list.body.contains("chief"));
    assert_eq!(
        owner.ask(Method::DELETE, &format!("/operators/{chief}"), json!({})).await.status,
        404
    );
    assert_eq!(owner.ask(Method::DELETE, &one, json!({})).await.status, 200);
    assert!(house.manage.operators.named("ravi").await.is_err());
}

#[actix_web::test]
async fn a_token_makes_one_that_lives_no_longer_and_shows_it_once() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let new = |seconds: u32| {
        json!({"name": "ci", "lifetime_seconds": seconds,
            "access": {"projects": [{"project_id": house.project.to_string(), "role": "viewer"}]}})
    };
    let made = owner.post("/tokens", new(3_600)).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let secret = text(&json_of(&made)["secret"]).to_owned();
    let child = Program { house: &house, token: secret.clone() };
    assert_eq!(child.get(&child.own("/wallet")).await.status, 200);
    assert!(!owner.get("/tokens").await.body.contains(&secret));
    let long = owner.post("/tokens", new(86_401)).await;
    assert_eq!((long.status, code(&long).as_str()), (422, "INVALID_FIELD"), "{}", long.body);
    assert_eq!(owner.post("/tokens", new(59)).await.status, 422);
    let project_owner = Program::new(&house, Access::one(house.project, Role::Owner)).await;
    assert_eq!(project_owner.post("/tokens", new(3_600)).await.status, 403);
}
