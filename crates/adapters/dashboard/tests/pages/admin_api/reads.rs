//! Reads by programs.

use super::{Program, json_of, text, with_code};
use crate::activity::{NATIONAL, failed_send, unmaskings};
use crate::overview::with_sends;
use crate::support::House;
use crate::webhooks::told;
use actix_web::http::Method;
use dwar_kernel::KeyMode;
use dwar_memory::Fault;
use dwar_operator::Role;
use dwar_session::Session;
use dwar_testkit::{START, seconds};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

#[actix_web::test]
async fn figures_are_those_of_the_page() {
    let house = with_sends().await;
    let viewer = Program::role(&house, Role::Viewer).await;
    for period in ["hour", "day", "month"] {
        let found = viewer.json(&viewer.own(&format!("/figures?period={period}"))).await;
        assert_eq!((&found["period"], &found["mode"]), (&json!(period), &json!("live")));
        let total = &found["total"];
        let counted = ["requests", "delivered", "verified"].map(|it| total[it].clone());
        assert_eq!(counted, [json!(3), json!(2), json!(1)], "{total}");
        assert_eq!([&total["delivered_permille"], &total["verified_permille"]], [667, 333]);
        // Eight seconds, within the precision of the bins.
        let median = total["median_ms"].as_u64().unwrap();
        assert!((7_500..=8_500).contains(&median), "{median}");
        assert_eq!(found["before"]["requests"], 0);
        let series = found["series"].as_array().unwrap().iter();
        assert_eq!(
            series.map(|point| point["counts"]["requests"].as_u64().unwrap()).sum::<u64>(),
            3
        );
        let route = &found["routes"][0];
        assert_eq!((&route["channel"], &route["provider"]), (&json!("whatsapp"), &json!("meta")));
        assert_eq!(found["as_of"], "2027-01-15T08:00:30.123Z");
    }
    let test = viewer.json(&viewer.own("/figures?mode=test")).await;
    assert_eq!(test["total"]["messages"], 0);
    for query in ["period=year", "mode=both", "period="] {
        let path = viewer.own(&format!("/figures?{query}"));
        let refused = viewer.refused(Method::GET, &path, json!({})).await;
        assert_eq!(refused, with_code(422, "INVALID_FIELD"), "{query}");
    }
}

#[actix_web::test]
async fn support_finds_out_why_a_code_failed_and_no_answer_has_the_number() {
    let house = House::new().await;
    let (_, otp) = failed_send(&house, house.project).await;
    let support = Program::role(&house, Role::Support).await;
    let search = json!({"phone": format!("+91{NATIONAL}")});
    let found = support.post(&support.own("/requests/search"), search).await;
    let shown = support.get(&support.own(&format!("/requests/{otp}"))).await;
    let list = support.get(&support.own("/requests")).await;
    let refused = support.get(&support.own("/requests/refused")).await;
    for reply in [&found, &shown, &list, &refused] {
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert!(!reply.body.contains(NATIONAL), "{}", reply.body);
        let headers = format!("{:?}", reply.headers);
        assert!(!headers.contains(NATIONAL), "{headers}");
    }
    let story = json_of(&found);
    assert_eq!(story, json_of(&shown), "by number and by request");
    assert_eq!((&story["phone"], &story["mode"]), (&json!("+9198••••3344"), &json!("live")));
    let request = &story["requests"][0];
    assert_eq!(
        (&request["request_id"], &request["status"]),
        (&json!(otp.to_string()), &json!("failed"))
    );
    let facts = request["facts"].as_array().unwrap();
    let kinds: Vec<&str> = facts.iter().map(|fact| text(&fact["fact"])).collect();
    let handed = ["handed", "refused"];
    for kind in ["asked", "nobody_reached", "not_charged"].into_iter().chain(handed) {
        assert!(kinds.contains(&kind), "{kind} is not among {kinds:?}");
    }
    let sms = facts.iter().find(|fact| fact["channel"] == "sms").unwrap();
    assert_eq!((&sms["after"], &sms["provider"]), (&json!("failed"), &json!("msg91")));
    assert_eq!(sms["sentence"], "Fell back to SMS via msg91.");
    let reasons: Vec<&Value> = facts.iter().filter_map(|fact| fact.get("reason")).collect();
    assert_eq!(reasons, [&json!("not_on_channel"), &json!("blocked")]);
    let run = &story["refused"][0];
    assert_eq!((&run["count"], &run["reason"]), (&json!(2), &json!("limit")));
    assert!(text(&run["sentence"]).contains("limit of 3 per 10 minutes"), "{run}");
    let row = &json_of(&list)["items"][0];
    assert_eq!(
        (&row["request_id"], &row["phone"]),
        (&json!(otp.to_string()), &json!("+9198••••3344"))
    );
    assert_eq!(json_of(&refused)["items"][0]["count"], 2);
    // An invalid number is not quoted either.
    let path = support.own("/requests/search");
    let wrong = support.refused(Method::POST, &path, json!({"phone": "98112233445"})).await;
    assert_eq!(wrong, with_code(422, "INVALID_FIELD"));
    let filtered = support.json(&support.own("/requests?status=delivered&mode=live")).await;
    assert_eq!((&filtered["items"], &filtered["looked_through"]), (&json!([]), &json!(1)));
    for query in ["status=lost", "mode=both", "channel=pigeon", "cursor=x"] {
        let path = support.own(&format!("/requests?{query}"));
        let refused = support.refused(Method::GET, &path, json!({})).await;
        assert_eq!(refused, with_code(422, "INVALID_FIELD"), "{query}");
    }
}

