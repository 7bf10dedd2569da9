//! Promises of [`dwar_wallet::LedgerStore`].

use super::{ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, race, seconds};
use dwar_kernel::{ProjectId, Timestamp};
use dwar_wallet::{
    Balance, Credit, Credited, EntryKind, LedgerProof, LedgerSum, Paise, ProofRun, ProofStart,
    Settlement, StatementFilter, StatementLine, WalletSnapshot,
};
use std::sync::Arc;

impl Scene {
    async fn credit_at(&self, paise: i64, reference: &str, at: Timestamp) {
        let credit =
            Credit { reference: reference.parse().unwrap(), ..self.make.credit(Paise(paise)) };
        let credited = self.stores.wallets.credit(self.project, credit, at).await.unwrap();
        assert_eq!(credited, Credited::Booked);
    }

    /// Books entries of several kinds. Some have the same time, and one is earlier than its predecessor, as
    /// with two concurrent bookings.
    async fn booked(&self) -> Vec<StatementLine> {
        for (paise, seconds) in [(100, 5), (101, 3), (102, 3), (103, 9), (104, 7)] {
            let at = START + crate::seconds(seconds);
            self.credit_at(paise, &format!("invoice {paise}"), at).await;
            let spent = self.held(20).await;
            assert!(self.settle(spent, Settlement::Capture(Paise(15))).await);
        }
        self.every(&StatementFilter::default(), 1_000).await
    }

    /// Reads all that match the filter, in pages of `limit` lines.
    async fn every(&self, filter: &StatementFilter, limit: u32) -> Vec<StatementLine> {
        let (mut lines, mut after) = (Vec::new(), None);
        loop {
            let ledger = &self.stores.console.ledger;
            let page = ledger.lines(self.project, filter.clone(), after, limit).await.unwrap();
            assert!(page.len() <= limit as usize);
            let full = page.len() == limit as usize;
            lines.extend(page);
            after = lines.last().map(StatementLine::cursor);
            if !full {
                return lines;
            }
        }
    }

    fn run(&self, by: &str, since: Timestamp) -> ProofRun {
        ProofRun::begin(self.project, by.to_owned(), since)
    }

    async fn begin_run(&self, run: &ProofRun) -> ProofStart {
        self.stores.console.ledger.begin_proof(run.clone()).await.unwrap()
    }

    async fn end_run(&self, run: &ProofRun, sound: bool) -> (LedgerProof, bool) {
        let ProofRun { project, since, by, .. } = run.clone();
        let balance = Balance { balance: Paise(70), held: Paise(30) };
        let sum = LedgerSum { entries: 3, position: 3, sums: balance, closed: 0 };
        let open = Paise(if sound { 30 } else { 29 });
        let wallet = WalletSnapshot { position: 3, balance, open, closed: 0 };
        let proof = LedgerProof { project, since, at: since + seconds(1), by, sum, wallet };
        assert_eq!(proof.is_sound(), sound);
        let ended = self.stores.console.ledger.end_proof(proof.clone()).await.unwrap();
        (proof, ended)
    }

    async fn proofs(&self) -> (Option<LedgerProof>, Option<LedgerProof>) {
        let ledger = &self.stores.console.ledger;
        let last = ledger.last_proof(self.project).await.unwrap();
        (last, ledger.last_sound_proof(self.project).await.unwrap())
    }
}

/// Pages of any size give each entry once, by descending time and then position.
pub async fn pages_follow_one_another_newest_first(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let all = scene.booked().await;
    let places: Vec<_> = all.iter().map(|line| (line.entry.at, line.position)).collect();
    assert!(places.is_sorted_by(|one, next| one > next));
    let mut positions: Vec<_> = all.iter().map(|line| line.position).collect();
    positions.sort_unstable();
    assert_eq!(positions, (1..=20).collect::<Vec<_>>());
    for limit in [1, 2, 3, 7, 20] {
        assert_eq!(scene.every(&StatementFilter::default(), limit).await, all, "{limit}");
    }
}

