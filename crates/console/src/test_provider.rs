use crate::{AuditedChange, Control, ManageError};
use dwar_app::{SendOtp, SendOtpError};
use dwar_kernel::{Channel, OtpId, Phone, ProjectId, TRACE};
use dwar_operator::{Action, AuditDetails, Command, Requester};
use dwar_otp::{Hop, Probe, Providers};
use std::sync::Arc;
use tracing::instrument;

const NOT_HERE: ManageError = ManageError::Conflict("Only a service that runs can send.");
const ARCHIVED: ManageError =
    ManageError::Conflict("The project is archived. Restore it to send. Nothing was sent.");
const LIMITED: ManageError = ManageError::Conflict(
    "This number has reached its limit of codes. Wait, or use another number. Nothing was sent.",
);
const POOR: ManageError = ManageError::Conflict(
    "The available balance does not cover one code. Pay in first. Nothing was sent.",
);
const SPEND_LIMITED: ManageError = ManageError::Conflict(
    "The project's spend of the day has reached its limit. Raise it in the settings. Nothing was sent.",
);
const REFUSED: ManageError =
    ManageError::Conflict("The provider did not accept it. Nothing was charged.");

/// Sends a code by one provider only, to test whether the provider works.
#[derive(Clone)]
pub struct TestProvider {
    pub(crate) control: Control,
    pub(crate) providers: Arc<dyn Providers>,
    /// `None` in a process without a running service.
    pub(crate) sends: Option<Arc<SendOtp>>,
}

impl TestProvider {
    /// The same use case, in a service that can send.
    #[must_use]
    pub fn sending(self, sends: Arc<SendOtp>) -> Self {
        Self { sends: Some(sends), ..self }
    }

    /// Probes whether a provider answers, without a message; an answer ends its pause in this process. `None`
    /// if the provider cannot be probed.
    ///
    /// # Errors
    /// [`ManageError::NotFound`] for a provider that is not configured.
    #[instrument(name = "test_provider.probe", target = TRACE, level = "error", skip_all)]
    pub async fn probe(
        &self,
        by: &Requester,
        project: ProjectId,
        provider: &str,
    ) -> Result<Option<Probe>, ManageError> {
        self.control.project(by, Command::ProbeProvider, project).await?;
        let carries = |channel| self.carries(channel, provider);
        if ![Channel::Whatsapp, Channel::Sms].into_iter().any(carries) {
            return Err(ManageError::NotFound("provider of this name"));
        }
        Ok(self.providers.probe(provider).await)
    }

    fn carries(&self, channel: Channel, provider: &str) -> bool {
        self.providers.names(channel).iter().any(|known| known == provider)
    }

    /// Sends a live code of the project to `phone` by this provider only, within the limits of the phone and
    /// at the price of the channel. Returns the request, whose timeline shows the outcome.
    ///
    /// # Errors
    /// [`ManageError::NotFound`] for a provider that does not carry the channel; [`ManageError::Conflict`] if
    /// the project is archived, or the send is refused.
    #[instrument(name = "test_provider.send", target = TRACE, level = "error", skip_all)]
    pub async fn send(
        &self,
        by: &Requester,
        project: ProjectId,
        (channel, provider): (Channel, &str),
        phone: &Phone,
    ) -> Result<OtpId, ManageError> {
        let found = self.control.project(by, Command::TestProvider, project).await?;
        if !self.carries(channel, provider) {
            return Err(ManageError::NotFound("such provider for this channel"));
        }
        let sends = self.sends.as_ref().ok_or(NOT_HERE)?;
        if found.archived_at.is_some() {
            return Err(ARCHIVED);
        }
        let facts =
            AuditDetails::new().text("channel", channel.as_str()).text("phone", &phone.to_string());
        let change = AuditedChange::new(Action::ProviderTested, provider).within(project);
        self.control.record(by, change.after(facts)).await?;
        match sends.send_by(found, phone, &Hop::new(channel, provider)).await {
            Ok(sent) => Ok(sent.otp),
            Err(SendOtpError::RateLimited(_)) => Err(LIMITED),
            Err(SendOtpError::InsufficientBalance(_)) => Err(POOR),
            Err(SendOtpError::SpendLimitReached(_)) => Err(SPEND_LIMITED),
            Err(SendOtpError::Store(cause)) => Err(cause.into()),
            // Without an Idempotency-Key there is no first request to wait for, and the guard judges no test.
            Err(
                SendOtpError::Undeliverable(_)
                | SendOtpError::ProofRequired
                | SendOtpError::Conflict
                | SendOtpError::Reused,
            ) => Err(REFUSED),
        }
    }
}
