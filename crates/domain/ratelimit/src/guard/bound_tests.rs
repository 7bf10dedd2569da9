//! The bound of the guard, as a property of the rule: three instances that share levels through a store, up to
//! two seconds late, some of which are killed and forget what they took.

use super::*;
use crate::{Quota, Window};
use dwar_kernel::{Digest, GuardVerdict, ProjectId, Timestamp};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

const INSTANCES: usize = 3;
/// Time from a change on one instance until all others know it: each writes and reads every second.
const LAG: u64 = 2;
const DAY: u64 = 86_400;

/// A generator of pseudo-random numbers (splitmix64), so that a seed repeats a run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True in so many of a thousand cases.
    fn chance(&mut self, of_thousand: u64) -> bool {
        self.below(1_000) < of_thousand
    }
}

fn at(second: u64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000, 0).unwrap() + Duration::from_secs(second)
}

fn project() -> ProjectId {
    "00000000-0000-7000-8000-000000000001".parse().unwrap()
}

fn subject(kind: GuardSubjectKind, number: u64) -> GuardSubject {
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&number.to_be_bytes());
    GuardSubject { kind, digest: Digest(digest) }
}

/// One send: who asks, for which number.
#[derive(Clone, Copy)]
struct Ask {
    number: u64,
    address: u64,
    series: u64,
    is_known: bool,
    proves: bool,
}

impl Ask {
    fn subjects(&self) -> [GuardSubject; 3] {
        [
            subject(GuardSubjectKind::Address, self.address),
            subject(GuardSubjectKind::Series, self.series),
            subject(GuardSubjectKind::Project, 0),
        ]
    }
}

/// What is on record of a number.
#[derive(Clone, Copy, Default)]
struct NumberState {
    mark: Option<(GuardMark, Ask)>,
    taken: Option<TakenToken>,
    verified_at: Option<Timestamp>,
    has_identity: bool,
}

/// The service as the rule sees it.
struct Service {
    now: u64,
    instances: Vec<LocalLevels>,
    stored: BTreeMap<GuardSubject, GuardLevel>,
    /// What changed in the last seconds, oldest first.
    recent: VecDeque<(Timestamp, GuardSubject)>,
    numbers: HashMap<u64, NumberState>,
    places: HashMap<u64, Window>,
    capacity: i64,
    /// What each instance took since it wrote last, and what was lost with killed ones.
    unwritten: Vec<BTreeMap<GuardSubject, u64>>,
    lost: BTreeMap<GuardSubject, u64>,
}

#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// A proof was required, because of this kind of subject.
    Asked(GuardSubjectKind),
    /// The limit of the number refused.
    Limited,
    Sent,
}

impl Service {
    fn new(capacity: i64) -> Self {
        let instances = (0..INSTANCES).map(|_| LocalLevels::default()).collect();
        let (stored, recent, numbers, places, lost) = Default::default();
        let unwritten = vec![BTreeMap::new(); INSTANCES];
        let mut new =
            Self { now: 0, instances, stored, recent, numbers, places, capacity, unwritten, lost };
        (0..INSTANCES).for_each(|instance| new.instances[instance].resize(project(), capacity));
        new
    }

    /// A second later each instance has exchanged levels, one after the other.
    fn tick(&mut self) {
        self.now += 1;
        (0..INSTANCES).for_each(|instance| self.exchange(instance));
    }

    fn exchange(&mut self, instance: usize) {
        let now = at(self.now);
        self.unwritten[instance].clear();
        let levels = &mut self.instances[instance];
        let changes = levels.to_write();
        let mut left = Vec::new();
        for change in &changes {
            let before = self.stored.get(&change.subject).copied();
            left.push(change.apply(before, now));
            self.stored.insert(change.subject, change.apply(before, now).level);
            self.recent.push_back((now, change.subject));
        }
        levels.written(&changes, left);
        while self.recent.front().is_some_and(|(at, _)| *at + Duration::from_secs(15) < now) {
            self.recent.pop_front();
        }
        for (projects, since) in levels.to_read() {
            let subjects: Vec<GuardSubject> = match since == Timestamp::UNIX_EPOCH {
                true => self.stored.keys().copied().collect(),
                false => self.recent.iter().map(|(_, subject)| *subject).collect(),
            };
            let read = subjects.into_iter().map(|subject| StoredLevel {
                project: project(),
                subject,
                level: self.stored[&subject],
            });
            levels.read(&projects, read.collect(), now);
        }
        if self.now.is_multiple_of(600) {
            levels.drop_full(now);
        }
    }

