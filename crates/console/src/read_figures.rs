use crate::{Control, ManageError};
use dwar_activity::{
    FiguresStore, Grain, Overview, Period, Progress, Range, SETTLED_AFTER, Traffic, Wanted,
};
use dwar_kernel::{KeyMode, ProjectId, ProjectMode, StoreError, TRACE};
use dwar_operator::{By, Command};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// How much longer than usual it may take to settle before a page says that older figures are
/// still being counted.
const LATE: Duration = Duration::from_secs(600);

/// Why there is nothing to show of a range.
const NOTHING: &str = "must be before the end, in the past, and within the last 61 days";

/// Reads the figures of a project.
#[derive(Clone)]
pub struct ReadFigures {
    pub control: Control,
    pub store: Arc<dyn FiguresStore>,
}

/// Figures, and how far they can be relied on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// The period alongside the one before it.
    pub overview: Overview,
    /// How old the newest are; `None` before they were counted for the first time.
    pub age: Option<Duration>,
    /// Whether older ones are still being counted, after an absence.
    pub catching_up: bool,
}

impl ReadFigures {
    /// What those of these projects sent with their live keys in the last 24 hours whose figures the caller may
    /// see; of one that sent nothing, nothing.
    #[instrument(name = "read_figures.traffic", target = TRACE, level = "error", skip_all)]
    pub async fn traffic(
        &self,
        by: &By,
        mut projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Traffic>, StoreError> {
        projects.retain(|project| by.may(Command::ShowFigures, Some(*project)));
        let now = self.control.tools.now();
        let settled = self.store.progress().await?.settled.unwrap_or(now - SETTLED_AFTER);
        let spans = Range::last(Period::Day, now).window.spans(Grain::Hour, settled);
        self.store.traffic(projects, KeyMode::Live, spans).await
    }

    /// The range that is wanted and the one before it, from a bounded number of figures.
    #[instrument(name = "read_figures.overview", target = TRACE, level = "error", skip_all)]
    pub async fn overview(
        &self,
        by: &By,
        world: ProjectMode,
        wanted: Wanted,
    ) -> Result<Figures, ManageError> {
        self.control.project(by, Command::ShowFigures, world.project).await?;
        let now = self.control.tools.now();
        let range = wanted.range(now).ok_or_else(|| ManageError::invalid("since", NOTHING))?;
        let Progress { settled, as_of } = self.store.progress().await?;
        let complete = settled.unwrap_or(now - SETTLED_AFTER);
        let windows = [Some(range.window), range.before].into_iter().flatten();
        let spans = windows.flat_map(|it| it.spans(range.coarsest(), complete)).collect();
        let figures = self.store.figures(world, spans).await?;
        let (present, earlier): (Vec<_>, Vec<_>) =
            figures.into_iter().partition(|figure| figure.began >= range.window.from);
        Ok(Figures {
            overview: Overview::of(range, &present, &earlier),
            age: as_of.map(|as_of| (now - as_of).to_std().unwrap_or_default()),
            catching_up: settled.is_none_or(|settled| settled + SETTLED_AFTER + LATE < now),
        })
    }
}
