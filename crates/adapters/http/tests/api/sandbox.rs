use crate::support::TestApp;
use dwar_kernel::{KeyMode, Phone};
use dwar_otp::sandbox::InboxMessage;
use dwar_otp::{Channel, Message};
use dwar_testkit::{ClearVault, START};
use insta::assert_snapshot;

const MESSAGES: &str = "/v1/sandbox/messages";

fn with_a_message() -> TestApp {
    TestApp::with(|ports| {
        let phone: Phone = "9876543210".parse().unwrap();
        let message = Message {
            otp: ports.fixtures.id(),
            attempt: ports.fixtures.id(),
            project_mode: ports.project.id.in_mode(KeyMode::Test),
            channel: Channel::Whatsapp,
            phone_index: dwar_kernel::BlindIndex([0; 32]),
            phone,
            code: "012345".parse().unwrap(),
            text: "012345 is your code.".to_owned(),
            brand: "Acme".to_owned(),
            language: "en".to_owned(),
            minutes: 10,
            template_id: None,
        };
        let message = InboxMessage::seal(&ClearVault, &message, START);
        ports.inbox.expect_messages().returning(move |_, _, _| Ok(vec![message.clone()]));
    })
}

#[actix_web::test]
async fn a_test_key_reads_what_it_would_have_sent() {
    let reply = with_a_message().get_in_test_mode("/v1/sandbox/messages?phone=+919876543210").await;
    assert_snapshot!(reply.body, @r#"{"messages":[{"otp_id":"01a3185c-507b-759e-9c4c-0eb07e9ef836","phone":"+919876543210","channel":"whatsapp","text":"012345 is your code.","code":"012345","at":"2027-01-15T08:00:00.123Z"}]}"#);
}

#[actix_web::test]
async fn a_live_key_has_no_sandbox_whatever_it_asks() {
    let app = with_a_message();
    for query in ["", "?phone=9876543210", "?phone=%zz"] {
        let reply = app.get(&format!("{MESSAGES}{query}")).await;
        assert_eq!((reply.status, reply.code().as_str()), (404, "NOT_FOUND"), "{query}");
    }
    assert_eq!(app.get_in_test_mode(MESSAGES).await.code(), "INVALID_PHONE");
}