    /// Forgets what the instance has not written.
    fn kill(&mut self, instance: usize) {
        for (subject, taken) in std::mem::take(&mut self.unwritten[instance]) {
            *self.lost.entry(subject).or_default() += taken;
        }
        self.instances[instance] = LocalLevels::default();
        self.instances[instance].resize(project(), self.capacity);
        // It reads the levels before it serves.
        self.exchange(instance);
    }

    fn send(&mut self, instance: usize, ask: Ask, is_accepted: bool) -> Answer {
        let now = at(self.now);
        let levels = &mut self.instances[instance];
        let subjects = ask.subjects();
        if let Some(kind) = levels.exhausted(project(), &subjects, now).filter(|_| !ask.proves) {
            return Answer::Asked(kind);
        }
        let limit = Quota { limit: 3, window: GuardMark::STANDS_FOR };
        if !self.places.entry(ask.number).or_default().hit(limit, now).admitted {
            return Answer::Limited;
        }
        let visitor = Some(subjects[0].digest);
        let verdict = if ask.proves { GuardVerdict::Trusted } else { GuardVerdict::Admitted };
        let send = GuardedSend { visitor, verdict };
        let number = self.numbers.entry(ask.number).or_default();
        let has_identity = ask.is_known || number.has_identity;
        let earned = number.verified_at.is_some_and(|it| now < it + GuardMark::EARNS_EVERY);
        let phone = GuardedPhone { has_identity, earned, taken: number.taken };
        let mark = GuardMark::new(&send, verdict, &phone, now);
        if mark.took(now) && is_accepted {
            for subject in counted(&mark, &subjects) {
                levels.change(project(), subject, -TOKEN, now);
                *self.unwritten[instance].entry(subject).or_default() += 1;
            }
        }
        let taken_at = mark.taken_at.filter(|taken| is_accepted || *taken != now);
        let mark = GuardMark { taken_at, ..mark };
        number.mark = is_accepted.then_some((mark, ask));
        number.taken = taken_at.map(|at| TakenToken { at, visitor: mark.visitor });
        Answer::Sent
    }

    /// The visitor enters the code of the number.
    fn verify(&mut self, instance: usize, number: u64) {
        let now = at(self.now);
        let number = self.numbers.get_mut(&number).unwrap();
        let Some((mark, ask)) = number.mark.take() else { return };
        (number.taken, number.verified_at) = (None, Some(now));
        number.has_identity = true;
        for subject in counted(&mark, &ask.subjects()) {
            self.instances[instance].change(project(), subject, mark.gives(), now);
        }
    }
}

/// The subjects of a send that its mark counts for.
fn counted(mark: &GuardMark, subjects: &[GuardSubject; 3]) -> Vec<GuardSubject> {
    let address =
        mark.visitor.map(|digest| GuardSubject { kind: GuardSubjectKind::Address, digest });
    let others = subjects[1..].iter().copied().filter(|_| mark.is_new);
    address.into_iter().chain(others).collect()
}

/// What each subject got: what the bound speaks of.
#[derive(Default)]
struct Tally {
    /// By subject and number: messages since the number took its last token, and whether it was verified.
    numbers: BTreeMap<(GuardSubject, u64), (u64, bool)>,
    /// Verifications that earned.
    verified: BTreeMap<GuardSubject, u64>,
    /// The seconds in which numbers took a token.
    taken: BTreeMap<GuardSubject, Vec<u64>>,
}