/// A filter matches what the domain says, in pages too; its instants are exact.
pub async fn a_page_has_what_the_filter_wants(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let all = scene.booked().await;
    let [three, seven] = [3, 7].map(|later| START + seconds(later));
    let range = |since, until| StatementFilter { since, until, ..StatementFilter::default() };
    let of = |reference: &str| Some(reference.parse().unwrap());
    let filters = [
        range(Some(three), Some(seven)),
        range(Some(three + MS), Some(seven + MS)),
        range(Some(seven), None),
        range(None, Some(three)),
        StatementFilter { kind: Some(EntryKind::Credit), ..range(Some(three), None) },
        StatementFilter { reference: of("invoice 102"), ..StatementFilter::default() },
        StatementFilter {
            reference: Some(all[19].entry.reference.clone()),
            ..range(None, Some(seven))
        },
        StatementFilter { reference: of("invoice 1"), ..StatementFilter::default() },
    ];
    let kinds =
        EntryKind::ALL.map(|kind| StatementFilter { kind: Some(kind), ..range(None, None) });
    for filter in filters.iter().chain(&kinds) {
        let wanted: Vec<_> = all.iter().filter(|line| filter.wants(&line.entry)).cloned().collect();
        for limit in [2, 100] {
            assert_eq!(scene.every(filter, limit).await, wanted, "{filter:?} by {limit}");
        }
    }
}

/// No project sees the entries, sums or proofs of another project.
pub async fn statements_stay_inside_their_project(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.booked().await;
    let run = scene.run("Asha", START);
    scene.begin_run(&run).await;
    let other: ProjectId = scene.another().await;
    let ledger = &stores.console.ledger;
    let lines = ledger.lines(other, StatementFilter::default(), None, 100).await.unwrap();
    assert_eq!(lines, []);
    assert_eq!(ledger.snapshot(other).await.unwrap(), WalletSnapshot::default());
    assert_eq!(ledger.sum(other, 0, 100).await.unwrap(), LedgerSum::default());
    assert_eq!(ledger.proof_run(other).await.unwrap(), None);
    assert!(!ledger.continue_proof(other, START, START).await.unwrap());
    assert!(scene.end_run(&run, true).await.1);
    assert_eq!(ledger.last_proof(other).await.unwrap(), None);
    assert_eq!(ledger.last_sound_proof(other).await.unwrap(), None);
}

/// Any parts of a ledger add up to the whole, and the whole to the wallet.
pub async fn sums_and_stand_are_what_was_booked(stores: &Stores) {
    let scene = Scene::open(stores).await;
    assert_eq!(
        stores.console.ledger.snapshot(scene.project).await.unwrap(),
        WalletSnapshot::default()
    );
    scene.booked().await;
    scene.held(7).await;
    let wallet = stores.console.ledger.snapshot(scene.project).await.unwrap();
    let balance = Balance { balance: Paise(510 - 75), held: Paise(7) };
    assert_eq!(wallet, WalletSnapshot { position: 21, balance, open: Paise(7), closed: 0 });
    let sum = async |after, through| {
        stores.console.ledger.sum(scene.project, after, through).await.unwrap()
    };
    let whole = LedgerSum { entries: 21, position: 21, sums: balance, closed: 0 };
    assert_eq!(sum(0, 21).await, whole);
    for middle in 0..=21 {
        assert_eq!(sum(0, middle).await.and(sum(middle, 21).await), whole, "{middle}");
    }
}

