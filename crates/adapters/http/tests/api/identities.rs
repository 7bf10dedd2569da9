use crate::support::TestApp;
use actix_web::http::Method;
use dwar_identity::{Erased, Identity};
use dwar_kernel::KeyMode;
use dwar_testkit::{ClearVault, START, minutes};
use insta::assert_snapshot;

const BY_ID: &str = "/v1/identity/01920000-0000-7000-8000-000000000000";

fn enabled() -> TestApp {
    TestApp::with(|ports| {
        ports.project.identity_lookup = true;
        ports.project.identity_delete = true;
        let project = ports.project.id;
        let phone = "9876543210".parse().unwrap();
        let identity = Identity {
            id: ports.fixtures.id(),
            project_mode: project.in_mode(KeyMode::Live),
            phone: dwar_kernel::Vault::seal_phone(&ClearVault, project, &phone),
            created_at: START,
            last_verified_at: START + minutes(5),
        };
        let found = identity.clone();
        ports.identities.expect_find().returning(move |_, _| Ok(Some(found.clone())));
        ports.identities.expect_find_by_phone().returning(move |_, _| Ok(Some(identity.clone())));
        let erased = Erased { sessions_revoked: 2 };
        ports.identities.expect_erase().returning(move |_, _, _| Ok(Some(erased)));
    })
}

#[actix_web::test]
async fn look_up_by_id_and_by_phone_answer_alike() {
    let app = enabled();
    let by_id = app.get(BY_ID).await;
    assert_snapshot!(by_id.body, @r#"{"id":"01a3185c-507b-759e-9c4c-0eb07e9ef836","phone":"+919876543210","created_at":"2027-01-15T08:00:00.123Z","last_verified_at":"2027-01-15T08:05:00.123Z"}"#);
    for phone in ["9876543210", "+919876543210", "%2B919876543210", "%20919876543210"] {
        let by_phone = app.get(&format!("/v1/identity?phone={phone}")).await;
        assert_eq!((by_phone.status, by_phone.body), (200, by_id.body.clone()), "{phone}");
    }
}

#[actix_web::test]
async fn the_query_is_read_before_the_phone_and_the_phone_before_the_switch() {
    let off = TestApp::new();
    for (query, code) in [
        ("", "INVALID_PHONE"),
        ("?phone=", "INVALID_PHONE"),
        ("?phone=123", "INVALID_PHONE"),
        ("?phone=9876543210&phone=9876543210", "INVALID_PHONE"),
        ("?phone=++919876543210", "INVALID_PHONE"),
        ("?phone=%zz", "INVALID_REQUEST"),
        ("?phone=9876543210&x=%ff", "INVALID_REQUEST"),
        ("?phone=9876543210", "IDENTITY_LOOKUP_DISABLED"),
        ("?x=1&phone=9876543210&y", "IDENTITY_LOOKUP_DISABLED"),
    ] {
        assert_eq!(off.get(&format!("/v1/identity{query}")).await.code(), code, "{query}");
    }
}

#[actix_web::test]
async fn the_switches_are_off_by_default_and_hide_what_exists() {
    let off = TestApp::new();
    for path in [BY_ID, "/v1/identity/malformed"] {
        let reply = off.get(path).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "IDENTITY_LOOKUP_DISABLED"));
        let reply = off.send(off.request(Method::DELETE, path)).await;
        assert_eq!((reply.status, reply.code().as_str()), (403, "IDENTITY_DELETE_DISABLED"));
    }
}

#[actix_web::test]
async fn delete_answers_as_decided() {
    let app = enabled();
    let reply = app.send(app.request(Method::DELETE, BY_ID)).await;
    assert_snapshot!(reply.text(), @r#"
        200
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 1000
        ratelimit-remaining: 999
        ratelimit-reset: 60
        x-content-type-options: nosniff
        x-request-id: request-1

        {"id":"01920000-0000-7000-8000-000000000000","deleted":true,"sessions_revoked":2}
        "#);
    let malformed = app.send(app.request(Method::DELETE, "/v1/identity/1")).await;
    assert_eq!((malformed.status, malformed.code().as_str()), (404, "IDENTITY_NOT_FOUND"));
}
