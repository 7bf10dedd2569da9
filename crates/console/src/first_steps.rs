use crate::{Control, ManageError};
use dwar_activity::{Counts, FiguresStore, Grain, Interval, KEEP_HOURS, SETTLED_AFTER};
use dwar_event::EventStore;
use dwar_kernel::{Channel, KeyMode, StoreError, TRACE, Timestamp, words};
use dwar_operator::{Command, Requester};
use dwar_otp::Providers;
use dwar_project::Project;
use std::sync::Arc;
use tracing::instrument;

/// Provider that prints messages instead of sending them.
const CONSOLE: &str = "console";

words! {
    /// Steps to set up a new project, in order.
    FirstStep {
        TestCode = "test_code",
        Key = "key",
        /// Live codes go to a provider that sends them.
        Provider = "provider",
        LiveCode = "live_code",
        Endpoint = "endpoint",
    }
}

impl FirstStep {
    /// Whether a project also works without this step.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::Endpoint)
    }
}

/// Tells which first steps of a new project are done, from what really happened.
#[derive(Clone)]
pub struct FirstSteps {
    pub(crate) control: Control,
    pub(crate) figures: Arc<dyn FiguresStore>,
    pub(crate) events: Arc<dyn EventStore>,
    pub(crate) providers: Arc<dyn Providers>,
}

impl FirstSteps {
    /// The steps of a project, each with whether it is done; `None` once all required steps are done, and for
    /// a project older than its figures.
    #[instrument(name = "first_steps.of", target = TRACE, level = "error", skip_all)]
    pub async fn of(
        &self,
        by: &Requester,
        project: &Project,
    ) -> Result<Option<Vec<(FirstStep, bool)>>, ManageError> {
        self.control.admit(by, Command::ShowFigures, Some(project.id))?;
        let now = self.control.tools.now();
        if project.created_at + KEEP_HOURS < now {
            return Ok(None);
        }
        let mut steps = Vec::new();
        for step in FirstStep::ALL {
            steps.push((step, self.is_done(project, step, now).await?));
        }
        let is_new = steps.iter().any(|(step, done)| !done && !step.is_optional());
        Ok(is_new.then_some(steps))
    }

    async fn is_done(
        &self,
        project: &Project,
        step: FirstStep,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(match step {
            FirstStep::TestCode => self.counts(project, KeyMode::Test, now).await?.verified > 0,
            FirstStep::Key => {
                let keys = self.control.projects.keys(project.id).await?;
                keys.iter().any(|key| key.used.is_some())
            }
            FirstStep::Provider => self.sends(project),
            FirstStep::LiveCode => {
                let counts = self.counts(project, KeyMode::Live, now).await?;
                counts.delivered > 0 || counts.verified > 0
            }
            FirstStep::Endpoint => !self.events.endpoints(project.id).await?.is_empty(),
        })
    }

    /// Counts since the project was created, from a bounded number of figures.
    async fn counts(
        &self,
        project: &Project,
        mode: KeyMode,
        now: Timestamp,
    ) -> Result<Counts, StoreError> {
        let settled = self.figures.progress().await?.settled.unwrap_or(now - SETTLED_AFTER);
        let window = Interval { from: Grain::Day.begin(project.created_at), until: now };
        let spans = window.spans(Grain::Day, settled);
        let mut counts = Counts::default();
        let figures = self.figures.figures(project.id.in_mode(mode), spans).await?;
        figures.iter().for_each(|figure| counts.add(&figure.counts));
        Ok(counts)
    }

    /// Whether any provider is configured that really sends messages.
    pub fn can_send(&self) -> bool {
        let all = Channel::ALL.into_iter().flat_map(|channel| self.providers.names(channel));
        all.into_iter().any(|name| name != CONSOLE)
    }

    fn sends(&self, project: &Project) -> bool {
        let routing = &project.routing;
        let routes = [(Channel::Whatsapp, &routing.whatsapp), (Channel::Sms, &routing.sms)];
        routes.into_iter().any(|(channel, own)| {
            let defaults = || self.providers.defaults(channel);
            own.clone().unwrap_or_else(defaults).iter().any(|name| name != CONSOLE)
        })
    }
}