#[actix_web::test]
async fn a_number_is_given_to_who_may_and_never_without_a_line_in_the_log() {
    let house = House::new().await;
    let (_, otp) = failed_send(&house, house.project).await;
    let (_, foreign) = failed_send(&house, house.other).await;
    let path = format!("/projects/{}/requests/{otp}/unmask", house.project);
    for role in [Role::Support, Role::Viewer] {
        let program = Program::role(&house, role).await;
        let refused = program.refused(Method::POST, &path, json!({})).await;
        assert_eq!(refused, with_code(403, "FORBIDDEN"), "{role:?}");
    }
    let elsewhere = Program::elsewhere(&house).await;
    let refused = elsewhere.refused(Method::POST, &path, json!({})).await;
    assert_eq!(refused, with_code(404, "NOT_FOUND"));
    let member = Program::role(&house, Role::Member).await;
    let of_other = member.own(&format!("/requests/{foreign}/unmask"));
    let refused = member.refused(Method::POST, &of_other, json!({})).await;
    assert_eq!(refused, with_code(404, "NOT_FOUND"));
    assert_eq!(unmaskings(&house).await.len(), 0);
    house.store.faults().next("AuditStore::append", Fault::Fails);
    let unheard = member.refused(Method::POST, &path, json!({})).await;
    assert!(unheard.0 >= 500, "{unheard:?}");
    let shown = json_of(&member.post(&path, json!({})).await);
    let number = format!("+91{NATIONAL}");
    assert_eq!(shown, json!({"request_id": otp.to_string(), "mode": "live", "phone": number}));
    let log = unmaskings(&house).await;
    assert_eq!(log.len(), 1);
    assert!(!log[0].contains(NATIONAL) && log[0].contains("deploy"), "{}", log[0]);
}

