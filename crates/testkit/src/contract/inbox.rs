//! Promises of [`dwar_otp::sandbox::SandboxInbox`].

use crate::scene::Scene;
use crate::{Line, START, Stores, seconds};
use dwar_kernel::{KeyMode, Sealed};
use dwar_otp::Channel;
use dwar_otp::sandbox::{InboxMessage, Received};

impl Scene {
    async fn deposit(&self, line: &Line, second: u64, channel: Channel) -> InboxMessage {
        self.deposit_of(line, second, channel).await.0
    }

    /// Deposits a message; returns it with the sealed phone of its request.
    async fn deposit_of(
        &self,
        line: &Line,
        second: u64,
        channel: Channel,
    ) -> (InboxMessage, Sealed) {
        let at = START + seconds(second);
        let otp = self.issue(self.make.otp_with(line, crate::CODE, at)).await;
        let message = InboxMessage { channel, ..self.make.message(&otp, at) };
        self.stores.inbox.deposit(line.project_mode.project, message.clone()).await.unwrap();
        (message, otp.sealed_phone)
    }
}

/// The newest messages to a phone come first, up to the limit.
pub async fn messages_are_newest_first_and_bounded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.make.line(scene.project.in_mode(KeyMode::Test));
    assert_eq!(stores.inbox.messages(scene.project, line.index, 9).await.unwrap(), []);
    let first = scene.deposit(&line, 0, Channel::Whatsapp).await;
    let second = scene.deposit(&line, 1, Channel::Sms).await;
    let third = scene.deposit(&line, 2, Channel::Whatsapp).await;
    let newest = |limit| stores.inbox.messages(scene.project, line.index, limit);
    assert_eq!(newest(9).await.unwrap(), [third.clone(), second.clone(), first]);
    assert_eq!(newest(2).await.unwrap(), [third, second]);
}

/// Messages stay inside their project and with their phone.
pub async fn messages_stay_inside_project_and_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.make.line(scene.project.in_mode(KeyMode::Test));
    let other = Line {
        project_mode: scene.another().await.in_mode(line.project_mode.mode),
        ..line.clone()
    };
    let stranger = scene.make.line(scene.project.in_mode(KeyMode::Test));
    for line in [&line, &other, &stranger] {
        let message = scene.deposit(line, 0, Channel::Whatsapp).await;
        assert_eq!(
            stores.inbox.messages(line.project_mode.project, line.index, 9).await.unwrap(),
            [message]
        );
    }
    assert_eq!(stores.inbox.messages(scene.project, line.index, 9).await.unwrap().len(), 1);
}

/// The inbox of a project has the messages to all its phones, the last deposited first, each with the sealed
/// phone of its request, and none of another project.
pub async fn the_inbox_of_a_project_is_newest_first_and_bounded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let lines = [(); 2].map(|()| scene.make.line(scene.project.in_mode(KeyMode::Test)));
    let other = Line {
        project_mode: scene.another().await.in_mode(lines[0].project_mode.mode),
        ..lines[0].clone()
    };
    assert_eq!(stores.inbox.newest(scene.project, 9).await.unwrap(), []);
    let mut landed = Vec::new();
    // The last three have the same time.
    for (line, second) in [(0, 0), (1, 1), (0, 2), (1, 2), (0, 2)] {
        let line = &lines[line];
        let (message, sealed) = scene.deposit_of(line, second, Channel::Sms).await;
        landed.insert(0, Received { message, sealed_phone: sealed });
        scene.deposit(&other, second, Channel::Whatsapp).await;
    }
    let newest = |limit| stores.inbox.newest(scene.project, limit);
    assert_eq!(newest(9).await.unwrap(), landed);
    assert_eq!(newest(2).await.unwrap(), landed[..2]);
    assert_eq!(stores.inbox.newest(other.project_mode.project, 9).await.unwrap().len(), 5);
}

/// A message about a request that was erased meanwhile is dropped.
pub async fn a_message_about_a_request_that_is_gone_is_dropped(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.make.line(scene.project.in_mode(KeyMode::Test));
    let message = scene.make.message(&scene.make.otp(&line), START);
    stores.inbox.deposit(scene.project, message).await.unwrap();
    assert_eq!(stores.inbox.messages(scene.project, line.index, 9).await.unwrap(), []);
}

pub async fn a_sweep_takes_messages_along(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.make.line(scene.project.in_mode(KeyMode::Test));
    scene.deposit(&line, 0, Channel::Whatsapp).await;
    let kept = scene.deposit(&line, 1, Channel::Sms).await;
    assert_eq!(stores.otps.sweep(START + seconds(1), START).await.unwrap(), 1);
    assert_eq!(stores.inbox.messages(scene.project, line.index, 9).await.unwrap(), [kept]);
}
