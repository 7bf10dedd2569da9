//! Provokes every code that the document lists for an operation.

use super::walk::{Listed, listed, with};
use super::{Program, code, json_of, text, with_code};
use crate::support::House;
use crate::webhooks::told;
use actix_web::http::Method;
use actix_web::test::TestRequest;
use dwar_admin::document;
use dwar_console::ProofScope;
use dwar_event::Endpoint;
use dwar_memory::Fault;
use dwar_operator::{Access, Requester, Role};
use dwar_project::Hook;
use dwar_testkit::{Documented, START, seconds};
use dwar_wallet::ProofRun;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const NOBODY: &str = "0199a000-0000-7000-8000-000000000000";

/// A query with an invalid value for one of its parameters.
fn wrong_query(one: &Listed) -> &'static str {
    let document: Value = serde_json::from_str(&document()).unwrap();
    let described = &document["paths"][&one.path][one.method.as_str().to_lowercase()];
    let named = |name: &str| {
        let parameters = described["parameters"].as_array().unwrap();
        parameters.iter().any(|one| one["name"] == name && one["in"] == "query")
    };
    let wrong = [("since", "?since=x"), ("limit", "?limit=0"), ("mode", "?mode=x")];
    wrong.into_iter().find(|(name, _)| named(name)).map_or("?cursor=x", |(_, query)| query)
}

fn has_body(one: &Listed) -> bool {
    let document: Value = serde_json::from_str(&document()).unwrap();
    !document["paths"][&one.path][one.method.as_str().to_lowercase()]["requestBody"].is_null()
}

/// A single request that makes the operation `one` refuse with the code `wanted`; `None` if one request is
/// not enough.
fn follows(
    house: &House,
    one: &Listed,
    wanted: &str,
    (owner, hook): (&str, &str),
) -> Option<TestRequest> {
    let plain = || with(one.request(house.project), owner);
    let query = |query: &str| {
        let uri = one.request(house.project).to_request().uri().to_string();
        let uri = if one.path.contains("{webhook}") { uri.replace(NOBODY, hook) } else { uri };
        plain().uri(&format!("{uri}{query}"))
    };
    Some(match wanted {
        "MISSING_ADMIN_TOKEN" => one.request(house.project),
        "INVALID_ADMIN_TOKEN" => with(one.request(house.project), "svc_adm_x"),
        "FOREIGN_ORIGIN" => plain().insert_header(("Origin", "https://evil.example")),
        "MISDIRECTED_REQUEST" => plain().insert_header(("Host", "evil.example")),
        "INVALID_REQUEST" if has_body(one) => {
            plain().insert_header(("Content-Type", "application/json")).set_payload("[]")
        }
        "INVALID_REQUEST" => query("?no_such_parameter=1"),
        "INVALID_FIELD" if has_body(one) => plain().set_json(json!({ "no_such_field": 1 })),
        "INVALID_FIELD" => query(wrong_query(one)),
        "PAYLOAD_TOO_LARGE" => {
            let long = " ".repeat(64 * 1_024);
            plain().insert_header(("Content-Type", "application/json")).set_payload(long)
        }
        "UNSUPPORTED_MEDIA_TYPE" => {
            plain().insert_header(("Content-Type", "text/plain")).set_payload("{}")
        }
        _ => return None,
    })
}

#[actix_web::test]
async fn every_code_that_follows_from_a_part_comes_about() {
    let house = House::new().await;
    let owner = house.token("deploy", Access::everything()).await;
    let hook = add_hook(&Program::owner(&house).await).await;
    let elsewhere = house.token("theirs", Access::one(house.other, Role::Owner)).await;
    let promised = Documented::new(&document()).refusals();
    let (mut wanted, mut requests) = (Vec::new(), Vec::new());
    let (mut failing, mut limited) = (Vec::new(), Vec::new());
    for one in listed() {
        for (_, code) in promised.iter().filter(|(id, _)| *id == one.id) {
            let request = match code.as_str() {
                "INTERNAL_ERROR" | "SERVICE_UNAVAILABLE" => {
                    failing.push((code.clone(), with(one.request(house.project), &owner)));
                    continue;
                }
                "TOKEN_RATE_LIMITED" => {
                    limited.push(with(one.request(house.project), "svc_adm_x"));
                    continue;
                }
                "CONFLICT" | "SEARCH_RATE_LIMITED" => continue,
                "NOT_FOUND" if one.path.contains("{project}") => {
                    with(one.request(house.project), &elsewhere)
                }
                "NOT_FOUND" => with(one.request(house.project), &owner).set_json(json!({})),
                "FORBIDDEN" => {
                    let role = Role::ALL.into_iter().find(|role| !one.opens_to(*role)).unwrap();
                    let token = house.token(role.as_str(), Access::one(house.project, role)).await;
                    with(one.request(house.project), &token)
                }
                code => {
                    follows(&house, &one, code, (&owner, &hook)).unwrap_or_else(|| panic!("{code}"))
                }
            };
            wanted.push((one.id.clone(), code.clone()));
            requests.push(request);
        }
    }
    for ((id, wanted), reply) in wanted.iter().zip(house.send_all(requests).await) {
        // After too many wrong tokens of one address, the rate limit counts as the same refusal.
        let limited = wanted == "INVALID_ADMIN_TOKEN" && code(&reply) == "TOKEN_RATE_LIMITED";
        assert!(code(&reply) == *wanted || limited, "{id} {wanted}: {}", reply.body);
    }
    for reply in house.send_all(limited).await {
        assert_eq!(code(&reply), "TOKEN_RATE_LIMITED");
    }
    let mut broken = [Fault::Breaks, Fault::Panics].into_iter().cycle();
    for (wanted, request) in failing {
        let fault = if wanted == "INTERNAL_ERROR" { broken.next().unwrap() } else { Fault::Fails };
        house.store.faults().every(Some(fault));
        assert_eq!(code(&house.send(request).await), wanted);
    }
}

