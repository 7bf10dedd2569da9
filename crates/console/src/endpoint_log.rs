use crate::endpoints::known;
use crate::{AuditedChange, Control, ManageError};
use dwar_app::TellEvents;
use dwar_event::{
    CALL_LEASE, CallFilter, Dispatch, Endpoint, EndpointCall, Event, EventId, EventKind,
    LoggedCall, Resend, Subject,
};
use dwar_kernel::{EndpointId, KeyMode, ProjectId, TRACE};
use dwar_operator::{Action, AuditDetails, Command, Requester};
use std::sync::Arc;
use tracing::instrument;

const UNDER_WAY: &str = "This event is being sent, or was sent a moment ago. Check the log first.";
const DISABLED: &str = "This endpoint is disabled. Enable it, then send the event again.";
const TESTED_BEFORE: &str = "A test was sent a moment ago. Wait a few seconds, then try again.";

/// Shows the calls to an endpoint, sends their events again, and tests endpoints.
#[derive(Clone)]
pub struct EndpointLog {
    pub(crate) control: Control,
    /// Makes the calls of tests; its ports include the log.
    pub tell: Arc<TellEvents>,
}

impl EndpointLog {
    /// One endpoint of the project, by its id.
    #[instrument(name = "endpoint_log.endpoint", target = TRACE, level = "error", skip_all)]
    pub async fn endpoint(
        &self,
        by: &Requester,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<Endpoint, ManageError> {
        self.admitted(by, Command::ListWebhookCalls, project, endpoint).await
    }

    async fn admitted(
        &self,
        by: &Requester,
        command: Command,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<Endpoint, ManageError> {
        self.control.project(by, command, project).await?;
        known(self.tell.events.as_ref(), project, endpoint).await
    }

    /// Calls to an endpoint, newest first, at most `limit`; empty if there is no such endpoint.
    #[instrument(name = "endpoint_log.calls", target = TRACE, level = "error", skip_all)]
    pub async fn calls(
        &self,
        by: &Requester,
        project: ProjectId,
        endpoint: EndpointId,
        filter: CallFilter,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, ManageError> {
        self.control.project(by, Command::ListWebhookCalls, project).await?;
        Ok(self.tell.calls.calls(project, endpoint, filter, limit).await?)
    }

    /// Sends an event again to an endpoint that was called with it: with the same `webhook-id` and a new
    /// signature, through the same queue as other events.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] while the event is under way, or if the endpoint is disabled.
    #[instrument(name = "endpoint_log.resend", target = TRACE, level = "error", skip_all)]
    pub async fn resend(
        &self,
        by: &Requester,
        project: ProjectId,
        endpoint: EndpointId,
        event: &EventId,
    ) -> Result<(), ManageError> {
        let known = self.admitted(by, Command::ResendEvent, project, endpoint).await?;
        let facts = AuditDetails::new().text("endpoint", &known.id.to_string());
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

    /// Calls an endpoint with `webhook.test`, now and once, even if it is disabled. Returns the call with its
    /// outcome.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] if it was tested within the same five seconds.
    #[instrument(name = "endpoint_log.test", target = TRACE, level = "error", skip_all)]
    pub async fn test(
        &self,
        by: &Requester,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<EndpointCall, ManageError> {
        let known = self.admitted(by, Command::TestWebhook, project, endpoint).await?;
        let change = AuditedChange::new(Action::EndpointTested, endpoint).within(project);
        self.control.record(by, change).await?;
        let at = self.tell.tools.now();
        let (kind, subject) = (EventKind::WebhookTest, Subject::Test { endpoint });
        let event = Event { project_mode: project.in_mode(KeyMode::Live), kind, subject, at };
        // If this process ends during the call, the next process to claim the event makes it.
        if !self.tell.calls.address(event.clone(), endpoint, at + CALL_LEASE).await? {
            return Err(ManageError::Conflict(TESTED_BEFORE));
        }
        let dispatch = Dispatch { endpoint: known, event, failures: 0 };
        Ok(self.tell.tell(&dispatch).await?)
    }
}
