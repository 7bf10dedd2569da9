//! Calls every operation of the document, so that none can be forgotten.

use super::code;
use crate::support::{HOST, House};
use actix_web::http::Method;
use actix_web::test::TestRequest;
use dwar_admin::document;
use dwar_console::NewAdminToken;
use dwar_kernel::ProjectId;
use dwar_operator::{Access, Area, Permission, Requester, Role};
use dwar_testkit::new_token;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);
const FILE: &str = "../../../docs/admin-openapi.json";
const SOMETHING: &str = "0199a000-0000-7000-8000-000000000000";

pub struct Listed {
    pub method: Method,
    pub path: String,
    pub right: String,
    pub id: String,
}

pub fn listed() -> Vec<Listed> {
    let document: Value = serde_json::from_str(&document()).unwrap();
    let mut all = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, described) in item.as_object().unwrap() {
            all.push(Listed {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                right: described["x-right"].as_str().unwrap().to_owned(),
                id: described["operationId"].as_str().unwrap().to_owned(),
            });
        }
    }
    assert!(all.len() > 50, "{}", all.len());
    all
}

impl Listed {
    pub fn request(&self, project: ProjectId) -> TestRequest {
        let path = self.path.replace("{project}", &project.to_string()).replace("{mode}", "live");
        let path: Vec<&str> = path
            .split('/')
            .map(|part| if part.starts_with('{') { SOMETHING } else { part })
            .collect();
        TestRequest::with_uri(&path.join("/"))
            .method(self.method.clone())
            .insert_header(("Host", HOST))
    }

    /// Tells whether the table of roles gives a role in a project access to this.
    pub fn opens_to(&self, role: Role) -> bool {
        match self.right.as_str() {
            "any" => true,
            "team" => role.may(Permission::See(Area::Team)),
            "installation" => false,
            right => role.may(permission(right)),
        }
    }
}

fn permission(right: &str) -> Permission {
    if right == "unmask" {
        return Permission::Unmask;
    }
    let (verb, word) = right.split_once(' ').unwrap();
    let area = Area::ALL.into_iter().find(|area| format!("{area:?}").eq_ignore_ascii_case(word));
    match verb {
        "see" => Permission::See(area.unwrap()),
        "change" => Permission::Change(area.unwrap()),
        other => panic!("{other}"),
    }
}

impl House {
    /// A token of the admin API with the right to delegate.
    pub async fn token(&self, name: &str, access: Access) -> String {
        let new = NewAdminToken { may_delegate: true, ..new_token(name, access, DAY) };
        let made = self.manage.tokens.make(&Requester::command_line(), new).await.unwrap();
        made.1.expose().to_owned()
    }
}

pub fn with(request: TestRequest, token: &str) -> TestRequest {
    request.insert_header(("Authorization", format!("Bearer {token}")))
}

#[test]
fn the_committed_document_is_what_the_routes_are_made_from() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("DWAR_WRITE_DOCS").is_some() {
        fs::write(&file, document()).unwrap();
    }
    // The order of keys depends on the other crates of the build.
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        read(&committed) == read(&document()),
        "docs/admin-openapi.json is not what the code says; `DWAR_WRITE_DOCS=1 cargo test -p \
         dwar-dashboard --test pages admin_api` writes it anew"
    );
}

/// The table of docs/admin-api.md lists every operation with its right.
#[test]
fn the_page_lists_every_operation() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/admin-api.md");
    let page = fs::read_to_string(page).unwrap();
    let rows: BTreeSet<&str> =
        page.lines().filter(|line| line.starts_with("| `") && line.contains("` | `/")).collect();
    let document: Value = serde_json::from_str(&document()).unwrap();
    let wanted: Vec<String> = listed()
        .iter()
        .map(|one| {
            let described = &document["paths"][&one.path][one.method.as_str().to_lowercase()];
            let path = one.path.strip_prefix("/admin/v1").unwrap();
            let summary = described["summary"].as_str().unwrap();
            format!("| `{}` | `{path}` | {} | {summary} |", one.method, one.right)
        })
        .collect();
    let lacking: Vec<&String> = wanted.iter().filter(|row| !rows.contains(row.as_str())).collect();
    assert!(lacking.is_empty(), "docs/admin-api.md lacks:\n{}", {
        lacking.iter().map(|row| row.as_str()).collect::<Vec<_>>().join("\n")
    });
    assert_eq!(rows.len(), wanted.len(), "a row for what is not there");
}

