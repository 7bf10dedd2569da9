//! Input of people and programs: it never causes an internal error, and values that cannot be
//! stored are refused before the write.

mod alike;
mod rows;

use crate::common::{Answer, Database, Person, Program, Service, World};
use reqwest::Method;
use rows::{
    a_row_that_cannot_be_read_costs_its_own_project_alone, a_value_of_one_member_stops_nobody,
    what_breaks_a_rule_of_today_is_read_and_shown_and_said_in_no_token,
};
use serde_json::{Value, json};

const MOST: i64 = 1_000_000_000_000;
const NOBODY: &str = "0199a000-0000-7000-8000-000000000000";

struct Commands<'a>(&'a World);

impl alike::Cli for Commands<'_> {
    async fn run(&self, arguments: &[&str]) -> Option<Value> {
        // An argument of a process cannot contain it.
        if arguments.iter().any(|it| it.contains('\0')) {
            return None;
        }
        let ran = self.0.run(&[arguments, &["--json"]].concat());
        ran.status.success().then(|| serde_json::from_slice(&ran.stdout).unwrap())
    }
}

/// As six hundred values do in one process (`src/cli/alike_tests.rs`).
async fn every_door_keeps_and_shows_the_same(database: Database) {
    let first = service(database);
    let doors = alike::Doors::open(Commands(&first.world), first.dashboard(), "first").await;
    let kept = alike::write(&doors, 2, 50).await;
    assert!(kept.taken > 10 && kept.refused > 10, "{} {}", kept.taken, kept.refused);
    let again = Service::start_in(first.kill());
    let doors = alike::Doors::open(Commands(&again.world), again.dashboard(), "second").await;
    kept.is_there(&doors).await;
}