/// The ids of one project are unknown in another, for every caller.
#[actix_web::test]
async fn what_is_of_another_project_is_not_there() {
    let house = House::new().await;
    let (_, otp) = failed_send(&house, house.project).await;
    let (endpoint, event) = told(&house).await;
    let ([session, _], _) = house.two_sessions().await;
    let (webhook, identity) = (endpoint.id, session.identity);
    let sessions = format!("/identities/live/{identity}/sessions");
    // The requests of the owner of both with the other project's path.
    let asked = [
        (Method::GET, "/figures".to_owned(), json!({}), 200),
        (Method::GET, "/requests".to_owned(), json!({}), 200),
        (Method::GET, "/requests/refused".to_owned(), json!({}), 200),
        (Method::POST, "/requests/search".to_owned(), json!({"phone": NATIONAL}), 200),
        (Method::GET, format!("/requests/{otp}"), json!({}), 404),
        (Method::POST, format!("/requests/{otp}/unmask"), json!({}), 404),
        (Method::GET, format!("/webhooks/{webhook}/calls"), json!({}), 404),
        (Method::POST, format!("/webhooks/{webhook}/test"), json!({}), 404),
        (Method::POST, format!("/webhooks/{webhook}/resend"), json!({"event_id": event}), 404),
        (Method::GET, sessions.clone(), json!({}), 404),
        (Method::DELETE, format!("{sessions}/{}", session.id), json!({}), 404),
        (Method::DELETE, sessions.clone(), json!({}), 404),
        (Method::GET, "/wallet/entries".to_owned(), json!({}), 200),
        (Method::GET, "/wallet/statement.csv".to_owned(), json!({}), 200),
        (Method::GET, "/wallet/proof".to_owned(), json!({}), 200),
        (Method::POST, "/wallet/proof".to_owned(), json!({}), 200),
    ];
    let theirs = Program::elsewhere(&house).await;
    let owner = Program::owner(&house).await;
    for (method, rest, body, mixed_status) in asked {
        let acme = theirs.own(&rest);
        let refused = theirs.refused(method.clone(), &acme, body.clone()).await;
        assert_eq!(refused, with_code(404, "NOT_FOUND"), "{method} {rest}");
        // The owner of both finds nothing of Acme under the other project.
        let mixed = format!("/projects/{}{rest}", house.other);
        let reply = owner.ask(method.clone(), &mixed, body).await;
        assert_eq!(reply.status, mixed_status, "{method} {rest}: {}", reply.body);
        for secret in [otp.to_string(), event.clone(), session.id.to_string()] {
            assert!(!reply.body.contains(&secret), "{method} {rest}: {}", reply.body);
        }
        assert!(!reply.body.contains("3344") || rest == "/requests/search", "{rest}");
        assert!(!reply.body.contains("12345650"), "{rest}: {}", reply.body);
    }
    assert_eq!(house.alive(&session).await, [true, true]);
    assert_eq!((house.post.bodies().len(), unmaskings(&house).await.len()), (0, 0));
}

#[actix_web::test]
async fn what_a_webhook_was_told_is_listed_tested_and_sent_again_once() {
    let house = House::new().await;
    let (endpoint, event) = told(&house).await;
    let member = Program::role(&house, Role::Member).await;
    let own = |rest: &str| member.own(&format!("/webhooks/{}{rest}", endpoint.id));
    let calls = member.all(&own("/calls?failed=true&limit=1")).await;
    assert_eq!(calls.len(), 1);
    let (call, on_record) = (&calls[0]["call"], &calls[0]["on_record"]);
    assert_eq!(
        (&call["event_id"], &call["taken"], on_record),
        (&json!(event), &json!(false), &json!(true))
    );
    assert_eq!((&call["failure"], &call["status"]), (&json!("status"), &json!(500)));
    let tested = json_of(&member.post(&own("/test"), json!({})).await);
    assert_eq!((&tested["taken"], &tested["status"]), (&json!(true), &json!(204)));
    assert_eq!(tested["event"], "webhook.test");
    let soon = member.refused(Method::POST, &own("/test"), json!({})).await;
    assert_eq!((soon, house.post.bodies().len()), (with_code(409, "CONFLICT"), 1));
    assert_eq!(member.all(&own("/calls?limit=1")).await.len(), 2, "a page each");
    assert_eq!(member.all(&own("/calls?failed=true")).await.len(), 1);

    house.clock.set(START + seconds(10));
    let again = json!({"event_id": event});
    let queued = json_of(&member.post(&own("/resend"), again.clone()).await);
    assert_eq!(queued["queued"], true);
    let twice = member.refused(Method::POST, &own("/resend"), again.clone()).await;
    assert_eq!(twice, with_code(409, "CONFLICT"));
    let none = json!({"event_id": "otp_sent_1"});
    let none = member.refused(Method::POST, &own("/resend"), none).await;
    assert_eq!(none, with_code(404, "NOT_FOUND"));
    let (events, room) = (&house.parts.stores.events, dwar_event::ClaimCapacity::of(9));
    let due = events.claim_due(START + seconds(10), Duration::from_secs(60), room).await.unwrap();
    assert_eq!(due.iter().map(|due| due.event.id()).collect::<Vec<_>>(), [event]);
    let viewer = Program::role(&house, Role::Viewer).await;
    assert_eq!(viewer.get(&own("/calls")).await.status, 200);
    for rest in ["/test", "/resend"] {
        let refused = viewer.refused(Method::POST, &own(rest), again.clone()).await;
        assert_eq!(refused, with_code(403, "FORBIDDEN"));
    }
}

