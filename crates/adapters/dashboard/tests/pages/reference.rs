use crate::support::{House, api_document};
use dwar_kernel::EventKind;
use dwar_operator::Role;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const CSS: [&str; 2] = ["/dwar.css", "/reference.css"];

const STEPS: [&str; 5] =
    ["sendOtp", "verifyOtp", "validateSession", "refreshSession", "logoutSession"];

/// The visible text of a page: without tags, and unescaped.
fn text(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text: String = parts.collect();
    let signs = [("&quot;", "\""), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")];
    signs.iter().fold(text, |text, (name, sign)| text.replace(name, sign))
}

/// The values of an attribute, as often as they occur.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let begins = format!(" {attribute}=\"");
    let parts = page.split(begins.as_str()).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

/// The part of a page about each operation.
fn sections(page: &str) -> BTreeMap<&str, &str> {
    let parts = page.split("<section class=\"card\" id=\"").skip(1);
    parts.filter_map(|part| part.split_once('"')).collect()
}

/// Every operation of the document: its path, its method, and its object.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let methods = |(path, methods): (&String, &Value)| {
        let all = methods.as_object().unwrap().clone().into_iter();
        let path = path.clone();
        all.map(move |(method, said)| (path.clone(), method.to_uppercase(), said))
    };
    paths.iter().flat_map(methods).collect()
}

/// Every value with this name, at any depth.
fn named<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(members) => {
            found.extend(members.get(name));
            members.values().for_each(|member| named(member, name, found));
        }
        Value::Array(all) => all.iter().for_each(|one| named(one, name, found)),
        _ => {}
    }
}

#[actix_web::test]
async fn anybody_reads_it_and_whoever_is_signed_in_keeps_the_navigation() {
    let house = House::new().await;
    let open = house.stranger().get("/reference").await;
    assert_eq!((open.status, open.header("content-type")), (200, "text/html; charset=utf-8"));
    assert!(!open.body.contains("<nav class=\"nav-outside\""));
    assert!(open.body.contains("href=\"/sign-in?next=%2Freference\""), "{}", open.body);
    for secret in ["127.0.0.1", "Acme", &house.project.to_string(), "csrf"] {
        assert!(!open.body.contains(secret), "{secret}");
    }
    let viewer = house.with_role(Role::Viewer).await.get("/reference").await;
    let link = "<a href=\"/reference\" aria-current=\"page\">";
    assert!(viewer.body.contains("<nav class=\"nav-outside\"") && viewer.body.contains(link));
    let main = |page: &str| page.split("<div class=\"reference\"").nth(1).unwrap().len();
    assert!(main(&viewer.body) >= main(&open.body), "the same, and the search after it");
    let dark = house.stranger().request(actix_web::http::Method::GET, "/reference");
    let dark = dark.cookie(actix_web::cookie::Cookie::new("dwar_theme", "dark"));
    assert!(house.send(dark).await.body.contains("data-theme=\"dark\""));
}