fn service(database: Database) -> Service {
    Service::start_in(World::new(database).with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0"))
}

/// Values that PostgreSQL cannot store, or that do not fit into its indexes.
fn unkeepable() -> Vec<String> {
    let long = |length| "x".repeat(length);
    vec!["\0".to_owned(), "a\0b".to_owned(), long(2_705), long(100_000)]
}

fn assert_refused(answer: &Answer, what: &str) {
    let status = answer.status.as_u16();
    let shown: String = what.chars().take(120).collect();
    assert!([400, 404, 413, 414, 422, 431].contains(&status), "{status} {shown}: {}", answer.text);
}

/// Every body of the admin API that contains a text, and its path.
fn bodies(project: &str, webhook: &str, text: &str) -> Vec<(Method, String, Value)> {
    let own = |path: &str| format!("/projects/{project}{path}");
    let access = json!({ "everything": true });
    let mut bodies = vec![
        (Method::POST, "/projects".to_owned(), json!({ "name": text })),
        (Method::POST, own("/wallet/credits"), json!({ "amount_paise": 1, "reference": text })),
        (Method::POST, own("/wallet/adjustments"), json!({ "amount_paise": 1, "reference": text })),
        (Method::POST, own("/wallet/refunds"), json!({ "otp_id": text })),
        (Method::POST, "/operators".to_owned(), json!({ "name": text, "access": access })),
        (
            Method::POST,
            "/tokens".to_owned(),
            json!({ "name": text, "access": access, "lifetime_seconds": 60 }),
        ),
        (
            Method::POST,
            own("/webhooks"),
            json!({ "url": format!("https://example.com/{text}"), "full_phone": false }),
        ),
        (Method::POST, own(&format!("/webhooks/{webhook}/resend")), json!({ "event_id": text })),
        (Method::POST, own("/requests/search"), json!({ "phone": text })),
        (Method::POST, own("/identities/live/find"), json!({ "phone": text })),
        (Method::POST, own("/unlock"), json!({ "phone": text })),
    ];
    let texts = ["name", "brand", "language", "sms_text", "sms_template_id", "webotp_domain"];
    for field in texts.into_iter().chain(["app_hash"]) {
        bodies.push((Method::PATCH, own(""), json!({ field: text })));
    }
    for field in ["whatsapp_providers", "sms_providers"] {
        bodies.push((Method::PATCH, own(""), json!({ field: [text] })));
    }
    bodies.push((Method::PATCH, own(""), json!({ text: "the name of no field" })));
    bodies
}

/// Every path and query of the admin API that contains a text.
fn queries(project: &str, webhook: &str, text: &str) -> Vec<String> {
    let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
    let own = |path: &str| format!("/projects/{project}{path}");
    let mut queries = vec![
        format!("/projects/{text}"),
        own(&format!("/requests/{text}")),
        own(&format!("/identities/live/{text}")),
        own(&format!("/identities/live/{text}/sessions")),
        own(&format!("/webhooks/{text}/calls")),
        own(&format!("/requests?provider={text}")),
    ];
    for parameter in ["since", "until", "kind", "reference", "cursor", "limit"] {
        queries.push(own(&format!("/wallet/entries?{parameter}={text}")));
    }
    for parameter in ["action", "since", "until", "cursor"] {
        queries.push(format!("/audit?{parameter}={text}"));
        queries.push(own(&format!("/audit?{parameter}={text}")));
    }
    for list in ["/projects", "/tokens", "/operators", "/signing-keys"] {
        queries.push(format!("{list}?cursor={text}"));
    }
    for list in ["/keys", "/webhooks", "/requests"] {
        queries.push(own(&format!("{list}?cursor={text}")));
    }
    queries.push(own(&format!("/webhooks/{webhook}/calls?cursor={text}")));
    queries.push(own(&format!("/identities/live/{NOBODY}/sessions?cursor={text}")));
    queries
}

async fn the_admin_api_refuses_what_no_store_keeps_before_it_writes_anything(database: Database) {
    let service = service(database);
    let (project, owner) = (service.world.project("10").id, Program::owner(&service));
    let hook = json!({ "url": "https://example.com/hook", "full_phone": false });
    let hook = owner.post(&format!("/projects/{project}/webhooks"), &hook).await;
    let webhook = hook.body["webhook"]["webhook_id"].as_str().unwrap().to_owned();
    let before = service.audited("");
    for text in unkeepable() {
        for (method, path, body) in bodies(&project, &webhook, &text) {
            let answer = owner.call(method, &path, &body).await;
            assert_refused(&answer, &format!("{path} {body}"));
            assert!(!answer.code().is_empty(), "{path}: {}", answer.text);
        }
        // The listener refuses longer ones.
        for path in queries(&project, &webhook, &text).iter().filter(|path| path.len() < 4_000) {
            assert_refused(&owner.get(path).await, path);
        }
    }
    // Instants and cursors outside of a database's calendar.
    for instant in ["-200000-01-01T00:00:00Z", "%2B200000-01-01T00:00:00Z"] {
        for path in ["/wallet/entries", "/audit", "/overview"] {
            let path = format!("/projects/{project}{path}");
            assert_refused(&owner.get(&format!("{path}?since={instant}")).await, &path);
            let cursor = format!("{path}?cursor={instant}_{NOBODY}");
            assert_refused(&owner.get(&cursor).await, &cursor);
        }
    }
    let far = format!("cursor=2027-01-15T08:00:00Z_{}", u64::MAX);
    let far = owner.get(&format!("/projects/{project}/wallet/entries?{far}")).await;
    assert!(far.status.as_u16() < 500, "{}: {}", far.status, far.text);
    assert_eq!(service.audited(""), before, "nothing was written down");
    let logged = service.stderr().join("\n");
    assert!(!logged.contains(r#""level":"ERROR""#), "{logged}");
}

async fn pages_refuse_what_no_store_keeps_before_they_write_anything(database: Database) {
    let service = service(database);
    let project = service.world.project("10").id;
    let person = Person::join(&service, &["--name", "asha", "--owner"]).await;
    let own = |path: &str| format!("/p/{project}{path}");
    let before = service.audited("");
    for text in unkeepable() {
        let text = text.as_str();
        let messages =
            ["brand", "language", "sms_text", "sms_template_id", "webotp_domain", "app_hash"];
        let mut forms = vec![
            (own("/wallet/credit"), vec![("rupees", "1"), ("reference", text)]),
            (own("/wallet/credit"), vec![("rupees", text), ("reference", "r")]),
            (own("/wallet/refund"), vec![("otp_id", text), ("confirmed", "yes")]),
            (own("/wallet/adjustment"), vec![("correction", "1"), ("reason", text)]),
            (own("/wallet/adjustment"), vec![("correction", text), ("reason", "r")]),
            (own("/settings/project"), vec![("name", text)]),
            ("/projects".to_owned(), vec![("name", text)]),
            (
                "/team".to_owned(),
                vec![("name", text), ("project", "everything"), ("role", "owner")],
            ),
            ("/tokens".to_owned(), vec![("name", text), ("role", "everything"), ("days", "1")]),
            (
                own("/settings/routing"),
                vec![("whatsapp_providers", text), ("sms_providers", ""), ("fallback_seconds", "")],
            ),
            (
                own("/settings/routing"),
                vec![("whatsapp_providers", ""), ("sms_providers", ""), ("fallback_seconds", text)],
            ),
            (own("/activity/phone"), vec![("mode", "live"), ("phone", text)]),
        ];
        for wrong in messages {
            let value = |name: &'static str| (name, if name == wrong { text } else { "" });
            forms.push((own("/settings/messages"), messages.map(value).to_vec()));
        }
        for wrong in ["whatsapp_price", "sms_price", "low_balance", "daily_spend"] {
            let value = |name: &'static str| (name, if name == wrong { text } else { "" });
            let fields = ["whatsapp_price", "sms_price", "low_balance", "daily_spend"].map(value);
            forms.push((own("/settings/money"), fields.to_vec()));
        }
        let url = format!("https://example.com/{text}");
        forms.push((own("/settings/events"), vec![("url", url.as_str())]));
        for (path, fields) in forms {
            assert_refused(&person.post(&path, &fields).await, &format!("{path} {fields:?}"));
        }
        let text: String = form_urlencoded::byte_serialize(text.as_bytes()).collect();
        for parameter in ["reference", "kind", "from", "until"] {
            let path = own(&format!("/wallet?{parameter}={text}"));
            if path.len() < 4_000 {
                assert_refused(&person.get(&path).await, &path);
            }
        }
    }
    assert_eq!(service.audited(""), before, "nothing was written down");
    let logged = service.stderr().join("\n");
    assert!(!logged.contains(r#""level":"ERROR""#), "{logged}");
}

/// One limit for every amount, in every interface, and for every resulting balance.
async fn no_amount_and_no_balance_is_beyond_its_bound(database: Database) {
    let service = service(database);
    let (project, owner) = (service.world.project("0"), Program::owner(&service));
    let person = Person::join(&service, &["--name", "asha", "--owner"]).await;
    let own = |path: &str| format!("/projects/{}{path}", project.id);
    let before = service.audited("");
    for paise in [MOST + 1, -MOST - 1, i64::MAX, i64::MIN] {
        for path in ["/wallet/credits", "/wallet/adjustments"] {
            let body = json!({ "amount_paise": paise, "reference": "far" });
            owner.post(&own(path), &body).await.refused(422, "INVALID_FIELD");
        }
        let new = json!({ "name": "Far", "balance_paise": paise });
        owner.post("/projects", &new).await.refused(422, "INVALID_FIELD");
        for field in
            ["whatsapp_price_paise", "sms_price_paise", "low_balance_paise", "daily_spend_paise"]
        {
            let body = json!({ field: paise });
            let answer = owner.call(Method::PATCH, &own("/prices"), &body).await;
            answer.refused(422, "INVALID_FIELD");
        }
    }
    let page = |path: &str| format!("/p/{}{path}", project.id);
    for rupees in ["10000000000.01", "92233720368547758", "920000000000000"] {
        let form = [("rupees", rupees), ("reference", "far")];
        assert_eq!(person.post(&page("/wallet/credit"), &form).await.status, 422, "{rupees}");
        for wrong in 0..4 {
            let at = |place: usize| if place == wrong { rupees } else { "" };
            let names = ["whatsapp_price", "sms_price", "low_balance", "daily_spend"];
            let form = [0, 1, 2, 3].map(|place| (names[place], at(place)));
            let answer = person.post(&page("/settings/money"), &form).await;
            assert_eq!(answer.status, 422, "{form:?}");
        }
        let of = ["--project", project.id.as_str(), "--rupees", rupees, "--reference", "far"];
        for command in ["credit", "adjust"] {
            let ran = service.world.run(&[&["wallet", command], of.as_slice()].concat());
            assert_eq!(ran.status.code(), Some(2), "{command} {rupees}");
        }
        let create = ["project", "create", "--name", "Far", "--balance-rupees", rupees];
        assert_eq!(service.world.run(&create).status.code(), Some(2));
        let set = ["project", "set", "--project", &project.id, "--low-balance-rupees", rupees];
        assert_eq!(service.world.run(&set).status.code(), Some(2));
    }
    assert_eq!(service.audited(""), before, "nothing was written down");

    let all = json!({ "amount_paise": MOST, "reference": "all" });
    owner.post(&own("/wallet/credits"), &all).await.ok();
    let more = json!({ "amount_paise": 1, "reference": "more" });
    for path in ["/wallet/credits", "/wallet/adjustments"] {
        owner.post(&own(path), &more).await.refused(409, "CONFLICT");
    }
    let form = [("rupees", "0.01"), ("reference", "more")];
    assert_eq!(person.post(&page("/wallet/credit"), &form).await.status, 409);
    let credit = ["wallet", "credit", "--project", &project.id, "--rupees", "0.01"];
    assert_eq!(service.world.run(&credit).status.code(), Some(1));
    assert_eq!(service.world.balance(&project)["balance_paise"], MOST);
    let less = json!({ "amount_paise": -1, "reference": "less" });
    owner.post(&own("/wallet/adjustments"), &less).await.ok();
    owner.post(&own("/wallet/credits"), &more).await.ok();
    assert_eq!(service.world.balance(&project)["balance_paise"], MOST);
    service.world.audit();
}

on_both_databases! {
    every_door_keeps_and_shows_the_same;
    a_value_of_one_member_stops_nobody;
    what_breaks_a_rule_of_today_is_read_and_shown_and_said_in_no_token;
    a_row_that_cannot_be_read_costs_its_own_project_alone;
    the_admin_api_refuses_what_no_store_keeps_before_it_writes_anything;
    pages_refuse_what_no_store_keeps_before_they_write_anything;
    no_amount_and_no_balance_is_beyond_its_bound;
}
