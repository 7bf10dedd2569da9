use crate::CommonPorts;
use dwar_event::{Event, EventKind, EventStore, Subject};
use dwar_kernel::{KeyMode, ProjectId, StoreError, Timestamp};
use dwar_otp::{HealthChange, Receipt, ReceiptHealth, Report};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Most projects that get an event about a failing provider: those with the latest failed messages, ...
const TOLD: usize = 100;
const LAST: Duration = Duration::from_secs(15 * 60);

/// Notices when the receipts of a provider fail more often than in its past, by [`ReceiptHealth`]. It knows
/// only what this process has seen since its start.
pub struct ProviderWatch {
    tools: CommonPorts,
    events: Arc<dyn EventStore>,
    providers: Mutex<HashMap<String, WatchedProvider>>,
}

#[derive(Default)]
struct WatchedProvider {
    health: ReceiptHealth,
    /// Projects with failed messages and the time of the last failure, each project once, the latest at the
    /// end.
    hit: VecDeque<(ProjectId, Timestamp)>,
}

impl ProviderWatch {
    /// A watch without any receipts yet: every provider counts as healthy.
    pub fn new(tools: CommonPorts, events: Arc<dyn EventStore>) -> Self {
        Self { tools, events, providers: Mutex::default() }
    }

    /// Counts a receipt about a message of the project. If its provider begins to fail, logs it, and records
    /// an event for each project concerned.
    pub async fn note(&self, receipt: &Receipt, project: ProjectId) -> Result<(), StoreError> {
        let Some((change, hit)) = self.take_in(receipt, project) else { return Ok(()) };
        let HealthChange { failing, failed, receipts, usual } = change;
        let provider = &receipt.provider;
        let (now_percent, usual_percent) =
            (percent(f64::from(failed) / f64::from(receipts)), percent(usual));
        if !failing {
            tracing::warn!(%provider, failed, receipts, now_percent, usual_percent,
                "a provider's receipts are back to normal");
            return Ok(());
        }
        tracing::error!(%provider, failed, receipts, now_percent, usual_percent,
            "a provider's receipts fail more often than usual: check its console");
        for project in hit {
            self.events.record(self.event(project, provider, change)).await?;
        }
        Ok(())
    }

    fn take_in(
        &self,
        receipt: &Receipt,
        project: ProjectId,
    ) -> Option<(HealthChange, Vec<ProjectId>)> {
        let now = self.tools.now();
        let failed = match receipt.report {
            Report::Delivered => false,
            Report::Failed(_) => true,
            Report::Accepted { .. } | Report::Overdue { .. } => return None,
        };
        let mut providers = self.providers.lock().unwrap_or_else(PoisonError::into_inner);
        let provider = providers.entry(receipt.provider.clone()).or_default();
        if failed {
            provider.hit.retain(|(other, _)| *other != project);
            provider.hit.push_back((project, now));
            if provider.hit.len() > TOLD {
                provider.hit.pop_front();
            }
        }
        let change = provider.health.note(failed, now)?;
        let lately = provider.hit.iter().filter(|(_, at)| now <= *at + LAST);
        Some((change, lately.map(|(project, _)| *project).collect()))
    }

    fn event(&self, project: ProjectId, provider: &str, change: HealthChange) -> Event {
        let HealthChange { failed, receipts, .. } = change;
        Event {
            project_mode: project.in_mode(KeyMode::Live),
            kind: EventKind::ProviderFailing,
            subject: Subject::Provider { provider: provider.to_owned(), failed, receipts },
            at: self.tools.now(),
        }
    }
}

/// A share as a whole percentage, for people.
fn percent(share: f64) -> String {
    format!("{:.0}", share * 100.0)
}
