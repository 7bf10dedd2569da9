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
}

#[derive(Debug)]
struct LocalProject {
    capacity: i64,
    /// Whether the capacity was computed. Before that nothing is written, or the least capacity would cut the levels
    /// of a large project on record.
    is_sized: bool,
    /// Changes since then are read next; everything, if `None`.
    read_until: Option<Timestamp>,
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
    /// as before.
    pub fn to_write(&mut self) -> Vec<LevelChange> {
        let mut changes = Vec::new();
        for (id, project) in self.projects.iter_mut().filter(|(_, project)| project.is_sized) {
            for subject in std::mem::take(&mut project.changed) {
                let capacity = capacity_of(subject.kind, project.capacity);
                let level = project.level(subject);
                level.writing = std::mem::take(&mut level.pending);
                if level.writing != 0 {
                    let (project, by) = (*id, level.writing);
                    changes.push(LevelChange { project, subject, by, capacity });
                }
            }
        }
        // In one order for all instances, so that they do not wait for each other in a circle.
        changes.sort_unstable_by_key(|change| (change.project, change.subject));
        changes
    }

    /// The changes are on record, and left these levels.
    pub fn written(&mut self, changes: &[LevelChange], levels: Vec<StoredLevel>) {
        for change in changes {
            self.project(change.project).level(change.subject).writing = 0;
        }
        self.learn(levels);
    }

    /// The projects whose levels are to be read, each with the instant since which they may have changed: first
    /// those that were never read.
    pub fn to_read(&self) -> Vec<(Vec<ProjectId>, Timestamp)> {
        let (mut new, mut known, mut until) = (Vec::new(), Vec::new(), None);
        for (id, project) in self.projects.iter().filter(|(_, project)| project.is_sized) {
            match project.read_until {
                None => new.push(*id),
                Some(at) => {
                    known.push(*id);
                    until = Some(until.map_or(at, |other: Timestamp| other.min(at)));
                }
            }
        }
        let known = until.map(|until| (known, until - OVERLAP));
        let new = Some((new, Timestamp::UNIX_EPOCH)).filter(|(new, _)| !new.is_empty());
        new.into_iter().chain(known).collect()
    }

    /// The levels of these projects that changed, as of `now`.
    pub fn read(&mut self, projects: &[ProjectId], levels: Vec<StoredLevel>, now: Timestamp) {
        for project in projects {
            self.project(*project).read_until = Some(now);
        }
        self.learn(levels);
    }

    /// The changes may not be on record: they are written next time.
    pub fn not_written(&mut self, changes: &[LevelChange]) {
        for change in changes {
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

    fn learn(&mut self, levels: Vec<StoredLevel>) {
        for StoredLevel { project, subject, level } in levels {
            let project = self.project(project);
            if project.has_room(&subject) {
                project.level(subject).stored = Some(level);
            }
        }
    }

    fn project(&mut self, project: ProjectId) -> &mut LocalProject {
        self.projects.entry(project).or_insert_with(|| LocalProject {
            capacity: GuardLevel::project_capacity(0),
            is_sized: false,
            read_until: None,
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

    const START: Timestamp = Timestamp::UNIX_EPOCH;
    const SUBJECT: GuardSubject =
        GuardSubject { kind: GuardSubjectKind::Project, digest: Digest([7; 32]) };

    fn project(number: u8) -> ProjectId {
        format!("00000000-0000-7000-8000-{number:012}").parse().unwrap()
    }

    #[test]
    fn a_project_of_unknown_capacity_writes_and_reads_nothing() {
        let (project, capacity) = (project(1), 5_000 * TOKEN);
        let mut levels = LocalLevels::default();
        levels.change(project, SUBJECT, -TOKEN, START);
        assert_eq!(levels.to_write(), []);
        assert_eq!(levels.to_read(), []);
        // What was taken meanwhile is written later, and counts at once.
        levels.resize(project, capacity);
        assert_eq!(levels.to_read(), [(vec![project], START)]);
        let change = LevelChange { project, subject: SUBJECT, by: -TOKEN, capacity };
        assert_eq!(levels.to_write(), [change]);
    }

    #[test]
    fn a_change_counts_once_whether_it_is_written_or_not() {
        let (project, capacity) = (project(1), 2 * TOKEN);
        let mut levels = LocalLevels::default();
        levels.resize(project, capacity);
        levels.change(project, SUBJECT, -TOKEN, START);
        let left = |levels: &mut LocalLevels| levels.project(project).tokens(&SUBJECT, START);
        let changes = levels.to_write();
        assert_eq!(left(&mut levels), TOKEN);
        levels.not_written(&changes);
        assert_eq!(left(&mut levels), TOKEN);
        let changes = levels.to_write();
        levels.written(&changes, vec![changes[0].apply(None, START)]);
        assert_eq!(left(&mut levels), TOKEN);
        // The read that follows may fail: nothing is written again.
        assert_eq!(levels.to_write(), []);
    }

    #[test]
    fn a_new_project_alone_is_read_from_the_beginning() {
        let (one, other) = (project(1), project(2));
        let now = START + Duration::from_secs(1_000);
        let mut levels = LocalLevels::default();
        levels.resize(one, TOKEN);
        levels.read(&[one], Vec::new(), now);
        assert_eq!(levels.to_read(), [(vec![one], now - OVERLAP)]);
        levels.resize(other, TOKEN);
        assert_eq!(levels.to_read(), [(vec![other], START), (vec![one], now - OVERLAP)]);
    }
}