/// Plays hours of attacks on one project, and asserts the bound for every subject.
///
/// Attackers ask for new numbers and for old ones, verify some of them, and move between addresses and instances.
/// Instances are killed, and forget what they took and did not write.
fn the_bound_holds(seed: u64) {
    const LASTS: u64 = 3_600;
    let mut dice = Dice(seed);
    let mut service = Service::new(GuardLevel::project_capacity(0));
    let mut tally = Tally::default();
    let (addresses, series) = (1 + dice.below(6), 1 + dice.below(8));
    let verifies = [0, 100, 400, 900][usize::try_from(dice.below(4)).unwrap()];
    let (rate, pool) = (2 + dice.below(20), 50 + dice.below(20_000));
    let instance = |dice: &mut Dice| usize::try_from(dice.below(INSTANCES as u64)).unwrap();
    let mut fresh = 1_000_000;
    let mut pending: Vec<(u64, u64)> = Vec::new();
    for second in 1..=LASTS {
        service.tick();
        if dice.chance(2) {
            let killed = instance(&mut dice);
            service.kill(killed);
        }
        for _ in 0..dice.below(rate) {
            fresh += 1;
            let number = if dice.chance(500) { fresh } else { dice.below(pool) };
            let ask = Ask {
                number,
                address: dice.below(addresses),
                series: number % series,
                is_known: number < pool && number.is_multiple_of(7),
                proves: false,
            };
            let by = instance(&mut dice);
            if service.send(by, ask, true) != Answer::Sent {
                continue;
            }
            let (mark, _) = service.numbers[&number].mark.unwrap();
            for subject in counted(&mark, &ask.subjects()) {
                let of_number = tally.numbers.entry((subject, number)).or_default();
                if mark.took(at(second)) {
                    *of_number = (0, false);
                    tally.taken.entry(subject).or_default().push(second);
                }
                of_number.0 += 1;
                assert!(of_number.0 <= 3, "seed {seed}: more than three messages for a token");
            }
            if dice.chance(verifies) {
                pending.push((second + dice.below(300), number));
            }
        }
        let due: Vec<_> = pending.extract_if(.., |(due, _)| *due <= second).collect();
        for (_, number) in due {
            let Some((mark, ask)) = service.numbers[&number].mark else { continue };
            let by = instance(&mut dice);
            service.verify(by, number);
            for subject in counted(&mark, &ask.subjects()) {
                tally.numbers.entry((subject, number)).or_default().1 = true;
                *tally.verified.entry(subject).or_default() += u64::from(mark.earns);
            }
        }
    }
    tally.check(&service, LASTS, seed);
}

impl Tally {
    fn check(&self, service: &Service, lasts: u64, seed: u64) {
        let mut unverified: BTreeMap<GuardSubject, u64> = BTreeMap::new();
        for ((subject, _), (_, is_verified)) in &self.numbers {
            *unverified.entry(*subject).or_default() += u64::from(!is_verified);
        }
        for (subject, count) in unverified {
            let capacity = match subject.kind {
                GuardSubjectKind::Address => 50,
                GuardSubjectKind::Series => 20,
                GuardSubjectKind::Project => 200,
            };
            let of = |counts: &BTreeMap<_, u64>| counts.get(&subject).copied().unwrap_or_default();
            let taken = self.taken.get(&subject).map(Vec::as_slice).unwrap_or_default();
            let late = |from: &u64| {
                taken.iter().filter(|it| (*from..=from + LAG).contains(it)).count() as u64
            };
            let late = taken.iter().map(late).max().unwrap_or_default() + of(&service.lost);
            let refill = (capacity * lasts).div_ceil(DAY);
            let bound = capacity + refill + of(&self.verified).div_ceil(2) + late;
            assert!(count <= bound, "seed {seed}, {subject:?}: {count} unverified, bound {bound}");
        }
    }
}

#[test]
fn no_subject_gets_more_than_its_bound() {
    for seed in 0..4 {
        println!("seed {seed}");
        the_bound_holds(seed);
    }
}

/// A project with people who log in for the first time at this rate, in thousandths per second.
struct People {
    service: Service,
    dice: Dice,
    per_second: u64,
    /// In thousandths.
    enter_the_code: u64,
    /// The codes that will be entered, and when.
    entering: Vec<(u64, u64)>,
    next: u64,
    /// When a person was asked, and because of what.
    asked: Vec<(u64, GuardSubjectKind)>,
}