#[actix_web::test]
async fn tells_of_every_operation_its_path_its_fields_its_codes_and_where_it_leads() {
    let house = House::new().await;
    let page = house.stranger().get("/reference").await.body;
    let sections = sections(&page);
    let common = text(sections["errors"]);
    assert!(common.contains("503") && common.contains("Headers: Retry-After"), "{common}");
    let document: Value = serde_json::from_str(&api_document()).unwrap();
    let operations = operations(&document);
    assert!(operations.len() > 5, "{} operations", operations.len());
    for (path, method, said) in operations {
        let id = said["operationId"].as_str().unwrap();
        let section = sections.get(id).unwrap_or_else(|| panic!("{id} has no section"));
        let shown = text(section);
        let expected = |what: &str| assert!(shown.contains(what), "{id}: {what} is not in {shown}");
        expected(&format!("{method} {path}"));
        expected(said["summary"].as_str().unwrap());
        expected(&said["description"].as_str().unwrap().replace('`', ""));
        expected("curl -s ");
        let pills: Vec<&str> = section.split("<span class=\"pill ").skip(1).collect();
        let statuses: Vec<&str> =
            pills.iter().filter_map(|pill| pill.split(['>', '<']).nth(1)).collect();
        let statuses: Vec<&str> = statuses.into_iter().filter(|it| it.len() == 3).collect();
        assert!(statuses.is_sorted() && statuses.first() == Some(&"200"), "{id}: {statuses:?}");
        for (status, answer) in said["responses"].as_object().unwrap() {
            let about = answer["description"].as_str().unwrap().replace('`', "");
            let is_own = shown.contains(&format!("{status} {about}"));
            assert!(is_own || common.contains(&format!("{status} {about}")), "{id}: {status}");
            let refused = &answer["content"]["application/json"];
            let codes = refused["schema"]["properties"]["code"]["enum"].as_array();
            for code in codes.into_iter().flatten().map(|code| code.as_str().unwrap()) {
                let example = &refused["examples"][code];
                let place = example["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
                let example = place.map_or(example, |place| document.pointer(place).unwrap());
                let sentence = example["value"]["error"].as_str().unwrap();
                let told = format!("{code}{sentence}");
                assert!(
                    shown.contains(&told) || shown.contains(code) && common.contains(&told),
                    "{id}: {told}"
                );
                assert!(!(shown.contains(&told) && common.contains(&told)), "{id}: {told} twice");
            }
            let links = answer["links"].as_object();
            for link in links.into_iter().flat_map(|links| links.values()) {
                let anchor = format!("href=\"#{}\"", link["operationId"].as_str().unwrap());
                assert!(section.contains(&anchor), "{id} does not lead to {anchor}");
            }
        }
        let has_key = shown.contains("X-Api-Key: $KEY");
        assert_eq!(has_key, said["security"] != serde_json::json!([]), "{id}");
        assert_eq!(section.contains("href=\"/playground\""), STEPS.contains(&id), "{id}");
    }
    let shown = text(&page);
    let (mut members, mut patterns) = (Vec::new(), Vec::new());
    named(&document, "properties", &mut members);
    let members = members.iter().flat_map(|members| members.as_object().unwrap().keys());
    named(&document, "pattern", &mut patterns);
    let patterns = patterns.iter().map(|pattern| pattern.as_str().unwrap());
    for wanted in members.map(String::as_str).chain(patterns) {
        assert!(shown.contains(wanted), "{wanted} is not on the page");
    }
}

#[actix_web::test]
async fn operations_come_in_the_order_of_a_login_and_those_without_a_key_last() {
    let house = House::new().await;
    let page = house.stranger().get("/reference").await.body;
    let order = |id: &str| page.find(&format!("<section class=\"card\" id=\"{id}\"")).unwrap();
    let places = STEPS.map(order);
    assert!(places.is_sorted(), "{places:?}");
    assert!(order("listSandboxMessages") < order("getHealth") && order("getHealth") < page.len());
    assert!(order("basics") < places[0] && order("getHealth") < order("headers"));
}

#[actix_web::test]
async fn each_example_can_be_run_as_it_stands() {
    let house = House::new().await;
    let shown = text(&house.stranger().get("/reference").await.body);
    for example in [
        "curl -s $BASE/v1/otp/send \\\n  -H \"X-Api-Key: $KEY\" \\\n  \
         -H 'Content-Type: application/json' \\\n  -d '{\"phone\":\"+919876543210\"}'",
        "-d '{\"phone\":\"+919876543210\",\"code\":\"482913\"}'",
        "curl -s $BASE/v1/otp/status/01a3185c-507b-7459-8475-1a0f4a2a0e58 \\\n  -H \"X-Api-Key: $KEY\"",
        "curl -s \"$BASE/v1/sandbox/messages?phone=%2B919876543210\" \\\n  -H \"X-Api-Key",
        "curl -s -X DELETE $BASE/v1/identity/01a3185c-507b-7459-8475-1a0f4a2a0e58 \\\n  -H",
        "curl -s $BASE/.well-known/jwks.json",
        "curl -s $BASE/v1/session/forward-auth \\\n  -H \"X-Api-Key: $KEY\" \\\n  \
         -H \"Authorization: Bearer $ACCESS_TOKEN\"",
        "curl -s $BASE/oauth2/introspect \\\n  -H \"X-Api-Key: $KEY\" \\\n  -d 'token=eyJ",
    ] {
        assert!(shown.contains(example), "{example} is not in {shown}");
    }
}

#[actix_web::test]
async fn it_is_light_and_every_link_leads_somewhere() {
    let house = House::new().await;
    let owner = house.owner().await;
    for browser in [&house.stranger(), &owner] {
        let page = browser.get("/reference").await.body;
        let mut weight = page.len();
        for path in values(&page, "href") {
            if CSS.iter().any(|name| path.ends_with(name)) {
                weight += browser.get(path).await.body.len();
            }
        }
        assert!(page.len() < 100_000 && weight < 150_000, "{} of {weight} bytes", page.len());
        let ids = values(&page, "id");
        let anchors: BTreeSet<_> = ids.iter().copied().collect();
        assert_eq!(anchors.len(), ids.len(), "an anchor is given twice: {ids:?}");
        for link in values(&page, "href") {
            match link.strip_prefix('#') {
                Some(anchor) => assert!(anchors.contains(anchor), "{link} leads nowhere"),
                None => assert!(link.starts_with('/'), "{link} leads away"),
            }
        }
    }
}

/// Each of the four clients has a method for every operation that a backend calls.
#[actix_web::test]
async fn each_operation_of_the_clients_is_shown_in_all_four() {
    let house = House::new().await;
    let page = house.stranger().get("/reference").await.body;
    let mut shown = 0;
    let clients = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../clients/");
    let read = |path: &str| std::fs::read_to_string(format!("{clients}{path}")).unwrap();
    let sources = [
        ("TypeScript", read("typescript/src/client.ts"), "  async ", "dwar."),
        ("Python", read("python/src/dwar_client/_client.py"), "async def ", "dwar."),
        ("Go", read("go/client.go"), "func (c *Client) ", "client."),
        ("Rust", read("rust/src/client.rs"), "pub async fn ", "client."),
    ];
    for (id, section) in sections(&page) {
        for (language, source, begins, on) in &sources {
            let Some(call) = section.split(&format!("<dt>{language}</dt><dd><code>")).nth(1) else {
                continue;
            };
            let method = call.split(on).nth(1).unwrap().split('(').next().unwrap();
            assert!(source.contains(&format!("{begins}{method}(")), "{id}: {language} {method}");
            shown += 1;
        }
    }
    // Those of clients/README.md: all under /v1 except the proxies' and the feed, and the public
    // keys.
    assert_eq!(shown, 13 * 4);
}

#[actix_web::test]
async fn it_tells_of_every_event_and_where_more_is_said() {
    let house = House::new().await;
    let page = house.stranger().get("/reference").await.body;
    let events = sections(&page)["events"];
    for kind in EventKind::ALL {
        assert!(events.contains(&format!("<code>{kind}</code>")), "{kind}: {events}");
    }
    assert!(events.contains("href=\"/help/events#delivery\""), "{events}");
}

#[actix_web::test]
async fn the_playground_and_the_reference_lead_to_each_other() {
    let house = House::new().await;
    let owner = house.owner().await;
    let playground = owner.get(&house.page("playground")).await.body;
    for step in STEPS {
        assert!(playground.contains(&format!("href=\"/reference#{step}\"")), "{step}");
    }
    assert!(playground.contains("<a class=\"button\" href=\"/reference\""));
    assert_eq!(owner.get("/playground").await.header("location"), "/projects", "there are two");
    let member = house.with_role(Role::Member).await;
    assert_eq!(member.get("/playground").await.header("location"), house.page("playground"));
    let viewer = house.with_role(Role::Viewer).await;
    assert_eq!(viewer.get("/playground").await.header("location"), house.page("overview"));
    let stranger = house.stranger().get("/playground").await;
    assert_eq!(stranger.header("location"), "/sign-in?next=%2Fplayground");
}
