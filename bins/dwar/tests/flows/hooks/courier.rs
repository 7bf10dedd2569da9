//! A courier whose headers are always the same, like that of Ory Kratos. It names a message in the
//! body, and posts it again when an answer was lost.

use crate::common::{Database, Service, Wire};
use serde_json::json;
use std::time::{Duration, Instant};

on_both_databases! {
    a_message_whose_answers_are_lost_is_sent_and_charged_once;
}

async fn a_message_whose_answers_are_lost_is_sent_and_charged_once(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("100");
    service.world.cli(&["project", "set", "--project", &project.id, "--relay-live", "on"]);
    let phone = service.world.phone();
    let message = json!({
        "phone": phone,
        "code": "482913",
        "expires_in": 600,
        "reference": "b1946ac92492d2347c6235b4d2611184",
    });
    for _ in 0..3 {
        // The connection ends before any part of the answer is read.
        let mut lost = Wire::to(&service.base);
        lost.write(&Wire::call(&project.live, "/v1/otp/relay", &message));
    }
    let until = Instant::now() + Duration::from_secs(20);
    let told = loop {
        let told = service.post(&project.live, "/v1/otp/relay", message.clone()).await;
        if told.status.as_u16() != 409 || Instant::now() > until {
            break told;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(told.status.as_u16(), 200, "{}", told.text);
    // The request of a client that disconnects early may not have been read at all. Then this is
    // the first one.
    for _ in 0..3 {
        let again = service.post(&project.live, "/v1/otp/relay", message.clone()).await;
        assert_eq!(again.status.as_u16(), 200, "{}", again.text);
        assert_eq!(again.body["otp_id"], told.body["otp_id"]);
        assert_eq!(again.header("idempotent-replayed"), "true");
    }
    let sent = service.stdout().iter().filter(|line| line.contains(&phone)).count();
    assert_eq!(sent, 1);
    let entries = service.world.cli(&["wallet", "statement", "--project", &project.id]);
    let charges = entries["items"].as_array().unwrap().iter().filter(|it| it["kind"] == "capture");
    assert_eq!(charges.count(), 1, "{entries}");
    service.world.audit();
}
