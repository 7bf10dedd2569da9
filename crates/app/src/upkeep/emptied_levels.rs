use crate::CommonPorts;
use dwar_event::{Event, EventKind, EventStore, Subject};
use dwar_kernel::{GuardMode, GuardSubjectKind, KeyMode, ProjectId, StoreError, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// An event that is told is kept for this long, so that its hour is over before it is dropped.
const HOUR: Duration = Duration::from_secs(3_600);

/// Tells projects which levels of their guard are empty, once per kind of subject and hour, however many sends
/// find them so.
///
/// Sends note them in memory, without a look at the database, and [`EmptiedLevels::tell`] records the events.
/// What a process forgets when it is killed it notes again, and the id of the event makes that one event.
pub(crate) struct EmptiedLevels {
    tools: CommonPorts,
    store: Arc<dyn EventStore>,
    /// By the id of the event, which changes with each hour.
    noted: Mutex<HashMap<String, NotedEvent>>,
}

struct NotedEvent {
    event: Event,
    is_told: bool,
}

impl EmptiedLevels {
    /// Nothing is empty yet.
    pub(crate) fn new(tools: CommonPorts, store: Arc<dyn EventStore>) -> Self {
        Self { tools, store, noted: Mutex::default() }
    }

    /// Notes that a send found a level of this kind empty at `at`.
    pub(crate) fn note(
        &self,
        project: ProjectId,
        subject: GuardSubjectKind,
        guard: GuardMode,
        at: Timestamp,
    ) {
        let event = Event {
            project_mode: project.in_mode(KeyMode::Live),
            kind: EventKind::GuardEmptied,
            subject: Subject::Guard { subject, guard },
            at,
        };
        self.noted().entry(event.id()).or_insert(NotedEvent { event, is_told: false });
    }

    /// Records the events that are not told yet. What could not be recorded is recorded next time.
    pub(crate) async fn tell(&self) -> Result<(), StoreError> {
        for (id, event) in self.untold() {
            self.store.record(event).await?;
            if let Some(noted) = self.noted().get_mut(&id) {
                noted.is_told = true;
            }
        }
        Ok(())
    }

    fn untold(&self) -> Vec<(String, Event)> {
        let now = self.tools.now();
        let mut noted = self.noted();
        noted.retain(|_, it| !it.is_told || now < it.event.at + HOUR);
        let untold = noted.iter().filter(|(_, it)| !it.is_told);
        untold.map(|(id, it)| (id.clone(), it.event.clone())).collect()
    }

    /// Nothing panics while the lock is held; if it did, the events would still be valid.
    fn noted(&self) -> MutexGuard<'_, HashMap<String, NotedEvent>> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
