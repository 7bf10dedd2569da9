use crate::support::House;
use dwar_operator::Role;
use dwar_otp::sandbox::Scenario;
use serde_json::{Value, json};

#[actix_web::test]
async fn asks_the_api_for_its_own_project_and_tells_the_whole_answer() {
    let house = House::new().await;
    let member = house.with_role(Role::Member).await;
    let body = r#"{"phone":"9876543210"}"#;
    let fields = [("method", "POST"), ("target", "/v1/otp/send"), ("body", body)];
    let reply = member.post(&house.page("playground/call"), &fields).await;
    let answer: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!((&answer["status"], &answer["body"]), (&200.into(), &r#"{"ok":true}"#.into()));
    assert_eq!(answer["headers"][0], json!(["ratelimit-limit", "20"]));
    let asked = house.asked.0.lock().unwrap().remove(0);
    assert_eq!((asked.0, asked.1.method.as_str()), (house.project, "POST"));
    assert_eq!(
        (asked.1.target.as_str(), asked.1.body.as_slice()),
        ("/v1/otp/send", body.as_bytes())
    );
}

#[actix_web::test]
async fn the_login_form_asks_for_its_two_steps_and_gets_no_token() {
    let house = House::new().await;
    let owner = house.owner().await;
    let page = owner.get(&house.page("playground")).await.body;
    let endpoint = format!(r#"<dwar-login endpoint="{}""#, house.page("playground/login"));
    assert!(page.contains(&endpoint) && page.contains("dwar-login.js"), "{page}");
    for (step, body, asked) in [
        ("send", r#"{"phone":"9876543210"}"#, json!({ "phone": "9876543210" })),
        (
            "verify",
            r#"{"phone":"9876543210","code":"123456","tokens":"body"}"#,
            json!({ "phone": "9876543210", "code": "123456" }),
        ),
    ] {
        let reply = owner.post_json(&house.page(&format!("playground/login/{step}")), body).await;
        let told: Value = serde_json::from_str(&reply.body).unwrap();
        let nothing = json!({ "otp_id": null, "identity_id": null, "expires_in": null });
        assert_eq!(
            (reply.status, told),
            (200, nothing),
            "the API said none of it, and no token goes on"
        );
        let (project, request) = house.asked.0.lock().unwrap().remove(0);
        assert_eq!((project, request.target), (house.project, format!("/v1/otp/{step}")));
        let sent: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(sent, asked);
    }
    for (step, body) in [("refresh", r#"{"phone":""}"#), ("verify", r#"{"phone":"9876543210"}"#)] {
        let reply = owner.post_json(&house.page(&format!("playground/login/{step}")), body).await;
        assert_eq!(reply.status, 404, "{step}");
    }
    assert_eq!(owner.post_json(&house.page("playground/login/send"), "[]").await.status, 400);
    let support = house.with_role(Role::Support).await;
    let body = r#"{"phone":"9876543210"}"#;
    assert_eq!(support.post_json(&house.page("playground/login/send"), body).await.status, 403);
    assert!(house.asked.0.lock().unwrap().is_empty());
}

#[actix_web::test]
async fn reaches_nothing_of_the_api_but_its_public_routes() {
    let house = House::new().await;
    let owner = house.owner().await;
    for target in ["/webhooks/msg91", "/healthz", "/readyz", "", "//v1/", "http://x/v1/", "v1/"] {
        let fields = [("method", "GET"), ("target", target)];
        let reply = owner.post(&house.page("playground/call"), &fields).await;
        assert_eq!(reply.status, 404, "{target}");
    }
    assert!(house.asked.0.lock().unwrap().is_empty());
}

#[actix_web::test]
async fn every_magic_number_is_one_click_away() {
    let house = House::new().await;
    let page = house.owner().await.get(&house.page("playground")).await.body;
    for (number, scenario) in Scenario::MAGIC {
        assert!(page.contains(&format!(r#"data-number="{number}""#)), "{scenario:?}");
        assert_eq!(Scenario::of(&number.parse().unwrap()), scenario);
    }
    assert!(!page.contains("svc_live_") && !page.contains(&house.live_key));
}

#[actix_web::test]
async fn without_a_script_there_is_a_notice_and_nothing_to_press() {
    let house = House::new().await;
    let page = house.owner().await.get(&house.page("playground")).await.body;
    assert!(page.contains("<noscript><p class=\"notice\">"), "{page}");
    assert!(page.contains("<div class=\"playground\" id=\"playground\" hidden"), "{page}");
    assert!(
        page.contains(&format!("href=\"{}\"", house.page("inbox"))),
        "its messages are one click away"
    );
    let key = page.find("id=\"own-key\"");
    assert!(key.is_some() && key < page.find("id=\"phone\""), "the key field is first");
}
