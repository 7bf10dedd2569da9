use crate::{CommonPorts, EmptiedLevels};
use dwar_event::EventStore;
use dwar_kernel::{
    Digest, GuardMode, GuardVerdict, Phone, ProjectId, Purpose, StoreError, Timestamp,
};
use dwar_project::Caller;
use dwar_ratelimit::GuardStore;
use dwar_ratelimit::guard::{
    GuardLevel, GuardMark, GuardSubject, GuardSubjectKind, GuardedSend, LocalLevels, TOKEN,
    Visitor, VisitorAddress, settled_week,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often the capacity of a project is computed again, and full levels are dropped.
const REVIEWED_EVERY: Duration = Duration::from_secs(600);

/// Judges live sends by the levels of their subjects (docs/guard.md), without a look at the database: levels are
/// kept in memory, and [`Guard::exchange`] shares them with the other instances every second.
pub struct Guard {
    tools: CommonPorts,
    store: Arc<dyn GuardStore>,
    levels: Mutex<LocalLevels>,
    emptied: EmptiedLevels,
    reviewed: Mutex<HashMap<ProjectId, Timestamp>>,
}

/// The send needs a proof that a person asks for it.
pub(crate) struct ProofRequired;

/// The tokens that a send has taken. What it does not keep is given back when this is dropped, so that a send
/// that fails or is cut short takes nothing.
pub(crate) struct GuardTake<'a> {
    guard: &'a Guard,
    pub(crate) send: GuardedSend,
    project: ProjectId,
    taken: Vec<GuardSubject>,
}

impl Guard {
    /// A guard that knows no levels yet: it reads those on record with its first exchange.
    pub fn new(
        tools: CommonPorts,
        store: Arc<dyn GuardStore>,
        events: Arc<dyn EventStore>,
    ) -> Self {
        let emptied = EmptiedLevels::new(tools.clone(), events);
        let (levels, reviewed) = (Mutex::default(), Mutex::default());
        Self { tools, store, levels, emptied, reviewed }
    }