async fn add_hook(owner: &Program<'_>) -> String {
    let made =
        owner.post(&owner.own("/webhooks"), json!({ "url": "https://example.com/hook" })).await;
    text(&json_of(&made)["webhook"]["webhook_id"]).to_owned()
}

#[actix_web::test]
async fn every_code_that_takes_several_requests_comes_about() {
    let house = House::new().await;
    let (endpoint, event) = told(&house).await;
    // By this time the next call with the event is due, so an owner may ask to send the event again.
    house.clock.set(START + seconds(10));
    let ravi = house.joined("ravi", Access::one(house.project, Role::Support)).await;
    let much = json!({ "amount_paise": 1_000_000_000_000_i64, "reference": "much" });
    let less = json!({ "amount_paise": -1_000_000_000_000_i64, "reference": "less" });
    let access =
        json!({ "projects": [{ "project_id": house.project.to_string(), "role": "support" }] });
    let owner = Program::owner(&house).await;
    let own = |rest: &str| owner.own(rest);
    let hook = |rest: &str| own(&format!("/webhooks/{}{rest}", endpoint.id));
    let nobody = json!({ "otp_id": NOBODY });
    let one_more = json!({ "kind": "logto", "mode": "test", "expires_in": 600 });
    for (path, body, times) in [
        (own("/keys/live/regenerate"), json!({ "replaces": NOBODY }), 1),
        (own("/wallet/credits"), much, 1),
        (own("/wallet/adjustments"), less, 1),
        (own("/wallet/refunds"), nobody, 1),
        ("/operators".to_owned(), json!({ "name": "ravi", "access": access }), 1),
        (format!("/operators/{}/invitation", ravi.operator.id), json!({}), 1),
        (hook("/test"), json!({}), 2),
        (hook("/resend"), json!({ "event_id": event }), 2),
        (own("/webhooks"), json!({ "url": "https://example.com" }), Endpoint::MOST),
        (own("/hooks"), one_more, Hook::MOST + 1),
    ] {
        for _ in 1..times {
            assert!(matches!(owner.post(&path, body.clone()).await.status, 200 | 201), "{path}");
        }
        let refused = owner.refused(Method::POST, &path, body).await;
        assert_eq!(refused, with_code(409, "CONFLICT"), "{path}");
    }
    house.begin_proofs_that_nobody_makes().await;
    owner.refused(Method::POST, &own("/wallet/proof"), json!({})).await;

    let viewer = Program::role(&house, Role::Viewer).await;
    for number in 0..=60 {
        let phone = json!({ "phone": format!("98765000{number:02}") });
        viewer.post(&own("/requests/search"), phone).await;
    }
    let several =
        |(_, code): &(String, String)| ["CONFLICT", "SEARCH_RATE_LIMITED"].contains(&&**code);
    let pairs = |all: BTreeSet<_>| all.into_iter().filter(several).collect::<BTreeSet<_>>();
    let promised = pairs(Documented::new(&document()).refusals());
    assert_eq!(pairs(house.refusals_seen()), promised);
    assert_eq!(promised.len(), 12);
}

impl House {
    /// Fills the queue of proofs. The first proof panics, which ends the loop that makes them, so the others
    /// stay in the queue.
    async fn begin_proofs_that_nobody_makes(&self) {
        self.store.faults().next("LedgerStore::last_sound_proof", Fault::Panics);
        for number in 0..=100 {
            self.clock.set(START + ProofRun::LEASE * number);
            let (by, ledger) = (Requester::command_line(), &self.manage.ledger);
            ledger.begin(&by, self.project, ProofScope::Newer).await.unwrap();
            tokio::task::yield_now().await;
        }
    }
}