#[test]
fn operations_have_names_of_their_own_and_schemas_that_exist() {
    let ids: BTreeSet<String> = listed().into_iter().map(|one| one.id).collect();
    assert_eq!(ids.len(), listed().len());
    let text = document();
    let whole: Value = serde_json::from_str(&text).unwrap();
    for rest in text.split("#/components/schemas/").skip(1) {
        let name = rest.split('"').next().unwrap();
        assert!(whole["components"]["schemas"].get(name).is_some(), "{name}");
    }
}

#[actix_web::test]
async fn no_operation_answers_without_a_token_that_counts() {
    let house = House::new().await;
    let owner = house.token("deploy", Access::everything()).await;
    let cookie = house.joined("asha", Access::everything()).await.token.expose().to_owned();
    let altered = format!("{}0", &owner[..owner.len() - 1]);
    let mut requests = Vec::new();
    for one in listed() {
        let plain = || one.request(house.project);
        let cookie = actix_web::cookie::Cookie::new("dwar_dashboard", cookie.clone());
        let twice = with(plain(), &owner).append_header(("Authorization", "Bearer x"));
        let basic = plain().insert_header(("Authorization", format!("Basic {owner}")));
        for (attack, request) in [
            ("no token", plain()),
            ("a session's cookie", plain().cookie(cookie)),
            ("a live key", with(plain(), &house.live_key)),
            ("a token altered by a letter", with(plain(), &altered)),
            ("an empty token", with(plain(), "")),
            ("two headers", twice),
            ("a token as an API key", plain().insert_header(("X-Api-Key", owner.as_str()))),
            ("another scheme", basic),
        ] {
            requests.push((format!("{attack}: {}", one.id), request));
        }
    }
    let (attacks, requests): (Vec<String>, Vec<TestRequest>) = requests.into_iter().unzip();
    for (attack, reply) in attacks.iter().zip(house.send_all(requests).await) {
        assert!([401, 429].contains(&reply.status), "{attack}: {}", reply.status);
        if attack.starts_with("no token") {
            assert_eq!((reply.status, code(&reply).as_str()), (401, "MISSING_ADMIN_TOKEN"));
            assert_eq!(reply.header("www-authenticate"), r#"Bearer realm="admin""#);
        }
    }
}

#[actix_web::test]
async fn each_role_opens_what_the_table_of_roles_says_and_nothing_else() {
    let house = House::new().await;
    for role in Role::ALL {
        let token = house.token(role.as_str(), Access::one(house.project, role)).await;
        let ask = |one: &Listed| with(one.request(house.project), &token);
        let replies = house.send_all(listed().iter().map(ask).collect()).await;
        for (one, reply) in listed().iter().zip(replies) {
            let refused = reply.status == 403;
            assert_eq!(refused, !one.opens_to(role), "{role:?} {} {}", one.id, reply.status);
            assert!(!refused || code(&reply) == "FORBIDDEN", "{}", reply.body);
            assert!(![401, 405, 500].contains(&reply.status), "{} {}", one.id, reply.body);
        }
    }
}

#[actix_web::test]
async fn another_project_is_not_there_for_any_operation() {
    let house = House::new().await;
    let before = snapshot(&house).await;
    let token = house.token("theirs", Access::one(house.other, Role::Owner)).await;
    let all = listed();
    let (inside, outside): (Vec<&Listed>, Vec<&Listed>) =
        all.iter().partition(|one| one.path.contains("{project}"));
    assert!(inside.len() > 15);
    let bodies = [json!({}), json!({"name": "x"}), json!({"amount_paise": 5, "reference": "x"})];
    for body in bodies {
        let ask = |one: &&Listed| with(one.request(house.project), &token).set_json(&body);
        let replies = house.send_all(inside.iter().map(ask).collect()).await;
        for (one, reply) in inside.iter().zip(replies) {
            assert_eq!((reply.status, code(&reply).as_str()), (404, "NOT_FOUND"), "{}", one.id);
        }
    }
    // Answers about no single project contain nothing of Acme.
    let ask = |one: &&Listed| with(one.request(house.project), &token);
    let replies = house.send_all(outside.iter().map(ask).collect()).await;
    for (one, reply) in outside.iter().zip(replies) {
        let (id, name) = (house.project.to_string(), "Acme");
        assert!(!reply.body.contains(&id) && !reply.body.contains(name), "{}", one.id);
    }
    assert_eq!(snapshot(&house).await, before);
}

async fn snapshot(house: &House) -> String {
    let stores = &house.parts.stores;
    let project = stores.projects.find(house.project).await.unwrap();
    let wallet = stores.wallets.balance(house.project).await.unwrap();
    let hooks = stores.events.endpoints(house.project).await.unwrap();
    format!("{project:?} {:?} {wallet:?} {hooks:?}", house.keys().await)
}
