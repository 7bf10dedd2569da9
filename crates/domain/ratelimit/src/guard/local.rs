use super::{GuardLevel, GuardSubject, GuardSubjectKind, LevelChange, StoredLevel, TOKEN};
use dwar_kernel::{ProjectId, Timestamp};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Most addresses of a project that are counted at a time; about 150 bytes each. More are not counted, so that
/// a flood from everywhere cannot fill the memory: it is the business of series and project.
pub const MOST_ADDRESSES: usize = 100_000;

/// Levels that changed this long before the last exchange are read again: a change may be committed later
/// than it was made, and clocks differ.
const OVERLAP: Duration = Duration::from_secs(10);

/// The levels of the guarded projects as one instance knows them: those on record, and its own changes that
/// are not on record yet.
#[derive(Debug, Default)]
pub struct LocalLevels {
    projects: HashMap<ProjectId, LocalProject>,
    /// Changes since then are read next; everything, if `None`.
    read_until: Option<Timestamp>,
}

#[derive(Debug)]
struct LocalProject {
    capacity: i64,
    /// Whether the capacity was computed. Before that nothing is written, or the least capacity would cut the levels
    /// of a large project on record.
    is_sized: bool,
    levels: HashMap<GuardSubject, LocalLevel>,
    /// The levels with changes that are not on record yet.
    changed: HashSet<GuardSubject>,
    addresses: usize,
    /// Whether an address was left uncounted since that was last asked.
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct LocalLevel {
    stored: Option<GuardLevel>,
    pending: i64,
    /// Changes that are being written.
    writing: i64,
}

/// What an instance says to the store about its changes, and what it wants to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelExchange {
    pub changes: Vec<LevelChange>,
    /// The levels of these projects that changed since this instant are read, after the changes.
    pub projects: Vec<ProjectId>,
    pub since: Timestamp,
}

impl LocalLevels {
    /// The kind of the first of these subjects that is exhausted at `now`.
    pub fn exhausted(
        &mut self,
        project: ProjectId,
        subjects: &[GuardSubject],
        now: Timestamp,
    ) -> Option<GuardSubjectKind> {
        let project = self.project(project);
        let exhausted = subjects.iter().find(|subject| project.tokens(subject, now) < TOKEN);
        exhausted.map(|subject| subject.kind)
    }

    /// Gives `by` tokens to the subject, as far as its capacity goes, or takes them if `by` is below zero. Nothing
    /// is counted for an address beyond [`MOST_ADDRESSES`].
    pub fn change(&mut self, project: ProjectId, subject: GuardSubject, by: i64, now: Timestamp) {
        let project = self.project(project);
        if project.has_room(&subject) {
            let missing =
                capacity_of(subject.kind, project.capacity) - project.tokens(&subject, now);
            project.level(subject).pending += by.min(missing.max(0));
            project.changed.insert(subject);
        }
    }

    /// Every project that was guarded since the instance began.
    pub fn projects(&self) -> impl Iterator<Item = ProjectId> {
        self.projects.keys().copied()
    }

    /// Sets the capacity of a project.
    pub fn resize(&mut self, project: ProjectId, capacity: i64) {
        let project = self.project(project);
        (project.capacity, project.is_sized) = (capacity, true);
    }

    /// The projects with more addresses than are counted, each once.
    pub fn overflown(&mut self) -> Vec<ProjectId> {
        let told = |it: &mut LocalProject| std::mem::take(&mut it.is_over);
        self.projects.iter_mut().filter_map(|(id, it)| told(it).then_some(*id)).collect()
    }

    /// Begins to write the changes. Until [`LocalLevels::written`] or [`LocalLevels::not_written`] they count
    /// as before. `None` if no project with a known capacity is guarded.
    pub fn to_write(&mut self) -> Option<LevelExchange> {
        let (mut changes, mut projects) = (Vec::new(), Vec::new());
        for (id, project) in self.projects.iter_mut().filter(|(_, project)| project.is_sized) {
            projects.push(*id);
            for subject in std::mem::take(&mut project.changed) {
                let capacity = capacity_of(subject.kind, project.capacity);
                let level = project.level(subject);
                level.writing = std::mem::take(&mut level.pending);
                if level.writing != 0 {
                    changes.push(LevelChange {
                        project: *id,
                        subject,
                        by: level.writing,
                        capacity,
                    });
                }
            }
        }
        if projects.is_empty() {
            return None;
        }
        // In one order for all instances, so that they do not wait for each other in a circle.
        changes.sort_unstable_by_key(|change| (change.project, change.subject));
        let since = self.read_until.map_or(Timestamp::UNIX_EPOCH, |until| until - OVERLAP);
        Some(LevelExchange { changes, projects, since })
    }

