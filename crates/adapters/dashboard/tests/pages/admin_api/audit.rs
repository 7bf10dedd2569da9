//! The audit log of changes by programs.

use super::{Program, json_of, text};
use crate::support::House;
use actix_web::http::Method;
use dwar_operator::Requester;
use serde_json::{Value, json};

#[actix_web::test]
async fn the_log_names_the_token_and_its_address_and_holds_no_secret_and_no_number() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let mut secrets = vec![owner.token.clone()];
    let keys = json_of(&owner.get(&owner.own("/keys")).await);
    let replaces = json!({"replaces": keys["items"][0]["key_id"]});
    let made = json_of(&owner.post(&owner.own("/keys/live/regenerate"), replaces).await);
    secrets.push(text(&made["key"]).to_owned());
    let hook = json!({"url": "https://example.com/hush"});
    let hook = json_of(&owner.post(&owner.own("/webhooks"), hook).await);
    secrets.push(text(&hook["secret"]).to_owned());
    let peer = std::net::SocketAddr::from(([192, 0, 2, 7], 1));
    let unlock = owner.request(Method::POST, &owner.own("/unlock")).peer_addr(peer);
    assert_eq!(house.send(unlock.set_json(json!({"phone": "9876543210"}))).await.status, 200);
    owner
        .post(
            &owner.own("/wallet/credits"),
            json!({"amount_paise": 5, "reference": "for 9876543210"}),
        )
        .await;
    let rotated = owner.post("/signing-keys/rotate", json!({})).await;
    assert_eq!(rotated.status, 201, "{}", rotated.body);
    assert_eq!(json_of(&owner.get("/signing-keys").await)["items"].as_array().unwrap().len(), 2);

    let log = json_of(&owner.get("/audit").await);
    let mut lines = log["items"].as_array().unwrap().clone();
    lines.retain(|line| line["actor"]["kind"] == "token");
    let mut actions: Vec<&str> = lines.iter().map(|line| text(&line["action"])).collect();
    actions.sort_unstable();
    let wanted = [
        "endpoint.added",
        "key.regenerated",
        "phone.unlocked",
        "signing_key.rotated",
        "wallet.credited",
    ];
    assert_eq!(actions, wanted);
    for line in &lines {
        assert_eq!(line["actor"]["name"], "token deploy");
        let from =
            if line["action"] == "phone.unlocked" { json!("192.0.2.7") } else { Value::Null };
        assert_eq!(line["from"], from);
    }
    let export = owner.get("/audit/export").await;
    for hush in secrets.iter().map(String::as_str).chain(["9876543210", "hush", "whsec_", "svc_"]) {
        assert!(!export.body.contains(hush), "{hush}");
    }
}

#[actix_web::test]
async fn the_log_is_paged_filtered_and_exported_whole() {
    let house = House::new().await;
    let owner = Program::owner(&house).await;
    let by = Requester::command_line();
    for number in 0..1_100 {
        let reference = Some(format!("r{number}").parse().unwrap());
        let amount = dwar_wallet::Amount::from(1);
        house.manage.wallets.credit(&by, house.project, amount, reference).await.unwrap();
    }
    let (mut cursor, mut seen) = (String::new(), Vec::new());
    loop {
        let path = owner.own(&format!("/audit?limit=400&action=wallet.credited{cursor}"));
        let page = json_of(&owner.get(&path).await);
        seen.extend(page["items"].as_array().unwrap().iter().map(|line| line["id"].clone()));
        match &page["next_cursor"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => break,
        }
    }
    assert_eq!(seen.len(), 1_100);
    let export = owner.get(&owner.own("/audit/export?action=wallet.credited")).await;
    assert_eq!(export.header("content-type"), "application/x-ndjson");
    let lines: Vec<Value> = export
        .body
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    assert_eq!(lines, seen);
    let late = owner.get("/audit?since=2099-01-01T00:00:00Z").await;
    assert!(json_of(&late)["items"].as_array().unwrap().is_empty());
    for wrong in ["action=x", "since=yesterday", "cursor=x", "cursor=2027-01-15T08:00:00Z_x"] {
        assert_eq!(owner.get(&format!("/audit?{wrong}")).await.status, 422, "{wrong}");
    }
}
