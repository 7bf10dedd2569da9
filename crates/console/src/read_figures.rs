use crate::{Control, ManageError};
use dwar_activity::{
    Cause, Counts, FiguresPeriod, FiguresStore, Grain, GuardCounts, Interval, KEEP_HOURS, Overview,
    Period, Progress, Range, SETTLED_AFTER, Traffic,
};
use dwar_kernel::{KeyMode, ProjectId, ProjectMode, Refusal, StoreError, TRACE};
use dwar_operator::{Command, Requester};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// How long settlement may be late before a page says that older figures are still being counted.
const LATE: Duration = Duration::from_secs(600);

/// Why a range has no figures.
const NOTHING: &str = "must be before the end, in the past, and within the last 61 days";

/// Reads the figures of a project, for overview and lists.
#[derive(Clone)]
pub struct ReadFigures {
    pub control: Control,
    pub store: Arc<dyn FiguresStore>,
}

/// Figures of a range, and how current they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    pub overview: Overview,
    /// Age of the newest figures; `None` before the first count.
    pub age: Option<Duration>,
    /// Whether older figures are still being counted, after an outage.
    pub catching_up: bool,
}

/// What the guard of a project found in the last seven days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardReport {
    /// Of the sends that it did not refuse.
    pub counts: GuardCounts,
    /// Sends that it refused.
    pub refused: u64,
    /// Whether a send of a trusted visitor is among the figures that are kept.
    pub knows_trusted: bool,
}

/// The time of a [`GuardReport`].
const WEEK: Duration = Duration::from_secs(7 * 86_400);

impl ReadFigures {
    /// What the guard found among the live sends of a project.
    #[instrument(name = "read_figures.guard", target = TRACE, level = "error", skip_all)]
    pub async fn guard(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<GuardReport, ManageError> {
        self.control.project(by, Command::ShowFigures, project).await?;
        let now = self.control.tools.now();
        let settled = self.store.progress().await?.settled.unwrap_or(now - SETTLED_AFTER);
        let since = |length| Interval { from: now - length, until: now };
        let week = since(WEEK).spans(Grain::Hour, settled);
        let mut sum = Counts::default();
        for figure in self.store.figures(project.in_mode(KeyMode::Live), week).await? {
            sum.add(&figure.counts);
        }
        let kept = since(KEEP_HOURS).spans(Grain::Day, settled);
        let traffic = self.store.traffic(vec![project], KeyMode::Live, kept).await?;
        let refused = |why| sum.causes.of(Cause::Refused(why));
        Ok(GuardReport {
            counts: sum.guard,
            refused: refused(Refusal::Proof).saturating_add(refused(Refusal::Day)),
            knows_trusted: traffic.get(&project).is_some_and(|it| it.trusted > 0),
        })
    }

    /// Live sends in the last 24 hours, per project whose figures the caller may see; projects without sends
    /// are left out.
    #[instrument(name = "read_figures.traffic", target = TRACE, level = "error", skip_all)]
    pub async fn traffic(
        &self,
        by: &Requester,
        mut projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Traffic>, StoreError> {
        projects.retain(|project| by.may(Command::ShowFigures, Some(*project)));
        let now = self.control.tools.now();
        let settled = self.store.progress().await?.settled.unwrap_or(now - SETTLED_AFTER);
        let spans = Range::last(Period::Day, now).window.spans(Grain::Hour, settled);
        self.store.traffic(projects, KeyMode::Live, spans).await
    }

    /// The chosen range and the one before it, from a bounded number of figures.
    #[instrument(name = "read_figures.overview", target = TRACE, level = "error", skip_all)]
    pub async fn overview(
        &self,
        by: &Requester,
        project_mode: ProjectMode,
        wanted: FiguresPeriod,
    ) -> Result<Figures, ManageError> {
        self.control.project(by, Command::ShowFigures, project_mode.project).await?;
        let now = self.control.tools.now();
        let range = wanted.range(now).ok_or_else(|| ManageError::invalid("since", NOTHING))?;
        let Progress { settled, as_of } = self.store.progress().await?;
        let complete = settled.unwrap_or(now - SETTLED_AFTER);
        let windows = [Some(range.window), range.before].into_iter().flatten();
        let spans = windows.flat_map(|it| it.spans(range.coarsest(), complete)).collect();
        let figures = self.store.figures(project_mode, spans).await?;
        let (present, earlier): (Vec<_>, Vec<_>) =
            figures.into_iter().partition(|figure| figure.began >= range.window.from);
        Ok(Figures {
            overview: Overview::of(range, &present, &earlier),
            age: as_of.map(|as_of| (now - as_of).to_std().unwrap_or_default()),
            catching_up: settled.is_none_or(|settled| settled + SETTLED_AFTER + LATE < now),
        })
    }
}
