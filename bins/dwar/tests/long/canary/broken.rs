//! A store that fails during requests.

use crate::canary::house::House;
use crate::common::{PASSWORD, Person};
use crate::doors::stage::{NOBODY, PHONE};
use reqwest::Method;
use serde_json::json;

/// Some request below needs each of these. The table that every request reads first stays.
const TABLES: [&str; 8] = [
    "guess_budgets",
    "sandbox_messages",
    "idempotency_records",
    "operator_sessions",
    "phone_searches",
    "receipts",
    "sessions",
    "webhook_calls",
];

pub async fn walk(house: &House) {
    let service = house.service();
    let (key, phone) = (&house.carried.test, house.phone());
    let pair = service.log_in(key, &phone).await;
    let person = Person::join(service, &["--name", "last", "--owner"]).await;
    let mut failed = 0;
    for table in TABLES {
        service.world.database.lose(table).await;
        let inbox = format!("/v1/sandbox/messages?phone={phone}");
        let send = service.call(key, "/v1/otp/send", &json!({ "phone": phone }));
        for request in [
            send.header("Idempotency-Key", format!("send-of-{phone}")),
            service.call(&house.carried.live, "/v1/otp/send", &json!({ "phone": phone })),
            service.call(key, "/v1/otp/verify", &json!({ "phone": phone, "code": "000000" })),
            service.call(key, "/v1/session/validate", &pair),
            service.call(key, "/v1/session/refresh", &pair),
            service.call(key, "/v1/session/logout", &pair),
            service.request(Method::GET, &inbox).header("X-Api-Key", key),
        ] {
            failed += usize::from(house.ask(request).await.status.is_server_error());
        }
        let project = &house.stage.ours.id;
        person.get(&format!("/p/{project}/activity")).await;
        let search = json!({ "mode": "test", "phone": PHONE });
        let path = format!("/projects/{project}/requests/search");
        house.stage.owner.post(&path, &search).await;
        let sign_in = [("name", "last"), ("password", PASSWORD)];
        person.post("/sign-in", &sign_in).await;
    }
    assert!(failed >= TABLES.len(), "{failed}");
    for arguments in [
        vec!["doctor"],
        vec!["wallet", "verify"],
        vec!["webhook", "log", "--project", &house.stage.ours.id, "--webhook", NOBODY],
        vec!["project", "unlock", "--project", &house.stage.ours.id, "--phone", PHONE],
        vec!["operator", "list"],
    ] {
        service.world.run(&arguments);
    }
}
