//! Rows that differ from those of this version: a row that breaks a rule of today is read, shown
//! and reported; an unreadable row affects only the answers to its owner.

use crate::common::{Answer, Database, Endpoint, Person, Program, Project, Service, World};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use serde_json::{Value, json};

fn world(database: Database) -> World {
    World::new(database)
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__EVENTS__ALLOW_PRIVATE", "true")
        .with("DWAR__TOKENS__ISSUER", "https://otp.example.com")
        .with("DWAR__TOKENS__PUBLISH_BEFORE_SECONDS", "7200")
}

async fn patch(program: &Program, project: &Project, body: Value) -> Answer {
    program.call(Method::PATCH, &format!("/projects/{}", project.id), &body).await
}

/// Every interface answers about a project, and its key works.
async fn everybody_is_answered(service: &Service, owner: &Program, projects: &[&Project]) {
    let person = Person::join(service, &["--name", "reader", "--owner"]).await;
    let listed = owner.get("/projects").await.ok();
    let printed = service.world.cli(&["project", "list"]);
    let page = person.get("/projects").await;
    assert_eq!(page.status, 200, "{}", page.text);
    for project in projects {
        service.send(&project.test, &service.world.phone()).await.ok();
        let named = |list: &Value| {
            let items = list["items"].as_array().unwrap();
            items.iter().any(|item| item["project_id"] == project.id)
        };
        assert!(named(&listed) && named(&printed) && page.text.contains(&project.id));
    }
    let id = person.get("/team").await.text;
    let remove = id.contains("reader");
    assert!(remove, "{id}");
    service.world.cli(&["operator", "remove", "reader"]);
}

fn doctor(world: &World) -> (bool, String) {
    let output = world.run(&["doctor", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.success(), told["checks"].to_string())
}

/// A change by one member that once stopped the whole installation.
pub async fn a_value_of_one_member_stops_nobody(database: Database) {
    let service = Service::start_in(world(database));
    let (ours, other) = (service.world.project("100"), service.world.project("100"));
    let owner = Program::owner(&service);
    let member = Program::in_project(&service, &ours.id, "member");
    let refused = patch(&member, &ours, json!({ "token_claims": { "role": " service_role" } }));
    refused.await.refused(422, "INVALID_FIELD");
    for claims in [json!({ "ISS": "x" }), json!({ "Aud": "x" }), json!({ "email_verified": "x" })] {
        let refused = patch(&member, &ours, json!({ "token_claims": claims })).await;
        refused.refused(422, "INVALID_FIELD");
    }
    let taken = json!({ "token_claims": { " role ": "\u{a0}authenticated " }, "name": " Chai " });
    let taken = patch(&member, &ours, taken).await.ok();
    assert_eq!(
        (&taken["token_claims"]["role"], &taken["name"]),
        (&json!("authenticated"), &json!("Chai"))
    );
    everybody_is_answered(&service, &owner, &[&ours, &other]).await;
    let service = Service::start_in(service.kill());
    let owner = Program::with(&service, &owner.token);
    everybody_is_answered(&service, &owner, &[&ours, &other]).await;
}

pub async fn what_breaks_a_rule_of_today_is_read_and_shown_and_said_in_no_token(
    database: Database,
) {
    let service = Service::start_in(world(database));
    let (ours, other) = (service.world.project("100"), service.world.project("100"));
    let owner = Program::owner(&service);
    let own = ["project", "set", "--project", &ours.id, "--own-issuer", "on"];
    service.world.cli(&own);
    let kept =
        "role= service_role\nISS=https://other.example\nEXP=9999999999\norg=tea\nORG=x\nnonsense";
    let id = service.world.database.id(&ours.id);
    let spoil =
        format!("UPDATE projects SET name = ' Chai', token_claims = '{kept}' WHERE id = {id}");
    service.world.database.run(&spoil).await;

    everybody_is_answered(&service, &owner, &[&ours, &other]).await;
    let shown = owner.get(&format!("/projects/{}", ours.id)).await.ok();
    assert_eq!(shown["token_claims"]["ISS"], "https://other.example");
    assert_eq!(
        (&shown["token_claims"]["role"], &shown["name"]),
        (&json!(" service_role"), &json!(" Chai"))
    );
    let token = service.log_in(&ours.live, &service.world.phone()).await["access_token"].clone();
    let payload = token.as_str().unwrap().split('.').nth(1).unwrap();
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).unwrap()).unwrap();
    assert_eq!((&claims["org"], &claims["iss"]), (&json!("tea"), &shown_issuer(&ours)));
    for left_out in ["role", "ISS", "EXP", "ORG", "nonsense"] {
        assert!(claims.get(left_out).is_none(), "{claims}");
    }
    service.validate(&ours.live, &token).await.ok();
    let (sound, told) = doctor(&service.world);
    assert!(sound && told.contains(&format!("{}: token_claims: ", ours.id)), "{told}");

    let service = Service::start_in(service.kill());
    let owner = Program::with(&service, &owner.token);
    // Meanwhile other settings can be changed, and each interface can repair the claims.
    patch(&owner, &ours, json!({ "brand": "Tea" })).await.ok();
    patch(&owner, &ours, json!({ "token_claims": { "AUD": "x" } }))
        .await
        .refused(422, "INVALID_FIELD");
    patch(&owner, &ours, json!({ "token_claims": { "org": "tea" } })).await.ok();
    let (_, told) = doctor(&service.world);
    assert!(!told.contains("token_claims"), "{told}");
}

