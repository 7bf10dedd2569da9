use crate::{Control, ManageError};
use dwar_kernel::{OtpId, Phone, ProjectId, StoreError, TRACE, Timestamp};
use dwar_operator::{Command, Requester};
use dwar_otp::Channel;
use dwar_otp::sandbox::{Received, SandboxInbox};
use std::sync::Arc;
use tracing::instrument;

/// Shows the messages that the test keys of a project would have sent, to all numbers.
#[derive(Clone)]
pub struct Inbox {
    pub(crate) control: Control,
    pub(crate) inbox: Arc<dyn SandboxInbox>,
}

/// Messages of a project that can be searched: its newest.
pub const IN_INBOX: u32 = 1_000;
const PAGE: u32 = 50;

/// A message in the inbox of a project; `Debug` hides its content.
#[derive(Clone, derive_more::Debug, PartialEq, Eq)]
#[debug("InboxLine({otp} over {channel} at {at})")]
pub struct InboxLine {
    pub otp: OtpId,
    pub channel: Channel,
    pub at: Timestamp,
    /// Recipient; `None` if it cannot be decrypted.
    pub phone: Option<Phone>,
    /// Text as a phone would show it; `None` if it cannot be decrypted.
    pub text: Option<String>,
}

/// A page of the inbox, newest first, and whether there are older messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InboxPage {
    pub lines: Vec<InboxLine>,
    pub has_older: bool,
}

impl InboxLine {
    /// Whether number or text contains each word of `wanted`; numbers match with or without blanks, hyphens
    /// and `+91`.
    pub fn matches(&self, wanted: &str) -> bool {
        let text = self.text.as_deref().unwrap_or_default().to_lowercase();
        let phone = self.phone.as_ref().map(Phone::e164).unwrap_or_default();
        let wanted = wanted.to_lowercase();
        wanted.split_whitespace().all(|word| {
            let digits = word.replace('-', "");
            text.contains(word) || (!digits.is_empty() && phone.contains(&digits))
        })
    }
}

impl Inbox {
    /// Page number `page`, from 0, of those among the newest [`IN_INBOX`] messages that match `wanted`.
    #[instrument(name = "inbox.list", target = TRACE, level = "error", skip_all)]
    pub async fn list(
        &self,
        by: &Requester,
        project: ProjectId,
        wanted: &str,
        page: u32,
    ) -> Result<InboxPage, ManageError> {
        self.control.project(by, Command::Play, project).await?;
        let begin = page.saturating_mul(PAGE);
        // One more than a page, to know whether there is another page.
        let most = if wanted.trim().is_empty() {
            begin.saturating_add(PAGE + 1).min(IN_INBOX)
        } else {
            IN_INBOX
        };
        let lines = self.lines(project, most).await?;
        let mut found = lines.into_iter().filter(|line| line.matches(wanted)).skip(begin as usize);
        let lines = found.by_ref().take(PAGE as usize).collect();
        Ok(InboxPage { lines, has_older: found.next().is_some() })
    }

    /// Whether the caller may watch new messages of a project. Watching asks again from time to time.
    pub fn may_watch(&self, by: &Requester, project: ProjectId) -> bool {
        by.may(Command::Play, Some(project))
    }

    /// The newest messages of a project, for callers that [`Inbox::may_watch`] allowed.
    #[instrument(name = "inbox.newest", target = TRACE, level = "error", skip_all)]
    pub async fn newest(&self, project: ProjectId) -> Result<Vec<InboxLine>, StoreError> {
        self.lines(project, PAGE).await
    }

    async fn lines(&self, project: ProjectId, most: u32) -> Result<Vec<InboxLine>, StoreError> {
        let vault = self.control.tools.vault.as_ref();
        let line = |Received { message, sealed_phone }: Received| InboxLine {
            otp: message.otp,
            channel: message.channel,
            at: message.at,
            phone: vault.open_phone(project, &sealed_phone).ok(),
            text: message.open(vault, project).ok().map(|content| content.text),
        };
        Ok(self.inbox.newest(project, most).await?.into_iter().map(line).collect())
    }
}
