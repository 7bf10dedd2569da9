use crate::counts::Counts;
use crate::page::Page;
use crate::process;
use crate::snapshot::{ProgramInfo, SnapshotSource};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, text};
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::Arc;

/// Renders every count as text for Prometheus, without asking a store.
#[derive(Debug)]
pub struct Exposition(Registry);

impl Exposition {
    /// Shows `counts` and `readings`, and information about the process.
    pub fn new(counts: Arc<Counts>, readings: Arc<dyn SnapshotSource>, about: ProgramInfo) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(ScrapeCollector { counts, readings, about }));
        Self(registry)
    }

    /// The current values as OpenMetrics 1.0. Asks no store and takes about a millisecond.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if text::encode(&mut text, &self.0).is_err() {
            // Writing to a text cannot fail.
            tracing::error!("the metrics cannot be written");
        }
        text
    }
}

struct ScrapeCollector {
    counts: Arc<Counts>,
    readings: Arc<dyn SnapshotSource>,
    about: ProgramInfo,
}

impl fmt::Debug for ScrapeCollector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Everything").field("about", &self.about).finish_non_exhaustive()
    }
}

impl Collector for ScrapeCollector {
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut page = Page(encoder);
        self.counts.show(&mut page)?;
        self.readings.read().show(&mut page)?;
        self.process(&mut page)
    }
}

impl ScrapeCollector {
    /// Uses the names of Prometheus' own client libraries.
    fn process(&self, page: &mut Page<'_>) -> fmt::Result {
        let ProgramInfo { version, database, started_at } = &self.about;
        let build = [([("version", version.as_str()), ("database", *database)], 1_u64)];
        page.gauges("dwar_build_info", "The program, and where it keeps its data.", build)?;
        let memory = process::resident_memory().map(|bytes| ([], bytes));
        page.gauges("process_resident_memory_bytes", "Resident memory.", memory)?;
        let processors = [([], process::processor_time().as_secs_f64())];
        page.counters("process_cpu_seconds", "Time on processors.", processors)?;
        let files = process::open_files().map(|files| ([], files));
        page.gauges("process_open_fds", "File descriptors that are open.", files)?;
        let started = [([], *started_at)];
        page.gauges("process_start_time_seconds", "When the process began.", started)
    }
}
