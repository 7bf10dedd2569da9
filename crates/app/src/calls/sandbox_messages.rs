use crate::CommonPorts;
use crate::refusals::refusals;
use dwar_kernel::{OtpId, Phone, StoreError, TRACE, Timestamp};
use dwar_otp::sandbox::{Content, SandboxInbox};
use dwar_otp::{Channel, Code};
use dwar_project::Caller;
use std::sync::Arc;
use tracing::instrument;

const NEWEST: u32 = 50;

/// Shows the messages that test keys would have sent (`GET /v1/sandbox/messages`).
pub struct SandboxMessages {
    pub tools: CommonPorts,
    pub inbox: Arc<dyn SandboxInbox>,
}

/// A message as the phone would have received it; `Debug` hides its content.
#[derive(derive_more::Debug)]
#[debug("SandboxMessage({otp} over {channel} at {at})")]
pub struct SandboxMessage {
    pub otp: OtpId,
    pub channel: Channel,
    pub text: String,
    pub code: Code,
    pub at: Timestamp,
}

refusals! {
    SandboxMessagesError { LiveKey = "the sandbox is for test keys" }
}

impl SandboxMessages {
    /// Fails for live keys, which have no sandbox.
    ///
    /// # Errors
    /// [`SandboxMessagesError::LiveKey`], so that a live key learns nothing more.
    pub const fn allow(caller: &Caller) -> Result<(), SandboxMessagesError> {
        if caller.mode.is_test() { Ok(()) } else { Err(SandboxMessagesError::LiveKey) }
    }

    /// The newest 50 messages to `phone`, newest first.
    #[instrument(name = "sandbox_messages", target = TRACE, level = "error", skip_all)]
    pub async fn list(
        &self,
        caller: &Caller,
        phone: &Phone,
    ) -> Result<Vec<SandboxMessage>, SandboxMessagesError> {
        Self::allow(caller)?;
        let project = caller.project.id;
        let index = self.tools.vault.phone_index(caller.project_mode(), phone);
        let messages = self.inbox.messages(project, index, NEWEST).await?;
        let vault = self.tools.vault.as_ref();
        let opened = messages.into_iter().map(|message| {
            let Content { code, text } = message.open(vault, project)?;
            Ok(SandboxMessage {
                otp: message.otp,
                channel: message.channel,
                text,
                code,
                at: message.at,
            })
        });
        opened.collect::<Result<_, StoreError>>().map_err(Into::into)
    }
}
