use crate::common::{BY, Office};
use dwar_console::{ManageError, ManageLedger, ProofScope};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_memory::Fault;
use dwar_operator::{Access, Action, Requester, Role};
use dwar_testkit::{FixedClock, START};
use dwar_wallet::{
    Balance, Credited, EntryKind, GroupedLine, LedgerProof, LedgerSum, MockLedgerStore, Paise,
    ProofRun, ProofStart, Settlement, StatementFilter, WalletSnapshot,
};
use std::sync::{Arc, Mutex};

impl Office {
    async fn pay(&self, project: ProjectId, paise: i64) {
        let credit = self.make.credit(Paise(paise));
        let credited = self.stores.wallets.credit(project, credit, START).await.unwrap();
        assert_eq!(credited, Credited::Booked);
    }

    async fn proof(&self, project: ProjectId, scope: ProofScope) -> LedgerProof {
        let ledger = &self.manage.ledger;
        let ProofStart::Begun(run) = ledger.begin_here(&BY, project).await.unwrap() else {
            panic!("none is running")
        };
        ledger.prove(run, scope).await.unwrap().unwrap()
    }

    async fn proven(&self, project: ProjectId) {
        while self.stores.console.ledger.last_proof(project).await.unwrap().is_none() {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_proof_finds_what_was_booked_and_stays_on_record() {
    let office = Office::open();
    let project = office.project().await;
    for paise in [10, 20, 30] {
        office.pay(project, paise).await;
    }
    for scope in [ProofScope::Newer, ProofScope::Everything] {
        let proof = office.proof(project, scope).await;
        assert!(proof.is_sound());
        assert_eq!((proof.sum.entries, proof.sum.sums.balance), (3, Paise(60)));
        let proven = office.manage.ledger.proven(&BY, project).await.unwrap();
        assert_eq!((proven.last, proven.running), (Some(proof), None));
        office.clock.advance(ProofRun::LEASE);
    }
    assert_eq!(office.actions().await, [Action::LedgerProved, Action::LedgerProved]);
}

/// All holds of a burst come before all of its charges, so several reads of entries precede later lines.
#[tokio::test]
async fn pages_have_each_send_once_however_its_entries_lie() {
    const SENDS: usize = 130;
    let office = Office::open();
    let (project, make) = (office.project().await, &office.make);
    office.pay(project, 100_000).await;
    let mut sends = Vec::new();
    for _ in 0..SENDS {
        let otp = make.otp(&make.line(project.in_mode(KeyMode::Live)));
        sends.push(otp.id);
        assert!(make.hold(&*office.stores.logins, otp, Paise(30)).await);
    }
    for send in &sends[..SENDS - 1] {
        let (spent, entries) = (Settlement::Capture(Paise(20)), [make.id(), make.id()]);
        let ended = office.stores.wallets.settle(project, *send, spent, entries, START).await;
        assert!(ended.unwrap());
    }
    let (mut seen, mut after, mut pages) = (Vec::new(), None, Vec::new());
    loop {
        let filter = StatementFilter::default();
        let ledger = &office.manage.ledger;
        let page = ledger.grouped_lines(&BY, project, filter, after, 50).await.unwrap();
        pages.push(page.lines.len());
        for GroupedLine { line, steps } in page.lines {
            seen.push(line.entry.reference.to_string());
            let kinds: Vec<_> = steps.iter().map(|step| step.kind).collect();
            let whole = [EntryKind::Hold, EntryKind::Capture, EntryKind::Release];
            match line.entry.kind {
                EntryKind::Capture => assert_eq!(kinds, whole),
                EntryKind::Hold => assert_eq!(kinds, whole[..1]),
                kind => assert_eq!((kind, kinds), (EntryKind::Credit, vec![])),
            }
        }
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(pages.iter().sum::<usize>(), SENDS + 1, "{pages:?}");
    assert!(pages[..2] == [50, 50], "{pages:?}");
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), SENDS + 1);
}

#[tokio::test]
async fn who_may_not_change_money_begins_none() {
    let office = Office::open();
    let project = office.project().await;
    let ledger = &office.manage.ledger;
    for role in [Role::Member, Role::Support, Role::Viewer] {
        let by = Requester { access: Access::one(project, role), ..Requester::command_line() };
        let begun = ledger.begin(&by, project, ProofScope::Newer).await;
        assert!(matches!(begun, Err(ManageError::Forbidden)), "{role:?}");
    }
    assert_eq!(ledger.proven(&BY, project).await.unwrap().running, None);
}

type Ranges = Arc<Mutex<Vec<(u64, u64)>>>;

/// The ranges that a store of this many entries, each of one paisa, was asked to add up.
fn counting(
    entries: u64,
    proved: Option<LedgerProof>,
    clock: &Arc<FixedClock>,
) -> (MockLedgerStore, Ranges) {
    let asked = Arc::<Mutex<Vec<(u64, u64)>>>::default();
    let mut store = MockLedgerStore::new();
    let balance = |entries: u64| Balance {
        balance: Paise(i64::try_from(entries).unwrap()),
        held: Paise::ZERO,
    };
    let wallet = WalletSnapshot {
        position: entries,
        balance: balance(entries),
        open: Paise::ZERO,
        closed: 0,
    };
    store.expect_snapshot().returning(move |_| Ok(wallet));
    store.expect_last_sound_proof().returning(move |_| Ok(proved.clone()));
    let (noted, clock) = (Arc::clone(&asked), Arc::clone(clock));
    store.expect_sum().returning(move |_, after, through| {
        noted.lock().unwrap().push((after, through));
        clock.advance(ProofRun::LEASE / 8);
        let entries = through - after;
        Ok(LedgerSum { entries, position: through, sums: balance(entries), closed: 0 })
    });
    (store, asked)
}

fn manage(office: &Office, store: MockLedgerStore) -> ManageLedger {
    ManageLedger { ledger: Arc::new(store), ..office.manage.ledger.clone() }
}

#[tokio::test]
async fn a_long_ledger_is_added_up_in_bounded_steps_that_say_they_go_on() {
    let office = Office::open();
    let (mut store, asked) = counting(1_000_000, None, &office.clock);
    // Each step takes an eighth of the lease, and a sign of life is due every quarter.
    store.expect_continue_proof().times(49..=51).returning(|_, _, _| Ok(true));
    store.expect_end_proof().times(1).returning(|_| Ok(true));
    let run = ProofRun::begin(office.make.id(), "Asha".to_owned(), START);
    let proof = manage(&office, store).prove(run, ProofScope::Newer).await.unwrap().unwrap();
    assert!(proof.is_sound());
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|(after, through)| through - after <= 10_000));
    assert_eq!((asked.len(), asked.last()), (100, Some(&(990_000, 1_000_000))));
}