impl People {
    /// 10,000 new numbers a day, of which 88 % log in.
    fn usual(seed: u64) -> Self {
        println!("seed {seed}");
        let service = Service::new(GuardLevel::project_capacity(61_600));
        let (entering, asked) = Default::default();
        let dice = Dice(seed);
        Self { service, dice, per_second: 116, enter_the_code: 880, entering, next: 0, asked }
    }

    /// One second: people ask, prove where they have to, and enter their codes, if the provider `delivers`
    /// what it accepts.
    fn pass(&mut self, is_accepted: bool, delivers: bool) {
        self.service.tick();
        let now = self.service.now;
        for _ in 0..self.per_second / 1_000 + u64::from(self.dice.chance(self.per_second % 1_000)) {
            self.next += 1;
            let ask = Ask {
                number: self.next,
                // A carrier puts thousands of people behind an address.
                address: self.dice.below(40),
                series: self.dice.below(3_000),
                is_known: false,
                proves: false,
            };
            let by = usize::try_from(self.dice.below(INSTANCES as u64)).unwrap();
            if let Answer::Asked(kind) = self.service.send(by, ask, is_accepted) {
                self.asked.push((now, kind));
                self.service.send(by, Ask { proves: true, ..ask }, is_accepted);
            }
            if is_accepted && delivers && self.dice.chance(self.enter_the_code) {
                self.entering.push((now + 8 + self.dice.below(30), self.next));
            }
        }
        for (_, number) in self.entering.extract_if(.., |(due, _)| *due <= now).collect::<Vec<_>>()
        {
            let by = usize::try_from(self.dice.below(INSTANCES as u64)).unwrap();
            self.service.verify(by, number);
        }
    }

    fn asked_since(&self, second: u64) -> usize {
        self.asked.iter().filter(|(at, _)| *at >= second).count()
    }
}

#[test]
fn asking_ends_within_five_minutes_after_a_flood() {
    for seed in 0..4 {
        let mut people = People::usual(seed);
        for _ in 0..3_600 {
            people.pass(true, true);
            for _ in 0..20 {
                let number = 1_000_000_000 + people.dice.next() % 1_000_000_000;
                let (address, series) =
                    (1_000 + people.dice.below(50_000), people.dice.below(3_000));
                let ask = Ask { number, address, series, is_known: false, proves: false };
                let by = usize::try_from(people.dice.below(INSTANCES as u64)).unwrap();
                people.service.send(by, ask, true);
            }
        }
        let end = people.service.now;
        assert!(people.asked_since(0) > 100, "seed {seed}: the flood was not noticed");
        (0..3_600).for_each(|_| people.pass(true, true));
        let project = people.asked.iter().filter(|(_, kind)| *kind == GuardSubjectKind::Project);
        let last = project.map(|(at, _)| *at).max().unwrap();
        assert!(last < end + 300, "seed {seed}: asked {} seconds after the flood", last - end);
    }
}

#[test]
fn asking_ends_within_five_minutes_after_an_outage() {
    for seed in 0..4 {
        // No provider accepts anything: nobody is ever asked.
        let mut people = People::usual(seed);
        (0..6 * 3_600).for_each(|_| people.pass(false, true));
        (0..3_600).for_each(|_| people.pass(true, true));
        assert_eq!(people.asked, [], "seed {seed}");
        // Providers accept and deliver nothing, so that nobody can enter a code.
        let mut people = People::usual(seed);
        (0..6 * 3_600).for_each(|_| people.pass(true, false));
        let end = people.service.now;
        (0..3_600).for_each(|_| people.pass(true, true));
        let last = people.asked.iter().filter(|(_, kind)| *kind == GuardSubjectKind::Project);
        let last = last.map(|(at, _)| *at).max().unwrap_or(end);
        assert!(last < end + 300, "seed {seed}: asked {} seconds after the outage", last - end);
    }
}

#[test]
fn a_sale_asks_nobody_because_of_address_or_project() {
    for seed in 0..2 {
        let mut people = People::usual(seed);
        (people.per_second, people.enter_the_code) = (20 * 116, 750);
        (0..2 * 3_600).for_each(|_| people.pass(true, true));
        let others =
            people.asked.iter().filter(|(_, kind)| *kind != GuardSubjectKind::Series).count();
        assert_eq!(others, 0, "seed {seed}");
    }
}
