use crate::common::{World, down};
use dwar_app::{SandboxMessage, SandboxMessages, SandboxMessagesError};
use dwar_otp::sandbox::{InboxMessage, MockSandboxInbox};
use dwar_otp::{Channel, Message};
use dwar_testkit::{CODE, ClearVault, START};
use mockall::predicate::eq;
use std::sync::Arc;

const TEXT: &str = "123456 is your Chai & Co verification code.";

async fn list(
    world: &World,
    inbox: MockSandboxInbox,
) -> Result<Vec<SandboxMessage>, SandboxMessagesError> {
    let use_case = SandboxMessages { tools: world.tools(), inbox: Arc::new(inbox) };
    use_case.list(&world.caller, &world.line.phone).await
}

fn with_message(world: &World) -> (Message, MockSandboxInbox) {
    let (line, mut inbox) = (&world.line, MockSandboxInbox::new());
    let message = Message {
        otp: world.make.id(),
        attempt: world.make.id(),
        project_mode: line.project_mode,
        channel: Channel::Sms,
        phone: line.phone.clone(),
        phone_index: line.index,
        code: CODE.parse().unwrap(),
        text: TEXT.to_owned(),
        brand: "Acme".to_owned(),
        language: "en".to_owned(),
        minutes: 10,
        template_id: None,
    };
    let landed = InboxMessage::seal(&ClearVault, &message, START);
    let port = inbox.expect_messages().with(eq(line.project_mode.project), eq(line.index), eq(50));
    port.times(1).returning(move |_, _, _| Ok(vec![landed.clone()]));
    (message, inbox)
}

#[tokio::test]
async fn a_live_key_has_no_sandbox() {
    let answer = list(&World::live(), MockSandboxInbox::new()).await;
    assert!(matches!(answer, Err(SandboxMessagesError::LiveKey)));
}

#[tokio::test]
async fn a_message_is_shown_as_it_would_have_arrived() {
    let world = World::test();
    let (message, inbox) = with_message(&world);
    let shown = list(&world, inbox).await.unwrap().remove(0);
    assert_eq!((shown.otp, shown.channel, shown.at), (message.otp, Channel::Sms, START));
    assert_eq!((shown.code.expose(), shown.text.as_str()), (CODE, TEXT));
}

#[tokio::test]
async fn nothing_shows_the_code_in_debug() {
    let world = World::test();
    let (message, inbox) = with_message(&world);
    let listed = list(&world, inbox).await.unwrap();
    for shown in [format!("{message:?}"), format!("{listed:?}")] {
        assert!(!shown.contains(CODE), "{shown}");
    }
}

#[tokio::test]
async fn a_message_that_does_not_open_is_a_store_failure() {
    let (world, mut inbox) = (World::test(), MockSandboxInbox::new());
    let broken = world.make.message(&world.make.otp(&world.line), START);
    inbox.expect_messages().returning(move |_, _, _| Ok(vec![broken.clone()]));
    assert!(matches!(list(&world, inbox).await, Err(SandboxMessagesError::Store(_))));
}

#[tokio::test]
async fn a_store_out_of_reach_is_told_as_such() {
    let (world, mut inbox) = (World::test(), MockSandboxInbox::new());
    inbox.expect_messages().returning(|_, _, _| Err(down()));
    assert!(matches!(list(&world, inbox).await, Err(SandboxMessagesError::Store(_))));
}