/// Tells whether a store returns a session whose token is valid.
async fn honoured(house: &House, session: &Session) -> bool {
    let keys = &house.parts.tools.vault;
    let key = house.live_key.parse::<dwar_project::ApiKey>().unwrap().digest(keys.as_ref());
    let caller = house
        .parts
        .stores
        .sessions
        .find_key_and_session(key, Some(session.id))
        .await
        .unwrap()
        .unwrap();
    let now = house.parts.tools.now();
    caller.session.is_some_and(|found| found.honours(session.access.token, now))
}

#[actix_web::test]
async fn a_session_that_was_ended_is_dead_for_the_very_next_request() {
    let house = House::new().await;
    let ([one, other], _) = house.two_sessions().await;
    let member = Program::role(&house, Role::Member).await;
    let path = member.own(&format!("/identities/{}/{}/sessions", KeyMode::Live, one.identity));
    let listed = member.all(&format!("{path}?limit=1")).await;
    let ids: BTreeSet<&str> = listed.iter().map(|session| text(&session["session_id"])).collect();
    assert_eq!(
        ids,
        [one.id.to_string(), other.id.to_string()].iter().map(String::as_str).collect()
    );
    assert!(listed.iter().all(|session| session["alive"] == true));
    assert!(honoured(&house, &one).await && honoured(&house, &other).await);
    let of_one = format!("{path}/{}", one.id);
    for role in [Role::Support, Role::Viewer] {
        let program = Program::role(&house, role).await;
        for path in [&of_one, &path] {
            let refused = program.refused(Method::DELETE, path, json!({})).await;
            assert_eq!(refused, with_code(403, "FORBIDDEN"), "{role:?}");
        }
    }
    let ended = json_of(&member.ask(Method::DELETE, &of_one, json!({})).await);
    assert_eq!(ended["sessions_ended"], 1);
    assert!(!honoured(&house, &one).await && honoured(&house, &other).await);
    let again = member.refused(Method::DELETE, &of_one, json!({})).await;
    assert_eq!(again, with_code(404, "NOT_FOUND"));
    let ended = json_of(&member.ask(Method::DELETE, &path, json!({})).await);
    assert_eq!(ended["sessions_ended"], 1);
    assert!(!honoured(&house, &other).await);
    let listed = member.all(&path).await;
    assert!(listed.iter().all(|it| it["alive"] == false && it["ended_at"].is_string()));
    assert_eq!(house.ends_on_record().await, 3, "each is written down before it is done");
}

#[actix_web::test]
async fn operations_are_those_of_the_page_for_owners_of_the_installation() {
    let house = House::new().await;
    let found = Program::owner(&house).await.json("/operations").await;
    assert_eq!(found["health"], "failed");
    let check = found["checks"].as_array().unwrap().iter().find(|it| it["name"] == "migrations");
    assert_eq!(check.unwrap()["detail"], "1 to apply");
    let instance = &found["instances"][0];
    assert_eq!((&instance["host"], &instance["alive"]), (&json!("node-1"), &json!(true)));
    let holds = &found["queues"]["open_holds"];
    assert_eq!((&holds["count"], &holds["more"]), (&json!(1_000), &json!(true)));
    let provider = &found["providers"][0];
    assert_eq!((&provider["open_for_seconds"], &provider["faults"]), (&json!(12), &json!(64)));
    assert_eq!(
        (&found["loops"][0]["running"], &found["process"]["version"]),
        (&json!(false), &json!("0.1.0"))
    );
    for role in Role::ALL {
        let refused = Program::role(&house, role).await;
        assert_eq!(refused.get("/operations").await.status, 403, "{role:?}");
    }
}