#[tokio::test]
async fn only_what_came_after_the_last_sound_proof_is_added_up_unless_all_is_asked_for() {
    for (scope, wanted) in [(ProofScope::Newer, 5_000), (ProofScope::Everything, 0)] {
        let office = Office::open();
        let balance = Balance { balance: Paise(5_000), held: Paise::ZERO };
        let proved = LedgerProof {
            project: office.make.id(),
            since: START,
            at: START,
            by: "Asha".to_owned(),
            sum: LedgerSum { entries: 5_000, position: 5_000, sums: balance, closed: 0 },
            wallet: WalletSnapshot { position: 5_000, balance, open: Paise::ZERO, closed: 0 },
        };
        let run = ProofRun::begin(proved.project, "Asha".to_owned(), START);
        let (mut store, asked) = counting(5_100, Some(proved), &office.clock);
        store.expect_end_proof().returning(|_| Ok(true));
        let proof = manage(&office, store).prove(run, scope).await.unwrap().unwrap();
        assert!(proof.is_sound());
        assert_eq!(*asked.lock().unwrap(), [(wanted, 5_100)]);
    }
}

#[tokio::test]
async fn a_run_that_was_replaced_stops() {
    let office = Office::open();
    let (mut store, asked) = counting(1_000_000, None, &office.clock);
    store.expect_continue_proof().times(1).returning(|_, _, _| Ok(false));
    let run = ProofRun::begin(office.make.id(), "Asha".to_owned(), START);
    assert_eq!(manage(&office, store).prove(run, ProofScope::Newer).await.unwrap(), None);
    assert_eq!(asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn whoever_begins_a_proof_does_not_make_it_and_the_loop_does() {
    let office = Office::open();
    let (project, ledger) = (office.project().await, &office.manage.ledger);
    office.pay(project, 10).await;
    let begun = ledger.begin(&BY, project, ProofScope::Newer).await.unwrap();
    assert!(matches!(begun, ProofStart::Begun(_)));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let proven = ledger.proven(&BY, project).await.unwrap();
    assert!(proven.last.is_none() && proven.running.is_some(), "{proven:?}");
    ledger.keep_proving(office.proven(project)).await;
    let proven = ledger.proven(&BY, project).await.unwrap();
    assert!(proven.last.unwrap().is_sound() && proven.running.is_none());
}

#[tokio::test]
async fn a_proof_that_fails_holds_up_no_other() {
    let office = Office::open();
    let (first, second) = (office.project().await, office.project().await);
    office.store.faults().next("LedgerStore::snapshot", Fault::Fails);
    let ledger = &office.manage.ledger;
    let later = async {
        tokio::task::yield_now().await;
        ledger.begin(&BY, second, ProofScope::Newer).await.unwrap();
    };
    ledger.begin(&BY, first, ProofScope::Newer).await.unwrap();
    tokio::join!(ledger.keep_proving(office.proven(second)), later);
    // Running until its lease ends.
    let begun = ledger.begin(&BY, first, ProofScope::Newer).await.unwrap();
    assert!(matches!(begun, ProofStart::Running(_)));
    office.clock.advance(ProofRun::LEASE);
    ledger.begin(&BY, first, ProofScope::Newer).await.unwrap();
    ledger.keep_proving(office.proven(first)).await;
}

#[tokio::test]
async fn so_many_proofs_wait_and_no_more() {
    let office = Office::open();
    let ledger = &office.manage.ledger;
    for _ in 0..100 {
        ledger.begin(&BY, office.project().await, ProofScope::Newer).await.unwrap();
    }
    let (project, viewer) = (office.project().await, Requester { access: Access::default(), ..BY });
    let refused = ledger.begin(&BY, project, ProofScope::Newer).await;
    assert!(matches!(refused, Err(ManageError::Conflict(_))), "{refused:?}");
    let refused = ledger.begin(&viewer, project, ProofScope::Newer).await;
    assert!(matches!(refused, Err(ManageError::NoSuchProject)), "{refused:?}");
    assert_eq!(ledger.proven(&BY, project).await.unwrap().running, None);
    assert_eq!(office.actions().await.len(), 100);
}
