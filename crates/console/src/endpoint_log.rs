use crate::endpoints::known;
use crate::{AuditedChange, Control, ManageError};
use dwar_app::TellEvents;
use dwar_event::{
    CALL_LEASE, CallFilter, Dispatch, Endpoint, EndpointCall, Event, EventId, EventKind,
    LoggedCall, Resend, Subject,
};
use dwar_kernel::{EndpointId, KeyMode, ProjectId, TRACE};
use dwar_operator::{Action, By, Command, Facts};
use std::sync::Arc;
use tracing::instrument;

const UNDER_WAY: &str = "This event is being sent, or was sent a moment ago. Check the log first.";
const DISABLED: &str = "This endpoint is disabled. Enable it, then send the event again.";
const TESTED_BEFORE: &str = "A test was sent a moment ago. Wait a few seconds, then try again.";

/// Shows what an endpoint was told, sends it again, and tests whether it answers.
#[derive(Clone)]
pub struct EndpointLog {
    pub(crate) control: Control,
    /// Makes the calls of tests; its ports hold the log, too.
    pub tell: Arc<TellEvents>,
}

impl EndpointLog {
    /// An endpoint of the project.
    #[instrument(name = "endpoint_log.endpoint", target = TRACE, level = "error", skip_all)]
    pub async fn endpoint(
        &self,
        by: &By,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<Endpoint, ManageError> {
        self.admitted(by, Command::ListWebhookCalls, project, endpoint).await
    }

    async fn admitted(
        &self,
        by: &By,
        command: Command,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<Endpoint, ManageError> {
        self.control.project(by, command, project).await?;
        known(self.tell.events.as_ref(), project, endpoint).await
    }

    /// Calls to an endpoint, the newest first, up to `limit`; none if there is no such endpoint.
    #[instrument(name = "endpoint_log.calls", target = TRACE, level = "error", skip_all)]
    pub async fn calls(
        &self,
        by: &By,
        project: ProjectId,
        endpoint: EndpointId,
        filter: CallFilter,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, ManageError> {
        self.control.project(by, Command::ListWebhookCalls, project).await?;
        Ok(self.tell.calls.calls(project, endpoint, filter, limit).await?)
    }

    /// Sends an event again to an endpoint that was called with it: the same `webhook-id`, signed
    /// anew, by the same queue as everything else.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] while it is under way or the endpoint is switched off.
    #[instrument(name = "endpoint_log.resend", target = TRACE, level = "error", skip_all)]
    pub async fn resend(
        &self,
        by: &By,
        project: ProjectId,
        endpoint: EndpointId,
        event: &EventId,
    ) -> Result<(), ManageError> {
        let known = self.admitted(by, Command::ResendEvent, project, endpoint).await?;
        let facts = Facts::new().text("endpoint", &known.id.to_string());
        let change = AuditedChange::new(Action::EventResent, event).within(project).after(facts);
        self.control.record(by, change).await?;
        let now = self.tell.tools.now();
        match self.tell.calls.resend(project, endpoint, event.to_string(), now).await? {
            Resend::Queued => Ok(()),
            Resend::UnderWay => Err(ManageError::Conflict(UNDER_WAY)),
            Resend::Off => Err(ManageError::Conflict(DISABLED)),
            Resend::Gone => Err(ManageError::NotFound("such event on record any more")),
        }
    }

    /// Calls an endpoint with `webhook.test`, now and once, even if it is switched off. Gives what
    /// came of it.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] if it was tried within the same five seconds.
    #[instrument(name = "endpoint_log.test", target = TRACE, level = "error", skip_all)]
    pub async fn test(
        &self,
        by: &By,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<EndpointCall, ManageError> {
        let known = self.admitted(by, Command::TestWebhook, project, endpoint).await?;
        let change = AuditedChange::new(Action::EndpointTested, endpoint).within(project);
        self.control.record(by, change).await?;
        let at = self.tell.tools.now();
        let (kind, subject) = (EventKind::WebhookTest, Subject::Test { endpoint });
        let event = Event { world: project.in_mode(KeyMode::Live), kind, subject, at };
        // If this process ends half-way, the next one to claim it makes the call.
        if !self.tell.calls.address(event.clone(), endpoint, at + CALL_LEASE).await? {
            return Err(ManageError::Conflict(TESTED_BEFORE));
        }
        let dispatch = Dispatch { endpoint: known, event, failures: 0 };
        Ok(self.tell.tell(&dispatch).await?)
    }
}
