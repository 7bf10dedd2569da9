use super::*;

/// A provider and the time; repeats the same numbers in every run (a linear congruential generator).
struct Provider {
    health: ReceiptHealth,
    second: i64,
    state: u64,
}

impl Provider {
    fn new(seed: u64) -> Self {
        Self { health: ReceiptHealth::default(), second: 0, state: seed }
    }

    fn dice(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(seed_step());
        (self.state >> 33) % 1_000
    }

    /// Receipts for this many minutes, one every `every` seconds, of which `failing` in a thousand fail, at
    /// random.
    fn reports(&mut self, minutes: i64, every: i64, failing: u64) -> Vec<HealthChange> {
        let mut changes = Vec::new();
        for _ in 0..minutes * 60 / every {
            self.second += every;
            let failed = self.dice() < failing;
            let now = Timestamp::from_timestamp(1_800_000_000 + self.second, 0).unwrap();
            changes.extend(self.health.note(failed, now));
        }
        changes
    }
}

const fn seed_step() -> u64 {
    1_442_695_040_888_963_407
}

#[test]
fn a_steady_share_of_failures_never_raises() {
    for seed in 0..5 {
        for failing in [0, 10, 50, 200, 500, 900, 1_000] {
            let mut provider = Provider::new(seed);
            for every in [2, 20] {
                assert_eq!(provider.reports(8 * 60, every, failing), [], "{seed} {failing}");
            }
        }
    }
}

#[test]
fn a_jump_raises_once_and_a_recovery_clears_once() {
    for seed in 0..8 {
        for (usual, bad) in [(0, 400), (50, 600), (200, 900), (400, 1_000)] {
            let mut provider = Provider::new(seed);
            assert_eq!(provider.reports(120, 10, usual), []);
            // Also if it lasts longer than the remembered past.
            let began = provider.reports(10 * 60, 10, bad);
            assert_eq!(began.len(), 1, "{seed}: {usual} to {bad}: {began:?}");
            assert!(began[0].failing && provider.health.failing.is_some());
            assert!(share(began[0].failed, began[0].receipts) > began[0].usual + 0.24);
            let ended = provider.reports(120, 10, usual);
            assert_eq!(ended.len(), 1, "{seed}: {bad} to {usual}: {ended:?}");
            assert!(!ended[0].failing && provider.health.failing.is_none());
            // Failures while it was failing have not become the usual share.
            assert_eq!(provider.reports(60, 10, bad).len(), 1);
        }
    }
}

#[test]
fn a_share_in_between_keeps_the_last_word() {
    // 5 % is usual, 30 % begins a failure, 17.5 % ends it: in between nothing changes.
    let (mut sound, mut failing) = (Provider::new(7), Provider::new(7));
    for provider in [&mut sound, &mut failing] {
        assert_eq!(provider.reports(120, 2, 50), []);
    }
    assert_eq!(sound.reports(30, 2, 220), []);
    assert_eq!(failing.reports(60, 2, 600).len(), 1);
    assert_eq!(failing.reports(6 * 60, 2, 300), []);
}

#[test]
fn few_receipts_never_raise() {
    // Few now: fewer than forty in a quarter of an hour.
    let mut quiet = Provider::new(3);
    quiet.reports(120, 5, 20);
    quiet.second += 900;
    assert_eq!(quiet.reports(24 * 60, 25, 1_000), []);
    // No past to compare with.
    let mut new = Provider::new(3);
    assert_eq!(new.reports(14, 1, 1_000), []);
    // A past of long ago does not count.
    let mut back = Provider::new(3);
    back.reports(120, 5, 20);
    back.second += 7 * 3_600;
    assert_eq!(back.reports(10, 1, 1_000), []);
}

#[test]
fn it_remembers_a_bounded_number_of_counts() {
    let mut provider = Provider::new(1);
    provider.reports(3 * 24 * 60, 10, 300);
    assert!(provider.health.counts.len() <= usize::try_from(RECENT + PAST).unwrap());
    // Setting the clock back does not add counts.
    provider.second -= 3_600;
    provider.reports(120, 10, 300);
    assert!(provider.health.counts.iter().is_sorted_by_key(|count| count.step));
    assert!(provider.health.counts.len() <= usize::try_from(RECENT + PAST).unwrap());
}
