use crate::support::House;
use dwar_operator::Role;

const PAGES: [&str; 9] = [
    "overview",
    "playground",
    "keys",
    "settings/delivery",
    "wallet",
    "identities",
    "audit",
    "activity",
    "inbox",
];

/// The address of a form, its fields, and the roles that may not send it.
type Form<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [Role]);

/// The pages of the project that each role may open.
const SEES: [(Role, [bool; 9]); 4] = [
    (Role::Owner, [true; 9]),
    (Role::Member, [true, true, false, true, false, true, false, true, true]),
    (Role::Support, [false, false, false, false, false, false, false, true, false]),
    (Role::Viewer, [true, false, false, true, true, false, false, true, false]),
];

#[actix_web::test]
async fn each_role_opens_its_pages_and_is_led_to_no_others() {
    let house = House::new().await;
    for (role, sees) in SEES {
        let browser = house.with_role(role).await;
        let led = browser.get("/account").await.body + &browser.get("/projects").await.body;
        for (page, seen) in PAGES.into_iter().zip(sees) {
            let path = house.page(page);
            let status = browser.get(&path).await.status;
            assert_eq!(status, if seen { 200 } else { 403 }, "{role:?} {page}");
            assert!(seen || !led.contains(&path), "{role:?} is led to {page}");
        }
    }
}

#[actix_web::test]
async fn what_belongs_to_the_installation_is_for_its_owners() {
    let house = House::new().await;
    for role in Role::ALL {
        let browser = house.with_role(role).await;
        assert_eq!(browser.get("/audit").await.status, 403, "{role:?}");
        let team = browser.get("/team").await.status;
        assert_eq!(team, if role == Role::Owner { 200 } else { 403 }, "{role:?}");
        let everything = [("name", "eve"), ("project", "everything"), ("role", "owner")];
        assert_eq!(browser.post("/team", &everything).await.status, 403, "{role:?}");
    }
    assert_eq!(house.owner().await.get("/audit").await.status, 200);
}

#[actix_web::test]
async fn no_role_changes_what_it_may_not() {
    let house = House::new().await;
    let project = house.parts.stores.projects.find(house.project).await.unwrap();
    let keys = house.parts.stores.projects.keys(house.project).await.unwrap();
    let money =
        [("whatsapp_price", "1"), ("sms_price", ""), ("low_balance", ""), ("daily_spend", "")];
    let texts = ["brand", "language", "sms_text", "sms_template_id", "webotp_domain", "app_hash"];
    let texts = texts.map(|name| (name, ""));
    let key = [("mode", "live"), ("key", &keys[0].id.to_string()), ("word", "Acme")];
    let credit = [("rupees", "5"), ("reference", "x")];
    let webhook = [("url", "https://example.com")];
    let hook = [("kind", "supabase"), ("mode", "live"), ("expires_in", "300")];
    let everyone_else = [Role::Member, Role::Support, Role::Viewer];
    let end = format!("identities/live/{}/sessions/end", house.project);
    let correction = [("correction", "-5"), ("reason", "x"), ("confirmed", "yes")];
    let refund = [("otp_id", "0199a000-0000-7000-8000-000000000000")];
    let forms: [Form<'_>; 15] = [
        ("wallet/refund", &refund, &everyone_else),
        ("wallet/adjustment", &correction, &everyone_else),
        ("settings/archive", &[("word", "Acme")], &everyone_else),
        ("settings/restore", &[], &everyone_else),
        ("settings/project", &[("name", "Zoo")], &[Role::Support, Role::Viewer]),
        ("wallet/proof", &[], &everyone_else),
        (&end, &[("word", "end all")], &[Role::Support, Role::Viewer]),
        ("keys/regenerate", &key, &[Role::Member, Role::Support, Role::Viewer]),
        ("wallet/credit", &credit, &[Role::Member, Role::Support, Role::Viewer]),
        ("settings/money", &money, &[Role::Member, Role::Support, Role::Viewer]),
        ("settings/identities", &[("identity_delete", "on")], &[Role::Support, Role::Viewer]),
        ("settings/messages", &texts, &[Role::Support, Role::Viewer]),
        ("settings/events", &webhook, &everyone_else),
        ("settings/hooks", &hook, &everyone_else),
        (
            "playground/call",
            &[("method", "GET"), ("target", "/v1/x")],
            &[Role::Support, Role::Viewer],
        ),
    ];
    for role in [Role::Member, Role::Support, Role::Viewer] {
        let browser = house.with_role(role).await;
        for (path, fields, refused) in forms {
            if refused.contains(&role) {
                let status = browser.post(&house.page(path), fields).await.status;
                assert_eq!(status, 403, "{role:?} {path}");
            }
        }
    }
    assert_eq!(house.parts.stores.projects.find(house.project).await.unwrap(), project);
    assert_eq!(house.parts.stores.projects.keys(house.project).await.unwrap(), keys);
    assert!(house.asked.0.lock().unwrap().is_empty());
}

#[actix_web::test]
async fn another_project_is_not_there() {
    let house = House::new().await;
    let owner = house.with_role(Role::Owner).await;
    for page in PAGES {
        let status = owner.get(&format!("/p/{}/{page}", house.other)).await.status;
        assert_eq!(status, 404, "{page}");
    }
    assert!(!owner.get("/projects").await.body.contains("Other"));
    let call = format!("/p/{}/playground/call", house.other);
    let fields = [("method", "GET"), ("target", "/v1/x")];
    assert_eq!(owner.post(&call, &fields).await.status, 404);
    assert_eq!(owner.get("/p/nonsense/keys").await.status, 404);
}