    /// Judges a live send, and takes its tokens; `None` if the guard is off.
    ///
    /// Whether the phone has an identity plays no part, or the answer would tell who is a customer.
    pub(crate) fn admit(
        &self,
        caller: &Caller,
        phone: &Phone,
        visitor: &Visitor,
    ) -> Result<Option<GuardTake<'_>>, ProofRequired> {
        if !caller.is_guarded() {
            return Ok(None);
        }
        let (project, mode) = (caller.project.id, caller.project.guard);
        let subjects = self.subjects(project, phone, visitor.address.as_ref());
        let now = self.tools.now();
        let mut levels = self.levels();
        let exhausted = match visitor.pass {
            Some(_) => None,
            None => levels.exhausted(project, &subjects, now),
        };
        let by_level = exhausted.map_or(GuardVerdict::Admitted, GuardVerdict::from);
        let verdict = visitor.pass.map_or(by_level, GuardVerdict::from);
        let is_taken = verdict == GuardVerdict::Admitted;
        let taken = if is_taken { subjects.clone() } else { Vec::new() };
        for subject in &taken {
            levels.change(project, *subject, -TOKEN, now);
        }
        drop(levels);
        if let Some(kind) = exhausted {
            self.emptied.note(project, kind, mode, now);
        }
        if mode == GuardMode::Enforce && verdict.is_refusal() {
            return Err(ProofRequired);
        }
        let is_address = |it: &&GuardSubject| it.kind == GuardSubjectKind::Address;
        let send = GuardedSend {
            visitor: subjects.iter().find(is_address).map(|address| address.digest),
            verdict,
        };
        Ok(Some(GuardTake { guard: self, send, project, taken }))
    }

    /// Gives the tokens of a verified code to its subjects.
    pub(crate) fn verified(&self, caller: &Caller, phone: &Phone, mark: &GuardMark) {
        let project = caller.project.id;
        let gives = mark.gives();
        if gives == 0 || !caller.is_guarded() {
            return;
        }
        let mut subjects = Vec::new();
        if mark.is_new {
            subjects = self.subjects(project, phone, None);
        }
        let address = |digest| GuardSubject { kind: GuardSubjectKind::Address, digest };
        subjects.extend(mark.visitor.map(address));
        let (mut levels, now) = (self.levels(), self.tools.now());
        for subject in subjects {
            levels.change(project, subject, gives, now);
        }
    }

    /// Writes the changes of this instance, and reads those of the others. What could not be written is written
    /// next time.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn exchange(&self) -> Result<(), StoreError> {
        self.review().await?;
        let now = self.tools.now();
        let changes = self.levels().to_write();
        if !changes.is_empty() {
            match self.store.change_levels(changes.clone(), now).await {
                Ok(levels) => self.levels().written(&changes, levels),
                Err(cause) => {
                    self.levels().not_written(&changes);
                    return Err(cause);
                }
            }
        }
        let reads = self.levels().to_read();
        for (projects, since) in reads {
            let levels = self.store.changed_levels(projects.clone(), since).await?;
            self.levels().read(&projects, levels, now);
        }
        Ok(())
    }

    /// Tells projects that a level is empty, by [`EventKind::GuardEmptied`](dwar_event::EventKind::GuardEmptied):
    /// once per kind of subject and hour. What could not be recorded is recorded next time.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn tell_emptied(&self) -> Result<(), StoreError> {
        self.emptied.tell().await
    }

    /// Computes the capacity of each project from its logins, now and then.
    async fn review(&self) -> Result<(), StoreError> {
        let now = self.tools.now();
        let projects: Vec<ProjectId> = self.levels().projects().collect();
        for project in projects {
            let is_due = |at: &Timestamp| now < *at || *at + REVIEWED_EVERY <= now;
            if !self.reviewed().get(&project).is_none_or(is_due) {
                continue;
            }
            let (from, until) = settled_week(now);
            let verified = self.store.verified(project, from, until).await?;
            let mut levels = self.levels();
            levels.resize(project, GuardLevel::project_capacity(verified));
            levels.drop_full(now);
            for project in levels.overflown() {
                tracing::warn!(%project, "the guard counts no more addresses: there are too many");
            }
            drop(levels);
            self.reviewed().insert(project, now);
        }
        Ok(())
    }

    fn subjects(
        &self,
        project: ProjectId,
        phone: &Phone,
        address: Option<&VisitorAddress>,
    ) -> Vec<GuardSubject> {
        let series = &phone.national().as_bytes()[..SERIES];
        let network = address.map(VisitorAddress::network);
        let address = network.map(|network| (GuardSubjectKind::Address, network));
        let others =
            [(GuardSubjectKind::Series, series.to_vec()), (GuardSubjectKind::Project, Vec::new())];
        let subject = |(kind, value): (GuardSubjectKind, Vec<u8>)| GuardSubject {
            kind,
            digest: self.digest(project, kind, &value),
        };
        address.into_iter().chain(others).map(subject).collect()
    }

    fn digest(&self, project: ProjectId, kind: GuardSubjectKind, value: &[u8]) -> Digest {
        let project = project.uuid();
        let parts = [project.as_bytes().as_slice(), kind.as_str().as_bytes(), value];
        self.tools.vault.digest(Purpose::GuardSubject, &parts)
    }

    /// Nothing panics while a lock is held; if it did, the levels would still be valid.
    fn levels(&self) -> MutexGuard<'_, LocalLevels> {
        self.levels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reviewed(&self) -> MutexGuard<'_, HashMap<ProjectId, Timestamp>> {
        self.reviewed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many digits of a number name its series: operators are given numbers by the ten thousand.
const SERIES: usize = 6;

impl GuardTake<'_> {
    /// Gives back what a send with this mark, which began at `now`, does not take.
    pub(crate) fn keep(&mut self, mark: Option<&GuardMark>, now: Timestamp) {
        let took = mark.filter(|mark| mark.took(now));
        let stays = |subject: &GuardSubject| {
            took.is_some_and(|mark| mark.is_new || subject.kind == GuardSubjectKind::Address)
        };
        let (kept, given_back) = self.taken.iter().copied().partition(stays);
        self.taken = given_back;
        self.give_back();
        self.taken = kept;
    }

    /// The send stands: what it has taken stays taken.
    pub(crate) fn stand(&mut self) {
        self.taken.clear();
    }

    fn give_back(&mut self) {
        let (mut levels, now) = (self.guard.levels(), self.guard.tools.now());
        for subject in self.taken.drain(..) {
            levels.change(self.project, subject, TOKEN, now);
        }
    }
}

impl Drop for GuardTake<'_> {
    fn drop(&mut self) {
        if !self.taken.is_empty() {
            self.give_back();
        }
    }
}