    /// The changes are on record, and these are the levels that changed, as of `now`.
    pub fn written(&mut self, exchange: &LevelExchange, levels: Vec<StoredLevel>, now: Timestamp) {
        for change in &exchange.changes {
            self.project(change.project).level(change.subject).writing = 0;
        }
        for StoredLevel { project, subject, level } in levels {
            let project = self.project(project);
            if project.has_room(&subject) {
                project.level(subject).stored = Some(level);
            }
        }
        // A project that was added meanwhile has not been read yet.
        let all_read = exchange.projects.len() == self.projects.len();
        self.read_until = all_read.then_some(now);
    }

    /// The changes may not be on record: they are written next time.
    pub fn not_written(&mut self, exchange: &LevelExchange) {
        for change in &exchange.changes {
            let project = self.project(change.project);
            project.level(change.subject).writing = 0;
            project.level(change.subject).pending += change.by;
            project.changed.insert(change.subject);
        }
    }

    /// Drops levels that are full at `now`.
    pub fn drop_full(&mut self, now: Timestamp) {
        for project in self.projects.values_mut() {
            project.levels.retain(|_, level| {
                level.pending != 0
                    || level.writing != 0
                    || level.stored.is_some_and(|stored| !stored.is_full(now))
            });
            let is_address = |subject: &&GuardSubject| subject.kind == GuardSubjectKind::Address;
            project.addresses = project.levels.keys().filter(is_address).count();
        }
    }

    fn project(&mut self, project: ProjectId) -> &mut LocalProject {
        if !self.projects.contains_key(&project) {
            self.read_until = None;
        }
        self.projects.entry(project).or_insert_with(|| LocalProject {
            capacity: GuardLevel::project_capacity(0),
            is_sized: false,
            levels: HashMap::new(),
            changed: HashSet::new(),
            addresses: 0,
            is_over: false,
        })
    }
}

impl LocalProject {
    fn tokens(&self, subject: &GuardSubject, now: Timestamp) -> i64 {
        let capacity = capacity_of(subject.kind, self.capacity);
        let level = self.levels.get(subject).copied().unwrap_or_default();
        let stored = level.stored.map_or(capacity, |stored| stored.tokens(now));
        stored.saturating_add(level.pending).saturating_add(level.writing)
    }

    /// Whether the subject is counted.
    fn has_room(&mut self, subject: &GuardSubject) -> bool {
        let has_room = subject.kind != GuardSubjectKind::Address
            || self.addresses < MOST_ADDRESSES
            || self.levels.contains_key(subject);
        self.is_over |= !has_room;
        has_room
    }

    fn level(&mut self, subject: GuardSubject) -> &mut LocalLevel {
        let addresses = &mut self.addresses;
        self.levels.entry(subject).or_insert_with(|| {
            *addresses += usize::from(subject.kind == GuardSubjectKind::Address);
            LocalLevel::default()
        })
    }
}

const fn capacity_of(kind: GuardSubjectKind, of_project: i64) -> i64 {
    match kind {
        GuardSubjectKind::Address => GuardLevel::ADDRESS_CAPACITY,
        GuardSubjectKind::Series => GuardLevel::SERIES_CAPACITY,
        GuardSubjectKind::Project => of_project,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_kernel::Digest;

    #[test]
    fn a_project_of_unknown_capacity_writes_nothing() {
        let now = Timestamp::UNIX_EPOCH;
        let project = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let subject = GuardSubject { kind: GuardSubjectKind::Project, digest: Digest([7; 32]) };
        let mut levels = LocalLevels::default();
        levels.change(project, subject, -TOKEN, now);
        assert_eq!(levels.to_write(), None);
        // What was taken meanwhile is written later, and counts at once.
        levels.resize(project, 5_000 * TOKEN);
        let written = levels.to_write().unwrap().changes;
        let change = LevelChange { project, subject, by: -TOKEN, capacity: 5_000 * TOKEN };
        assert_eq!(written, [change]);
    }
}
