use crate::{Control, ManageError};
use dwar_activity::{FiguresStore, Overview, Period, Progress, SETTLED_AFTER, Span, Traffic};
use dwar_kernel::{KeyMode, ProjectId, ProjectMode, StoreError, TRACE};
use dwar_operator::{By, Command};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::instrument;

/// How much longer than usual it may take to settle before a page says that older figures are
/// still being counted.
const LATE: Duration = Duration::from_secs(600);

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
        let (period, now) = (Period::Day, self.control.tools.now());
        let settled = self.store.progress().await?.settled.unwrap_or(now - SETTLED_AFTER);
        let spans = period.spans(period.window(now), settled);
        self.store.traffic(projects, KeyMode::Live, spans).await
    }

    /// The period up to now and the one before it, from a bounded number of figures.
    #[instrument(name = "read_figures.overview", target = TRACE, level = "error", skip_all)]
    pub async fn overview(
        &self,
        by: &By,
        world: ProjectMode,
        period: Period,
    ) -> Result<Figures, ManageError> {
        self.control.project(by, Command::ShowFigures, world.project).await?;
        let now = self.control.tools.now();
        let Progress { settled, as_of } = self.store.progress().await?;
        let spans =
            |window| -> Vec<Span> { period.spans(window, settled.unwrap_or(now - SETTLED_AFTER)) };
        let (window, before) = (period.window(now), period.before(now));
        let all = [spans(window), spans(before)].concat();
        let figures = self.store.figures(world, all).await?;
        let (present, earlier): (Vec<_>, Vec<_>) =
            figures.into_iter().partition(|figure| figure.began >= window.from);
        Ok(Figures {
            overview: Overview::of(period, now, &present, &earlier),
            age: as_of.map(|as_of| (now - as_of).to_std().unwrap_or_default()),
            catching_up: settled.is_none_or(|settled| settled + SETTLED_AFTER + LATE < now),
        })
    }
}