fn shown_issuer(project: &Project) -> Value {
    json!(format!("https://otp.example.com/p/{}", project.id))
}

/// An instant beyond our calendar, as an SQL literal of this database.
const fn never(database: &Database) -> &'static str {
    match database {
        Database::Sqlite(_) => "9223372036854775807",
        _ => "'infinity'",
    }
}

const fn noon(database: &Database) -> &'static str {
    match database {
        Database::Sqlite(_) => "4102444800000",
        _ => "'2100-01-01 12:00:00Z'",
    }
}

pub async fn a_row_that_cannot_be_read_costs_its_own_project_alone(database: Database) {
    let service = Service::start_in(world(database));
    let (ours, other) = (service.world.project("100"), service.world.project("100"));
    let owner = Program::owner(&service);
    let (bad, good) = (Endpoint::start().await, Endpoint::start().await);
    for (project, endpoint) in [(&ours, &bad), (&other, &good)] {
        let id = project.id.as_str();
        service.world.cli(&["webhook", "add", "--project", id, "--url", &endpoint.url]);
        service.world.cli(&[
            "hook",
            "add",
            "--project",
            id,
            "--kind",
            "logto",
            "--mode",
            "test",
            "--expires-in",
            "300",
        ]);
    }
    for name in ["kept", "lost"] {
        Person::join(&service, &["--name", name, "--owner"]).await;
    }
    Program::new(&service, &["--name", "lost", "--everything"]);
    let database = &service.world.database;
    let (id, never) = (database.id(&ours.id), never(database));
    let (nobody, noon) = (database.id("0199a000-0000-7000-8000-000000000000"), noon(database));
    // The other project's event waits behind one that cannot be read.
    service.send(&ours.live, &service.world.phone()).await.ok();
    for spoil in [
        format!("UPDATE projects SET created_at = {never} WHERE id = {id}"),
        format!("UPDATE webhook_endpoints SET created_at = {never} WHERE project_id = {id}"),
        format!("UPDATE events SET kind = 'nonsense' WHERE project_id = {id}"),
        format!("UPDATE hooks SET kind = 'nonsense' WHERE project_id = {id}"),
        "UPDATE operators SET access = 'nonsense' WHERE name = 'lost'".to_owned(),
        "UPDATE admin_tokens SET access = 'nonsense' WHERE name = 'lost'".to_owned(),
        format!(
            "INSERT INTO audit_entries (id, happened_at, actor_kind, action, subject) \
             VALUES ({nobody}, {noon}, 'command_line', 'nonsense', 'lost')"
        ),
    ] {
        service.world.database.run(&spoil).await;
    }
    let service = unreadable_project(service, &owner, (&ours, &other), &good).await;
    // Also after a restart.
    let service = Service::start_in(service.kill());
    let owner = Program::with(&service, &owner.token);
    unreadable_project(service, &owner, (&ours, &other), &good).await;
}

async fn unreadable_project(
    service: Service,
    owner: &Program,
    (ours, other): (&Project, &Project),
    good: &Endpoint,
) -> Service {
    everybody_is_answered(&service, owner, &[other]).await;
    let phone = service.world.phone();
    service.send(&ours.test, &phone).await.refused(500, "INTERNAL_ERROR");
    owner.get(&format!("/projects/{}", ours.id)).await.refused(500, "INTERNAL_ERROR");
    for list in ["/tokens", "/operators", "/audit"] {
        assert!(!owner.get(list).await.ok()["items"].as_array().unwrap().is_empty(), "{list}");
    }
    service.world.cli(&["operator", "list"]);
    service.world.cli(&["admin-token", "list"]);
    assert!(service.audited("project.created") > 1);
    good.told.lock().unwrap().clear();
    service.log_in(&other.live, &phone).await;
    good.hears("otp.verified").await;
    let (sound, told) = doctor(&service.world);
    assert!(!sound);
    for place in [
        "projects.created_at",
        "webhook_endpoints.created_at",
        "hooks.kind",
        "operators.access",
        "admin_tokens.access",
    ] {
        assert!(told.contains(&format!("inconsistent data in {place}")), "{place}: {told}");
    }
    assert!(told.contains(&ours.id), "{told}");
    service
}