/// Under concurrent bookings, wallet and holds are of one instant, and the entries up to the wallet's last
/// one add up to it.
pub async fn the_snapshot_is_of_one_instant(stores: &Stores) {
    let scene = Arc::new(Scene::open(stores).await);
    scene.credit_at(100_000, "start", START).await;
    race(20, |number| {
        let scene = Arc::clone(&scene);
        async move {
            if number % 2 == 0 {
                for _ in 0..5 {
                    let send = scene.held(3).await;
                    assert!(scene.settle(send, Settlement::Capture(Paise(2))).await);
                }
                return;
            }
            for _ in 0..10 {
                let wallet = scene.stores.console.ledger.snapshot(scene.project).await.unwrap();
                assert_eq!(wallet.open, wallet.balance.held);
                let sum = scene
                    .stores
                    .console
                    .ledger
                    .sum(scene.project, 0, wallet.position)
                    .await
                    .unwrap();
                assert_eq!(sum.sums, wallet.balance);
                assert_eq!((sum.entries, sum.position), (wallet.position, wallet.position));
            }
        }
    })
    .await;
}

/// Exactly one of many concurrent requests begins a proof, and the others get the running one.
pub async fn proofs_at_once_begin_once(stores: &Stores) {
    let scene = Arc::new(Scene::open(stores).await);
    for round in 0..ROUNDS {
        // In every second round a dead run has to be replaced.
        let now = START + seconds(1_000) * u32::try_from(round).unwrap();
        let answers = race(30, |number| {
            let scene = Arc::clone(&scene);
            async move {
                let run = scene.run(&number.to_string(), now);
                scene.begin_run(&run).await
            }
        })
        .await;
        assert_eq!(count(&answers, |start| matches!(start, ProofStart::Begun(_))), 1);
        let on_record = stores.console.ledger.proof_run(scene.project).await.unwrap().unwrap();
        for start in answers {
            let (ProofStart::Begun(run) | ProofStart::Running(run)) = start;
            assert_eq!(run, on_record);
        }
    }
}

/// A run without a heartbeat for its lease is dead; a run with one continues.
pub async fn a_dead_run_makes_room_at_the_exact_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let first = scene.run("Asha", START);
    assert_eq!(scene.begin_run(&first).await, ProofStart::Begun(first.clone()));
    let heard = START + seconds(20);
    assert!(stores.console.ledger.continue_proof(scene.project, START, heard).await.unwrap());
    let end = heard + ProofRun::LEASE;
    let first = ProofRun { seen_at: heard, ..first };
    let early = scene.begin_run(&scene.run("Ravi", end - MS)).await;
    assert_eq!(early, ProofStart::Running(first));
    let second = scene.run("Ravi", end);
    assert_eq!(scene.begin_run(&second).await, ProofStart::Begun(second.clone()));
    assert_eq!(stores.console.ledger.proof_run(scene.project).await.unwrap(), Some(second));
}

/// A run that was considered dead and replaced neither continues nor ends anything.
pub async fn a_run_that_was_replaced_changes_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (dead, next) = (scene.run("Asha", START), scene.run("Ravi", START + ProofRun::LEASE));
    scene.begin_run(&dead).await;
    scene.begin_run(&next).await;
    assert!(!stores.console.ledger.continue_proof(scene.project, START, next.since).await.unwrap());
    assert!(!scene.end_run(&dead, true).await.1);
    assert_eq!(scene.proofs().await, (None, None));
    let (proof, ended) = scene.end_run(&next, true).await;
    assert!(ended);
    assert_eq!(scene.proofs().await, (Some(proof.clone()), Some(proof)));
    assert_eq!(stores.console.ledger.proof_run(scene.project).await.unwrap(), None);
    assert!(!scene.end_run(&next, true).await.1, "it ended before");
}

/// Many unsound proofs in a row do not displace the last sound one.
pub async fn the_newest_proofs_stay_and_the_last_sound_one(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut ended = Vec::new();
    for number in 0..LedgerProof::KEPT + 3 {
        let run = scene.run("Asha", START + seconds(1) * number);
        scene.begin_run(&run).await;
        ended.push(scene.end_run(&run, number == 1).await.0);
    }
    assert_eq!(scene.proofs().await, (ended.last().cloned(), Some(ended[1].clone())));
}
